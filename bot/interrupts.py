"""Handling of Ctrl-C while a command works; before that, Ctrl-C ends the process at once.

This is because packages turn a KeyboardInterrupt during their import into other errors.
"""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def raise_at_ctrl_c() -> None:
    """Let Ctrl-C raise KeyboardInterrupt, for work that must clean up."""
    if threading.current_thread() is threading.main_thread():  # signals can be set there only
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work to its end; the first Ctrl-C cancels it."""
    raise_at_ctrl_c()
    return asyncio.run(work)


def stop_signal() -> asyncio.Event:
    """An event that Ctrl-C or SIGTERM sets; a second signal ends the program at once."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        event.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return event
