"""Exports: a ledger as Markdown, JSON, SARIF or JUnit. Values in, text out."""
