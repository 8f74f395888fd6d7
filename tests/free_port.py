"""A port of the loopback for a program that has to be told one."""

import socket


def free_port() -> int:
    """Return a port that nobody listens on, as long as nobody else takes it first."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
