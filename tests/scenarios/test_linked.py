"""Links in people's texts are sources, or the author is told once why not."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.listeners.linked import record_links
from bot.slack.client import slack_client
from bot.slack.ids import ActionId, CallbackId, question_field
from bot.slack.payloads import body_of
from bot.testing import BotSpec, Message, Team, team_at_work
from core.debate.people import Person
from core.debate.rules import Clarifying
from core.debate.state import Debate, Status
from core.rules.sources import KINDS
from core.testing import ScriptedProvider
from core.use_cases.limits import Bounds
from tests.scenarios.test_clarifications import asking, card_saying
from tests.scenarios.test_starting import form_of, form_values

QUESTION = "Kafka or PostgreSQL for our jobs?"
NOT_READ = "Pages of docs.example.com are not read here"


def asking_first() -> BotSpec:
    """Agents that wait for answers, so that the debate goes on."""
    clarifying = Clarifying(enabled=True, wait_seconds=600)
    return BotSpec(provider=ScriptedProvider(asking), rounds=1, clarifying=clarifying)


async def link_to(team: Team, message: Message) -> str:
    work = team.workspace
    session = slack_client(work.bot_token, work.api_url)
    response = await session.chat_getPermalink(channel=message["channel"], message_ts=message["ts"])
    return str(body_of(response)["permalink"])


async def told_why(team: Team) -> str:
    """Wait for the message why a link is not read; return its text."""
    answers = await team.workspace.wait_for(
        lambda: [text for text in team.ephemeral_texts() if NOT_READ in text]
    )
    return answers[-1]


def linked(debate: Debate) -> list[str]:
    return [reference.title for reference in debate.references if reference.kind in KINDS]


async def test_links_in_a_mention_are_sources_or_their_author_is_told() -> None:
    async with team_at_work() as team:
        root = await team.say("We lose about 20 jobs a week.", user="alex")
        await team.say("Redis restarts too often.", root["ts"], user="alex")
        text = f"{QUESTION} See {await link_to(team, root)} and https://docs.example.com/q."
        await team.say(f"@Moot {text}")
        board = await team.new_board()
        why = await told_why(team)
        debate = await team.wait_for_end(board)
    assert [source.reference.title for source in debate.evidence] == ["a thread of this channel"]
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
        earlier = team.boards()
        await team.workspace.submit(team.user, view["id"], filled)
        debate = await team.debate_at(await team.new_board(earlier))
    assert linked(debate) == ["a thread of this channel"]


async def test_links_in_notes_and_answers_are_sources_also_when_an_edit_brings_them() -> None:
    async with team_at_work(spec=asking_first()) as team:
        first = await team.say("We lose about 20 jobs a week.", user="alex")
        second = await team.say("Redis restarts too often.", user="alex")
        board = await team.debate(QUESTION)
        await team.wait_for_card(board)
        reply = await team.say(f"1: ten, as in {await link_to(team, first)}", board)
        debate = await team.wait_for_log(board, lambda debate: linked(debate) and debate.answers)
        assert linked(debate) == ["a thread of this channel"]
        words = f"1: twenty, as in {await link_to(team, first)} and {await link_to(team, second)}"
        await team.workspace.edit(team.user, team.channel, reply["ts"], words)
        debate = await team.wait_for_log(
            board,
            lambda debate: (
                len(linked(debate)) == 2 and debate.answers[1].text.startswith("twenty, as in")
            ),
        )
        assert len({reference.fetch for reference in debate.references}) == 2
        own = await link_to(team, reply)
        await team.say(f"2: {own} and https://docs.example.com/q", board)
        await told_why(team)
        await team.say("3: https://docs.example.com/other", board)  # the same reason
        debate = await team.wait_for_end(board)
        assert len([text for text in team.ephemeral_texts() if NOT_READ in text]) == 1
    assert len(linked(debate)) == 2
    texts = [note.text for note in debate.notes]
    assert texts == ["[Linked as evidence: a thread of this channel]"] * 2
    marked = next(message for message in team.thread(board) if message["ts"] == reply["ts"])
    assert "eyes" in json.dumps(marked.get("reactions", []))
    assert "Linked as evidence" not in json.dumps(team.replies(board)[:3])


def typed(values: Mapping[str, str]) -> dict[str, Any]:
    """The state of a form's fields for text."""
    return {name: {name: {"value": value}} for name, value in values.items()}


async def test_a_debates_own_thread_is_no_source_of_it_wherever_it_is_linked() -> None:
    async with team_at_work(spec=asking_first()) as team:
        first = await team.say("We lose about 20 jobs a week.", user="alex")
        board = await team.debate(QUESTION)
        card = await team.wait_for_card(board)
        text = f"{await link_to(team, card)} and {await link_to(team, team.thread(board)[0])}"
        await team.click(board, ActionId.ADD_CONTEXT.value)
        view = await form_of(team)
        await team.workspace.submit(team.user, view["id"], form_values(context=f"See {text}"))
        await team.workspace.click(team.user, team.channel, card["ts"], ActionId.ANSWER.value)
        answer = f"As in {text}, and {await link_to(team, first)}"
        (view,) = await team.workspace.wait_for(
            lambda: [
                view
                for view in team.workspace.views(team.user)
                if view["callback_id"] == CallbackId.ANSWER_FORM
            ]
        )
        await team.workspace.submit(team.user, view["id"], typed({question_field(1): answer}))
        debate = await team.wait_for_log(board, linked)
    assert [reference.fetch.split("/")[1] for reference in debate.references] == [first["ts"]]


async def test_words_are_taken_before_what_they_link_to_and_full_notes_are_told_once() -> None:
    spec = replace(asking_first(), bounds=Bounds(notes_per_debate=1))
    async with team_at_work(spec=spec) as team:
        first = await team.say("We lose about 20 jobs a week.", user="alex")
        link = await link_to(team, first)
        board = await team.debate(QUESTION)
        await team.wait_for_card(board)
        await team.click(board, ActionId.ADD_CONTEXT.value)
        view = await form_of(team)
        assert not await team.workspace.submit(
            team.user, view["id"], form_values(context=f"Ten, see {link}")
        )
        await team.say(f"1: twenty, as in {link}", board)
        await card_saying(team, board, "twenty, as in")
        await team.say("2: us, see https://docs.example.com/q", board)
        await told_why(team)
        debate = await team.debate_at(board)
        texts = team.ephemeral_texts()
    assert [note.text for note in debate.notes] == [f"Ten, see {link}"]
    assert set(debate.answers) == {1, 2}
    assert not linked(debate)
    assert len([text for text in texts if "accepts no more notes" in text]) == 1
    assert not [text for text in texts if "did not get yours" in text]


async def test_each_reason_is_told_once_and_none_is_left_out() -> None:
    hosts = [f"{name}.example" for name in "abcdefghi"]
    async with team_at_work(spec=asking_first()) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_card(board)
        for number, some in enumerate((hosts[:1], hosts[:2], hosts[1:2], hosts), start=1):
            text = " ".join(f"https://{host}/{number}" for host in some)
            await team.say(f"See {text}", board)
        answer = await team.workspace.wait_for(
            lambda: (
                team.ephemeral_texts()
                if f"Pages of {hosts[-1]}" in str(team.ephemeral_texts())
                else None
            )
        )
    assert [str(answer).count(f"Pages of {host} are") for host in hosts] == [1] * len(hosts)


async def test_what_a_review_was_given_and_its_words_link_to_as_well_is_read() -> None:
    async with team_at_work() as team:
        root = await team.say("We lose about 20 jobs a week.", user="alex")
        link = await link_to(team, root)
        await team.type("")
        view = await form_of(team)
        filled = typed({"question": f"Is {link} ready?", "sources": link})
        await team.workspace.submit(
            team.user, view["id"], {**filled, **form_values(format="review")}
        )
        board = await team.new_board()
        debate = await team.debate_at(board)
        await team.wait_until_sent()
        texts = [text for text in team.ephemeral_texts() if "In a review only" in text]
    assert (linked(debate), texts) == (["a thread of this channel"], [])


async def test_a_readable_link_in_words_does_not_stand_in_for_a_given_source() -> None:
    async with team_at_work() as team:
        root = await team.say("We lose about 20 jobs a week.", user="alex")
        await team.workspace.share_file(
            "alex", team.channel, "load.csv", b"month,jobs", thread_ts=root["ts"]
        )
        text = f"@Moot {QUESTION} See {await link_to(team, root)}"
        await team.workspace.share_file(team.user, team.channel, "plan.pdf", b"%PDF-", text=text)
        board = await team.new_board()
        debate = await team.wait_for_end(board)
    assert debate.status is Status.FAILED
    assert [source.reference.title for source in debate.evidence] == [
        "a thread of this channel",
        "load.csv",
    ]
    assert not debate.contributions


async def test_of_many_links_that_are_not_read_the_last_share_a_post() -> None:
    async with team_at_work(spec=asking_first()) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_card(board)
        links = " ".join(f"https://h{number}.example.com/q" for number in range(8))
        await team.say(f"See {links}", board)
        last = "Pages of h7.example.com are not read here"
        await team.workspace.wait_for(
            lambda: [text for text in team.ephemeral_texts() if last in text]
        )
        counts = [text.count("not read here") for text in team.ephemeral_texts()]
    assert [count for count in counts if count] == [1, 1, 1, 1, 1, 3]


async def test_links_for_an_ended_debate_are_not_read() -> None:
    async with team_at_work() as team:
        board = await team.debate(QUESTION)
        ended = await team.wait_for_end(board)
        alex, text = Person(id="UALEX", name="Alex"), "See https://docs.example.com/q"
        await record_links(team.moot.context, ended, text, alex, note="late", thread=board)
        rows = await team.moot.context.posts.rows_of_debate(ended.id)
        debate = await team.debate_at(board)
    assert not [row.key for row in rows if "/unread/" in row.key]
    assert linked(debate) == []
