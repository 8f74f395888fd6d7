"""Cases that users of other bots reported in public issues: deliveries, spaces, edits, refusals.

Each case names the report.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from bot.listeners.typed import SubcommandCall, TypedQuestion, parse_typed
from bot.slack.mrkdwn import mrkdwn
from bot.slack.typed_text import readable, without_bot_mention
from bot.testing import BotSpec, Message, Team, team_at_work
from core.debate.log import fold
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from slack_on_loopback import events

QUESTION = "Kafka or PostgreSQL for our jobs?"
BOT = "U0BOT"


@pytest.mark.parametrize(
    ("typed", "result"),
    [
        pytest.param("list", "list", id="a plain subcommand"),
        pytest.param("list\u00a0", "list", id="slackbot 212: a copied space at the end"),
        pytest.param("\u00a0list", "list", id="fplbot 234: a copied space in front"),
        pytest.param("search\u00a0kafka", "search WORDS",
                     id="element-web 1509: a copied space inside a command"),
        pytest.param("“Kafka or PostgreSQL?”", "“Kafka or PostgreSQL?”",
                     id="rota-slackbot 29: curved quotes around a question"),
        pytest.param("—format council Kafka or PostgreSQL?", "council: Kafka or PostgreSQL?",
                     id="slack-to-trello 1: a phone's dash before an option"),
    ],
)  # fmt: skip
def test_typed_text_is_read_with_the_signs_that_phones_and_copies_put_in(
    typed: str, result: str
) -> None:
    reading = parse_typed(typed)
    if isinstance(reading, SubcommandCall):
        assert reading.subcommand.form == result
    else:
        assert isinstance(reading, TypedQuestion)
        prefix = f"{reading.format}: " if reading.format else ""
        assert f"{prefix}{reading.text}" == result


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        pytest.param(f"<@{BOT}>\u00a0Kafka or Redis?", "Kafka or Redis?",
                     id="omnibot 32: a copied space behind the mention"),
        pytest.param(f"<@{BOT}>: Kafka or Redis?", "Kafka or Redis?", id="a colon behind it"),
        pytest.param(f"<@{BOT}> see\u00a0<http://localhost/> typed", "see http://localhost/ typed",
                     id="errbot 1518: a copied space before an address"),
        pytest.param(f"<@{BOT}> R&amp;D &lt;= 5 &gt; 3, &amp;lt; stays?",
                     "R&D <= 5 > 3, &lt; stays?", id="posthog 95054: entities are decoded once"),
    ],
)  # fmt: skip
def test_the_words_behind_a_mention_are_the_question(sent: str, text: str) -> None:
    words = " ".join(readable(without_bot_mention(sent, BOT), {}).split("\u00a0"))
    assert words.strip() == text


@pytest.mark.parametrize(
    ("text", "output"),
    [
        pytest.param("if a < b && b > c:", "if a &lt; b &amp;&amp; b &gt; c:",
                     id="deer-flow 4197: comparisons are escaped"),
        pytest.param("We've 'quoted' \"it\"", "We've 'quoted' \"it\"",
                     id="mack 21: quotes are not entities"),
        pytest.param("ask <!here> and <@U0ALEX>", "ask &lt;!here&gt; and &lt;@U0ALEX&gt;",
                     id="librefang 6397: a model's marks ping nobody"),
        pytest.param("see https://x.test/?a=1&b=2", "see <https://x.test/?a=1&amp;b=2>",
                     id="posthog 95054: the query of an address stays whole"),
    ],
)  # fmt: skip
def test_what_a_model_writes_is_shown_as_it_stands(text: str, output: str) -> None:
    assert mrkdwn(text) == output


async def questions(team: Team) -> Sequence[str]:
    entries = await team.moot.store.find(DebateFilter(limit=100))
    return [fold(await team.moot.store.events(entry.debate_id)).setup.question for entry in entries]


def as_event(team: Team, message: Message, **changed: Any) -> dict[str, Any]:
    event = {key: value for key, value in message.items() if key != "reply_count"}
    return {**event, "channel": team.workspace.channel(team.channel).id,
            "event_ts": message["ts"], **changed}  # fmt: skip


async def only_the_mention(team: Team) -> None:
    """Reported to hermes-agent (12193): Grid workspaces deliver app_mention without a message."""
    where = team.workspace.channel(team.channel)
    ts = team.workspace.runtime.state.new_ts(team.workspace.runtime.now())
    event = {"type": "app_mention", "user": team.workspace.user(team.user).id, "ts": ts,
             "text": f"<@{team.workspace.app.bot_user}> {QUESTION}", "channel": where.id,
             "event_ts": ts, "team": team.workspace.state.team_id}  # fmt: skip
    events.emit(team.workspace.runtime, event, where)


async def delivered_twice(team: Team) -> None:
    """Reported to bolt-python (778): an event that was acknowledged late comes again."""
    team.workspace.faults.double_events = 4
    await team.say(f"@Moot {QUESTION}")


async def unfurled(team: Team) -> None:
    """Reported to CopilotKit (6717): Slack changes a message for replies and previews of links."""
    message = await team.say(f"@Moot {QUESTION}")
    where = team.workspace.channel(team.channel)
    for more in ({"attachments": [{"title": "A page"}]}, {"reply_count": 1}):
        events.emit_change(team.workspace.runtime, where, {**message, **more}, dict(message))


async def edited_mention(team: Team) -> None:
    """Reported to slack-go (1256): app_mention comes again for an edited message."""
    message = await team.say(f"@Moot {QUESTION}")
    await team.workspace.edit(team.user, team.channel, message["ts"], f"@Moot {QUESTION} Or Redis?")


async def edited_in(team: Team) -> None:
    """Reported to hermes-agent (64957): the mention was added by an edit."""
    message = await team.say(QUESTION)
    await team.workspace.edit(team.user, team.channel, message["ts"], f"@Moot {QUESTION}")


async def changed_by_an_app(team: Team) -> None:
    """Reported to hermes-agent (89639): another app edits its own old message."""
    message = await team.say(f"@Moot {QUESTION}")
    where = team.workspace.channel(team.channel)
    other = {"type": "message", "subtype": "bot_message", "bot_id": "B0OTHER", "ts": "1.000001",
             "text": f"Escalated: <@{team.workspace.app.bot_user}> is it ready?"}  # fmt: skip
    events.emit_change(team.workspace.runtime, where, {**other, "edited": {"user": "B0OTHER",
                       "ts": message["ts"]}}, other)  # fmt: skip


@pytest.mark.parametrize(
    "act",
    [only_the_mention, delivered_twice, unfurled, edited_mention, edited_in, changed_by_an_app],
)
async def test_one_debate_comes_of_one_mention(act: Callable[[Team], Awaitable[None]]) -> None:
    async with team_at_work() as team:
        await act(team)
        await team.workspace.wait_for(
            lambda: [m for m in team.workspace.messages(team.channel) if m.get("bot_id")]
        )
        deliveries = team.workspace.deliveries
        await team.workspace.wait_for(lambda: all(delivery.acked for delivery in deliveries))
        # An edit that comes before the mention was read counts.
        assert [question.partition(" Or ")[0] for question in await questions(team)] == [QUESTION]


async def test_a_reply_sent_to_the_channel_too_is_one_note() -> None:
    """Reported to bolt-python (919): thread_broadcast, then message_changed of the same reply."""
    models = ScriptedProvider()
    models.hold(Act.PROPOSAL)  # after the end nobody reads a reply
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        where = team.workspace.channel(team.channel)
        message = await team.say("The budget was cut.", board)
        broadcast = {**message, "subtype": "thread_broadcast"}
        events.emit(
            team.workspace.runtime, as_event(team, broadcast, channel_type="channel"), where
        )
        events.emit_change(team.workspace.runtime, where, broadcast, dict(message))
        await team.wait_for_log(board, lambda debate: debate.notes)
        models.let_go()
        debate = await team.wait_for_end(board)
    assert [note.text for note in debate.notes] == ["The budget was cut."]
