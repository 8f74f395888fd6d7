"""How the tables of debates came to be, step by step."""
