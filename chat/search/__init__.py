"""Search over an owner's own rows.

index       packed postings, written incrementally
score       BM25, neighbours, dates, conversation, and the gate in [0, 1]
query       a question in, records by number out
held        blocks of vectors that this process has read, bounded
vectors     packed vectors, and how near records are to a question in meaning
"""
