"""Redaction: sensitive values replaced by numbered placeholders, recorded by keyed digest alone."""
