"""The SQL: plain functions that take a connection, one module for each noun."""
