"""Sources: retrieval output becomes what a reader is shown, small and stable."""
