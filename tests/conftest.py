"""Setup of all tests: the environment's settings are hidden, and time limits fit slow machines.

Network access is blocked except to the loopback, and warnings are errors: see `[tool.pytest]`.
"""

import gc
import os
import re
import selectors
import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import CHROMIUM, HOW_TO_INSTALL
from tests.closing import close_what_comes_late
from tests.late import LateSelector, by_chance, make_commits_late, make_people_late
from tests.logs import process_kept
from tests.postgres import PostgresForTests, running_postgres

ENV_EXAMPLE = Path(__file__).parents[1] / ".env.example"
VARIABLES = re.findall(r"^([A-Z_]+)=", ENV_EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
#: In CI no test may be skipped.
IS_CI = os.environ.get("CI") == "true"  # noqa: TID251 - nobody sets the bot's settings here

#: A folder in memory. Every step of a debate is on disk before the next one begins, so that half of
#: the time of a test on a disk is waiting for it.
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes folders in it that only we can read
#: Most memory for the databases of all workers, PostgreSQL included.
MEMORY_NEEDED = 2 * 2**30

#: How hard Hypothesis tries: the first in `make test`, the second in `make test-slow`, the third by
#: hand.
PROFILES = {"small": 20, "large": 50, "thorough": 2000}
for _name, _examples in PROFILES.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
settings.load_profile("small")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take a seed for sockets, commits and people that are late."""
    words = (
        "Sockets, commits and people late by chance, as on a busy machine; failures repeat mostly."
    )
    parser.addoption("--late", type=int, metavar="SEED", help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Simulate late events if requested; use a folder in memory if there is enough."""
    close_what_comes_late()
    if (seed := config.getoption("late")) is not None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # noqa: TID251 - not the bot's
        draw = by_chance(f"{seed}/{worker}")
        # asyncio asks for it by this name whenever it makes a loop.
        selectors.DefaultSelector = partial(LateSelector, draw)
        make_commits_late(by_chance(f"commits/{seed}/{worker}"))
        from slack_on_loopback import Workspace  # noqa: PLC0415 - most tests need none

        hesitation = by_chance(f"people/{seed}/{worker}")
        make_people_late(Workspace, lambda: 2 * hesitation())
    elsewhere = "TMPDIR" in os.environ  # noqa: TID251 - somebody chose another place
    if elsewhere or not MEMORY.is_dir():
        return
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= MEMORY_NEEDED:
        tempfile.tempdir = str(MEMORY)


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Skip tests that need Chromium if it is not installed, except in CI."""
    if CHROMIUM or IS_CI:
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=HOW_TO_INSTALL))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude loaded modules from garbage collection, as the bot does."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line about tests skipped without Chromium."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    if count := sum(HOW_TO_INSTALL in reason for reason in reasons):
        terminalreporter.write_line(f"{count} tests in a browser were left out. {HOW_TO_INSTALL}")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide tokens and keys in the developer's environment."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(autouse=True)
def process_as_before() -> Iterator[None]:
    """Restore log handlers: a command's handler writes to a stream of its test."""
    with process_kept():
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresForTests]:
    """A PostgreSQL server, started when the first test asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def on_postgres(postgres: PostgresForTests) -> str:
    """The URL of an empty database on PostgreSQL, as SQLAlchemy writes it."""
    return postgres.fresh_database().replace("postgresql://", "postgresql+psycopg://")


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database: first a file, then a database on PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    url: str = request.getfixturevalue("on_postgres")
    return url
