"""Context strategies: what stands in for older turns in a prompt."""
