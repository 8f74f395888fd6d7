"""How far a debate has come: phase, round, turns done and to come (pure)."""

from dataclasses import dataclass

from core.figures import counted, percent
from core.models import BESIDE, Act, Debate, Ending, Status, Turn
from core.rules import schedule
from core.rules.formats.registry import format_of
from core.rules.gate import closing_gate, gate_after, is_gated
from core.turns.acts import ACTS

_BAR_WIDTH = 20


@dataclass(frozen=True)
class Progress:
    """Turns with an outcome and turns that may still come, vote and decision included."""

    done: int
    total: int

    @property
    def bar(self) -> str:
        """The share as a bar, in words too."""
        full = _BAR_WIDTH * self.done // self.total
        bar = "█" * full + "░" * (_BAR_WIDTH - full)
        share = percent(self.done / self.total)
        return f"`{bar}` {self.done} of {counted(self.total, 'turn')} ({share})"


def progress(debate: Debate) -> Progress:
    """How far it has come. What failed agents would have done no longer counts."""
    outcomes = (debate.contributions, debate.failures, debate.ballots, debate.abstentions)
    done = sum(map(len, outcomes)) + (debate.verdict is not None)
    if debate.status is not Status.RUNNING:
        return Progress(max(done, 1), max(done, 1))
    # Turns without an outcome, as far as can be foreseen.
    cut = schedule.is_cut_short(debate)
    rounds = 0 if cut else rounds_foreseen(debate)
    turns = [
        turn
        for number in range(1, rounds + 1)
        for turn in format_of(debate).planned(debate, number)
    ]
    if not debate.stop and not debate.tally:
        first = [0] if debate.setup.blind_ballot and not cut else []
        turns += [
            Turn(act=Act.BALLOT, round=number, agent=voter)
            for number in dict.fromkeys((*first, schedule.rounds_open(debate) if cut else rounds))
            for voter in format_of(debate).alive(debate)
        ]
    to_come = sum(not debate.is_done(turn) for turn in turns) + (debate.verdict is None)
    return Progress(done, max(done + to_come, 1))


def rounds_foreseen(debate: Debate) -> int:
    """How many rounds there may be: all that were asked for, until it is known that none follows.

    While it is not known whether any is held, all are foreseen.
    """
    if closing_gate(debate) or debate.tally or format_of(debate).ENDS_ITSELF:
        first = gate_after(debate, 0)
        if first or debate.wanted_by or not is_gated(debate):
            return schedule.rounds_open(debate)
    return debate.setup.rounds


def _may_end_early(debate: Debate) -> bool:
    return debate.setup.termination.ending is Ending.CONVERGED or format_of(debate).ENDS_ITSELF


def stage(debate: Debate) -> str:
    """Round and phase in words: "Round 1 of 3 · critiques"."""
    if debate.paused_by:
        return "Paused"
    # Summaries are made beside everything else.
    turns = [turn for turn in schedule.ready(debate) if turn.act not in BESIDE]
    spoken = [turn for turn in turns if is_read(debate, turn)]
    if spoken:
        first = min(spoken, key=lambda turn: order(debate, turn))
        # First answers are given before it is known whether any round is held.
        if is_gated(debate) and not (debate.gates or debate.wanted_by):
            return f"First answers · {ACTS[first.act].phase}"
        rounds = rounds_foreseen(debate)
        most = "at most " if rounds > first.round and _may_end_early(debate) else ""
        return f"Round {first.round} of {most}{rounds} · {ACTS[first.act].phase}"
    if turns:
        return ACTS[turns[0].act].phase.capitalize()
    return "Waiting for answers" if debate.open_clarifications else "Finishing"


def is_read(debate: Debate, turn: Turn) -> bool:
    """Whether people read what comes of the turn, in the place of its phase."""
    return turn.act in format_of(debate).PHASES


def order(debate: Debate, turn: Turn) -> tuple[int, int]:
    """Where a turn's phase stands among all phases of the debate; what has none ends its round."""
    acts = format_of(debate).PHASES
    return turn.round, acts.index(turn.act) if turn.act in acts else len(acts)
