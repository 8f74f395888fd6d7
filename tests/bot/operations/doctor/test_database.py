"""What the doctor says about the database and its disk, and about a broken settings file."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from bot.building import open_store
from bot.operations.doctor.check_database import check_database
from bot.operations.doctor.examine import examine
from bot.operations.doctor.findings import CheckMark, as_text, exit_code
from bot.settings import BotSettings, read_settings


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BotSettings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOOT_DATABASE", str(tmp_path / "moot.db"))
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    return read_settings(None)


def made_by(version: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE moot_core_version SET version_num = ?", (version,))


def damaged(path: Path) -> None:
    content, page = path.read_bytes(), 4096
    path.write_bytes(content[: 2 * page] + b"\xff" * page + content[3 * page :])


def a_diary(path: Path) -> None:
    path.write_text("Dear diary, " * 500, encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "words", "code"),
    [
        (partial(made_by, "0001"), "brought up to date at its next start", 0),
        (partial(made_by, "9999"), "newer Moot (at 9999)", 1),
        (a_diary, "not a database", 1),
        (damaged, "is damaged", 1),
    ],
)
async def test_what_is_wrong_with_the_file_is_told(
    environment: BotSettings, spoil: Callable[[Path], None], words: str, code: int
) -> None:
    async with open_store(environment.moot_database):
        pass
    spoil(Path(environment.moot_database))
    findings = await check_database(environment)

    assert words in as_text(findings)
    assert exit_code(findings) == code


async def test_a_database_in_use_is_looked_at_without_disturbing(environment: BotSettings) -> None:
    async with open_store(environment.moot_database) as store:
        findings = await check_database(environment)
        assert list(await store.unfinished_ids()) == []
    assert "opens and is whole" in as_text(findings)
    assert exit_code(findings) == 0

    async with open_store(environment.moot_database):
        Path(environment.moot_database).unlink()  # noqa: ASYNC240 - at once
        text = as_text(await check_database(environment))
    assert "✗ database moot.db: was deleted while Moot was using it" in text
    assert "is not there yet" in as_text(await check_database(environment))


async def test_a_lock_that_another_program_holds_is_told(environment: BotSettings) -> None:
    async with open_store(environment.moot_database):
        pass
    with closing(sqlite3.connect(environment.moot_database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        text = as_text(await check_database(environment))
        other.execute("ROLLBACK")

    assert "✗ database moot.db: is locked by another program" in text
    assert "opens and is whole" in as_text(await check_database(environment))


async def test_a_broken_settings_file_is_the_first_line_and_a_matter_of_configuration(
    environment: BotSettings, tmp_path: Path
) -> None:
    file = tmp_path / "moot.yaml"
    file.write_text("debate: {roundz: 3}\n", encoding="utf-8")
    findings = await examine(environment, file)

    assert findings[0].mark is CheckMark.BAD
    assert "roundz is no setting" in findings[0].found
    assert exit_code(findings) == 4
