"""What exists: documents read into pages, headings and chunks, and found again by their words."""
