"""The admin site: every row, within the walls of a school.

base      what all pages keep to: the school's rows only, texts only with permission
tenancy   schools, memberships, preferences, API tokens
embedder  a school's embedder: the form, and one call to try it
users     log-ins and groups, for superusers
agent     model services, assistants and their modes
thread    conversations and their summaries
run       rounds and ledgers
core      what waits and what is confirmed, to be read
recall    what is kept of rounds, to be read
knowledge how the documents of the school are doing
remote    how far conversations are at a memory backend, and what it did not capture, to be read
redlines  what the filter stopped, in numbers
notes     the two texts, what was done to them, and reviews, to be read
usage     memory operations
work      background work, layers, workers
overview  the figures above the index
"""

from chat.admin import agent, core, knowledge, notes, recall, redlines, remote, run, tenancy, thread, usage, users, work

__all__ = ["agent", "core", "knowledge", "notes", "recall", "redlines", "remote", "run", "tenancy", "thread", "usage", "users", "work"]
