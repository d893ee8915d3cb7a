"""The memory panel: what its page, the drawer and the badge show of core memory, as plain values (UI.md).

badge    how much waits, and since when
lists    pages of candidates and facts, with filters and search
cards    one candidate or fact with what a person needs to decide on it
twins    what looks like a candidate
history  what happened to a fact, with its wording before and after
rules    what the filter's kinds and rules are called
threat_words  what the categories of the threat scan are called
waiting  all that waits in one list: changes of notes and candidates
last_action   what a person may take back
notes    the two notes: entries, and how full they are
note_ops      operations on notes, with the whole entries before and after
note_words    sentences about notes
external what a memory backend outside keeps and did not capture, and forgetting everything
words    sentences: outcomes of actions, ages
"""
