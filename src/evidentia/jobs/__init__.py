"""Work that takes longer than a request, or must not be done in the process that answers."""
