"""Search by meaning, for schools that have chosen an embedder (DESIGN §8). Without one nothing here does anything.

embedder  a school's embedder, and how it is called
texts    what of a record is turned into numbers
fill     the worker's step: vectors for the records that have none
account  each call to an embedder is a MemoryOp
ask      the question's vector, beside the hop that starts a run
breaker  a service that does not answer is left alone for a while
trial    one call, to see whether an embedder works
"""
