"""`moot doctor`: checks everything that Moot needs, and says how to correct problems."""
