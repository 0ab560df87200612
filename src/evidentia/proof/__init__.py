"""Proofs: what a stranger checks with nothing but a file and a public key in hand."""
