"""Queries that are run now: read-only, within limits, their results kept in the lake."""
