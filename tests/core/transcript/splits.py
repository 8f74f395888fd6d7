"""Debates with options, event by event: one that was skipped, one that closed after a round."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from core.debate.contributions import Contribution, Failure, FailureCause
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import Event, RecordedEvent
from core.debate.people import Person
from core.debate.people_events import OptionEdited, PeopleBallotCast
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.turn import ENGINE, JUDGE, SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    BallotCast,
    ContributionMade,
    CrossChecked,
    GatePassed,
    OptionsMerged,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.debate.verdict import CrossCheck, Judgement, Requirement, RequirementStatus, Verdict
from core.debate.vote import (
    Abstention,
    Ballot,
    Gate,
    GateReason,
    Option,
    OptionChange,
    OptionEdit,
    Options,
    OptionScore,
    PeopleBallot,
    QuestionKind,
    Score,
    Tally,
)
from core.testing import a_setup, log_of
from core.usage import Call, Usage

DANA, ALEX = Person(id="U1", name="Dana"), Person(id="U2", name="Alex")
AGENTS = ("architect", "security", "simplicity")


def a_call() -> Call:
    usage = Usage(input_tokens=1000, output_tokens=100, cost=Decimal("0.01"), attempts=1)
    return Call(provider="openai", model="gpt-x", usage=usage, latency_ms=1000)


def split_setup(rounds: int = 3) -> Setup:
    return a_setup(agents=AGENTS, rounds=rounds).model_copy(update={"when": When.SPLIT})


def drafts() -> list[Event]:
    """Three drafts, merged into two options: PostgreSQL and Kafka."""
    texts = ("PostgreSQL: we run it.", "Kafka: it keeps every job.", "PostgreSQL, a table.")
    turns = [Turn(act=Act.PROPOSAL, round=1, agent=agent) for agent in AGENTS]
    contributions = [
        Contribution(turn=turn, text=text, call=a_call())
        for turn, text in zip(turns, texts, strict=True)
    ]
    options = Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=(Option(id="o1", name="PostgreSQL"), Option(id="o2", name="Kafka")),
        stances={"architect": "o1", "security": "o2", "simplicity": "o1"},
        call=a_call(),
    )
    return [
        *(ContributionMade(contribution=contribution) for contribution in contributions),
        OptionsMerged(options=options),
    ]


def ballot(number: int, voter: str, first: float, *ranking: str, moved_by: str = "") -> BallotCast:
    """A ballot that gives PostgreSQL that share, and Kafka the rest."""
    cast = Ballot(
        turn=Turn(act=Act.BALLOT, round=number, agent=voter),
        ranking=ranking or AGENTS,
        reasons={position: f"{position} is clear" for position in ranking or AGENTS},
        probabilities={"o1": first, "o2": round(1 - first, 2)},
        confidence=None,
        moved_by=moved_by or None,
        call=a_call(),
    )
    return BallotCast(ballot=cast)


def gate(number: int, reason: GateReason, spread: float, **more: object) -> GatePassed:
    turn = Turn(act=Act.GATE, round=number, agent=ENGINE)
    fields = {"turn": turn, "reason": reason, "option": "o1", "spread": spread, **more}
    return GatePassed(gate=Gate.model_validate(fields))


def score(position: str, points: float, first_places: int, option: str, *, mean: float) -> Score:
    fields = {"position": position, "points": points, "first_places": first_places}
    more = {"option": option, "mean_probability": mean, "mean_confidence": None}
    return Score.model_validate(fields | more)


def option_score(option: str, first_choices: int, mean: float) -> OptionScore:
    return OptionScore(option=option, first_choices=first_choices, mean_probability=mean)


def verdict(**changes: object) -> Verdict:
    fields: Mapping[str, object] = {
        "decision": "Use PostgreSQL as the job queue.",
        "option": "o1",
        "reasons": ("The team runs PostgreSQL already.", "Jobs commit with the data."),
        "solution": "One table, taken from with SKIP LOCKED.",
        "implementation": "1. Create the table.",
        "requirements": (
            Requirement(
                text="It must keep every job.",
                words="Jobs commit with the data.",
                status=RequirementStatus.MET,
            ),
            Requirement(text="It must scale to 2027.", status=RequirementStatus.UNKNOWN),
        ),
        "criteria": (
            Judgement(option="o1", criterion="Cost", words="none"),
            Judgement(option="o2", criterion="Cost", words="a | cluster"),
            Judgement(option="o1", criterion="Scale", words="to 5,000 a second"),
        ),
        "tradeoffs": ("Throughput for simplicity",),
        "dissent": "Security would take Kafka.",
        "overturned_by": ("More than 50,000 jobs per second",),
        "confidence": 65,
        "rests_on": ("2 of 3 agents put it first", "2 different models"),
        "judge_confidence": 90,
        "call": a_call(),
        **changes,
    }
    return Verdict.model_validate(fields)


def skipped_log(*more: Event) -> Sequence[RecordedEvent]:
    """All agents put PostgreSQL first at once, so no round is held."""
    tally = Tally(
        scores=(
            score("architect", 3, 2, "o1", mean=0.85),
            score("simplicity", 2, 1, "o1", mean=0.85),
            score("security", 0, 0, "o2", mean=0.15),
        ),
        options=(
            option_score("o1", 3, 0.85),
            option_score("o2", 0, 0.15),
        ),
        winners=("architect",),
        controversial=False,
        voters=AGENTS,
    )
    rests_on = ("3 of 3 agents put it first",)
    events: list[Event] = [
        DebateStarted(setup=split_setup()),
        *drafts(),
        ballot(0, "architect", 0.9),
        ballot(0, "security", 0.8),
        ballot(0, "simplicity", 0.85),
        gate(0, GateReason.AGREED, 0.1, saved="0.66"),
        VoteTallied(tally=tally),
        VerdictReached(verdict=verdict(confidence=84, rests_on=rests_on)),
        DebateConcluded(),
        *more,
    ]
    return log_of(events)


def _close_tally() -> Tally:
    return Tally(
        scores=(
            score("architect", 2, 1, "o1", mean=0.55),
            score("security", 2, 0, "o2", mean=0.45),
            score("simplicity", 0, 0, "o1", mean=0.55),
        ),
        options=(
            option_score("o1", 1, 0.55),
            option_score("t1", 1, 0.45),
        ),
        winners=("architect",),
        controversial=True,
        voters=("architect", "security"),
        abstained=("simplicity",),
    )


def _rounds() -> list[Event]:
    """A round in which Security changes its mind and a key is refused, and one without changes."""
    critique = Turn(act=Act.CRITIQUE, round=1, agent="architect", target="security")
    again = critique.model_copy(update={"round": 2})
    refined = Turn(act=Act.REFINEMENT, round=1, agent="security")
    carried = Turn(act=Act.PROPOSAL, round=2, agent="security")
    hosted = "Kafka, but hosted."
    made = [
        Contribution(turn=critique, text="Who runs a cluster?", call=a_call()),
        Contribution(turn=refined, text=hosted, call=a_call(), stance={"o1": 0.4, "o2": 0.6}),
        Contribution(turn=carried, text=hosted, carried_from=refined.key),
        Contribution(turn=again, text="Still a cluster.", call=a_call()),
    ]
    failed = Failure(
        turn=Turn(act=Act.REFINEMENT, round=1, agent="simplicity"),
        reason="No such key.",
        cause=FailureCause.KEY,
    )
    contributions = [ContributionMade(contribution=contribution) for contribution in made]
    return [
        *contributions[:2],
        TurnFailed(failure=failed),
        gate(1, GateReason.MOVED, 0.5, moved=("security",)),
        *contributions[2:],
        gate(2, GateReason.DEADLOCK, 0.4, saved="0.2"),
    ]


def split_log() -> Sequence[RecordedEvent]:
    """A split that round 2 did not change: a close vote, a tie, a refused key, an abstention."""
    moved_by = "r1/critique/architect/security"
    edits = (
        OptionEdit(change=OptionChange.ADD, name="Kafka, hosted", by=DANA, origin="1"),
        OptionEdit(change=OptionChange.MERGE, option="o2", into="t1", by=ALEX, origin="2"),
    )
    notes = (
        "Simplicity (scripted/scripted-1) could not be asked: No such key.",
        "Simplicity's ballot could not be counted: It could not be read.",
    )
    events: list[Event] = [
        DebateStarted(setup=split_setup()),
        *drafts(),
        ballot(0, "architect", 0.9),
        ballot(0, "security", 0.1),
        ballot(0, "simplicity", 0.85),
        gate(0, GateReason.SPLIT, 0.8),
        *(OptionEdited(edit=edit) for edit in edits),
        *_rounds(),
        ballot(2, "architect", 0.4, moved_by="r1/refinement/security"),
        ballot(2, "security", 0.7, "security", "architect", "simplicity", moved_by=moved_by),
        BallotAbstained(
            abstention=Abstention(
                turn=Turn(act=Act.BALLOT, round=2, agent="simplicity"),
                reason="It could not be read.",
            )
        ),
        VoteTallied(tally=_close_tally()),
        CrossChecked(
            check=CrossCheck(
                turn=Turn(act=Act.CROSS_CHECK, round=2, agent=JUDGE),
                option="o2",
                reason="It keeps jobs.",
                call=a_call(),
            )
        ),
        VerdictReached(verdict=verdict(warnings=notes, solution="PostgreSQL: we run it.")),
        DebateConcluded(),
        PeopleBallotCast(ballot=PeopleBallot(by=DANA, options=("t1", "o1"), origin="f")),
        PeopleBallotCast(ballot=PeopleBallot(by=ALEX, options=("o2",), origin="g")),
    ]
    return log_of(events)
