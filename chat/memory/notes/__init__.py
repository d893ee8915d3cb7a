"""Notes: two bounded texts, frozen for a conversation, written by tools, by reviews and by hand (seed 003, specs/notes_memory.md).

base      the words that all of it shares: Place, Write, Author, Result, Live
"""
