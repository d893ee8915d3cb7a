"""A memory server on loopback that keeps the recorded contract of OpenViking 0.5.2, as far as this product uses it.

What it answers was compared with the real server (tests/openviking/test_contract.py). It extracts by rule and at once,
and can be told to misbehave.

extract   what becomes a memory, and how well it fits a query
state     what is kept: sessions, tasks, memories; on disk where a file is given, so that it can be killed
contract  endpoints
bodies    what answers and errors look like
faults    ways to misbehave
server    sockets; `Server` in a thread of the test
process   `ServerProcess`, the same as a process of its own that can be killed
in_force  the product with this server as its memory backend
"""
