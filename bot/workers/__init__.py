"""Several workers of one bot on one machine, and the supervisor that starts them."""
