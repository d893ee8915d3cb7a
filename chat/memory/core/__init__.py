"""Core memory: what is proposed, what people decide, what is used (seed 000 §4, DESIGN §5 L2).

wording   the normal form of a fact, look-alikes, contradictions
propose   candidates from extraction and import: merged, dropped or stored
decide    every action of a person; the only code that confirms
extract   what the model is asked after a run, and what is accepted of its answer
portable  export and import as JSON
"""
