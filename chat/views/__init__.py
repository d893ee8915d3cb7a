"""Pages: parse and answer, decide nothing.

urls      the addresses
chat      home, a new conversation, a conversation, sending by form
threads   conversations as things: lists, title, archive, summary, export
search    the words of people's own conversations
runs      rounds as things: ledger, stop, retry, tries, source
memory    the panel: what waits, what is confirmed, and every action on it
memory_context  what the templates of the panel get
memory_files    core memory as a file, out and in
knowledge  the documents of a teacher and of their school, and every change without a file
knowledge_files  files that come in
settings  preferences, memory switch, password, API tokens
consents  answers to what is asked before text goes to another vendor
tenants   the switch between schools
"""
