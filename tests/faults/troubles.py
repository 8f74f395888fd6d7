"""Troubles: the start and the end of each, and the places that must report it."""

import asyncio
import io
import shutil
import signal
import sqlite3
import subprocess
import tarfile
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from dataclasses import dataclass, replace
from functools import partial

import psycopg

from tests.faults.machine import ROOT, Machine
from tests.faults.site import Site
from tests.vendors.script import Fault, Reject, Say


class Impossible(Exception):
    """The machine cannot run this trouble."""


Hurt = Callable[[Site], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, kw_only=True)
class Trouble:
    what: str
    #: Causes the trouble while its block runs.
    hurt: Hurt
    #: Patterns that `/health`, the log, the metrics and `moot doctor` must match during the trouble
    #: or right after it; empty: they do not report it.
    health: str = ""
    log: str = ""
    figure: str = ""
    doctor: str = ""
    #: A pattern that the threads must match in the end.
    shown: str = ""
    #: Whether it ends; else debates end during the trouble.
    ends: bool = True
    #: Whether the process is ended and started again by the fault itself.
    restarts: bool = False
    on_postgres: bool = False
    replicas: int = 1
    #: Whether it begins in the version of Moot before the last change of tables.
    older: bool = False
    #: Whether the health page must answer in time all along.
    answers: bool = False
    #: Seconds that it lasts at least.
    least: float = 0.0
    small_disk: bool = False
    own_clock: bool = False
    #: Time limit of a turn, and the time of a model's reply, in seconds.
    turn_seconds: float = 60.0
    model_seconds: float = 1.5
    #: Whether debates are held until somebody resumes them.
    holds: bool = False
    #: Events after the backup exist in Slack only, as after every restore.
    forgets: bool = False
    #: A command may run twice: Slack reported a failure, and it was typed again.
    repeats: bool = False


@asynccontextmanager
async def locked(site: Site) -> AsyncGenerator[None]:
    with closing(sqlite3.connect(site.machine.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")


@asynccontextmanager
async def full(site: Site) -> AsyncGenerator[None]:
    filler = site.machine.disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(65536)) == 65536:
            pass
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(b"\0"):
            pass
    yield
    filler.unlink()


@asynccontextmanager
async def moved(site: Site, *, replaced: bool = False) -> AsyncGenerator[None]:
    aside = site.machine.disk / "aside.db"
    site.machine.file.rename(aside)
    if replaced:
        shutil.copyfile(aside, site.machine.file)
    yield
    aside.rename(site.machine.file)


@asynccontextmanager
async def restored(site: Site, *, deleted: bool = False) -> AsyncGenerator[None]:
    """A backup made in the middle of the debate is restored after its end, or after a loss."""
    backup = str(site.machine.folder / "backup.db")
    # On a busy machine a backup begins seconds late: no debate may end before it.
    usual, site.models.wait = site.models.wait, 40.0
    backup_run = await site.machine.moot("backup", backup)
    assert backup_run.code == 0, backup_run.text
    site.models.wait = usual
    if deleted:
        site.machine.file.unlink()
    yield
    if site.machine.process:
        await site.machine.stop()
    restore_run = await site.machine.moot("restore", backup)
    assert restore_run.code == 0, restore_run.text
    await site.machine.start()


@asynccontextmanager
async def clock_by(seconds: int, site: Site) -> AsyncGenerator[None]:
    site.machine.put_clock(seconds)
    yield
    site.machine.put_clock(0)


@asynccontextmanager
async def frozen(site: Site) -> AsyncGenerator[None]:
    process = site.machine.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    yield
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def away(site: Site) -> AsyncGenerator[None]:
    """The bot is away for longer than Slack's retries."""
    await site.machine.stop()
    yield
    await asyncio.sleep(sum(site.workspace.runtime.config.pace.redelivery_delays) + 1)
    await site.machine.start()


@asynccontextmanager
async def server_down(site: Site) -> AsyncGenerator[None]:
    assert site.server is not None
    await asyncio.to_thread(site.server.stop)
    yield
    await asyncio.to_thread(site.server.start)


@asynccontextmanager
async def connections_cut(site: Site) -> AsyncGenerator[None]:
    url = site.machine.database.replace("+psycopg", "")

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
async def answers_dropped(site: Site) -> AsyncGenerator[None]:
    for method in ("chat.postMessage", "chat.update", "reactions.add", "pins.add"):
        site.workspace.faults.drop_after(method, times=None)
    yield
    site.workspace.faults.clear()


@asynccontextmanager
async def identity_unknown(site: Site) -> AsyncGenerator[None]:
    """Slack does not say who the bot is, from its first request after a start."""
    if site.machine.process:
        await site.machine.stop()
        await site.machine.start()
    site.workspace.faults.server_error("auth.test", times=None)
    yield
    site.workspace.faults.clear()


@asynccontextmanager
async def token_refused(site: Site) -> AsyncGenerator[None]:
    site.workspace.revoke_token()
    yield
    if site.machine.process:
        await site.machine.stop()
    site.workspace.restore_token()
    await site.machine.start()


@asynccontextmanager
async def spoilt(make: Callable[[Say], Say | Reject], site: Site) -> AsyncGenerator[None]:
    site.models.spoilt = make
    yield


@asynccontextmanager
async def digits(site: Site) -> AsyncGenerator[None]:
    """Somebody asks 3,900 digits."""
    with suppress(Exception):
        await site.workspace.command("priya", "general", "/debate", "1" * 3900)
    yield


@asynccontextmanager
async def upgraded(site: Site) -> AsyncGenerator[None]:
    code, _ = await site.machine.stop()
    assert code == 0
    yield
    site.machine.variables.clear()
    await site.machine.start()


#: A commit whose tests passed, before the newest change of the tables.
_BEFORE_TABLES_CHANGED = "224844f4"


async def make_older(machine: Machine) -> None:
    """Have a machine run the version of Moot before the last change of tables.

    Raises:
        Impossible: The history is not here.
    """
    folder = machine.folder / "before"
    try:
        packed = _git("archive", _BEFORE_TABLES_CHANGED, "bot", "core", "manifest.yaml")
    except subprocess.CalledProcessError as error:
        raise Impossible("the history of the repository is not here") from error
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder, filter="data")
    machine.variables["PYTHONPATH"] = str(folder)


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S603, S607


_QUOTED = "x " * 16_000
#: Troubles of the database, and of a model, are reported at the same places.
_of_database = partial(Trouble, health="database", figure=r'moot_health\{part="database"\} 0')
_of_model = partial(
    Trouble,
    log="turn failed",
    figure=r'moot_turns_total\{act="\w+",outcome="failed"\} [1-9]',
    shown=r"\*Simplicity\* failed",
    ends=False,
    answers=True,
    turn_seconds=20,
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
        hurt=partial(moved, replaced=True),
        log="deleted or replaced",
        doctor="says: database down",
    ),
    "deleted": _of_database(
        what="database file deleted, backup restored",
        hurt=partial(restored, deleted=True),
        holds=True,
        log="deleted or replaced",
        doctor="was deleted while",
        restarts=True,
        model_seconds=8,
    ),
    "restored": Trouble(
        what="backup of mid-debate restored",
        hurt=restored,
        holds=True,
        restarts=True,
        model_seconds=8,
        forgets=True,
    ),
    "ahead": Trouble(
        what="clock an hour ahead, then right", hurt=partial(clock_by, 3600), own_clock=True
    ),
    "behind": Trouble(
        what="clock an hour behind, then right", hurt=partial(clock_by, -3600), own_clock=True
    ),
    "frozen": Trouble(what="process frozen", hurt=frozen, health="nobody answers", repeats=True),
    "thawed": Trouble(
        what="one of two processes frozen until the other has taken over",
        hurt=frozen,
        on_postgres=True,
        replicas=2,
        least=30.0,
        repeats=True,
    ),
    "upgraded": Trouble(
        what="tables changed by a new version", hurt=upgraded, older=True, restarts=True
    ),
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
    ),
    "drips": _of_model(
        what="a model sends a byte a second",
        hurt=partial(spoilt, lambda say: replace(say, fault=Fault.DRIP)),
    ),
    "floods": _of_model(
        what="a model answers 5 MB",
        hurt=partial(spoilt, lambda say: replace(say, text="words " * 900_000)),
    ),
    # No reply can be parsed, so the model counts as unavailable; the other agents continue.
    "garbled": _of_model(
        what="a model answers invalid UTF-8",
        hurt=partial(spoilt, lambda say: replace(say, fault=Fault.NOT_UTF8)),
        log="model away",
        figure=r'moot_events_total\{kind="model_went_away"\} [1-9]',
        shown=r"Simplicity \(compatible/shaky-1\) could not be asked",
    ),
    "quotes": _of_model(
        what="a vendor's error quotes 32 KB",
        hurt=partial(spoilt, lambda _: Reject(status=400, message=f"unsupported: {_QUOTED}")),
    ),
    "digits": Trouble(what="somebody asks 3,900 digits", hurt=digits, answers=True),
}
