"""Alembic's entry: runs the revisions on the connection that `schema.upgrade` hands over."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
