"""What comes next and what counts: schedule, formats, history, votes, facts. Pure."""
