"""Pages that work alone: the one to verify files on, and ledgers and packs that verify themselves."""
