"""All kinds of messages through the HTTP server: their authors and their text."""

import itertools
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.slack.client import slack_client
from bot.slack.ids import ActionId
from bot.testing import BotSpec, Team
from core.debate.state import Debate
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from tests.security.sending import http_team, send

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
_NUMBERS = itertools.count(1)


@pytest.fixture
async def team(models: ScriptedProvider) -> AsyncGenerator[Team]:
    async with http_team(BotSpec(provider=models, rounds=1, http=True)) as team:
        yield team


def an_event(team: Team, kind: str, text: str, **changes: Any) -> dict[str, Any]:
    """The event of a message by Dana, with changes to its fields."""
    number, state = next(_NUMBERS), team.workspace.state
    message = {
        "type": kind,
        "channel": team.workspace.channel(team.channel).id,
        "user": changes.get("user") or team.workspace.user("dana").id,
        "text": text,
        "ts": f"{1_764_000_000 + number}.000100",
    }
    return {
        "type": "event_callback",
        "team_id": state.team_id,
        "api_app_id": team.workspace.app.id,
        "event_id": f"Ev{number}",
        "event": {**message, **changes},
    }


async def mention(team: Team, text: str, **changes: Any) -> None:
    text = f"<@{team.workspace.app.bot_user}> {text}"
    status, _ = await send(team, "app_mention", an_event(team, "app_mention", text, **changes))
    assert status == 200


async def reply(team: Team, board: str, text: str, **changes: Any) -> None:
    body = an_event(team, "message", text, thread_ts=board, **changes)
    assert (await send(team, "message_in_thread", body))[0] == 200


async def started(team: Team) -> list[str]:
    return [entry.question for entry in await team.moot.store.find(DebateFilter(limit=9))]


async def running(team: Team, models: ScriptedProvider) -> str:
    """Start a debate that stays open; return its board."""
    models.hold(Act.CRITIQUE)
    return await team.debate(QUESTION)


async def noted(team: Team, board: str) -> Debate:
    return await team.wait_for_log(board, lambda debate: debate.notes)


async def test_an_alert_is_read_from_its_attachment(team: Team) -> None:
    client = slack_client(team.workspace.bot_token, team.workspace.api_url)
    alert = {
        "title": "Disk full",
        "text": "db7 at 99 %",
        "fields": [{"title": "Zone", "value": "4"}],
    }
    channel = team.workspace.channel(team.channel).id
    await client.chat_postMessage(channel=channel, text="Alert", attachments=[alert])
    (root,) = team.workspace.messages(team.channel)
    await team.say(f"@Moot {QUESTION}", str(root["ts"]))
    await team.workspace.wait_for(lambda: team.workspace.pins(team.channel))
    (entry,) = await team.moot.store.find(DebateFilter())
    board = await team.board_of(entry.debate_id)
    debate = await team.wait_for_end(board)
    (thread,) = debate.sources
    assert all(words in thread.text for words in ("Disk full", "db7 at 99 %", "Zone: 4"))


FORWARDED = {
    "is_share": True,
    "author_name": "Priya",
    "text": "Redis lost 40 jobs.",
    "from_url": "https://riverside.slack.com/archives/C1/p1",
}


async def test_a_forwarded_message_is_context_of_the_debate_it_is_sent_with(team: Team) -> None:
    await mention(team, QUESTION, attachments=[FORWARDED])
    (entry,) = await team.moot.store.find(DebateFilter())
    debate = await team.wait_for_end(await team.board_of(entry.debate_id))
    assert debate.setup.question == QUESTION
    assert debate.setup.context == "[Forwarded from Priya: Redis lost 40 jobs.]"


async def test_a_forwarded_message_is_a_note_of_the_debate_it_is_sent_to(
    team: Team, models: ScriptedProvider
) -> None:
    board = await running(team, models)
    await reply(team, board, "", attachments=[FORWARDED])
    assert (await noted(team, board)).notes[0].text == "[Forwarded from Priya: Redis lost 40 jobs.]"


async def test_what_is_said_with_me_is_a_reply(team: Team, models: ScriptedProvider) -> None:
    board = await running(team, models)
    await reply(team, board, "5 people on call", subtype="me_message")
    assert (await noted(team, board)).notes[0].text == "5 people on call"


async def test_in_a_shared_channel_all_belongs_to_the_workspace_of_the_app(
    team: Team, models: ScriptedProvider
) -> None:
    board = await running(team, models)
    ours = team.workspace.state.team_id
    body = an_event(team, "message", "We are three.", thread_ts=board)
    body |= {
        "team_id": "T0THEIRS",
        "context_team_id": ours,
        "is_ext_shared_channel": True,
        "authorizations": [{"team_id": ours, "enterprise_id": None, "is_bot": True}],
    }
    assert (await send(team, "message_in_thread", body))[0] == 200
    assert (await noted(team, board)).notes[0].text == "We are three."


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"user": "USLACKBOT"}, id="Slackbot's reminder"),
        pytest.param({"user": None, "bot_id": "B0FLOW", "subtype": "bot_message"}, id="a workflow"),
        pytest.param({"user": "U0NOBODY", "bot_id": "B0APP"}, id="an app Slack knows nothing of"),
    ],
)
async def test_apps_start_no_debates(team: Team, changes: dict[str, Any]) -> None:
    with capture_logs() as logs:
        await mention(team, QUESTION, **changes)
    assert await started(team) == []
    assert team.ephemeral_texts() == []
    assert "mention by an app left alone" in [entry["event"] for entry in logs]


async def test_an_app_in_somebodys_name_counts_as_them(
    team: Team, models: ScriptedProvider
) -> None:
    board = await running(team, models)
    await reply(team, board, "We are three.", bot_id="B0APP", app_id="A0APP")
    assert (await noted(team, board)).notes[0].author.id == team.workspace.user("dana").id


async def test_a_mention_in_code_or_a_quote_starts_nothing(team: Team) -> None:
    call = f"<@{team.workspace.app.bot_user}> {QUESTION}"
    for text in (f"`{call}`", f"```\n{call}\n```", f"&gt; {call}\nI am for Kafka."):
        status, _ = await send(team, "app_mention", an_event(team, "app_mention", text))
        assert status == 200
    assert await started(team) == []


async def test_a_deleted_message_says_nothing_in_the_thread_that_is_read(team: Team) -> None:
    root = await team.say("Shall we leave Redis?")
    await team.say("It loses jobs.", str(root["ts"]), user="alex")
    await team.workspace.delete("dana", team.channel, str(root["ts"]))
    await team.say(f"@Moot {QUESTION}", str(root["ts"]))
    await team.workspace.wait_for(lambda: team.workspace.pins(team.channel))
    (entry,) = await team.moot.store.find(DebateFilter())
    debate = await team.wait_for_end(await team.board_of(entry.debate_id))
    (thread,) = debate.sources
    assert "It loses jobs." in thread.text
    assert "deleted" not in thread.text


async def test_somebody_who_was_renamed_has_the_new_name_within_an_hour(
    team: Team, models: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    board, now = await running(team, models), time.monotonic
    await reply(team, board, "We are three.")
    await noted(team, board)
    dana = team.workspace.user("dana")
    await reply(team, board, "Or four.")
    # The debate does not end when its turns run out of time.
    await team.click(board, ActionId.PAUSE.value)
    await team.wait_for_log(board, lambda debate: debate.paused_by and len(debate.notes) == 2)
    dana.name = "Dana Smith"
    monkeypatch.setattr(time, "monotonic", lambda: now() + 3600)
    await reply(team, board, "Five.", user=dana.id)
    debate = await team.wait_for_log(board, lambda debate: len(debate.notes) == 3)
    assert [note.author.name for note in debate.notes] == ["dana", "dana", "Dana Smith"]
