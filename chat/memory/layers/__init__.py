"""Layers of memory, a file each, with the two verbs `read` and `catch_up`.

thread   the rolling summary and the last rounds of the conversation (L1)
"""
