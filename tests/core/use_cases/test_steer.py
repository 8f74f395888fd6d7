"""Who may steer a debate and change its options; repeated calls have no further effect."""

from collections.abc import Sequence

import pytest

from core.debate.contributions import Contribution
from core.debate.debate_events import DebateConcluded, DebateFailed
from core.debate.log import Event
from core.debate.people import Person, Place, Stop
from core.debate.people_events import DecisionRecorded, StopRequested
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import BallotCast, ContributionMade, GatePassed, OptionsMerged
from core.debate.verdict import Decision, DecisionKind
from core.debate.vote import (
    Ballot,
    Gate,
    GateReason,
    Option,
    OptionChange,
    OptionEdit,
    Options,
    QuestionKind,
)
from core.errors import BadInput
from core.rules.gate import gate_turn
from core.rules.options import options_of
from core.use_cases.limits import UNBOUNDED
from core.use_cases.messages import AddNote
from core.use_cases.steer import MOST_OPTIONS, EditRefused, SteerDebate
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, verdict

SAM = Person(id="U3")
AGENTS = ("architect", "security", "simplicity")


async def only_sam(_place: Place) -> Sequence[str]:
    return [SAM.id]


def steering(log: Recording) -> SteerDebate:
    note = AddNote(facts=log.facts, bounds=UNBOUNDED)
    return SteerDebate(facts=log.facts, note=note, stewards=only_sam, mention="@{}".format)


def drafted(*names: str) -> list[Event]:
    """Drafts of all agents, merged into these options."""
    turns = [Turn(act=Act.PROPOSAL, round=1, agent=agent) for agent in AGENTS]
    merged = Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=tuple(Option(id=f"o{at}", name=name) for at, name in enumerate(names, start=1)),
        stances=dict.fromkeys(AGENTS, "o1"),
    )
    made = [ContributionMade(contribution=Contribution(turn=turn, text="So.")) for turn in turns]
    return [*made, OptionsMerged(options=merged)]


TWO = drafted("PostgreSQL", "Kafka")


def skipped() -> list[Event]:
    """A debate whose agents agreed at once."""
    shares = {"o1": 0.9, "o2": 0.1}
    turns = [Turn(act=Act.BALLOT, round=0, agent=agent) for agent in AGENTS]
    ballots = [Ballot(turn=turn, ranking=AGENTS, probabilities=shares) for turn in turns]
    agreed = Gate(turn=gate_turn(0), reason=GateReason.AGREED, option="o1")
    return [
        *TWO,
        *(BallotCast(ballot=ballot) for ballot in ballots),
        GatePassed(gate=agreed),
    ]


def ended() -> list[Event]:
    return [*skipped(), verdict(), DebateConcluded()]


def edit(change: OptionChange, origin: str = "V1", **fields: str) -> OptionEdit:
    return OptionEdit(change=change, by=DANA, origin=origin, **fields)


async def test_a_refusal_names_the_people_who_may_steer() -> None:
    log = Recording()
    debate = await log.begin(*ended())
    only = "Only @U1, who started debate `dabc2345`, and @U3 can "
    with pytest.raises(BadInput, match=f"{only}have it debated"):
        await steering(log).want(debate, ALEX)
    sealed = debate.replace(setup=debate.setup.model_copy(update={"sealed": True}))
    with pytest.raises(BadInput, match=f"{only}reveal it"):
        await steering(log).reveal(sealed, ALEX)
    running = await Recording().begin(*TWO)
    with pytest.raises(BadInput, match=f"{only}stop it"):
        await steering(log).stop(running, ALEX)
    with pytest.raises(BadInput, match=f"{only}change its options"):
        await steering(log).check_options(running, ALEX)
    assert not log.woken


async def test_a_stop_that_was_taken_back_can_be_asked_for_again() -> None:
    log = Recording()
    await steering(log).stop(await log.begin(), SAM)
    await steering(log).withdraw_stop(await log.debate(), DANA)
    assert (await log.debate()).stop is None
    await steering(log).stop(await log.debate(), DANA)
    assert (await log.debate()).stop
    assert log.woken == [DEBATE] * 3


async def test_options_are_renamed_merged_and_added_in_one_form() -> None:
    log = Recording()
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"
    await log.begin(*drafted("PostgreSQL", "Kafka", "Postgres"))
    edits = [
        edit(OptionChange.RENAME, "V1/o2", option="o2", name="Kafka, managed"),
        edit(OptionChange.MERGE, "V1/merge", option="o3", into="o1"),
        edit(OptionChange.ADD, "V1/add", name=f"  Redis   {secret} "),
    ]
    as_it_is = [edit(OptionChange.RENAME, "V2/o2", option="o2", name="Kafka, managed")]
    for edits_of_form in (edits, edits, as_it_is):
        await steering(log).edit_options(await log.debate(), DANA, edits_of_form)
    debate = await log.debate()
    names = [item.name for item in options_of(debate).items]
    assert names == ["PostgreSQL", "Kafka, managed", "Redis [redacted]"]
    assert log.woken == [DEBATE] * 3


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (edit(OptionChange.ADD, name="  "), "needs a name"),
        (edit(OptionChange.ADD, name="kafka"), "an option “Kafka” already"),
        (edit(OptionChange.RENAME, option="o1", name="KAFKA"), "merge the two"),
        (edit(OptionChange.RENAME, option="o9", name="Redis"), "no such option"),
        (edit(OptionChange.MERGE, option="o1", into="o1"), "into itself"),
        (edit(OptionChange.MERGE, option="o1", into="o9"), "Say which option to merge it into"),
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


@pytest.mark.parametrize(
    ("before", "count", "words"),
    [(TWO, MOST_OPTIONS, "Merge two first"), ([], 1, "no options yet"), (ended(), 1, "is over")],
)
async def test_options_have_a_bound_a_beginning_and_an_end(
    before: list[Event], count: int, words: str
) -> None:
    log = Recording()
    debate = await log.begin(*before)
    many = [edit(OptionChange.ADD, f"V{n}", name=f"Way {n}") for n in range(count)]
    with pytest.raises(BadInput, match=words):
        await steering(log).edit_options(debate, DANA, many)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (TWO, "Nothing was skipped"),
        ([*skipped(), StopRequested(stop=Stop(by=DANA))], "cut short"),
        ([*skipped(), DebateFailed(reason="Gone.")], "without a verdict"),
        (
            [
                *ended(),
                DecisionRecorded(decision=Decision(kind=DecisionKind.ACCEPT, by=DANA, origin="V1")),
            ],
            "The team has decided already",
        ),
    ],
)
async def test_what_was_not_skipped_or_is_over_cannot_be_wanted(
    events: list[Event], words: str
) -> None:
    log = Recording()
    debate = await log.begin(*events)
    with pytest.raises(BadInput, match=words):
        await steering(log).want(debate, DANA)
