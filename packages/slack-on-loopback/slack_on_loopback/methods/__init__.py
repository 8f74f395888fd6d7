"""Web API methods, one module per family; each has a `METHODS` table."""
