"""Packs: one signed, bilingual file for every weighty decision: basis, actions, review."""
