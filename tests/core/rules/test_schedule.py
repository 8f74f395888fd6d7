"""Any order of completions, failures, notes, stops and crashes ends well, in every format."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings

from core.events import (
    ClarificationsClosed,
    ContributionMade,
    DebateFailed,
    DebateStarted,
    Event,
    FacilitatorDecided,
    QuestionsAsked,
    SourceRead,
    TurnFailed,
    fold,
)
from core.models import (
    Act,
    Clarifying,
    ContextMethod,
    Contribution,
    Debate,
    Failure,
    Guidance,
    Mention,
    NextStep,
    Question,
    Questions,
    Setup,
    Source,
    SourceKind,
    SourceReference,
    Status,
    Summarization,
    Turn,
)
from core.rules import schedule, sources
from core.rules.formats import clarifying
from core.rules.formats.registry import format_of, turns_ready
from core.testing import AN_AGENDA, a_setup, recorded
from tests.core.dice import DANA, START, Luck, Play, lucks, setups


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
def test_nothing_ever_waits_for_a_summary(setup: Setup, luck: Luck) -> None:
    play = Play(setup, Luck(seed=luck.seed, failing=luck.failing, disturbed=0.0))
    while True:
        debate = play.debate
        ready = schedule.ready(debate)
        if debate.status is not Status.RUNNING or debate.verdict:
            break
        waits = schedule.is_cut_short(debate) or clarifying.ready(debate) is not None
        form_turns = () if waits else turns_ready(debate, schedule.rounds_open(debate))
        waits_for_options = any(turn.act is Act.OPTIONS for turn in ready)
        held_back = [
            turn
            for turn in form_turns
            if waits_for_options and format_of(debate).takes_stance(turn)
        ]
        assert set(form_turns) - set(held_back) <= set(ready)
        # Were no summary ever made, the debate would go on all the same.
        others = [turn for turn in ready if turn.act is not Act.SUMMARY]
        if others:
            play.add(play.outcome(play.dice.choice(others)))
        elif debate.open_cards and not schedule.conclusion(debate):
            play.add(ClarificationsClosed(which=schedule.overdue(debate, NEVER) or ""))
        elif ending := schedule.conclusion(debate):
            play.add(ending)
    assert play.debate.verdict or play.debate.status is Status.FAILED
    assert not play.debate.summaries


OPTIONS = "r0/options/summarizer"
#: After every deadline.
NEVER = START + timedelta(days=9)


def played(form: str, rounds: int = 3, **changes: object) -> Debate:
    setup = a_setup(rounds=rounds).model_copy(update={"format": form, **changes})
    return Play(setup, Luck(seed=1, failing=0, disturbed=0)).to_the_end()


def a_debate_that_lost_its_file(*more: Event, mention: Mention | None = None) -> Debate:
    kind = SourceKind.THREAD if mention else SourceKind.FILE
    given = SourceReference(kind=kind, title="load.md", fetch="load.md", by=DANA)
    setup = a_setup().model_copy(update={"references": (given,), "mention": mention})
    lost = Source(turn=sources.reading_turn(1), reference=given, text="", sha256="", fault="gone")
    return fold(recorded([DebateStarted(setup=setup), SourceRead(source=lost), *more]))


def test_where_every_source_is_lost_nobody_is_asked() -> None:
    debate = a_debate_that_lost_its_file()
    ending = schedule.conclusion(debate)

    assert schedule.ready(debate) == ()
    assert isinstance(ending, DebateFailed)
    assert "so no agent was asked" in ending.reason


def test_without_the_thread_of_a_mention_the_question_stands() -> None:
    debate = a_debate_that_lost_its_file(mention=Mention(message="1.2", thread="1.1"))

    assert schedule.ready(debate)
    assert schedule.conclusion(debate) is None


@pytest.mark.parametrize("name", ["critique", "council", "panel", "premortem"])
def test_everybody_takes_its_stance_on_options_that_are_there(name: str) -> None:
    setup = a_setup(rounds=3).model_copy(update={"format": name, "agenda": AN_AGENDA})
    plays = [Play(setup, Luck(seed=seed, failing=0.1, disturbed=0)) for seed in range(8)]
    stances = 0
    for debate in [play.to_the_end() for play in plays]:
        form = format_of(debate)
        turns = [made.turn for made in debate.contributions.values()]
        taken = [turn for turn in turns if form.takes_stance(turn) and len(form.drafts(debate)) > 1]
        stances += len(taken)
        assert all(debate.came_first(OPTIONS, turn.key) for turn in taken)

    assert stances


@pytest.mark.parametrize("spoke", [True, False])
def test_what_an_older_version_asked_without_its_sources_goes_on(*, spoke: bool) -> None:
    first = Turn(act=Act.PROPOSAL, round=1, agent=a_setup().agents[0].id)
    made = ContributionMade(contribution=Contribution(turn=first, text="Use PostgreSQL."))
    failed = TurnFailed(failure=Failure(turn=first, reason="It does not answer."))
    debate = a_debate_that_lost_its_file(made if spoke else failed)

    assert schedule.ready(debate)
    assert schedule.conclusion(debate) is None


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
    assert len(turns_of(played("council", 1), act)) == count


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


@pytest.mark.parametrize("method", list(ContextMethod))
@pytest.mark.parametrize("form", ["critique", "panel"])
def test_each_round_is_summed_up_whatever_the_strategy(form: str, method: ContextMethod) -> None:
    rules = Summarization(method=method)
    debate = played(form, rounds=6, summarization=rules)
    last = max(made.turn.round for made in debate.contributions.values())
    # By dice the judge may be asked before the last one is begun.
    due = {f"r{number}/summary/summarizer" for number in range(1, last)}
    drafts = {"r1/summary/summarizer/proposal"} if form == "critique" else set[str]()

    assert due | drafts <= debate.summaries.keys()


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
        ("security", "how many **jobs** per second do you  expect"),
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


def test_where_nobody_could_take_a_position_the_debate_says_so_and_why() -> None:
    first = (Turn(act=Act.PROPOSAL, round=1, agent=agent.id) for agent in a_setup().agents)
    failed = [TurnFailed(failure=Failure(turn=turn, reason="It is silent.")) for turn in first]
    ending = schedule.conclusion(fold(recorded([DebateStarted(setup=a_setup()), *failed])))

    assert isinstance(ending, DebateFailed)
    assert ending.reason.startswith("No agent could take a position. ")
    assert "It is silent." in ending.reason
