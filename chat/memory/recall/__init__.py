"""Recall (L3): what was said in other conversations comes back when it matters.

entries    what is kept of a run, and its place in the owner's search index
keep       the write verb: an entry for each completed run
find       the entries that a turn is about
vendors    which of them the service of a turn may have
log        entries as lines of JSON, out and in
"""
