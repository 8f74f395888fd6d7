"""How debates are shared out: all in this process, or among replicas."""

from typing import Protocol

from bot.running.debate_runner import DebateEngine, Heartbeat, Runner
from bot.running.debates import LocalRunner
from core.errors import ConfigurationBroken
from core.ports import Clock, DebateStore


class Cluster(Protocol):
    """Makes what shares the work out."""

    def runner(self, engine: DebateEngine, store: DebateStore, clock: Clock) -> Runner:
        """Return what keeps the debates going."""
        ...

    async def start(self) -> None:
        """Begin, once everything is made.

        Raises:
            StoreDown: The database does not answer.
        """
        ...

    async def close(self) -> None:
        """Free connections."""
        ...


class SingleProcess:
    """One process has everything; nothing is forgotten that it does not find when it starts."""

    def runner(self, engine: DebateEngine, store: DebateStore, clock: Clock) -> Runner:
        """Return what advances debates in this process."""
        return LocalRunner(engine=engine, store=store, clock=clock, waits_for_start=True)

    async def start(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do."""


def sharing_of(url: str, beat: Heartbeat | None = None) -> Cluster:
    """Return how work is shared out with this database.

    Args:
        url: SQLAlchemy's URL.
        beat: How soon a dead replica is noticed; None: the usual.

    Raises:
        ConfigurationBroken: PostgreSQL is asked for, but its packages are not installed.
    """
    if not url.startswith("postgresql"):
        return SingleProcess()
    try:
        from bot.running.replica_debates import PostgresCluster  # noqa: PLC0415 - an extra's packages
    except ModuleNotFoundError as error:
        raise ConfigurationBroken(
            f"PostgreSQL needs the package {error.name}. Type `make extras` in a checkout; "
            "docs/deploy.md says how elsewhere."
        ) from error
    return PostgresCluster(url, beat or Heartbeat())
