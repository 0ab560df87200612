"""The ledger: whether each claim of an answer holds, and on which passage."""
