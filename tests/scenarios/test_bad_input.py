"""Wrong texts, wrong channels, and texts that must notify nobody."""

from dataclasses import replace

import pytest

from bot.testing import BotSpec, Team, key_of, team_at_work
from core.debate.log import fold
from core.debate.rules import When
from core.debate.turn import Act
from core.ports import DebateFilter
from core.request import ModelRequest
from core.testing import ScriptedProvider, plausible_reply
from slack_on_loopback import PersonRefusal, SlackRefusal

NASTY = "<!channel> @channel <!here> <@U0AXB9RZQF> <script>alert(1)</script> ```"


async def started(team: Team) -> int:
    return len(await team.moot.store.find(DebateFilter()))


TYPED = (
    ("help", "How to use Moot"),
    ("list", "No debates in this channel yet"),
    ("hlep", "“hlep”: nothing was started yet. What did you mean?"),
    ("stop", "`/debate stop ID`"),
    ("stop dzzzzzz2", "There is no debate `dzzzzzz2`"),
    ("show dzzzzzz2", "There is no debate `dzzzzzz2`"),
    ("Kafka", "“Kafka”: nothing was started yet. What did you mean?"),
    ("shwo x", "The command is `/debate show ID`."),
    ("--rounds 2 Kafka or PostgreSQL?", "“--rounds” is no option here"),
    ("why? " * 2000, "9,999 characters; the most is 4,000"),
)


async def test_what_starts_nothing_is_answered_kindly(team: Team):
    for typed, words in TYPED:
        await team.type(typed)
        assert words in team.ephemeral_texts()[-1], typed
    assert await started(team) == 0
    assert team.workspace.messages(team.channel) == []


async def test_rounds_can_be_asked_for_where_all_may_agree_at_once(team: Team):
    await team.type("--when always Kafka or PostgreSQL?")
    [entry] = await team.moot.store.find(DebateFilter())
    debate = fold(await team.moot.store.events(entry.debate_id))
    assert debate.setup.question == "Kafka or PostgreSQL?"
    assert debate.setup.when is When.ALWAYS


async def test_a_question_that_is_too_long_is_given_back(team: Team):
    question = "Should we " + "really " * 1400 + "do it?"
    await team.type(question)
    text = team.ephemeral_texts()[-1]
    assert "Nothing was started" in text
    assert question in text


@pytest.mark.parametrize(
    ("channel", "words"), [("random", "/invite @Moot"), ("security-review", "/invite @Moot")]
)
async def test_where_the_bot_is_not_it_says_how_to_invite_it(team: Team, channel: str, words: str):
    outside = replace(team, channel=channel)
    await outside.type("Kafka or PostgreSQL?")
    assert words in outside.ephemeral_texts()[-1]
    assert await started(team) == 0


async def test_in_an_archived_channel_nothing_is_started(team: Team):
    team.workspace.archive(team.channel)
    try:
        await team.type("Kafka or PostgreSQL?")
    except (PersonRefusal, SlackRefusal):
        return  # Slack itself rejects the command there
    assert "archived" in team.ephemeral_texts()[-1]
    assert await started(team) == 0


MENTIONS = (
    ("help", "How to use Moot"),
    ("list", "No debates in this channel yet"),
    ("stop", "`/debate stop ID`"),
    ("show dzzzzzz2", "There is no debate `dzzzzzz2`"),
    ("search unicorns", "Nothing in your channels holds “unicorns”"),
    ("Kafka?", "“Kafka?”: nothing was started yet. What did you mean?"),
    ("Thanks!", "Mention me with a question"),
    ("settings", "type `/debate settings` in the channel"),
    ("doctor", "type `/debate doctor` in the channel"),
)


async def test_a_mention_that_is_no_question_is_answered_like_the_command_and_starts_nothing(
    team: Team,
):
    for count, (words, answer) in enumerate(MENTIONS, 1):
        await team.say(f"@moot {words}")
        await team.workspace.wait_for(lambda least=count: len(team.ephemeral_texts()) >= least)
        assert answer in team.ephemeral_texts()[-1], words
    assert await started(team) == 0


async def test_a_mention_with_an_id_is_answered_like_the_command(team: Team):
    debate = await team.wait_for_end(await team.debate("Kafka or PostgreSQL?"))
    count = len(team.ephemeral_texts())
    await team.say(f"@moot stop {debate.id}", user="alex")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
    await team.say(f"@moot show {debate.id}")
    await team.workspace.wait_for(lambda: len(team.ephemeral_texts()) > count)
    assert f"Debate `{debate.id}` has ended already" in team.ephemeral_texts("alex")[-1]
    assert "Use PostgreSQL." in team.ephemeral_texts()[-1]
    assert await started(team) == 1


def nasty_reply(request: ModelRequest) -> str:
    reply = plausible_reply(request)
    if request.act in {Act.BALLOT, Act.SYNTHESIS}:
        return reply.replace("Use PostgreSQL.", NASTY.replace('"', ""))
    return f"{reply}\n\n{NASTY}"


async def test_nothing_typed_or_written_by_a_model_pings_anybody():
    provider = ScriptedProvider(nasty_reply)
    async with team_at_work(spec=BotSpec(provider=provider)) as team:
        board = await team.debate(f"Kafka or PostgreSQL? {NASTY}")
        await team.wait_for_end(board)
        ours = [message for message in team.thread(board) if key_of(message)]
        text = "\n".join(f"{message['text']}{message.get('blocks')}" for message in ours)
        shares = [message for message in ours if "/r" in key_of(message)]
        assert len(shares) == 6
        assert all("&lt;!channel&gt;" in str(share["blocks"]) for share in shares)
        assert "&lt;!channel&gt;" in str(ours[-1]["blocks"])
        for ping in ("<!channel>", "<!here>", "<@U0AXB9RZQF>", "@channel", "<script>"):
            assert ping not in text
