"""Layers of memory, a file each, with the two verbs `read` and `catch_up`.

core     what the teacher has confirmed, and what may be learnt (L2)
external  what a memory backend outside this program remembers, in the place of recall
knowledge  passages of documents (L4)
notes    whether a review of the notes is due
recall   related rounds of other conversations (L3)
thread   the rolling summary and the last rounds of the conversation (L1)
"""
