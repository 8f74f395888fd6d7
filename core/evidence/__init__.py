"""Evidence: sources are read, cut into passages, searched, and every quote is checked."""
