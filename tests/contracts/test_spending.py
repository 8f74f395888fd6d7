"""Contract of `Spending`, for each implementation; and the installation's secret."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from core.debate.contributions import Contribution, Failure, Summary, SummaryKind
from core.debate.debate_events import DebateStarted
from core.debate.log import Event
from core.debate.people import Person, Place
from core.debate.turn import Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    ContributionMade,
    SummaryMade,
    TurnFailed,
    VerdictReached,
)
from core.debate.verdict import Verdict
from core.debate.vote import Abstention
from core.errors import RunLost
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare
from core.store.upkeep import installation_secret
from core.testing import a_setup
from core.usage import Call, SpendingScope, Usage

EVENING = datetime(2026, 11, 2, 23, 59, 59, tzinfo=UTC)
MONDAY = EVENING.date()
TUESDAY = MONDAY + timedelta(days=1)
Store = SqlDebateStore


def start(person: str = "U1", workspace: str = "T1") -> DebateStarted:
    place = Place(surface="slack", workspace=workspace, channel="C1")
    setup = a_setup().model_copy(update={"asked_by": Person(id=person), "place": place})
    return DebateStarted(setup=setup)


def costing(cost: str | None) -> Usage:
    return Usage(input_tokens=10, cost=None if cost is None else Decimal(cost), attempts=1)


def call(cost: str | None) -> Call:
    return Call(provider="anthropic", model="m", usage=costing(cost))


def turn(agent: str, act: Act = Act.PROPOSAL) -> Turn:
    return Turn(act=act, round=1, agent=agent)


def speech(agent: str, cost: str | None) -> ContributionMade:
    contribution = Contribution(turn=turn(agent), text="PostgreSQL.", call=call(cost))
    return ContributionMade(contribution=contribution)


#: Every kind of event that carries a cost, each with another one.
COSTLY: tuple[Event, ...] = (
    speech("ann", "0.1"),
    TurnFailed(failure=Failure(turn=turn("bob"), reason="No.", usage=costing("0.02"))),
    BallotAbstained(
        abstention=Abstention(turn=turn("ann", Act.BALLOT), reason="No.", call=call("0.003"))
    ),
    SummaryMade(
        summary=Summary(
            turn=turn("ann", Act.SUMMARY),
            kind=SummaryKind.ROUND,
            text="Short.",
            before_chars=9,
            after_chars=6,
            method="brief",
            call=call("0.0004"),
            lost=costing("0.00005"),
        )
    ),
    VerdictReached(
        verdict=Verdict(
            decision="Yes.",
            solution="Because.",
            confidence=50,
            call=call("0.000006"),
            lost=costing("0.0000007"),
        )
    ),
)


async def test_nothing_is_spent_at_first(store: Store) -> None:
    await store.create("d1", start(), origin="o1", at=EVENING)

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == 0


async def test_every_cost_is_in_the_sum_to_the_last_digit(store: Store) -> None:
    await store.create("d1", start(), origin="o1", at=EVENING)
    for event in COSTLY:
        await store.append("d1", event, at=EVENING)

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == Decimal("0.1234567")


async def test_what_is_written_twice_is_spent_once(store: Store) -> None:
    await store.create("d1", start(), origin="o1", at=EVENING)
    await store.append("d1", speech("ann", "0.1"), at=EVENING)
    await store.append("d1", speech("ann", "0.5"), at=EVENING)

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == Decimal("0.1")


async def test_a_run_that_lost_its_debate_books_nothing(store: Store) -> None:
    await store.create("d1", start(), origin="o1", at=EVENING)
    old = await store.claim("d1")
    await store.claim("d1")

    with pytest.raises(RunLost):
        await store.append("d1", speech("ann", "0.1"), at=EVENING, run=old)
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == 0


async def test_a_cost_nobody_knows_is_not_in_the_sum(store: Store) -> None:
    await store.create("d1", start(), origin="o1", at=EVENING)
    await store.append("d1", speech("ann", None), at=EVENING)
    await store.append("d1", speech("bob", "0.2"), at=EVENING)

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == Decimal("0.2")


async def test_a_day_ends_at_midnight_utc(store: Store) -> None:
    await store.create("d1", start(), origin="o1", at=EVENING)
    await store.append("d1", speech("ann", "0.1"), at=EVENING)
    await store.append("d1", speech("bob", "0.2"), at=EVENING + timedelta(seconds=1))

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == Decimal("0.1")
    assert await store.total_cost(SpendingScope(TUESDAY, workspace="T1")) == Decimal("0.2")


async def test_people_and_workspaces_are_told_apart(store: Store) -> None:
    starts = {"d1": start("U1", "T1"), "d2": start("U2", "T1"), "d3": start("U1", "T2")}
    for number, (debate_id, started) in enumerate(starts.items(), start=1):
        await store.create(debate_id, started, origin=debate_id, at=EVENING)
        await store.append(debate_id, speech("ann", f"0.{number}"), at=EVENING)

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1")) == Decimal("0.3")
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1", person="U1")) == Decimal(
        "0.1"
    )
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T2", person="U1")) == Decimal(
        "0.3"
    )
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T9")) == 0


async def test_what_was_spent_with_a_token_is_told_apart_and_is_its_owners_too(
    store: Store,
) -> None:
    plain = start("U1", "T1")
    with_token = DebateStarted(setup=plain.setup.model_copy(update={"token": "aa"}))
    for number, started in enumerate((plain, with_token), start=1):
        await store.create(f"d{number}", started, origin=f"d{number}", at=EVENING)
        await store.append(f"d{number}", speech("ann", f"0.{number}"), at=EVENING)

    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1", token="aa")) == Decimal(
        "0.2"
    )
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1", token="bb")) == 0
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T2", token="aa")) == 0
    assert await store.total_cost(SpendingScope(MONDAY, workspace="T1", person="U1")) == Decimal(
        "0.3"
    )


async def test_the_installations_secret_stays_the_same(tmp_path: Path) -> None:
    location = f"sqlite+aiosqlite:///{tmp_path}/one.db"
    secrets: list[bytes] = []
    for _ in range(2):
        async with await Database.open(location) as database:
            await prepare(database)
            secrets.append(await installation_secret(database))
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/two.db") as other:
        await prepare(other)
        secrets.append(await installation_secret(other))

    assert secrets[0] == secrets[1] != secrets[2]
    assert len(secrets[0]) == 32
