"""What one model call is made of: turns at a cold cache, money held, replies read."""
