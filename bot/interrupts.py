"""What Ctrl-C does once a command's work has begun; before, it ends the process at once.

A KeyboardInterrupt in the middle of an import becomes whatever the imported package makes of it:
pydantic reports a value that is wrong, Python a RuntimeError.
"""

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def raise_at_ctrl_c() -> None:
    """Have Ctrl-C raise KeyboardInterrupt, for work that has to tidy up."""
    if threading.current_thread() is threading.main_thread():  # no other one gets signals
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's work to its end; the first Ctrl-C cancels it."""
    raise_at_ctrl_c()
    return asyncio.run(work)


def stop_signal() -> asyncio.Event:
    """What Ctrl-C and SIGTERM set; a second one ends the program at once."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        stopped.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return stopped
