"""Stores debates in a database: the same code for SQLite and PostgreSQL."""
