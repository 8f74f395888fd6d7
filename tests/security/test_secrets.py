"""Secrets of people and of Moot are not in the database file, prompts or logs."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import structlog

import bot.store.tables
import core.store.tables
from bot.listeners.context import place
from bot.log import set_up_logs
from bot.settings import LogFormat, LogLevel, read_settings
from bot.testing import BotSpec, Team, quick_workspace, running_bot
from core.debate.people import Person, Place
from core.debate.rules import Clarifying
from core.debate.state import Status
from core.errors import ConfigurationBroken
from core.opening import DebateRequest
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from slack_on_loopback import Workspace, run_workspace
from tests.security.sending import Log, logged

#: One for each input, so that a leak shows its place.
QUESTION, CONTEXT, NOTE, ANSWER, REFUSED = (
    f"xoxb-1234567890-{name}secret" for name in ("question", "context", "note", "answer", "refused")
)


@pytest.fixture
def log() -> Generator[Log]:
    with logged() as lines:
        yield lines


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    async with run_workspace(quick_workspace()) as slack:
        yield slack


def content(database: Path) -> bytes:
    """Return every byte of the database and the files beside it."""
    return b"".join(file.read_bytes() for file in sorted(database.parent.glob("moot.db*")))


async def a_whole_debate(team: Team) -> None:
    """Put a secret in everything that people can write."""
    asked_by = Person(id=team.workspace.user("dana").id)
    started = await team.moot.context.acts.start.start(
        DebateRequest(
            question=f"Is {QUESTION} a good token?",
            context=f"We also have {CONTEXT}.",
            asked_by=asked_by,
            place=here(team),
        ),
        origin="secrets",
    )
    assert any("secret" in warning for warning in started.setup.warnings)
    board = await team.board_of(started.debate_id)
    await team.workspace.wait_for(lambda: team.has_replied(board, "How many"))
    await team.say(f"1: A thousand, with {ANSWER}.", board)
    await team.say(f"Mind {NOTE}.", board)
    debate = await team.wait_for_end(board)
    assert debate.status is Status.CONCLUDED
    assert debate.answers


def here(team: Team) -> Place:
    return place(team.workspace.state.team_id, team.workspace.channel(team.channel).id)


async def test_secrets_people_paste_are_in_no_prompt_no_database_and_no_log(
    workspace: Workspace, tmp_path: Path, log: Log
) -> None:
    provider = ScriptedProvider()
    clarifying = Clarifying(enabled=True, wait_seconds=30)
    spec = BotSpec(provider=provider, clarifying=clarifying)
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
        await a_whole_debate(team)
        await team.say(f"@moot {'why ' * 1200}{REFUSED}?")
        await team.workspace.wait_for(team.ephemeral_texts)
        stored = content(tmp_path / "moot.db")
    prompts = "".join(part.text for request in provider.requests for part in (*request.parts,))
    for secret in (QUESTION, CONTEXT, NOTE, ANSWER, REFUSED):
        assert secret.encode() not in stored, secret
        assert secret not in prompts, secret
    assert "[redacted]" in prompts
    log.check(QUESTION, CONTEXT, NOTE, ANSWER, REFUSED)


async def test_no_token_of_ours_is_in_the_database_file(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with running_bot(workspace, database=tmp_path / "moot.db") as team:
        await team.wait_for_end(await team.debate("Kafka or PostgreSQL?"))
        stored = content(tmp_path / "moot.db")
    for token in (workspace.bot_token, workspace.app_token, workspace.signing_secret):
        assert token.encode() not in stored


def others_may(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o077 for file in folder.glob("moot.db*")}


async def test_the_database_file_is_its_owners_alone(workspace: Workspace, tmp_path: Path) -> None:
    async with running_bot(workspace, database=tmp_path / "moot.db"):
        modes = others_may(tmp_path)
    assert modes["moot.db"] == 0
    assert not any(modes.values())


async def test_question_and_notes_are_never_logged_even_when_debugging(
    workspace: Workspace, log: Log, tmp_path: Path
) -> None:
    async with running_bot(workspace, database=tmp_path / "moot.db") as team:
        board = await team.debate("Should the quokka project go on?")
        await team.say("The wombat depends on it.", board)
        await team.wait_for_end(board)
        assert await team.moot.store.find(DebateFilter())
    assert log.getvalue()
    log.check("quokka", "wombat", workspace.bot_token, workspace.app_token)


def test_our_own_keys_are_blanked_in_every_log_line() -> None:
    log = Log()
    with logged():
        set_up_logs(LogLevel.DEBUG, LogFormat.JSON, ["0123456789abcdef-our-key"], stream=log)
        for text in ("0123456789abcdef-our-key", "ghp_" + "a" * 36, "postgresql://u:pass@h/db"):
            structlog.stdlib.get_logger("bot.test").error("failed", reason=f"it was {text}")
    assert "our-key" not in log.getvalue()
    assert "aaaa" not in log.getvalue()
    assert ":pass@" not in log.getvalue()
    assert log.getvalue().count("[redacted]") == 3


def test_a_wrong_setting_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://ann:hunter2@models.example/v1")
    with pytest.raises(ConfigurationBroken) as caught:
        read_settings(None)
    assert "hunter2" not in str(caught.value)


def test_the_tables_have_no_column_for_a_token() -> None:
    columns = {
        column.name
        for metadata in (core.store.tables.METADATA, bot.store.tables.METADATA)
        for table in metadata.tables.values()
        for column in table.columns
    }
    # The id of a person's token gives no access; the token itself is stored as a hash.
    columns_of_tokens = {name for name in columns if "token" in name or "secret" in name}
    assert columns_of_tokens == {"token_id"}


async def test_a_secret_in_a_note_is_taken_out(workspace: Workspace, tmp_path: Path) -> None:
    clarifying = Clarifying(enabled=True, wait_seconds=30)
    spec = BotSpec(clarifying=clarifying)
    async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
        board = await team.debate("Kafka or PostgreSQL?")
        await team.workspace.wait_for(lambda: team.has_replied(board, "How many"))
        [entry] = await team.moot.store.find(DebateFilter())
        await team.moot.context.acts.steer.note.add(
            entry.debate_id, note_id="form", author=Person(id="U1"), text=f"See {NOTE}."
        )
        debate = await team.moot.context.acts.answer.facts.debate(entry.debate_id)
        assert [note.text for note in debate.notes] == ["See [redacted]."]
