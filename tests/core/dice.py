"""Random debates without models, for property tests."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from core.acts.act import ACTS
from core.acts.context import candidates
from core.config.playbooks import built_in
from core.debate import debate_events, message_events, people_events, turn_events
from core.debate.agents import ContextMethod, Summarization
from core.debate.contributions import (
    Answer,
    Contribution,
    Failure,
    Findings,
    FindingStatus,
    Note,
    Question,
    Questions,
    ReviewFinding,
    Severity,
    Summary,
    SummaryKind,
)
from core.debate.evidence import Citation, CitationStatus
from core.debate.log import Event, RecordedEvent, apply
from core.debate.people import Person, Stop
from core.debate.rules import Clarifying, Ending, Termination, When
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import BACKGROUND_ACTS, ENGINE, JUDGE, Act, Turn
from core.debate.verdict import CrossCheck, ShadowAnswer, ShadowChoice, Verdict
from core.debate.vote import (
    Abstention,
    Ballot,
    Guidance,
    NextStep,
    Option,
    OptionChange,
    OptionEdit,
    Options,
    QuestionKind,
)
from core.rules import gate, schedule, voting
from core.rules.formats import clarifying, review
from core.rules.formats.registry import FORMATS, format_of
from core.rules.options import current_option, options_of
from core.testing import AN_AGENDA, a_setup

DANA = Person(id="U1", name="Dana")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Luck:
    """The randomness of a simulated debate."""

    seed: int
    #: The probability that a turn fails.
    failing: float
    #: The probability of an event of people or time before a turn.
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
        "format": draw(st.sampled_from([*sorted(FORMATS), AN_AGENDA.name])),
        "agenda": AN_AGENDA,
        "summarization": Summarization(method=method, threshold=30),
        "termination": Termination(ending=ending),
        "when": draw(st.sampled_from(list(When))),
        "clarifying": Clarifying(enabled=draw(st.booleans()), rounds=2),
        "playbook": draw(st.sampled_from([None, built_in()["vendor-choice"]])),
    }
    return a_setup(rounds=draw(st.integers(1, 5))).model_copy(update=rules)


setups = some_setups()


def outcome(  # noqa: C901, PLR0911, PLR0912 - one case per act
    debate: Debate, turn: Turn, dice: random.Random
) -> Event:
    """A plausible successful outcome of a turn."""
    match turn.act:
        case Act.QUESTIONS:
            questions = (Question(text=f"How {dice.choice('abc')}?", assumption="so"),)
            return turn_events.QuestionsAsked(questions=Questions(turn=turn, questions=questions))
        case Act.CLARIFICATION:
            return turn_events.ClarificationsOpened(
                clarifications=clarifying.questions_to_put(debate, turn)
            )
        case Act.FACILITATION:
            step = dice.choice(list(NextStep))
            question = Question(text="Which?", assumption="any") if step is NextStep.ASK else None
            guidance = Guidance(turn=turn, next_step=step, focus="cost", question=question)
            return turn_events.FacilitatorDecided(guidance=guidance)
        case Act.SUMMARY:
            return turn_events.SummaryMade(summary=a_summary(turn))
        case Act.BALLOT:
            return a_ballot(debate, turn, dice)
        case Act.TALLY:
            turns = schedule.ballot_turns(debate)
            ballots = [debate.ballots[t.key] for t in turns if t.key in debate.ballots]
            positions = {a: current_option(debate, a) for a in format_of(debate).positions(debate)}
            tally = voting.count(positions, ballots, options=options_of(debate))
            return turn_events.VoteTallied(tally=tally, edition=debate.edition)
        case Act.OPTIONS:
            return turn_events.OptionsMerged(options=some_options(debate, turn, dice))
        case Act.REVIEW:
            findings = tuple(a_finding(dice) for _ in range(dice.randrange(3)))
            contribution = Contribution(
                turn=turn, text="review", findings=findings, stance={"o2": 1.0}
            )
            return turn_events.ContributionMade(contribution=contribution)
        case Act.FINDINGS:
            items = review.merge_findings(review.raised_findings(debate))
            return turn_events.FindingsMerged(findings=Findings(turn=turn, items=items))
        case Act.SECOND_LOOK:
            looks = tuple(
                finding.model_copy(update={"status": dice.choice(list(FindingStatus)[:2])})
                for finding in review.own_findings(debate, turn.agent)
            )
            contribution = Contribution(turn=turn, text="second look", findings=looks)
            return turn_events.ContributionMade(contribution=contribution)
        case Act.GATE:
            decision = gate.gate_decision(debate, turn)
            assert decision
            return turn_events.GatePassed(gate=decision)
        case Act.CROSS_CHECK:
            return turn_events.CrossChecked(check=CrossCheck(turn=turn, option="o1"))
        case Act.SHADOW:
            shadow = ShadowAnswer(turn=turn, decision="alone", risks=("It may be late.",))
            return turn_events.ShadowAnswered(shadow=shadow)
        case Act.SHADOW_CHOICE:
            choice = ShadowChoice(turn=turn, option=dice.choice(["o1", "o2", ""]))
            return turn_events.ShadowPlaced(choice=choice)
        case Act.SYNTHESIS:
            verdict = Verdict(decision="d", solution="s", confidence=50)
            return turn_events.VerdictReached(verdict=verdict, edition=debate.edition)
        case _:
            text = f"{turn.act} {dice.choice(['one', 'two'])} " * 4
            stance = some_shares(debate, dice) if ACTS[turn.act].states_stance else {}
            contribution = Contribution(turn=turn, text=text, stance=stance)
            return turn_events.ContributionMade(contribution=contribution)


def a_finding(dice: random.Random) -> ReviewFinding:
    """A finding of any severity; some with a quote that is not in the subject."""
    status = dice.choice([*[CitationStatus.VERIFIED] * 4, CitationStatus.UNVERIFIED])
    words = f"word {dice.randrange(5)}"
    return ReviewFinding(
        severity=dice.choice(list(Severity)),
        citation=Citation(source="e1", words=words, status=status),
        wrong=f"fault {dice.randrange(3)}",
    )


def some_options(debate: Debate, turn: Turn, dice: random.Random) -> Options:
    """Three options, a random one for each draft, and a random kind of question."""
    items = tuple(Option(id=f"o{number}", name=f"option {number}") for number in (1, 2, 3))
    stances = {agent: dice.choice(items).id for agent in format_of(debate).drafts(debate)}
    kind = dice.choice(list(QuestionKind))
    return Options(turn=turn, question_kind=kind, items=items, stances=stances)


def some_shares(debate: Debate, dice: random.Random) -> dict[str, float]:
    """Probabilities of all options, sometimes none; of few values, so that agents can agree."""
    items = options_of(debate).items
    if not items or dice.random() < 0.1:
        return {}
    shares = dice.choice([(8, 1, 1), (6, 3, 1), (1, 8, 1)])
    total = sum(shares[: len(items)])
    return {item.id: share / total for item, share in zip(items, shares, strict=False)}


def a_summary(turn: Turn) -> Summary:
    kind = SummaryKind.ROUND
    return Summary(turn=turn, kind=kind, text="s", method="x", before_chars=9, after_chars=1)


def a_ballot(debate: Debate, turn: Turn, dice: random.Random) -> Event:
    if dice.random() < 0.1:
        return turn_events.BallotAbstained(abstention=Abstention(turn=turn, reason="unreadable"))
    ranking = [candidate.turn.agent for candidate in candidates(debate, turn).values()]
    shares = some_shares(debate, dice)
    ballot = Ballot(turn=turn, ranking=tuple(sorted(ranking)), probabilities=shares)
    return turn_events.BallotCast(ballot=ballot)


def disturbance(debate: Debate, dice: random.Random) -> Event:
    """A random event of people, time or models."""
    number = dice.randrange(10**9)
    agent = dice.choice(debate.setup.agents).id
    edited_by: dict[str, Any] = {"by": DANA, "origin": str(number)}
    questions = debate.open_clarifications
    if questions and dice.random() < 0.7:
        return message_events.ClarificationAnswered(
            answer=Answer(number=questions[0].number, text="yes", by=DANA)
        )
    return dice.choice(
        [
            message_events.NoteAdded(note=Note(id=str(number), author=DANA, text="Mind 2 people.")),
            people_events.StopRequested(stop=Stop(by=DANA)),
            people_events.VoteCalled(by=DANA),
            people_events.DebatePaused(by=DANA, origin=str(number)),
            debate_events.TimeRanOut(),
            people_events.DebateWanted(by=DANA),
            people_events.OptionEdited(
                edit=OptionEdit(change=OptionChange.ADD, name=f"option {number}", **edited_by)
            ),
            people_events.OptionEdited(
                edit=OptionEdit(change=OptionChange.MERGE, option="o1", into="o2", **edited_by)
            ),
            debate_events.ModelWentAway(agent=agent, reason="down", origin=str(number)),
            debate_events.ModelCameBack(agent=agent, origin=str(number)),
        ]
    )


#: Acts that cannot fail: they ask no model, or have a fallback.
SURE = frozenset({Act.TALLY, Act.CLARIFICATION, Act.SYNTHESIS, Act.OPTIONS, Act.GATE, Act.FINDINGS})


@dataclass
class Play:
    """A random debate with its log."""

    setup: Setup
    luck: Luck

    def __post_init__(self) -> None:
        self.dice = random.Random(self.luck.seed)
        start = RecordedEvent("d1", 1, START, debate_events.DebateStarted(setup=self.setup))
        self.log = [start]
        self.debate = apply(None, start)

    def add(self, event: Event) -> None:
        """Record the event, unless its key is already recorded, as in the store."""
        if any(recorded.event.key == event.key for recorded in self.log):
            return
        seq = len(self.log) + 1
        recorded = RecordedEvent("d1", seq, START + timedelta(seconds=seq), event)
        self.log.append(recorded)
        self.debate = apply(self.debate, recorded)

    def step(self) -> bool:
        """Record one more event; returns False if the debate has ended or waits."""
        debate = self.debate
        ready = schedule.ready(debate)
        assert not [turn for turn in ready if debate.is_done(turn)]
        acts = {turn.act for turn in ready if turn.agent not in {JUDGE, ENGINE}}
        assert not debate.tally or acts <= {*BACKGROUND_ACTS, Act.READING}, (
            "no agent speaks after the tally"
        )
        if debate.paused_by and self.dice.random() < 0.5:
            self.add(people_events.DebateResumed(by=DANA, origin=str(len(self.log))))
        elif debate.paused_by or self.dice.random() < self.luck.disturbed:
            self.add(disturbance(debate, self.dice))
        elif ready:
            turn = self.dice.choice(ready)
            self.add(self.outcome(turn))
        elif debate.open_cards and not schedule.conclusion(debate):
            overdue = schedule.overdue(debate, START + timedelta(days=9))
            assert overdue
            self.add(debate_events.ClarificationsClosed(which=overdue))
        else:
            ending = schedule.conclusion(debate)
            if ending:
                self.add(ending)
            return False
        return True

    def outcome(self, turn: Turn) -> Event:
        may_fail = turn.act not in SURE
        if may_fail and self.dice.random() < self.luck.failing:
            return turn_events.TurnFailed(failure=Failure(turn=turn, reason="down"))
        return outcome(self.debate, turn, self.dice)

    def to_the_end(self) -> Debate:
        for _ in range(2000):
            if not self.step():
                break
        return self.debate
