"""Who advances debates: in this process, or on many machines."""
