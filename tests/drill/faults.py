"""What goes wrong in a drill: how it is brought about, ended, and what must tell of it."""

import asyncio
import shutil
import signal
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from dataclasses import dataclass, replace
from functools import partial

import psycopg

from slack_on_loopback import Workspace
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.postgres import PostgresForTests
from tests.vendors.script import Fault, Reject, Say


@dataclass
class Town:
    """Everything that can be hurt."""

    workspace: Workspace
    machine: Machine
    models: DrillModels
    #: Seconds that the fault lasts.
    seconds: float
    #: None: the database is a file.
    postgres: PostgresForTests | None = None


class Impossible(Exception):
    """This machine does not allow it."""


Hurt = Callable[[Town], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One row of the drill."""

    what: str
    #: Hurts for as long as its block lasts.
    hurt: Hurt
    #: Patterns that `/health`, the log, the figures and `moot doctor` must answer to while it
    #: lasts or right after it; empty: it is none of their business.
    health: str = ""
    log: str = ""
    figure: str = ""
    doctor: str = ""
    #: A pattern that the threads must answer to in the end.
    shown: str = ""
    #: Whether it ends; else debates are decided in spite of it.
    ends: bool = True
    #: Whether the process is ended and started again by the fault itself.
    restarts: bool = False
    on_postgres: bool = False
    small_disk: bool = False
    own_clock: bool = False
    #: Seconds that a turn may take, and that a model takes for each.
    turn_seconds: float = 60.0
    model_seconds: float = 1.5
    #: What happened meanwhile is known to Slack only, as after every backup that is restored.
    forgets: bool = False
    #: A command may be done afterwards, though Slack said that it failed and it was typed again.
    repeats: bool = False


@asynccontextmanager
async def locked(town: Town) -> AsyncGenerator[None]:
    """Another program holds the write lock."""
    with closing(sqlite3.connect(town.machine.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


@asynccontextmanager
async def full(town: Town) -> AsyncGenerator[None]:
    """Not a byte is free."""
    filler = town.machine.disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(65536)) == 65536:
            pass
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"\0"):
            pass
    yield
    filler.unlink()


@asynccontextmanager
async def moved(town: Town) -> AsyncGenerator[None]:
    """The file is moved away, and put back later."""
    aside = town.machine.disk / "aside.db"
    town.machine.file.rename(aside)
    yield
    aside.rename(town.machine.file)


@asynccontextmanager
async def replaced(town: Town) -> AsyncGenerator[None]:
    """A copy is put in the file's place; later the file comes back."""
    aside = town.machine.disk / "aside.db"
    town.machine.file.rename(aside)
    shutil.copyfile(aside, town.machine.file)
    yield
    aside.rename(town.machine.file)


@asynccontextmanager
async def deleted(town: Town) -> AsyncGenerator[None]:
    """The file is deleted for good; a backup of a moment before is restored."""
    backup = town.machine.folder / "backup.db"
    said = await town.machine.moot("backup", str(backup))
    assert said.code == 0, said.text
    town.machine.file.unlink()
    yield
    if town.machine.process:
        await town.machine.stop()
    said = await town.machine.moot("restore", str(backup))
    assert said.code == 0, said.text
    await town.machine.start()


@asynccontextmanager
async def restored(town: Town) -> AsyncGenerator[None]:
    """A backup made in the middle of the debate is restored after its end."""
    backup = town.machine.folder / "backup.db"
    said = await town.machine.moot("backup", str(backup))
    assert said.code == 0, said.text
    yield
    if town.machine.process:
        await town.machine.stop()
    said = await town.machine.moot("restore", str(backup))
    assert said.code == 0, said.text
    await town.machine.start()


@asynccontextmanager
async def clock_by(seconds: int, town: Town) -> AsyncGenerator[None]:
    """The clock jumps, and later jumps back."""
    town.machine.put_clock(seconds)
    yield
    town.machine.put_clock(0)


@asynccontextmanager
async def frozen(town: Town) -> AsyncGenerator[None]:
    """The process is stopped, and goes on later."""
    process = town.machine.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    yield
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def away(town: Town) -> AsyncGenerator[None]:
    """Nobody listens for longer than Slack repeats."""
    await town.machine.stop()
    yield
    await asyncio.sleep(sum(town.workspace.runtime.config.pace.redelivery_delays) + 1)
    await town.machine.start()


@asynccontextmanager
async def server_down(town: Town) -> AsyncGenerator[None]:
    """The database server is stopped, and started later."""
    assert town.postgres is not None
    await asyncio.to_thread(town.postgres.stop)
    yield
    await asyncio.to_thread(town.postgres.start)


@asynccontextmanager
async def connections_cut(town: Town) -> AsyncGenerator[None]:
    """All connections to the database server are cut again and again."""
    url = town.machine.database.replace("+psycopg", "")

    async def cut() -> None:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as own:
            while True:
                await own.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                await asyncio.sleep(0.5)

    cutting = asyncio.create_task(cut())
    yield
    cutting.cancel()
    await asyncio.gather(cutting, return_exceptions=True)


@asynccontextmanager
async def answers_dropped(town: Town) -> AsyncGenerator[None]:
    """Slack does what it is asked and says nothing."""
    for method in ("chat.postMessage", "chat.update", "reactions.add", "pins.add"):
        town.workspace.faults.drop_after(method, times=None)
    yield
    town.workspace.faults.clear()


@asynccontextmanager
async def identity_unknown(town: Town) -> AsyncGenerator[None]:
    """Slack does not say who the bot is, from its first request after a start."""
    if town.machine.process:
        await town.machine.stop()
        await town.machine.start()
    town.workspace.faults.server_error("auth.test", times=None)
    yield
    town.workspace.faults.clear()


@asynccontextmanager
async def token_refused(town: Town) -> AsyncGenerator[None]:
    """Slack takes the token no more; somebody installs the app anew and restarts Moot with it."""
    town.workspace.revoke_token()
    yield
    if town.machine.process:
        await town.machine.stop()
    town.workspace.restore_token()
    await town.machine.start()


@asynccontextmanager
async def spoilt(make: Callable[[Say], Say | Reject], town: Town) -> AsyncGenerator[None]:
    """The model of one agent out of three does this, for good."""
    town.models.spoilt = make
    yield


@asynccontextmanager
async def digits(town: Town) -> AsyncGenerator[None]:
    """Somebody asks 3,900 digits."""
    with suppress(Exception):
        await town.workspace.command("priya", "general", "/debate", "1" * 3900)
    yield


_QUOTED = "x " * 16_000
#: Troubles of the database, and of a model, are told at the same places.
_of_database = partial(Trouble, health="database", figure=r'moot_health\{part="database"\} 0')
_of_model = partial(
    Trouble,
    log="turn failed",
    figure=r'moot_turns_total\{act="\w+",outcome="failed"\} [1-9]',
    shown=r"\*Simplicity\* failed",
    ends=False,
)

TROUBLES: dict[str, Trouble] = {
    "locked": _of_database(
        what="database locked",
        hurt=locked,
        log="locked by another program",
        doctor="says: database down",
    ),
    "full": _of_database(
        what="disk full",
        hurt=full,
        small_disk=True,
        log="is full. Free some space",
        doctor="MB are free",
    ),
    "moved": _of_database(
        what="database file moved away, put back",
        hurt=moved,
        log="deleted or replaced",
        doctor="was deleted while",
    ),
    "replaced": _of_database(
        what="database file replaced by a copy, put back",
        hurt=replaced,
        log="deleted or replaced",
        doctor="says: database down",
    ),
    "deleted": _of_database(
        what="database file deleted, backup restored",
        hurt=deleted,
        log="deleted or replaced",
        doctor="was deleted while",
        restarts=True,
        model_seconds=8,  # on a busy machine a backup begins seconds after it was asked for
    ),
    "restored": Trouble(
        what="backup of mid-debate restored",
        hurt=restored,
        restarts=True,
        model_seconds=8,  # on a busy machine a backup begins seconds after it was asked for
        forgets=True,
    ),
    "ahead": Trouble(
        what="clock an hour ahead, then right", hurt=partial(clock_by, 3600), own_clock=True
    ),
    "behind": Trouble(
        what="clock an hour behind, then right", hurt=partial(clock_by, -3600), own_clock=True
    ),
    "frozen": Trouble(what="process frozen", hurt=frozen, health="nobody answers", repeats=True),
    "away": Trouble(
        what="stopped for longer than Slack repeats",
        hurt=away,
        health="nobody answers",
        restarts=True,
    ),
    "server": _of_database(
        what="PostgreSQL stopped, started",
        hurt=server_down,
        on_postgres=True,
        log="does not answer",
        doctor="does not answer",
    ),
    "cut": Trouble(what="PostgreSQL cuts connections", hurt=connections_cut, on_postgres=True),
    "drops": Trouble(
        what="Slack accepts and drops the answer",
        hurt=answers_dropped,
        log="no answer from Slack",
        figure=r'moot_slack_errors_total\{reason="Unknown"\} [1-9]',
    ),
    "identity": Trouble(what="auth.test fails after a start", hurt=identity_unknown, restarts=True),
    "token": Trouble(
        what="token revoked, a good one given",
        hurt=token_refused,
        restarts=True,
        health="token",
        log="SLACK_BOT_TOKEN",
        figure=r'moot_slack_errors_total\{reason="Retry"\} [1-9]',
        doctor="token",
    ),
    "hangs": _of_model(
        what="a model hangs",
        hurt=partial(spoilt, lambda say: replace(say, fault=Fault.STALL)),
        turn_seconds=20,
    ),
    "drips": _of_model(
        what="a model sends a byte a second",
        hurt=partial(spoilt, lambda say: replace(say, fault=Fault.DRIP)),
        turn_seconds=20,
    ),
    "floods": _of_model(
        what="a model answers 5 MB",
        hurt=partial(spoilt, lambda say: replace(say, text="words " * 900_000)),
        turn_seconds=20,
    ),
    # Nothing can be read, so it counts as away: the others go on without it.
    "garbled": _of_model(
        what="a model answers invalid UTF-8",
        hurt=partial(spoilt, lambda say: replace(say, fault=Fault.NOT_UTF8)),
        turn_seconds=20,
        log="model away",
        figure=r'moot_events_total\{kind="model_went_away"\} [1-9]',
        shown=r"Simplicity \(compatible/shaky-1\) could not be asked",
    ),
    "quotes": _of_model(
        what="a vendor's error quotes 32 KB",
        hurt=partial(spoilt, lambda _: Reject(status=400, message=f"unsupported: {_QUOTED}")),
        turn_seconds=20,
    ),
    "digits": Trouble(what="somebody asks 3,900 digits", hurt=digits),
}
