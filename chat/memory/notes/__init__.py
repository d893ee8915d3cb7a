"""Notes: two bounded texts, frozen for a conversation, written by tools, by reviews and by hand (seed 003, specs/notes_memory.md).

base      the words that all of it shares: Place, Write, Author, Result, Live
snapshot  what a thread's system prompt says of them, frozen
guide     the first-use guide that is frozen with it
tools     the six tools of the chat model
intent    whether a message itself asks for a change
overlap   whether what is noted comes out of the message that asked
shortcut  "记住：…" where the model has no tools
review    a background review from its row to its end
review_due  when one is due, and which rounds it looks at
review_transcript  those rounds as it reads them
review_prompt  what the model is told
review_talk  its steps, its time, its retry
review_tools  what it is offered
review_calls  what of that is carried out, at once or waiting
review_gate  which proposals are let through at all
review_vendor  to which model service it goes
review_report  what was done, from the log
storage   the contract of where texts are kept; files and rows keep it
files     texts as files under DATA_DIR/notes
erasing   what was removed goes for good: after its time for undo, or when its teacher says so
told      the same, in frozen notes and ledgers
lost      folders whose owner is gone
aside     those that were put aside, and how they come back
survey    all stores there are, and which storage is in use
moving    bringing texts from the other storage
rows      texts as rows of NoteText
entries   the format: parse, join, size, usage, previews
matching  which entry `old_text` means
batch     what a write makes of the entries
screen    the checks before any lock
refusals  why a write is refused, and what the model is told
answers   what the model is told of a success, and what memory_show shows
shown     an entry as a model may see it
store     looking, writing, showing, and editing by hand
journal   the log of what was done
decide    what a person decides: yes, no, undo
guard     the loop protection of a run
"""
