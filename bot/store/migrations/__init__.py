"""How the tables of the Slack side came to be, step by step."""
