"""What the model is told, and how memory catches up.

base      Turn, Segment, Layer: the contract
registry  the layers of the settings, in order
read      assemble: one pass over the layers → segments → ledger → messages
ledger    segments to JSON and back, messages of a ledger
tools     what the model may call
model     the one way memory asks a model (one MemoryOp per call)
catch_up  brings a thread's layers up to date
layers/   one file per layer, two verbs each
"""
