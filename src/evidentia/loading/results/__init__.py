"""Results of queries, read in constant memory: only the rows that a bundle shows are parsed."""
