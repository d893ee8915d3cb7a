"""Core memory: what is proposed, what people decide, what is used (seed 000 §4, DESIGN §5 L2).

wording   the normal form of a fact, look-alikes, contradictions
portable  export and import as JSON
extract   the write verb: a question to the model after each completed run
extract_prompt  what it is asked, and what is accepted of its answer
propose   candidates from extraction and import: merged, dropped or stored
decide    every action of a person; the only code that confirms
keep      how a fact is kept: checks, twins, room
room      thirty confirmed facts a scope, and which one goes
journal   one action with all that it changed
undo      takes an action back
use       which facts go into a prompt, and what is noted of it
sources   what was learnt from a thread, and what is left when it goes
"""
