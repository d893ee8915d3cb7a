"""Files in: from bytes to passages.

base        the contract: Piece, Extracted, Limits, DocumentError
"""
