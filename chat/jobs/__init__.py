"""What works in the background: rows that say what is due, and worker processes that poll them.

lease    the right to work on a row: claim, renew, finish, put off
worker   the loop of a worker process, and what it does with each kind of work
keeper   its second thread: renews the lease, says "I am alive", sweeps
sweep    ends what was lost, removes what is old

There is no task queue. The `Work` row has the order, the lease, the attempts and the error; a queue's task could only
wake a worker up, which a look every tenth of a second at an indexed column does as well, without a second table of
states, without tasks that a killed worker leaves RUNNING, and without a loop that a locked database ends.
"""
