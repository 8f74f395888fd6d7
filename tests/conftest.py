"""For all tests: settings of the person who runs them stay outside, and slow machines are fine.

The network is shut but for the loopback, and warnings are errors: see `[tool.pytest]`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres import PostgresForTests, running_postgres

ENV_EXAMPLE = Path(__file__).parents[1] / ".env.example"
VARIABLES = re.findall(r"^([A-Z_]+)=", ENV_EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)

settings.register_profile("moot", deadline=None)
settings.load_profile("moot")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the tokens and keys of whoever runs the tests."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


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
