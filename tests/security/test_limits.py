"""The bounds on requests of people, and the replies above them."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.settings import BotSettings
from bot.slack.connection.bursts import BurstLimits
from bot.testing import BotSpec, Team, team_at_work
from core.debate.debate_events import DebateFailed
from core.debate.people import Person, Place
from core.errors import BadInput, NotesFull
from core.opening import DebateRequest
from core.ports import DebateEntry, DebateFilter
from core.testing import ScriptedProvider
from core.use_cases.limits import Bounds, check_context, check_room, check_size
from core.use_cases.messages import AddNote, PersonsReply, ReplyOutcome
from tests.security.sending import http_team

BOUNDS = Bounds(
    debates_per_person=2,
    debates_per_channel=3,
    debates_per_workspace=4,
    question_characters=200,
    note_characters=100,
    notes_per_debate=2,
)
ASKER = Person(id="U1")
PLACE = Place(surface="slack", workspace="T1", channel="C1")
QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


def entry(number: int, person: str, channel: str) -> DebateEntry:
    return DebateEntry(
        debate_id=f"dabcde{number}",
        question="?",
        workspace="T1",
        channel=channel,
        asked_by=person,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        ended_at=None,
        status="running",
    )


@pytest.mark.parametrize(
    ("running", "words"),
    [
        ([("U1", "C2"), ("U1", "C3")], "You have 2 debates running"),
        ([("U2", "C1"), ("U3", "C1"), ("U4", "C1")], "3 debates run in this channel"),
        ([("U2", "C2"), ("U3", "C3"), ("U4", "C4"), ("U5", "C5")], "4 debates run in this work"),
    ],
)
def test_too_many_debates_are_refused_with_whose_and_what_to_do(
    running: list[tuple[str, str]], words: str
) -> None:
    entries = [entry(number, *debate) for number, debate in enumerate(running, start=2)]
    check_room(ASKER, PLACE, entries[:-1], BOUNDS)
    with pytest.raises(BadInput, match=words) as caught:
        check_room(ASKER, PLACE, entries, BOUNDS)
    assert "again" in str(caught.value)


def test_only_ones_own_debates_are_named() -> None:
    entries = [entry(2, "U1", "C2"), entry(3, "U1", "C3")]
    with pytest.raises(BadInput, match="`dabcde2`, `dabcde3`"):
        check_room(ASKER, PLACE, entries, BOUNDS)
    others = [entry(2, "U2", "C1"), entry(3, "U3", "C1"), entry(4, "U4", "C1")]
    with pytest.raises(BadInput) as caught:
        check_room(ASKER, PLACE, others, BOUNDS)
    assert "dabcde" not in str(caught.value)


def test_sizes_are_bounded_to_the_character() -> None:
    check_size("x" * 100, BOUNDS)
    with pytest.raises(BadInput, match="101 characters; the most is 100"):
        check_size("x" * 101, BOUNDS)
    check_context("x" * 12_000, Bounds())
    with pytest.raises(BadInput, match="12,001 characters"):
        check_context("x" * 12_001, Bounds())


def test_every_bound_is_a_setting() -> None:
    changed = {f"moot_{name}": value + 1 for name, value in vars(Bounds()).items()}
    settings = BotSettings.model_validate(changed)
    assert vars(settings.bounds) == {name: value + 1 for name, value in vars(Bounds()).items()}


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    slow = ScriptedProvider(latency=3600)  # what was started runs to the end of the test
    async with team_at_work(spec=BotSpec(provider=slow, bounds=BOUNDS)) as team:
        yield team


async def running(team: Team) -> int:
    return len(await team.moot.store.find(DebateFilter(open_only=True)))


async def test_a_person_who_asks_too_much_is_told_kindly_and_keeps_the_question(team: Team) -> None:
    await team.debate("Tabs or spaces?")
    await team.debate("Rust or Go?")
    await team.type(QUESTION)
    text = team.ephemeral_texts()[-1]

    assert "You have 2 debates running" in text
    assert QUESTION in text
    assert await running(team) == 2


async def test_requests_at_the_same_moment_do_not_pass_the_bound(team: Team) -> None:
    await asyncio.gather(*(team.type(f"{QUESTION} {number}") for number in range(5)))

    assert await running(team) == 2


async def test_somebody_else_may_still_start_one_until_the_channel_is_full(team: Team) -> None:
    await asyncio.gather(team.type(QUESTION), team.type("Tabs or spaces?"))
    await team.type("Rust or Go?", user="alex")
    await team.type("Vim or Emacs?", user="alex")

    assert await running(team) == 3
    assert "3 debates run in this channel" in team.ephemeral_texts("alex")[-1]


async def test_a_request_that_comes_again_is_not_refused_for_its_own_debate(team: Team) -> None:
    place = Place(
        surface="slack",
        workspace=team.workspace.state.team_id,
        channel=team.workspace.channel(team.channel).id,
    )
    requests = [
        DebateRequest(question=f"{QUESTION} {number}", asked_by=ASKER, place=place)
        for number in range(3)
    ]
    start = team.moot.context.acts.start.start
    first = [
        await start(request, origin=f"o{number}") for number, request in enumerate(requests[:2])
    ]
    again = await start(requests[0], origin="o0")

    assert (again.debate_id, again.fresh) == (first[0].debate_id, False)
    with pytest.raises(BadInput):
        await start(requests[2], origin="o2")


async def test_a_question_that_is_too_long_by_the_setting_is_refused(team: Team) -> None:
    await team.type("Should we " + "really " * 40 + "do it?")

    assert "the most is 200" in team.ephemeral_texts()[-1]
    assert await running(team) == 0


async def test_a_note_that_is_too_long_is_not_taken_and_its_author_is_told(team: Team) -> None:
    board = await team.debate(QUESTION)
    await team.say("no " * 100, board, user="alex")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))

    assert "the most is 100" in team.ephemeral_texts("alex")[-1]


async def test_a_debate_takes_so_many_notes_and_no_more(team: Team) -> None:
    board = await team.debate(QUESTION)
    for number in range(9):
        await team.say(f"Note {number}.", board, user="alex")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
    await team.say("Note.", board, user="priya")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("priya"))
    [entry] = await team.moot.store.find(DebateFilter())
    debate = await team.moot.context.acts.answer.facts.debate(entry.debate_id)

    assert "the most for one debate" in team.ephemeral_texts("priya")[-1]
    assert len(debate.notes) == 2
    # Each person is told once, or twice if an hour ends meanwhile.
    assert len(team.ephemeral_texts("alex")) <= 2


@pytest.mark.parametrize("http", [False, True])
async def test_who_writes_and_types_without_end_holds_nobody_up_and_is_told_once(
    *, http: bool
) -> None:
    spec = BotSpec(rounds=1, http=http)
    async with http_team(spec) if http else team_at_work(spec=spec) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        before, deliveries = len(team.ephemeral_texts()), len(team.workspace.deliveries)
        for number in range(BurstLimits().events * 3):
            await team.say(f"{number}: " + "words " * 500, board)
        typed = [team.type(f"Choice {number}: tabs or spaces?") for number in range(22)]
        await asyncio.gather(*typed)
        await team.type("Rust or Go?", user="alex")
        deliveries_so_far = team.workspace.deliveries
        await team.workspace.wait_for(
            lambda: (
                sum(attempt.acked for attempt in deliveries_so_far[deliveries:])
                >= BurstLimits().events * 3 + 23
            )
        )
        await team.workspace.wait_for(lambda: team.has_told("write faster"))

        texts = [text for text in team.ephemeral_texts()[before:] if "begins" not in text]
        assert [attempt for attempt in deliveries_so_far[deliveries:] if not attempt.acked] == []
        assert "begins" in team.ephemeral_texts("alex")[-1]
        assert sum("do not read" in text for text in texts) == 1
        assert (
            sum("write faster" in text for text in texts) <= 2
        )  # two where an hour ends meanwhile
        assert 0 < sum("more than 20 commands" in text for text in texts) <= 5


async def test_after_the_end_a_person_is_offered_so_many_answers_an_hour(team: Team) -> None:
    context = team.moot.context
    note = AddNote(facts=context.acts.answer.facts, bounds=Bounds(notes_per_person_hour=2))
    answer = replace(context.acts.answer, note=note)
    board = await team.debate(QUESTION)
    await team.workspace.wait_for(team.ephemeral_texts)
    [entry] = await team.moot.store.find(DebateFilter())
    await context.acts.answer.facts.record(entry.debate_id, DebateFailed(reason="over"))
    replies = [
        PersonsReply(debate_id=entry.debate_id, by=ASKER, text="Why?", origin=f"{board}{number}")
        for number in range(3)
    ]
    assert [await answer.take(reply) for reply in replies[:2]] == [ReplyOutcome.AFTER_END] * 2
    with pytest.raises(NotesFull, match="2 notes to this debate within an hour"):
        await answer.take(replies[2])


def test_the_bounds_hold_in_the_running_program() -> None:
    serving = Path(__file__).parents[2] / "bot" / "serving.py"
    assert "environment=settings" in serving.read_text(encoding="utf-8")
