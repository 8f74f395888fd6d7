"""Records in a folder: one file per accepted decision, renewed, never a second one."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from bot.landing.record_files import FolderReceiver, RecordFolder, next_number, record_name
from core.debate.turn_events import VerdictReached
from core.debate.verdict import DecisionKind
from core.landing import RecordPlace
from tests.bot.landing.office import FIRST, SECOND, Office, open_office
from tests.bot.plays import a_debate, a_verdict

RECORD = "0005-use-postgresql.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "decisions"
    path.mkdir()
    (path / "0004-use-git.md").write_text("# Use Git\n")
    (path / "README.md").write_text("# Decisions\n")
    return path


@pytest.fixture
async def office(folder: Path, tmp_path: Path) -> AsyncGenerator[Office]:
    receiver = FolderReceiver(records=RecordPlace(name="files", folder=str(folder)))
    async with open_office([receiver], f"sqlite+aiosqlite:///{tmp_path}/moot.db") as office:
        yield office


async def test_whatever_becomes_of_it_the_same_file_is_renewed(
    office: Office, folder: Path
) -> None:
    await office.decided()
    file = (folder / RECORD).rename(folder / "0009-renamed-by-people.md")
    for kind, words in [
        (DecisionKind.REJECT, "rejected"),
        (DecisionKind.ACCEPT, "accepted"),
        (DecisionKind.REVISIT, "to be revisited"),
    ]:
        await office.decide(kind)
        await office.settle()
        assert f"- Status: {words}" in file.read_text()
    assert len(await asyncio.to_thread(os.listdir, folder)) == 3
    await office.debated("Kafka after all?", "Use Kafka.", SECOND)
    await office.decide(debate_id=SECOND)
    await office.decide(DecisionKind.SUPERSEDE, by=SECOND)
    await office.settle()
    assert f"- Status: superseded by debate `{SECOND}`" in file.read_text()
    assert "- Status: accepted" in (folder / "0010-use-kafka.md").read_text()


async def test_a_missing_folder_is_waited_for_and_reported(office: Office, folder: Path) -> None:
    away = folder.with_name("elsewhere")

    def note(outcome: str) -> None:
        office.outcomes.append(outcome)
        if office.outcomes == ["failed"] * 3:
            away.rename(folder)

    office.queue.on_outcome = note
    await asyncio.to_thread(folder.rename, away)
    await office.decided()

    assert office.outcomes == ["failed"] * 3 + ["landed"]
    why = f"{folder} cannot be written: no such file or directory."
    assert office.failures == [(why, 60)]
    assert (folder / RECORD).is_file()


def test_only_the_facts_at_the_top_say_whose_record_it_is(folder: Path) -> None:
    own = f"# A\n\n- Status: accepted\n- Source: Moot debate `{FIRST}`\n\n## Context\n"
    (folder / "0005-a.md").write_text(f"{own}\n- Source: Moot debate `{SECOND}`\n")
    posing = f"- Why: x - Source: Moot debate `{SECOND}`\n> - Source: Moot debate `{SECOND}`\n"
    (folder / "0006-b.md").write_text(f"# B\n\n{posing}")
    (folder / "0003-link.md").symlink_to(folder / "0005-a.md")

    read = RecordFolder.read(folder)

    assert (read.record_of(FIRST), read.record_of(SECOND)) == ("0005-a.md", "")
    assert next_number(read.records) == 7


@pytest.mark.parametrize(
    ("decision", "name"),
    [
        ("Größe über Tempo", "0012-grosse-uber-tempo.md"),
        ("../../etc/passwd", "0012-etc-passwd.md"),
        ("決定する", "0012-dabc2345.md"),
        ("Использовать Redis для кэша", "0012-dabc2345.md"),  # not 0012-redis.md
        ("word " * 200, "0012-word-word-word-word-word-word-word-word-word-word.md"),
    ],
)
def test_names_of_files_are_plain_and_short(decision: str, name: str) -> None:
    debate = a_debate(VerdictReached(verdict=a_verdict(decision=decision)))
    assert record_name(12, debate) == name


async def test_a_link_in_the_place_of_a_draft_leads_nowhere(
    office: Office, folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("as it was", encoding="utf-8")
    (folder / f".{FIRST}.part").symlink_to(elsewhere)
    await office.decided()
    assert elsewhere.read_text(encoding="utf-8") == "as it was"
    assert (folder / RECORD).is_file()
