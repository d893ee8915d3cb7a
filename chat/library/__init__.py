"""The knowledge base as people see it: plain values for its pages and for the sources of an answer.

shelves   the documents that a user sees, with filters, and one of them with its versions and passages
cards     one document in words: its state, its size, why it could not be read
sources   what the `[n]` marks of an answer lead to
uploads   files that come in, each with its own outcome
"""
