"""Wire formats of a ledger: its claims and verdicts as parts of a stream, beside the answer.

A part is plain data of its own (`spec/v1/parts.md`); each protocol carries it where its clients
leave aside what they don't know. All of it is pure, and imports no vendor's library.
"""
