"""How debates are shared out: all in this process, or among replicas."""

from functools import partial
from typing import Protocol

from bot.running.debate_runner import DebateEngine, Heartbeat, Runner
from bot.running.debates import LocalRunner
from core.errors import ConfigurationBroken
from core.ports import Clock, DebateStore


class MakeRunner(Protocol):
    """Makes what keeps the debates going."""

    def __call__(self, *, engine: DebateEngine, store: DebateStore, clock: Clock) -> Runner:
        """Return it; nothing is advanced before its start."""
        ...


def runner_for(url: str, beat: Heartbeat | None = None) -> MakeRunner:
    """Return what makes the runner that goes with this database.

    Args:
        url: SQLAlchemy's URL.
        beat: How soon a dead replica is noticed; None: the usual.

    Raises:
        ConfigurationBroken: PostgreSQL is asked for, but its packages are not installed.
    """
    if not url.startswith("postgresql"):
        return partial(LocalRunner, waits_for_start=True)
    try:
        from bot.running.replica_debates import ReplicatedRunner  # noqa: PLC0415 - an extra's packages
    except ModuleNotFoundError as error:
        raise ConfigurationBroken(
            f"PostgreSQL needs the package {error.name}. Type `make extras` in a checkout; "
            "docs/deploy.md says how elsewhere."
        ) from error
    return partial(ReplicatedRunner, url=url, beat=beat or Heartbeat())
