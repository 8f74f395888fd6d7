"""Evidence: reads sources, splits them into passages, searches these, checks each quote."""
