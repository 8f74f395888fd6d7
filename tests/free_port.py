"""A free port of the loopback for a program that takes one."""

import secrets
import socket


def free_port() -> int:
    """Return a free port.

    It is below those that systems give to connections by themselves. One of these may be taken by
    any test that connects somewhere before the program listens; who tries it until the program does
    may even be connected to itself.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as server:
            try:
                server.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
