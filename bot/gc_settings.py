"""The interpreter set up for a process that serves many debates for weeks."""

import gc
import sys

#: Seconds one thread may keep the interpreter while another wants it; 5 ms by default. The
#: database has threads of its own, and a click waits for both of them in turn.
SWITCH_SECONDS = 0.001
#: Objects made before the young ones are looked through for cycles, then how often older ones
#: are; 700, 10, 10 by default.
THRESHOLDS = (20_000, 20, 50)


def load_quickly() -> None:
    """Call before loading: what is loaded stays, so looking it through for cycles is in vain."""
    gc.disable()


def settle_in() -> None:
    """Call once when everything is loaded and running.

    What is loaded by then stays, so it is never looked through for cycles again: that alone
    stopped everything for 150 ms at a time.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
