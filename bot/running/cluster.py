"""How debates are shared out: all in this process, or among replicas."""

from bot.running.debate_runner import DebateEngine, Heartbeat, Runner
from bot.running.debates import LocalRunner
from core.errors import ConfigurationBroken
from core.ports import Clock, DebateStore


def runner_for(
    url: str, beat: Heartbeat, *, engine: DebateEngine, store: DebateStore, clock: Clock
) -> Runner:
    """Return what keeps debates going with this database; nothing is advanced before its start.

    Args:
        url: SQLAlchemy's URL.
        beat: How soon a dead replica is noticed.
        engine: Advances debates.
        store: Has their logs.
        clock: Time for pauses.

    Raises:
        ConfigurationBroken: PostgreSQL is asked for, but its packages are not installed.
    """
    if not url.startswith("postgresql"):
        return LocalRunner(engine=engine, store=store, clock=clock, waits_for_start=True)
    try:
        from bot.running.replica_debates import ReplicatedRunner  # noqa: PLC0415 - an extra's packages
    except ModuleNotFoundError as error:
        raise ConfigurationBroken(
            f"PostgreSQL needs the package {error.name}. Type `make extras` in a checkout; "
            "docs/deploy.md says how elsewhere."
        ) from error
    return ReplicatedRunner(engine=engine, store=store, clock=clock, url=url, beat=beat)
