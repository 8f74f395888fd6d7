"""Links in what people write: sources where they may be, else their author is told why, once."""

import json

from bot.slack.outbox.methods import slack_client
from bot.slack.payloads import Permalink
from bot.testing import BotSpec, Message, Team, key_of, team_at_work
from core.models import Clarifying, Debate
from core.rules.sources import KINDS
from core.testing import ScriptedProvider
from tests.scenarios.test_clarifications import asking, card_of, card_saying, debate_at

QUESTION = "Kafka or PostgreSQL for our jobs?"
NOT_READ = "Pages of docs.example.com are not read here"


def asking_first() -> BotSpec:
    """Agents that wait for people, so that the debate stays open."""
    clarifying = Clarifying(enabled=True, wait_seconds=600)
    return BotSpec(provider=ScriptedProvider(asking), rounds=1, clarifying=clarifying)


async def link_to(team: Team, said: Message) -> str:
    work = team.workspace
    session = slack_client(work.bot_token, work.api_url)
    asked = await session.chat_getPermalink(channel=said["channel"], message_ts=said["ts"])
    return Permalink.model_validate(asked.data).permalink


async def told_why(team: Team) -> str:
    """Wait until the person is told why a link is not read."""
    found = await team.workspace.wait_for(lambda: [one for one in team.told() if NOT_READ in one])
    return found[-1]


def linked(debate: Debate) -> list[str]:
    return [one.title for one in debate.references if one.kind in KINDS]


async def test_links_in_a_mention_are_sources_or_their_author_is_told() -> None:
    async with team_at_work() as team:
        root = await team.say("We lose about 20 jobs a week.", user="alex")
        await team.say("Redis restarts too often.", root["ts"], user="alex")
        asked = f"{QUESTION} See {await link_to(team, root)} and https://docs.example.com/q."
        await team.say(f"@Moot {asked}")
        boards = await team.workspace.wait_for(
            lambda: [one for one in team.workspace.messages(team.channel) if key_of(one)]
        )
        why = await told_why(team)
        debate = await team.wait_for_end(boards[0]["ts"])
    assert [one.reference.title for one in debate.evidence] == ["a thread of this channel"]
    assert "Redis restarts too often." in debate.evidence[0].text
    assert "whoever runs Moot can allow the host" in why
    assert "https://docs.example.com/q" in debate.setup.question


async def test_links_in_the_command_and_the_form_are_sources() -> None:
    async with team_at_work() as team:
        root = await team.say("We lose about 20 jobs a week.", user="alex")
        link = await link_to(team, root)
        board = await team.debate(f"{QUESTION} See {link} or https://docs.example.com/q")
        await told_why(team)
        assert linked(await team.wait_for_end(board)) == ["a thread of this channel"]

        await team.type("")
        (view,) = await team.workspace.wait_for(lambda: team.workspace.views(team.user))
        filled = {
            "question": {"question": {"value": "Which queue?"}},
            "context": {"context": {"value": f"See {link}."}},
        }
        known = [one["ts"] for one in team.workspace.messages(team.channel) if key_of(one)]
        await team.workspace.submit(team.user, view["id"], filled)
        boards = await team.workspace.wait_for(
            lambda: [
                one
                for one in team.workspace.messages(team.channel)
                if key_of(one).endswith("board") and one["ts"] not in known
            ]
        )
        debate = await debate_at(team, boards[0]["ts"])
    assert linked(debate) == ["a thread of this channel"]


async def test_links_in_notes_and_answers_are_sources_also_when_an_edit_brings_them() -> None:
    async with team_at_work(spec=asking_first()) as team:
        first = await team.say("We lose about 20 jobs a week.", user="alex")
        second = await team.say("Redis restarts too often.", user="alex")
        board = await team.debate(QUESTION)
        await card_of(team, board)
        said = await team.say(f"1: ten, as in {await link_to(team, first)}", board)
        await card_saying(team, board, "ten, as in")
        debate = await debate_at(team, board)
        assert linked(debate) == ["a thread of this channel"]
        words = f"1: twenty, as in {await link_to(team, first)} and {await link_to(team, second)}"
        await team.workspace.edit(team.user, team.channel, said["ts"], words)
        await card_saying(team, board, "twenty, as in")
        debate = await debate_at(team, board)
        assert len({one.fetch for one in debate.references}) == len(linked(debate)) == 2
        own = await link_to(team, said)
        await team.say(f"2: {own} and https://docs.example.com/q", board)
        await told_why(team)
        await team.say("3: https://docs.example.com/other", board)  # the same reason
        debate = await team.wait_for_end(board)
        assert len([one for one in team.told() if NOT_READ in one]) == 1
    assert len(linked(debate)) == 2
    told = [note.text for note in debate.notes]
    assert told == ["[Linked as evidence: a thread of this channel]"] * 2
    marked = next(one for one in team.thread(board) if one["ts"] == said["ts"])
    assert "eyes" in json.dumps(marked.get("reactions", []))
    assert "Linked as evidence" not in json.dumps(team.replies(board)[:3])
