"""Core memory: what is proposed, what people decide, what is used (seed 000 §4, DESIGN §5 L2).

wording   the normal form of a fact, look-alikes, contradictions
decide    every action of a person; the only code that confirms
keep      how a fact is kept: checks, twins, room
room      thirty confirmed facts a scope, and which one goes
journal   one action with all that it changed
undo      takes an action back
"""
