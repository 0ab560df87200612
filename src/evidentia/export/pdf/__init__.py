"""PDFs: packs and ledgers as documents that prove themselves."""
