"""Many workspaces: how Moot is installed in each, and how their tokens are kept."""
