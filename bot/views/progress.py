"""How far a debate has come: phase, round, turns done and to come (pure)."""

from collections.abc import Iterator
from dataclasses import dataclass

from bot.views.words import counted, phase
from core.formats import registry
from core.models import Act, Debate, Status, Turn

_BAR_WIDTH = 20
_LAST_ACTS = (Act.BALLOT, Act.TALLY, Act.SYNTHESIS)


@dataclass(frozen=True)
class Progress:
    """Turns with an outcome and turns that may still come, vote and decision included."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """How much is done; 100 only when all is."""
        return 100 * self.done // self.total

    @property
    def bar(self) -> str:
        """The share as a bar, in words too."""
        full = _BAR_WIDTH * self.done // self.total
        bar = "█" * full + "░" * (_BAR_WIDTH - full)
        return f"`{bar}` {self.done} of {counted(self.total, 'turn')} ({self.percent} %)"


def progress(debate: Debate) -> Progress:
    """How far it has come. What failed agents would have done no longer counts."""
    outcomes = (debate.contributions, debate.failures, debate.ballots, debate.abstentions)
    done = sum(map(len, outcomes)) + (debate.verdict is not None)
    if debate.status is not Status.RUNNING:
        return Progress(max(done, 1), max(done, 1))
    return Progress(done, max(done + sum(1 for _ in _to_come(debate)), 1))


def stage(debate: Debate) -> str:
    """Round and phase in words: "Round 1 of 3 · critiques"."""
    turns = registry.ready(debate)
    if not turns:
        return "Nothing is being worked on"
    first = min(turns, key=lambda turn: order(debate, turn))
    if first.act in _LAST_ACTS:
        return phase(first.act).capitalize()
    if first.round == 0:
        return f"Before the first round · {phase(first.act)}"
    return f"Round {first.round} of {debate.setup.rounds} · {phase(first.act)}"


def order(debate: Debate, turn: Turn) -> tuple[int, int]:
    """Where a turn's phase stands among all phases of the debate, for reading and for counting."""
    if turn.act in _LAST_ACTS:
        return debate.setup.rounds + 1, _LAST_ACTS.index(turn.act)
    acts = registry.format_of(debate).PHASES
    return turn.round, acts.index(turn.act) if turn.act in acts else len(acts)


def _to_come(debate: Debate) -> Iterator[Turn]:
    """Turns without an outcome, as far as can be foreseen."""
    turns = () if registry.is_cut_short(debate) else _rounds(debate)
    yield from (turn for turn in (*turns, *_ballots(debate)) if not debate.is_done(turn))
    if not debate.verdict:
        yield Turn(act=Act.SYNTHESIS, round=debate.setup.rounds, agent="judge")


def _rounds(debate: Debate) -> Iterator[Turn]:
    form = registry.format_of(debate)
    for number in range(1, debate.setup.rounds + 1):
        for act in form.PHASES:
            for agent in form.alive(debate):
                yield from _turns_of(debate, Turn(act=act, round=number, agent=agent))


def _turns_of(debate: Debate, turn: Turn) -> Iterator[Turn]:
    """The turn; a critique once per target."""
    if turn.act is not Act.CRITIQUE:
        yield turn
        return
    for target in registry.format_of(debate).alive(debate):
        if target != turn.agent:
            yield turn.model_copy(update={"target": target})


def _ballots(debate: Debate) -> Iterator[Turn]:
    if debate.stop or debate.tally:
        return
    for voter in registry.format_of(debate).alive(debate):
        yield Turn(act=Act.BALLOT, round=debate.setup.rounds, agent=voter)
