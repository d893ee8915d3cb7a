"""The product: rooms from web down to text; imports go downwards only (tests/test_architecture.py).

web      consumers, views/, api/, forms, admin/, templatetags/, management/commands/, checks, middleware, context
runs/    the life of a run: start, execute, finish, events, stop, beat
jobs/    what works in the background: lease, sweep, worker loop
memory/  what the model is told: layers, segments, ledger; and how memory catches up
providers/  where text goes: one file per kind of model service
models/  rows
text/    pure functions on strings
"""
