"""The schema's history, run by Alembic; `schema` runs it."""
