"""Public test doubles: a vendor's server on the loopback with all known failures."""
