"""Who may change the options, which changes make sense, and debating what was skipped."""

import pytest

from core.debate.contributions import Contribution
from core.debate.debate_events import DebateConcluded, DebateFailed
from core.debate.follow_up import Decision, DecisionKind
from core.debate.gate import Gate, GateReason
from core.debate.log import Event
from core.debate.people import Stop
from core.debate.people_events import DebateWanted, StopRequested
from core.debate.state import Status
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotCast,
    ContributionMade,
    GatePassed,
    OptionsMerged,
    VerdictReached,
)
from core.debate.verdict import Verdict
from core.debate.vote import (
    Ballot,
    Option,
    OptionChange,
    OptionEdit,
    Options,
    PeopleBallot,
    QuestionKind,
)
from core.errors import BadInput
from core.rules.gate import gate_turn
from core.rules.options import options_of
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.option_edits import MOST_OPTIONS, EditRefused
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording
from tests.core.use_cases.test_steer import steering

AGENTS = ("architect", "security", "simplicity")


def drafted(*names: str) -> list[Event]:
    """Drafts of all agents, merged into these options."""
    drafts: list[Event] = [
        ContributionMade(
            contribution=Contribution(
                turn=Turn(act=Act.PROPOSAL, round=1, agent=agent), text=f"{names[0]}."
            )
        )
        for agent in AGENTS
    ]
    merged = Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=f"o{at}", name=name) for at, name in enumerate(names, start=1)),
        stances=dict.fromkeys(AGENTS, "o1"),
    )
    return [*drafts, OptionsMerged(options=merged)]


TWO = drafted("PostgreSQL", "Kafka")


def skipped() -> list[Event]:
    """A debate whose agents agreed at once."""
    ballots = [
        BallotCast(
            ballot=Ballot(
                turn=Turn(act=Act.BALLOT, round=0, agent=agent),
                ranking=AGENTS,
                probabilities={"o1": 0.9, "o2": 0.1},
            )
        )
        for agent in AGENTS
    ]
    agreed = Gate(turn=gate_turn(0), reason=GateReason.AGREED, option="o1")
    return [*TWO, *ballots, GatePassed(gate=agreed)]


def ended() -> list[Event]:
    verdict = Verdict(decision="PostgreSQL.", solution="It keeps jobs.", confidence=80)
    return [*skipped(), VerdictReached(verdict=verdict), DebateConcluded()]


def edit(change: OptionChange, origin: str = "V1", **fields: str) -> OptionEdit:
    return OptionEdit(change=change, by=DANA, origin=origin, **fields)


async def test_options_are_renamed_merged_and_added_in_one_form() -> None:
    log = Recording()
    debate = await log.begin(*drafted("PostgreSQL", "Kafka", "Postgres"))
    edits = [
        edit(OptionChange.RENAME, "V1/o2", option="o2", name="Kafka, managed"),
        edit(OptionChange.MERGE, "V1/merge", option="o3", into="o1"),
        edit(OptionChange.ADD, "V1/add", name="  Redis   streams "),
    ]

    await steering(log).edit_options(debate, DANA, edits)
    await steering(log).edit_options(await log.debate(), DANA, edits)

    debate = await log.debate()
    names = [item.name for item in options_of(debate).items]
    assert names == ["PostgreSQL", "Kafka, managed", "Redis streams"]
    assert len(debate.option_edits) == 3
    assert log.woken == [DEBATE] * 3


async def test_a_name_that_is_as_it_was_is_no_edit() -> None:
    log = Recording()
    debate = await log.begin(*TWO)
    same = edit(OptionChange.RENAME, option="o2", name="Kafka")
    await steering(log).edit_options(debate, DANA, [same])
    assert not (await log.debate()).option_edits


async def test_secrets_in_names_are_not_kept() -> None:
    log = Recording()
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"
    debate = await log.begin(*TWO)
    await steering(log).edit_options(debate, DANA, [edit(OptionChange.ADD, name=f"Use {secret}")])
    assert secret not in (await log.debate()).option_edits[0].name


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (edit(OptionChange.ADD, name="  "), "needs a name"),
        (edit(OptionChange.ADD, name="kafka"), "an option “Kafka” already"),
        (edit(OptionChange.RENAME, option="o1", name="KAFKA"), "merge the two"),
        (edit(OptionChange.RENAME, option="o9", name="Redis"), "no such option"),
        (edit(OptionChange.MERGE, option="o1", into="o1"), "into itself"),
        (edit(OptionChange.MERGE, option="o1", into="o9"), "Say which option it goes into"),
        (edit(OptionChange.MERGE, option="o1"), "Choose both"),
        (edit(OptionChange.ADD, name="long " * 40), "the most is 80"),
    ],
)
async def test_an_edit_that_makes_no_sense_says_what_to_do(wrong: OptionEdit, words: str) -> None:
    log = Recording()
    debate = await log.begin(*TWO)
    fine = edit(OptionChange.ADD, "V0", name="Redis")

    with pytest.raises(EditRefused, match=words) as refused:
        await steering(log).edit_options(debate, DANA, [fine, wrong])

    assert refused.value.edit == wrong
    assert not (await log.debate()).option_edits  # all or nothing


async def test_there_is_a_bound_on_options() -> None:
    log = Recording()
    debate = await log.begin(*TWO)
    many = [edit(OptionChange.ADD, f"V{n}", name=f"Way {n}") for n in range(MOST_OPTIONS)]
    with pytest.raises(EditRefused, match="Merge two first"):
        await steering(log).edit_options(debate, DANA, many)


async def test_others_may_not_and_a_debate_without_options_says_so() -> None:
    log = Recording()
    debate = await log.begin()
    with pytest.raises(BadInput, match="no options yet"):
        await steering(log).check_options(debate, DANA)
    for event in TWO:
        await log.store.append(DEBATE, event, at=log.clock.now())
    with pytest.raises(BadInput, match="can change its options"):
        await steering(log).check_options(await log.debate(), ALEX)


async def test_the_options_of_a_debate_that_is_over_stay() -> None:
    log = Recording()
    debate = await log.begin(*ended())
    with pytest.raises(BadInput, match="is over"):
        await steering(log).edit_options(debate, DANA, [edit(OptionChange.ADD, name="Redis")])


@pytest.mark.parametrize("before", [skipped(), ended()])
async def test_what_was_skipped_is_wanted_once(before: list[Event]) -> None:
    log = Recording()
    debate = await log.begin(*before)

    await steering(log).want(debate, DANA)
    await steering(log).want(debate, DANA)  # a second click, on what was seen then
    await steering(log).want(await log.debate(), DANA)

    debate = await log.debate()
    assert (debate.wanted_by, debate.edition, debate.status) == (DANA, 2, Status.RUNNING)
    assert debate.verdict is None
    entries = [
        event for event in await log.store.events(DEBATE) if isinstance(event.event, DebateWanted)
    ]
    assert len(entries) == 1
    assert await log.store.unfinished_ids() == [DEBATE]


async def test_an_end_written_in_the_same_moment_does_not_end_it() -> None:
    log = Recording()
    *before, end = ended()
    debate = await log.begin(*before)
    await steering(log).want(debate, DANA)
    await log.store.append(DEBATE, end, at=log.clock.now())
    assert (await log.debate()).status is Status.RUNNING
    assert await log.store.unfinished_ids() == [DEBATE]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (TWO, "Nothing was skipped"),
        ([*skipped(), StopRequested(stop=Stop(by=DANA))], "cut short"),
        ([*skipped(), DebateFailed(reason="Gone.")], "without a verdict"),
    ],
)
async def test_what_was_not_skipped_or_is_over_cannot_be_wanted(
    events: list[Event], words: str
) -> None:
    log = Recording()
    debate = await log.begin(*events)
    with pytest.raises(BadInput, match=words):
        await steering(log).want(debate, DANA)


async def test_nobody_reopens_what_the_team_has_decided() -> None:
    log = Recording()
    await log.begin(*ended())
    accepted = Decision(kind=DecisionKind.ACCEPT, by=DANA, origin="V1")
    await DecideOnVerdict(facts=log.facts).decide(await log.debate(), accepted)
    with pytest.raises(BadInput, match="The team has decided already"):
        await steering(log).want(await log.debate(), DANA)


async def test_wanting_costs_money_so_only_who_may_steer_can() -> None:
    log = Recording()
    debate = await log.begin(*ended())
    with pytest.raises(BadInput, match="can have it debated"):
        await steering(log).want(debate, ALEX)


async def test_a_debate_nobody_can_see_is_given_up_in_its_second_edition_too() -> None:
    log = Recording()
    await steering(log).want(await log.begin(*ended()), DANA)
    await steering(log).give_up(DEBATE, "The channel is gone.")
    assert (await log.debate()).status is Status.FAILED


@pytest.mark.parametrize(
    ("options", "words"),
    [((), "Choose what"), (("o9",), "no such option"), (("o1", "o1"), "in two places")],
)
async def test_a_ballot_that_cannot_be_counted_says_what_to_do(
    options: tuple[str, ...], words: str
) -> None:
    log = Recording()
    debate = await log.begin(*TWO)
    ballot = PeopleBallot(by=ALEX, options=options, origin="V1")
    with pytest.raises(BadInput, match=words):
        await DecideOnVerdict(facts=log.facts).vote(debate, ballot)


async def test_before_options_are_named_there_is_nothing_to_choose() -> None:
    log = Recording()
    with pytest.raises(BadInput, match="nothing to choose between yet"):
        DecideOnVerdict(facts=log.facts).check_ballot(await log.begin(), ALEX)
