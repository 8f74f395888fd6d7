"""Any order of completions, failures, notes, stops and crashes ends well, in every format."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import schedule, voting
from core.context import candidates
from core.events import (
    BallotAbstained,
    BallotCast,
    ClarificationAnswered,
    ClarificationsClosed,
    ClarificationsOpened,
    ContributionMade,
    DebateStarted,
    Event,
    FacilitatorDecided,
    NoteAdded,
    QuestionsAsked,
    Recorded,
    StopRequested,
    SummaryMade,
    TimeRanOut,
    TurnFailed,
    VerdictReached,
    VoteCalled,
    VoteTallied,
    apply,
    fold,
)
from core.formats import clarifying
from core.formats.registry import FORMATS, format_of
from core.models import (
    Abstention,
    Act,
    Answer,
    Ballot,
    Clarifying,
    ContextMethod,
    Contribution,
    Debate,
    Ending,
    Failure,
    Guidance,
    NextStep,
    Note,
    Person,
    Question,
    Questions,
    Setup,
    Status,
    Stop,
    Summarization,
    Summary,
    SummaryKind,
    Termination,
    Turn,
    Verdict,
)
from core.testing import a_setup

DANA = Person(id="U1", name="Dana")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Luck:
    """How a simulated debate goes."""

    seed: int
    failing: float
    disturbed: float


lucks = st.builds(
    Luck,
    seed=st.integers(0, 2**32),
    failing=st.sampled_from([0.0, 0.1, 0.5]),
    disturbed=st.sampled_from([0.0, 0.05]),
)


@st.composite
def some_setups(draw: st.DrawFn) -> Setup:
    method = draw(st.sampled_from(list(ContextMethod)))
    ending = draw(st.sampled_from(list(Ending)))
    rules = {
        "format": draw(st.sampled_from(sorted(FORMATS))),
        "summarization": Summarization(method=method, threshold=30),
        "termination": Termination(ending=ending, threshold=0.9),
        "clarifying": Clarifying(enabled=draw(st.booleans()), rounds=2),
    }
    return a_setup(rounds=draw(st.integers(1, 5))).model_copy(update=rules)


setups = some_setups()


def outcome(debate: Debate, turn: Turn, dice: random.Random) -> Event:
    """A plausible good outcome of a turn."""
    match turn.act:
        case Act.QUESTIONS:
            asked = (Question(text=f"How {dice.choice('abc')}?", assumption="so"),)
            return QuestionsAsked(questions=Questions(turn=turn, questions=asked))
        case Act.CLARIFICATION:
            return ClarificationsOpened(clarifications=clarifying.put(debate, turn))
        case Act.FACILITATION:
            step = dice.choice(list(NextStep))
            question = Question(text="Which?", assumption="any") if step is NextStep.ASK else None
            guidance = Guidance(turn=turn, next_step=step, focus="cost", question=question)
            return FacilitatorDecided(guidance=guidance)
        case Act.SUMMARY:
            summary = Summary(
                turn=turn,
                kind=SummaryKind.ROUND,
                text="s",
                before_chars=9,
                after_chars=1,
                method="x",
            )
            return SummaryMade(summary=summary)
        case Act.BALLOT:
            return a_ballot(debate, turn, dice)
        case Act.TALLY:
            turns = schedule.ballot_turns(debate)
            ballots = [debate.ballots[t.key] for t in turns if t.key in debate.ballots]
            positions = list(format_of(debate).positions(debate))
            return VoteTallied(tally=voting.count(positions, ballots))
        case Act.SYNTHESIS:
            verdict = Verdict(decision="d", solution="s", confidence=50)
            return VerdictReached(verdict=verdict)
        case _:
            text = f"{turn.act} {dice.choice(['one', 'two'])} " * 4
            return ContributionMade(contribution=Contribution(turn=turn, text=text))


def a_summary(turn: Turn) -> Summary:
    kind = SummaryKind.ROUND
    return Summary(turn=turn, kind=kind, text="s", method="x", before_chars=9, after_chars=1)


def a_ballot(debate: Debate, turn: Turn, dice: random.Random) -> Event:
    if dice.random() < 0.1:
        return BallotAbstained(abstention=Abstention(turn=turn, reason="unreadable"))
    ranking = [candidate.position for candidate in candidates(debate, turn)]
    return BallotCast(ballot=Ballot(turn=turn, ranking=tuple(sorted(ranking))))


def disturbance(debate: Debate, dice: random.Random) -> Event:
    """Something people or time do."""
    number = dice.randrange(10**9)
    waiting = debate.open_clarifications
    if waiting and dice.random() < 0.7:
        return ClarificationAnswered(answer=Answer(number=waiting[0].number, text="yes", by=DANA))
    return dice.choice(
        [
            NoteAdded(note=Note(id=str(number), author=DANA, text="Mind 2 people.")),
            StopRequested(stop=Stop(by=DANA)),
            VoteCalled(by=DANA),
            TimeRanOut(),
        ]
    )


@dataclass
class Play:
    """A debate played through by dice, at any moment restartable from its log."""

    setup: Setup
    luck: Luck

    def __post_init__(self) -> None:
        self.dice = random.Random(self.luck.seed)
        start = Recorded("d1", 1, START, DebateStarted(setup=self.setup))
        self.log = [start]
        self.debate = apply(None, start)

    def add(self, event: Event) -> None:
        """The key's first writer wins, as in the store."""
        if any(recorded.event.key == event.key for recorded in self.log):
            return
        seq = len(self.log) + 1
        recorded = Recorded("d1", seq, START + timedelta(seconds=seq), event)
        self.log.append(recorded)
        self.debate = apply(self.debate, recorded)

    def step(self) -> bool:
        """One more event; False when the debate has ended or is parked."""
        debate = self.debate
        ready = schedule.ready(debate)
        assert not [turn for turn in ready if debate.is_done(turn)]
        if self.dice.random() < self.luck.disturbed:
            self.add(disturbance(debate, self.dice))
        elif ready:
            turn = self.dice.choice(ready)
            self.add(self.outcome(turn))
        elif debate.open_clarifications and not schedule.conclusion(debate):
            waiting = schedule.overdue(debate, START + timedelta(days=9))
            assert waiting
            self.add(ClarificationsClosed(which=waiting))
        else:
            ending = schedule.conclusion(debate)
            if ending:
                self.add(ending)
            return False
        return True

    def outcome(self, turn: Turn) -> Event:
        may_fail = turn.act not in {Act.TALLY, Act.CLARIFICATION, Act.SYNTHESIS}
        if may_fail and self.dice.random() < self.luck.failing:
            return TurnFailed(failure=Failure(turn=turn, reason="down"))
        return outcome(self.debate, turn, self.dice)

    def to_the_end(self) -> Debate:
        for _ in range(2000):
            if not self.step():
                break
        return self.debate


@settings(max_examples=80)
@given(setups, lucks)
def test_every_debate_ends_with_a_verdict_or_says_why_not(setup: Setup, luck: Luck) -> None:
    debate = Play(setup, luck).to_the_end()

    assert debate.status is not Status.RUNNING
    assert bool(debate.verdict) == (debate.status is Status.CONCLUDED)
    assert debate.verdict or debate.failure


@settings(max_examples=25)
@given(setups, lucks)
def test_folding_again_gives_the_same_debate_and_the_same_next_turns(
    setup: Setup, luck: Luck
) -> None:
    play = Play(setup, luck)
    for _ in range(40):
        again = fold(play.log)

        assert again == play.debate
        assert schedule.ready(again) == schedule.ready(play.debate)
        if not play.step():
            break


@settings(max_examples=25)
@given(setups, lucks)
def test_nothing_is_ever_blocked_by_a_background_summary_that_is_done(
    setup: Setup, luck: Luck
) -> None:
    play = Play(setup, luck)
    while play.step():
        ready = schedule.ready(play.debate)
        if schedule.blocked(play.debate) and not schedule.is_cut_short(play.debate):
            assert any(turn.act is Act.SUMMARY for turn in ready), "blocked, and nobody works on it"


def played(form: str, rounds: int = 3, **changes: object) -> Debate:
    setup = a_setup(rounds=rounds).model_copy(update={"format": form, **changes})
    return Play(setup, Luck(seed=1, failing=0, disturbed=0)).to_the_end()


def turns_of(debate: Debate, act: Act) -> Sequence[Turn]:
    return [made.turn for made in debate.contributions.values() if made.turn.act is act]


@pytest.mark.parametrize(
    ("act", "count"),
    [
        (Act.GATHER, 3),
        (Act.PLAN, 3),
        (Act.FORMULATE, 3),
        (Act.DEBATE, 3),
        (Act.ADJUST, 3),
        (Act.REBUTTAL, 3),
    ],
)
def test_a_council_takes_each_phase_once_per_agent(act: Act, count: int) -> None:
    never = Termination(threshold=1.1)
    assert len(turns_of(played("council", termination=never), act)) == count


def test_a_council_that_has_converged_needs_no_rebuttal() -> None:
    debate = played("council", termination=Termination(threshold=0.0))

    assert not turns_of(debate, Act.REBUTTAL)
    assert turns_of(debate, Act.ADJUST)


def test_a_panel_ends_when_its_facilitator_calls_the_vote() -> None:
    debate = played("panel", rounds=7)
    decided = [guidance.next_step for guidance in debate.guidance.values()]

    assert len(turns_of(debate, Act.STATEMENT)) == 3 * max(
        made.turn.round for made in debate.contributions.values()
    )
    assert NextStep.VOTE not in decided[:-1]


class Patient(Play):
    """A play whose facilitator always goes on."""

    def outcome(self, turn: Turn) -> Event:
        if turn.act is Act.FACILITATION:
            return FacilitatorDecided(guidance=Guidance(turn=turn, next_step=NextStep.GO_ON))
        return super().outcome(turn)


def test_a_panel_never_takes_more_than_seven_rounds() -> None:
    setup = a_setup(rounds=15).model_copy(update={"format": "panel"})
    debate = Patient(setup, Luck(seed=1, failing=0, disturbed=0)).to_the_end()

    assert max(made.turn.round for made in debate.contributions.values()) == 7


def test_stable_ballots_and_like_positions_end_the_debate_early() -> None:
    settled = Termination(ending=Ending.CONVERGED, threshold=0.0)
    debate = played("critique", rounds=9, termination=settled)

    assert max(made.turn.round for made in debate.contributions.values()) == 2
    assert debate.verdict


def test_summaries_lag_one_round_and_the_last_round_has_none() -> None:
    rules = Summarization(method=ContextMethod.ROUNDS)
    debate = played("panel", rounds=6, summarization=rules)
    keys = list(debate.times)
    for number in range(1, 4):
        needed = next((k for k in keys if k.startswith(f"r{number + 2}/statement")), None)
        made = f"r{number}/summary/summarizer"
        if needed:
            assert keys.index(made) < keys.index(needed)
    last = max(made.turn.round for made in debate.contributions.values())
    assert f"r{last}/summary/summarizer" not in debate.summaries or last < 6


def test_people_are_waited_for_until_the_deadline() -> None:
    setup = a_setup().model_copy(update={"clarifying": Clarifying(enabled=True)})
    play = Play(setup, Luck(seed=1, failing=0, disturbed=0))
    for _ in range(4):
        play.step()

    assert play.debate.open_clarifications
    assert schedule.ready(play.debate) == ()
    assert schedule.conclusion(play.debate) is None
    assert (
        schedule.due(play.debate) == play.debate.clarifications["r0/clarification/engine/1"].until
    )


def test_the_same_question_of_two_agents_is_asked_once_for_both() -> None:
    setup = a_setup().model_copy(update={"clarifying": Clarifying(enabled=True)})
    play = Play(setup, Luck(seed=1, failing=0, disturbed=0))
    for agent, text in (
        ("architect", "How many jobs per second do you expect?"),
        ("security", "How many jobs per second do you expect at peak?"),
        ("simplicity", "Who is on call?"),
    ):
        turn = Turn(act=Act.QUESTIONS, round=0, agent=agent, target="1")
        asked = Questions(turn=turn, questions=(Question(text=text, assumption="?"),))
        play.add(QuestionsAsked(questions=asked))
    play.step()

    items = play.debate.open_clarifications
    assert [item.asked_by for item in items] == [("architect", "security"), ("simplicity",)]
    assert [item.number for item in items] == [1, 2]


def test_a_paused_debate_starts_nothing() -> None:
    play = Play(a_setup(), Luck(seed=1, failing=0, disturbed=0))

    assert schedule.ready(replace(play.debate, paused_by=DANA)) == ()
    assert schedule.conclusion(replace(play.debate, paused_by=DANA)) is None
