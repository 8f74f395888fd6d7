"""Taking turns: what an agent sees, what is asked of its model, what comes of the reply."""
