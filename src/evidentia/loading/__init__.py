"""What reads the outside world: files, documents, results and queries, and what runs elsewhere."""
