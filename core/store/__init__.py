"""Where debates are kept: one code for SQLite and PostgreSQL."""
