"""Where evidence is kept: the tables, all SQL, and the differences between databases."""
