"""How soon a dead replica is noticed."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Heartbeat:
    """Times in seconds. A dead replica's work goes on after `stalled` and `rescue` at most."""

    #: Between two signs of life.
    heartbeat: float = 5.0
    #: Without a sign of life for so long, a replica is dead.
    stalled: float = 20.0
    #: Between two looks for the dead; a whole number that divides 60.
    rescue: int = 5
    #: Between two looks for jobs that nobody announced.
    poll: float = 1.0
