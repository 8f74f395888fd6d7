"""Starting debates and asking follow-up questions: caps refuse them before money is spent."""

from dataclasses import replace
from decimal import Decimal

import pytest

from core.config.playbooks import built_in
from core.debate.contributions import Failure
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.people import Person, Place
from core.debate.setup import Forecast, Setup
from core.debate.turn import Act, Turn
from core.debate.turn_events import TurnFailed
from core.errors import BadInput
from core.estimate import Estimate
from core.opening import DebateRequest
from core.ports import DebateFilter
from core.settings import AllLimits, Caps, Settings
from core.testing import InMemoryChannelChoices, InMemoryStore, ManualClock, a_setup
from core.usage import Usage
from core.use_cases.choices import NO_PLAYBOOK, ChannelChoices, Choices
from core.use_cases.decide import AskAboutDebate
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds
from core.use_cases.start import StartDebate
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, verdict

PLACE = Place(surface="slack", workspace="T1", channel="C1")
CENTS = Decimal("0.06")
COSTLY = TurnFailed(
    failure=Failure(
        turn=Turn(act=Act.PROPOSAL, round=1, agent="ann"),
        reason="No.",
        usage=Usage(cost=CENTS, attempts=1),
    )
)
ASKED = DebateRequest(question="Tabs or spaces?", asked_by=DANA, place=PLACE)


def no_estimate(setup: Setup) -> Estimate:
    raise AssertionError(setup)


def starting(
    store: InMemoryStore,
    settings: Settings | None = None,
    channels: InMemoryChannelChoices | None = None,
) -> StartDebate:
    return StartDebate(
        facts=FactLog(store=store, clock=ManualClock(), wake=str),
        settings=lambda: settings or Settings(),
        channels=channels,
        estimating=no_estimate,
        bounds=Bounds(),
        spending=store,
    )


@pytest.mark.parametrize("cap", ["person_day_cost", "token_day_cost", "day_cost"])
async def test_nothing_starts_when_the_money_of_the_day_is_spent(cap: str) -> None:
    store = InMemoryStore()
    start = starting(store, Settings(limits=AllLimits.model_validate({cap: CENTS})))
    request = replace(ASKED, token="aa")
    started = await start.start(request, origin="o1")
    await store.append(started.debate_id, COSTLY, at=ManualClock().now())

    with pytest.raises(BadInput, match=r"\$0.06"):
        await start.start(replace(request, question="Rust or Go?"), origin="o2")
    await start.start(request, origin="o1")  # a repeated request is no new debate
    assert len(await store.find(DebateFilter())) == 1


async def test_a_debate_that_continues_a_deleted_one_starts() -> None:
    store = InMemoryStore()
    setup = a_setup().model_copy(update={"continues": "dgone234"})
    started = await starting(store).begin(setup, origin="o1")
    assert started.fresh
    assert [entry.debate_id for entry in await store.find(DebateFilter())] == [started.debate_id]


async def test_a_program_that_asks_again_begins_no_second_debate_because_money_was_spent() -> None:
    start, request = starting(InMemoryStore()), replace(ASKED, token="aa")
    more, less = (Choices(debate_cost=Decimal(amount)) for amount in ("1.00", "0.90"))
    first = await start.start(request, origin="o1", choices=more)

    again = await start.start(request, origin="o2", choices=less)
    assert (again.debate_id, again.fresh) == (first.debate_id, False)
    forecast = Forecast(calls=9, seconds=60, cost=Decimal(1), input_tokens=9, output_tokens=9)
    estimated = first.setup.model_copy(update={"forecast": forecast})
    assert not (await start.begin(estimated, origin="o3")).fresh
    # A person who typed another cap wants another debate.
    typed = replace(request, token="", question="Rust or Go?")
    assert (await start.start(typed, origin="o4", choices=more)).fresh
    assert (await start.start(typed, origin="o5", choices=less)).fresh


async def test_the_channels_playbook_holds_where_nobody_names_another_or_none() -> None:
    channels = InMemoryChannelChoices()
    start = starting(InMemoryStore(), Settings(playbooks=built_in()), channels)
    choices = Choices(playbook="vendor-choice", rounds=5, agents=("legal", "finance"))
    await channels.put(PLACE, ChannelChoices(choices=choices))

    usual = await start.setup_for(ASKED)
    other = await start.setup_for(replace(ASKED, playbook="build-or-buy"))
    none = await start.setup_for(ASKED, Choices(playbook=NO_PLAYBOOK))
    assert usual.playbook == built_in()["vendor-choice"]
    assert usual.rounds == built_in()["vendor-choice"].rounds, "the playbook wins over the channel"
    assert other.playbook == built_in()["build-or-buy"]
    assert none.playbook is None
    assert (none.rounds, [agent.id for agent in none.agents]) == (5, ["legal", "finance"])

    await channels.put(PLACE, ChannelChoices(choices=Choices(playbook="old-kind")))
    setup = await start.setup_for(ASKED)
    assert setup.playbook is None
    assert (
        "This channel's playbook “old-kind” no longer exists, so it was not used." in setup.warnings
    )
    assert (await start.usual(PLACE)).playbook == NO_PLAYBOOK


async def test_who_has_spent_the_day_does_not_ask_on_at_anothers_expense() -> None:
    """Dana's debate has a verdict and cost nothing; one of Alex's cost six cents."""
    log = Recording()
    dana, alex = (a_setup().model_copy(update={"asked_by": person}) for person in (DANA, ALEX))
    await log.begin(verdict(), DebateConcluded(), setup=dana)
    started = DebateStarted(setup=alex)
    await log.store.create("dspent22", started, origin="other", at=log.clock.now())
    await log.store.append("dspent22", COSTLY, at=log.clock.now())

    async def ask(question_id: str, by: Person, caps: Caps) -> None:
        asking = AskAboutDebate(facts=log.facts, bounds=Bounds(), caps=caps, spending=log.store)
        await asking.ask(DEBATE, question_id=question_id, by=by, text="And Kafka?")

    with pytest.raises(BadInput, match=r"daily cap for one person \(\$0.06\), so the judge"):
        await ask("q1", ALEX, Caps(person_day_cost=CENTS))
    with pytest.raises(BadInput, match="all debates of this workspace"):
        await ask("q1", DANA, Caps(day_cost=CENTS))
    await ask("q2", DANA, Caps(person_day_cost=CENTS))
    log.clock.advance(24 * 60 * 60)
    await ask("q3", ALEX, Caps(person_day_cost=CENTS))
    assert [follow_up.by for follow_up in (await log.debate()).follow_ups] == [DANA, ALEX]
