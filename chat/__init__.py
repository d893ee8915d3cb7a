"""The product: rooms from web down to text; imports go downwards only (tests/test_architecture.py).

web      pages and API: urls, views/, api/, forms, templatetags/, middleware, context
         sockets: routing, consumers, viewer, actions, frames
         what they show of notes: note_lines, note_marks, notices
         what they show: presentation, transcript, sidebar, finding, consents, panel/, library/, catalogues (translations)
         what they show of a prompt: ledger_rows, ledger_sources
         the administrator's: admin/, roles, diagnosis, checks, corpus_check, redline_check, threat_check
         what is made on each machine: made_files
         processes: management/commands/, server, bodies, supervisor, warmup, apps
         the demo schools: demo, demo_assistants, demo_documents, demo_models
jobs/    what works in the background: lease, sweep, worker loop
runs/    the life of a run: start, execute, finish, events, stop, beat
memory/  what the model is told: layers, segments, ledger; and how memory catches up
providers/  where text goes: one file per kind of model service
documents/  files in: from bytes to passages
models/  rows
text/    pure functions on strings
"""
