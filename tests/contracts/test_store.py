"""Contract of `DebateStore`, for each implementation."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.debate.agents import Agent
from core.debate.contributions import Contribution, Failure, Note
from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import Event, RecordedEvent, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Place, Stop
from core.debate.people_events import DebateWanted, StopRequested
from core.debate.setup import Setup
from core.debate.state import Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, TurnFailed
from core.errors import DebateUnknown, RunLost, StoreError
from core.ports import DebateFilter, DebateStore, RunToken

NOON = datetime(2026, 11, 2, 12, 0, 0, 123456, tzinfo=UTC)
JOAN = Person(id="U1", name="Joan")


def agent(agent_id: str) -> Agent:
    return Agent(id=agent_id, name=agent_id, role="architect", provider="offline", model="m")


def start(
    question: str = "Kafka or Postgres?", workspace: str = "T1", channel: str = "C1"
) -> DebateStarted:
    setup = Setup(
        question=question,
        asked_by=JOAN,
        place=Place(surface="slack", workspace=workspace, channel=channel),
        agents=(agent("ann"), agent("bob")),
        judge=agent("judge"),
        delimiter="xyz",
    )
    return DebateStarted(setup=setup)


def speech(text: str, agent_id: str = "ann") -> ContributionMade:
    turn = Turn(act=Act.PROPOSAL, round=1, agent=agent_id)
    return ContributionMade(contribution=Contribution(turn=turn, text=text))


def note(note_id: str, text: str = "Mind the cost") -> NoteAdded:
    return NoteAdded(note=Note(id=note_id, author=JOAN, text=text))


async def test_a_debate_begins_with_its_start(store: DebateStore) -> None:
    opening = await store.create("d1", start(), origin="trigger-1", at=NOON)

    assert opening.fresh
    assert opening.recorded == RecordedEvent("d1", 1, NOON, start())
    assert list(await store.events("d1")) == [opening.recorded]


async def test_the_same_origin_begins_one_debate(store: DebateStore) -> None:
    first = await store.create("d1", start(), origin="trigger-1", at=NOON)
    again = await store.create("d2", start("Another?"), origin="trigger-1", at=NOON)

    assert not again.fresh
    assert again.recorded == first.recorded
    with pytest.raises(DebateUnknown, match="d2"):
        await store.events("d2")


async def test_commands_repeated_at_the_same_time_begin_one_debate(store: DebateStore) -> None:
    starts = await asyncio.gather(
        *(store.create(f"d{n}", start(), origin="trigger-1", at=NOON) for n in range(20))
    )

    assert sum(event.fresh for event in starts) == 1
    assert len({event.recorded.debate_id for event in starts}) == 1
    assert len(await store.find(DebateFilter())) == 1


async def test_an_id_that_is_taken_is_refused(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)

    with pytest.raises(StoreError, match="d1"):
        await store.create("d1", start(), origin="trigger-2", at=NOON)
    assert len(await store.events("d1")) == 1


async def test_events_come_back_as_they_went_in_and_in_order(store: DebateStore) -> None:
    odd = "NUL \0, emoji 🦆, quotes '\", percent %s :name, line\nbreak"
    failure = Failure(turn=Turn(act=Act.CRITIQUE, round=1, agent="ann", target="bob"), reason=odd)
    events = [
        speech(odd),
        TurnFailed(failure=failure),
        note("n1", odd),
        StopRequested(stop=Stop(by=JOAN)),
    ]
    await store.create("d1", start(odd), origin="trigger-1", at=NOON)
    for minute, event in enumerate(events):
        await store.append("d1", event, at=NOON + timedelta(minutes=minute))

    log = list(await store.events("d1"))

    assert log[0] == RecordedEvent("d1", 1, NOON, start(odd))
    assert log[1:] == [
        RecordedEvent("d1", number + 2, NOON + timedelta(minutes=number), event)
        for number, event in enumerate(events)
    ]
    assert fold(log).text_of(Act.PROPOSAL, 1, "ann") == odd


async def test_times_are_utc_whatever_zone_they_came_in(store: DebateStore) -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    await store.create("d1", start(), origin="trigger-1", at=elsewhere)

    (recorded,) = await store.events("d1")

    assert recorded.at == NOON
    assert recorded.at.utcoffset() is not None


async def test_events_can_be_read_from_a_number_on(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    for number in range(3):
        await store.append("d1", note(f"n{number}"), at=NOON)

    assert [recorded.seq for recorded in await store.events("d1", after=2)] == [3, 4]
    assert list(await store.events("d1", after=4)) == []


async def test_a_long_log_is_read_whole_and_in_order(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    for number in range(120):
        await store.append("d1", note(f"n{number}"), at=NOON)

    assert [recorded.seq for recorded in await store.events("d1")] == list(range(1, 122))


async def test_the_first_writer_of_a_key_wins(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    first = await store.append("d1", speech("first"), at=NOON)
    second = await store.append("d1", speech("second"), at=NOON + timedelta(hours=1))

    assert first.fresh
    assert not second.fresh
    assert second.recorded == first.recorded
    assert len(await store.events("d1")) == 2


async def test_a_turn_has_one_outcome_good_or_bad(store: DebateStore) -> None:
    turn = Turn(act=Act.PROPOSAL, round=1, agent="ann")
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    await store.append("d1", speech("done"), at=NOON)

    late = await store.append("d1", TurnFailed(failure=Failure(turn=turn, reason="late")), at=NOON)

    assert not late.fresh
    assert late.recorded.event == speech("done")


async def test_the_same_key_in_two_debates_is_two_events(store: DebateStore) -> None:
    for name in ("d1", "d2"):
        await store.create(name, start(), origin=name, at=NOON)
        event = await store.append(name, speech(name), at=NOON)
        assert event.fresh
        assert event.recorded.seq == 2


async def test_many_writers_of_one_debate_get_numbers_without_gaps(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    events = await asyncio.gather(
        *(store.append("d1", note(f"n{n % 30}"), at=NOON) for n in range(60))
    )

    assert sum(event.fresh for event in events) == 30
    log = await store.events("d1")
    assert [recorded.seq for recorded in log] == list(range(1, 32))
    assert len({recorded.event.key for recorded in log}) == 31


async def test_whoever_holds_the_debate_may_write(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    run = await store.claim("d1")

    assert (await store.append("d1", speech("mine"), at=NOON, run=run)).fresh


async def test_an_older_run_may_not_write(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    older = await store.claim("d1")
    newer = await store.claim("d1")

    with pytest.raises(RunLost, match="d1"):
        await store.append("d1", speech("late"), at=NOON, run=older)
    assert (await store.append("d1", speech("mine"), at=NOON, run=newer)).fresh


async def test_an_older_run_is_told_so_even_when_its_work_is_done(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    older = await store.claim("d1")
    await store.append("d1", speech("done"), at=NOON, run=older)
    await store.claim("d1")

    with pytest.raises(RunLost):
        await store.append("d1", speech("done"), at=NOON, run=older)


async def test_a_token_is_worth_nothing_in_another_debate(store: DebateStore) -> None:
    for name in ("d1", "d2"):
        await store.create(name, start(), origin=name, at=NOON)
    token = await store.claim("d1")
    await store.claim("d2")

    with pytest.raises(RunLost):
        await store.append("d2", speech("x"), at=NOON, run=token)


async def test_people_need_no_run(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    await store.claim("d1")

    assert (await store.append("d1", note("n1"), at=NOON)).fresh


async def test_two_that_claim_at_once_get_different_tokens(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)

    tokens = await asyncio.gather(*(store.claim("d1") for _ in range(10)))

    assert {token.number for token in tokens} == set(range(1, 11))


async def test_a_debate_nobody_began_is_unknown(store: DebateStore) -> None:
    with pytest.raises(DebateUnknown, match="d9"):
        await store.append("d9", note("n1"), at=NOON)
    with pytest.raises(DebateUnknown, match="d9"):
        await store.append("d9", note("n1"), at=NOON, run=RunToken("d9", 1))
    with pytest.raises(DebateUnknown, match="d9"):
        await store.events("d9")
    with pytest.raises(DebateUnknown, match="d9"):
        await store.claim("d9")
    with pytest.raises(DebateUnknown, match="d9"):
        await store.published_seq("d9")
    with pytest.raises(DebateUnknown, match="d9"):
        await store.mark_published("d9", 1)


async def test_what_was_published_is_remembered_and_never_goes_back(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    positions = [await store.published_seq("d1")]
    for number in (3, 2, 5):
        await store.mark_published("d1", number)
        positions.append(await store.published_seq("d1"))

    assert positions == [0, 3, 3, 5]


async def test_unfinished_debates_are_those_that_run_or_have_unpublished_events(
    store: DebateStore,
) -> None:
    for number, name in enumerate(("done", "runs", "unpublished", "failed")):
        at = NOON - timedelta(minutes=number)
        await store.create(name, start(), origin=name, at=at)
        if name != "runs":
            end = DebateFailed(reason="x") if name == "failed" else DebateConcluded()
            await store.append(name, end, at=NOON)
        await store.mark_published(name, 1 if name == "unpublished" else 2)

    assert list(await store.unfinished_ids()) == ["unpublished", "runs"]


async def test_an_event_after_the_end_makes_a_debate_unfinished_until_published(
    store: DebateStore,
) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    await store.append("d1", DebateConcluded(), at=NOON)
    await store.mark_published("d1", 2)
    await store.append("d1", note("late"), at=NOON)

    assert list(await store.unfinished_ids()) == ["d1"]
    await store.mark_published("d1", 3)
    assert list(await store.unfinished_ids()) == []


async def test_a_debate_wanted_after_its_end_runs_whatever_end_was_on_its_way(
    store: DebateStore,
) -> None:
    dana = Person(id="U1")
    for name in ("reopened", "overtaken", "ended again"):
        await store.create(name, start(), origin=name, at=NOON)
    for name in ("reopened", "ended again"):
        await store.append(name, DebateConcluded(), at=NOON)
    for name in ("reopened", "overtaken", "ended again"):
        await store.append(name, DebateWanted(by=dana), at=NOON)
        await store.mark_published(name, 9)
    await store.append("overtaken", DebateConcluded(), at=NOON)
    await store.append("ended again", DebateConcluded(edition=2), at=NOON)

    assert set(await store.unfinished_ids()) == {"reopened", "overtaken"}
    entries = {entry.debate_id: entry.ended_at for entry in await store.find(DebateFilter())}
    assert entries == {"reopened": None, "overtaken": None, "ended again": NOON}


async def test_running_debates_that_somebody_owes_work_are_known(store: DebateStore) -> None:
    for name in ("fresh", "noted", "parked", "ended"):
        await store.create(name, start(), origin=name, at=NOON)
        await store.mark_published(name, 0 if name == "fresh" else 1)
    await store.append("noted", note("n1"), at=NOON)
    await store.append("ended", DebateConcluded(), at=NOON)

    assert set(await store.unpublished_ids()) == {"fresh", "noted"}


async def test_the_list_tells_how_a_debate_ended(store: DebateStore) -> None:
    ends: dict[str, Event | None] = {
        "concluded": DebateConcluded(),
        "failed": DebateFailed(reason="all keys refused"),
        "running": None,
    }
    for name, end in ends.items():
        await store.create(name, start(f"{name}?"), origin=name, at=NOON)
        if end is not None:
            await store.append(name, end, at=NOON + timedelta(hours=1))

    entries = {entry.debate_id: entry for entry in await store.find(DebateFilter())}

    assert {name: entry.status for name, entry in entries.items()} == {
        "concluded": Status.CONCLUDED.value,
        "failed": Status.FAILED.value,
        "running": Status.RUNNING.value,
    }
    assert entries["running"].ended_at is None
    assert entries["failed"].ended_at == NOON + timedelta(hours=1)
    concluded = entries["concluded"]
    assert concluded.question == "concluded?"
    assert (concluded.workspace, concluded.channel) == ("T1", "C1")
    assert concluded.asked_by == JOAN.id
    assert concluded.origin == "concluded"
    assert concluded.started_at == NOON


async def test_the_second_end_of_a_debate_changes_nothing(store: DebateStore) -> None:
    await store.create("d1", start(), origin="trigger-1", at=NOON)
    await store.append("d1", DebateConcluded(), at=NOON)
    late = await store.append("d1", DebateFailed(reason="late"), at=NOON + timedelta(hours=1))

    (entry,) = await store.find(DebateFilter())
    assert not late.fresh
    assert entry.status == Status.CONCLUDED.value
    assert entry.ended_at == NOON


async def test_the_list_is_newest_first_and_as_long_as_asked(store: DebateStore) -> None:
    for number in range(5):
        at = NOON + timedelta(minutes=number)
        await store.create(f"d{number}", start(), origin=f"o{number}", at=at)

    entries = await store.find(DebateFilter(limit=3))

    assert [entry.debate_id for entry in entries] == ["d4", "d3", "d2"]


async def test_the_list_can_be_of_debates_with_an_event_whose_key_begins_so(
    store: DebateStore,
) -> None:
    for name in ("a", "b", "c"):
        await store.create(name, start(), origin=name, at=NOON)
    await store.append("b", DebateConcluded(), at=NOON)
    await store.append("c", StopRequested(stop=Stop(by=Person(id="U1"))), at=NOON)

    async def ids(*having: str) -> set[str]:
        return {entry.debate_id for entry in await store.find(DebateFilter(having=having))}

    assert await ids("en", "%top") == {"b"}
    assert await ids("end", "stop") == {"b", "c"}
    assert await ids("s%p", "nowhere/") == set()


async def test_the_list_can_be_of_a_workspace_of_channels_or_of_open_debates(
    store: DebateStore,
) -> None:
    places = {"a": ("T1", "C1"), "b": ("T1", "C2"), "c": ("T2", "C1")}
    for name, (workspace, channel) in places.items():
        await store.create(name, start(workspace=workspace, channel=channel), origin=name, at=NOON)
    await store.append("b", DebateConcluded(), at=NOON)

    async def ids(query: DebateFilter) -> set[str]:
        return {entry.debate_id for entry in await store.find(query)}

    assert await ids(DebateFilter(workspace="T1")) == {"a", "b"}
    assert await ids(DebateFilter(workspace="T1", channels=["C2"])) == {"b"}
    assert await ids(DebateFilter(channels=["C1"])) == {"a", "c"}
    assert await ids(DebateFilter(channels=[])) == set()
    assert await ids(DebateFilter(open_only=True)) == {"a", "c"}
