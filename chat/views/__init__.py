"""Pages: parse and answer, decide nothing.

urls      the addresses
chat      home, a new conversation, a conversation, sending by form
threads   conversations as things: lists, title, archive, summary, export
thread_notes  the notes of a conversation: read again, the first words skipped
search    the words of people's own conversations
runs      rounds as things: ledger, stop, retry, tries, source
memory    the panel: what waits, what is confirmed, and every action on it
memory_context  what the templates of the panel get
memory_files    core memory as a file, out and in
knowledge  the documents of a teacher and of their school, and every change without a file
knowledge_files  files that come in
notes     both texts of the notes, and what a person changes in them by hand
notes_context   what the templates of the notes get
notes_files     the notes as files
notes_op        one change of notes, decided on or taken back
notes_bulk      the same decision on several
settings  preferences, memory switch, password, API tokens
external  what a memory backend keeps: listed, searched, forgotten
consents  answers to what is asked before text goes to another vendor
tenants   the switch between schools
"""
