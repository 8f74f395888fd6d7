"""In every format, any order of results, failures, notes, stops and restarts leads to an end."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.debate.contributions import Contribution, Failure, FailureCause
from core.debate.debate_events import ClarificationsClosed, DebateStarted
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.log import Event, fold
from core.debate.people_events import DebatePaused, DebateResumed
from core.debate.setup import Setup
from core.debate.state import Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, SourceRead, TurnFailed
from core.rules import schedule, sources
from core.rules.formats import clarifying
from core.rules.formats.registry import format_of, turns_ready
from core.testing import a_setup, log_of
from tests.core.dice import DANA, START, Luck, Play, lucks, setups
from tests.core.use_cases.logs import Recording, questions

AFTER_ALL_DEADLINES = START + timedelta(days=9)


class Ruin(Play):
    """A debate in which turns of any act fail, for any cause."""

    def outcome(self, turn: Turn) -> Event:
        if self.dice.random() < self.luck.failing:
            cause = self.dice.choice(list(FailureCause))
            return TurnFailed(failure=Failure(turn=turn, reason="It is down.", cause=cause))
        return super().outcome(turn)


ruinous = st.builds(
    Luck,
    seed=st.integers(0, 2**32),
    failing=st.sampled_from([0.02, 0.1, 0.5, 1.0]),
    disturbed=st.sampled_from([0.0, 0.05]),
)


plays = st.one_of(st.builds(Play, setups, lucks), st.builds(Ruin, setups, ruinous))


@settings(max_examples=160)
@given(plays)
def test_every_debate_ends_with_a_verdict_or_a_reason_and_no_failed_turn_is_repeated(
    play: Play,
) -> None:
    for _ in range(2000):
        has_more = play.step()
        ready = schedule.ready(play.debate)
        assert not [turn.key for turn in ready if turn.key in play.debate.failures]
        if not has_more:
            break

    debate = play.debate
    assert debate.status is not Status.RUNNING
    assert bool(debate.verdict) == (debate.status is Status.CONCLUDED)
    assert debate.verdict or debate.failure


def test_a_debate_without_positions_fails_with_the_reason() -> None:
    debate = Play(a_setup(), Luck(seed=1, failing=1.0, disturbed=0.0)).to_the_end()

    assert debate.failure.startswith("No agent could take a position. ")


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
def test_no_turn_waits_for_a_summary(setup: Setup, luck: Luck) -> None:
    play = Play(setup, Luck(seed=luck.seed, failing=luck.failing, disturbed=0.0))
    while play.debate.status is Status.RUNNING and not play.debate.verdict:
        debate, ready = play.debate, schedule.ready(play.debate)
        waits = schedule.is_cut_short(debate) or clarifying.ready(debate) is not None
        turns = () if waits else turns_ready(debate, schedule.rounds_open(debate))
        if any(turn.act is Act.OPTIONS for turn in ready):
            turns = [turn for turn in turns if not format_of(debate).takes_stance(turn)]
        assert set(turns) <= set(ready)
        # The debate continues even if no summary is ever made.
        others = [turn for turn in ready if turn.act is not Act.SUMMARY]
        if others:
            play.add(play.outcome(play.dice.choice(others)))
        elif debate.open_cards and not schedule.conclusion(debate):
            overdue = schedule.overdue(debate, AFTER_ALL_DEADLINES)
            play.add(ClarificationsClosed(which=overdue or ""))
        elif ending := schedule.conclusion(debate):
            play.add(ending)
    assert play.debate.verdict or play.debate.status is Status.FAILED
    assert not play.debate.summaries


@pytest.mark.parametrize("spoke", [True, False])
def test_a_debate_that_an_older_version_began_without_its_sources_continues(*, spoke: bool) -> None:
    reference = SourceReference(kind=SourceKind.FILE, title="load.md", fetch="x", by=DANA)
    setup = a_setup().model_copy(update={"references": (reference,)})
    lost = Source(turn=sources.reading_turn(1), reference=reference, fault="gone")
    first = Turn(act=Act.PROPOSAL, round=1, agent=setup.agents[0].id)
    event = TurnFailed(failure=Failure(turn=first, reason="It does not answer."))
    if spoke:
        event = ContributionMade(contribution=Contribution(turn=first, text="Use PostgreSQL."))
    debate = fold(log_of([DebateStarted(setup=setup), SourceRead(source=lost), event]))

    assert schedule.ready(debate)
    assert schedule.conclusion(debate) is None


PAUSED = DebatePaused(by=DANA, origin="0")
A_DAY = 86_400.0


async def test_no_deadline_for_answers_passes_during_a_pause() -> None:
    log = Recording()
    running = await log.begin(questions(1))
    until = questions(1).clarifications.until
    late = until + timedelta(hours=1)
    assert schedule.overdue(running, late)
    assert schedule.due(running) == until

    await log.facts.record(running.id, PAUSED)
    paused = await log.debate()
    assert schedule.overdue(paused, late) is None
    assert schedule.due(paused) is None

    log.clock.advance(A_DAY)
    await log.facts.record(running.id, DebateResumed(by=DANA, origin="1"))
    resumed = await log.debate()
    assert schedule.due(resumed) == until + timedelta(seconds=A_DAY)
