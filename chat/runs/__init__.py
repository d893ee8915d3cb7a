"""The life of a run: start → execute → finish (DESIGN §3, RUNTIME 1 to 6).

bridge        hop: the one way from the event loop to the database
errors        why a run is refused
launch        the one place that makes a run's task
start         one hop: checks, rows, read path
title         the name of a thread, without sensitive text
live          the runs of this process, their text and their viewers
events        what viewers are told
execute       the task of a run: stream, tool loop
conversation  the message list inside a run and its window (L0)
finish        one transaction: the final state and the dirty mark
stop          stop from anywhere
delete        a thread goes, with what was learnt from it
beat          once a second: checkpoint, heartbeat, stop marks, news
sweep         ends runs whose process is gone
mirror        runs of other processes, as far as they are watched here
relay         running text to other web processes over a channel layer that crosses them
"""
