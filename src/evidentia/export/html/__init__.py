"""Pages that work alone: one to verify files on, and ledgers and packs that verify themselves."""
