"""Work that any replica may do, one at a time: queued in PostgreSQL by Procrastinate."""
