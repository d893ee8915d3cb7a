"""OpenViking, a memory server of its own, over HTTP (seed 002; supported version: 0.5.2 in trusted mode).

Nothing of the program but `chat.memory.backends.base` is imported here, and nothing of OpenViking at all.

config      what the operator may set, checked
errors      what can go wrong, with nothing secret in it
scope       whose memory: account, hashed user, session
messages    what is sent, and what never is
models      what the server answers, checked
events      what is logged and counted about it
calls       one call: connections, limits, retries, envelope
client      the calls that there are
delivery    a batch, a commit and the mark of a conversation, step by step
reading     what is remembered, cleaned of what is not ours
forgetting  everything of a user, or of a conversation, is deleted there
manager     OpenVikingManager
"""

from chat.memory.backends.openviking.manager import OpenVikingManager

MANAGER_CLASS = OpenVikingManager
