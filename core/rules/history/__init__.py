"""Context strategies: how older turns are shortened in prompts."""
