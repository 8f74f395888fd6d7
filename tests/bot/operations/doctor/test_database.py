"""What the doctor says about the database and its disk."""

import sqlite3
from contextlib import closing
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


async def new_database(environment: BotSettings) -> Path:
    async with open_store(environment.moot_database):
        pass
    return Path(environment.moot_database)


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


def write(environment: BotSettings, text: str) -> None:
    Path(environment.moot_database).write_text(text, encoding="utf-8")


def unlinked(environment: BotSettings) -> None:
    Path(environment.moot_database).unlink()


async def test_a_database_in_use_is_looked_at_without_disturbing(environment: BotSettings) -> None:
    async with open_store(environment.moot_database) as store:
        findings = await check_database(environment)
        assert list(await store.unfinished_ids()) == []

    assert "opens and is whole" in as_text(findings)
    assert exit_code(findings) == 0


async def test_tables_of_an_older_program_are_no_problem(environment: BotSettings) -> None:
    path = await new_database(environment)
    change(path, "UPDATE moot_core_version SET version_num = '0001'")

    assert "brought up to date at its next start" in as_text(await check_database(environment))


async def test_tables_of_a_newer_program_are_one(environment: BotSettings) -> None:
    path = await new_database(environment)
    change(path, "UPDATE moot_core_version SET version_num = '9999'")
    findings = await check_database(environment)

    assert "newer Moot (at 9999)" in as_text(findings)
    assert exit_code(findings) == 1


async def test_a_file_that_is_no_database_is_told(environment: BotSettings) -> None:
    write(environment, "Dear diary, " * 500)
    findings = await check_database(environment)

    assert exit_code(findings) == 1
    assert "not a database" in as_text(findings)


async def test_damage_is_found(environment: BotSettings) -> None:
    path = await new_database(environment)
    whole = path.read_bytes()
    page = 4096
    path.write_bytes(whole[: 2 * page] + b"\xff" * page + whole[3 * page :])
    findings = await check_database(environment)

    assert exit_code(findings) == 1


async def test_a_broken_settings_file_is_the_first_line_and_a_matter_of_configuration(
    environment: BotSettings, tmp_path: Path
) -> None:
    file = tmp_path / "moot.yaml"
    file.write_text("debate: {roundz: 3}\n", encoding="utf-8")
    findings = await examine(environment, file)

    assert findings[0].mark is CheckMark.BAD
    assert "roundz is no setting" in findings[0].found
    assert exit_code(findings) == 4


async def test_a_lock_that_another_program_holds_is_told(environment: BotSettings) -> None:
    path = await new_database(environment)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        text = as_text(await check_database(environment))
        other.execute("ROLLBACK")

    assert "✗ database moot.db: is locked by another program" in text
    assert "opens and is whole" in as_text(await check_database(environment))


async def test_a_file_that_was_deleted_under_the_bot_is_told(environment: BotSettings) -> None:
    async with open_store(environment.moot_database):
        unlinked(environment)
        text = as_text(await check_database(environment))
    assert "✗ database moot.db: was deleted while Moot was using it" in text
    assert "is not there yet" in as_text(await check_database(environment))
