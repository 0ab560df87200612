"""Reading: a file's bytes become pages of text and headings, or an error that says what to do."""
