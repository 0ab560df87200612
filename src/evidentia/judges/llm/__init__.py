"""The llm judge: a language model of the user's own choosing, asked over HTTP, held to account."""
