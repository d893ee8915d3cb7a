"""What the model is told, and how memory catches up.

base      Turn, Segment, Layer: the contract
registry  the layers of the settings, in order
read      assemble: one pass over the layers → segments → ledger → messages
ledger    segments to JSON and back, messages of a ledger
switches  whether memory is on
consent  whether text may go to another vendor
redline_records  what the filter stopped, masked
blocked   what the threat scan keeps out of prompts
rounds    a finished run as text that is shown again
tools     what the model may call
model     the one way memory asks a model (one MemoryOp per call)
calls     model calls of synchronous code: one event loop a process
endpoints  from rows to where text goes
catch_up  brings a thread's layers up to date
summary   old rounds become a rolling summary
summary_prompt  what the model is asked for it, and what is accepted
knowledge/  documents and the passages that answers cite
meaning/  search by meaning, for schools that have chosen an embedder
notes/    two bounded texts that a conversation keeps frozen
backends/  memory backends: a folder each
external/  a backend outside this program as a layer: asking, delivering, forgetting
recall/   what is kept of rounds for other conversations
layers/   one file per layer, two verbs each
"""
