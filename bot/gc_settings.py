"""Memory, garbage collection and thread switching for a process that runs for weeks."""

import gc
import os
import sys
from importlib import import_module

from core.hidden_packages import hidden

#: Seconds one thread may keep the interpreter while another wants it; 5 ms by default. The
#: database has threads of its own, and a click waits for both of them in turn.
SWITCH_SECONDS = 0.001
#: Objects made before the young ones are looked through for cycles, then how often older ones
#: are; 700, 10, 10 by default. To look through 20,000 young ones had stopped everything for 60 ms,
#: 2,000 take 12 ms at most and as much in all; older ones stay as rare as they were.
THRESHOLDS = (2_000, 200, 50)
#: M_ARENA_MAX of glibc's malloc.h: how many heaps threads may take memory from.
_MOST_HEAPS = -8
#: By these an operator chooses how glibc's malloc works.
_OPERATORS_CHOICE = ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")


def share_memory() -> None:
    """Have all threads take memory from one heap. To be called before there are threads.

    By itself glibc has one for every thread, up to eight by core. A row is read in a thread of the
    database and let go of in another, so each has holes that no other thread can use: they
    grew with each debate. Other allocators have no such heaps, and what an operator chose stays.
    """
    if any(name in os.environ for name in _OPERATORS_CHOICE):  # noqa: TID251 - glibc's, not ours
        return
    try:
        import ctypes  # noqa: PLC0415 - who runs `moot debate` must not wait for it

        program = ctypes.CDLL(None)
    except (ImportError, OSError):  # Python was built without it, or the program has no symbols
        return
    if (set_option := getattr(program, "mallopt", None)) is not None:
        set_option(_MOST_HEAPS, 1)


def load_quickly() -> None:
    """Turn garbage collection off while modules load: what is loaded is never garbage.

    To be called before anything large is loaded.
    """
    gc.disable()
    # It would load rich, for 50 ms, to print tracebacks in colours; ours are plain.
    with hidden("rich"):
        import_module("structlog")


def collect_again() -> None:
    """Turn garbage collection on again for a process that lives for one debate.

    What is loaded by then is not looked through first: somebody waits.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def settle_in() -> None:
    """Turn garbage collection on again, once everything is loaded and running.

    What is loaded by then is frozen, so the collector never scans it again: scanning it stopped
    the process for 150 ms at a time.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
