"""PUBLIC doubles for tests: a vendor's server on the loopback that can fail in every known way."""
