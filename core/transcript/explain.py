"""Why each turn ran when it did: what it waited for, when that came, which parts it saw (pure).

A turn begins as soon as its inputs exist, so the beginning is found by asking the schedule after
each event of the log. An input is an outcome without which the turn would not have been ready. That
takes time: a second for a hundred events of a few agents, 20 for two hundred of seven agents.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from core.events import Recorded, apply, fold
from core.figures import counted, duration
from core.models import Act, Debate, Turn
from core.request import Part
from core.rules.schedule import ready
from core.transcript.inert import visible
from core.transcript.words import after, name_of, turn_words, usage_words
from core.turns.acts import ACTS
from core.turns.context import parts_for

V = TypeVar("V")
#: More inputs than this are counted, not listed.
_MOST_LISTED = 8


@dataclass(frozen=True, kw_only=True)
class Explained:
    """One turn, explained."""

    turn: Turn
    #: Number and time of the event that completed its inputs.
    ready_seq: int
    ready_at: datetime
    #: Keys of its inputs with the times they came, in the order they came.
    inputs: tuple[tuple[str, datetime], ...]
    #: What it saw, the task left out.
    parts: tuple[Part, ...]
    #: When its outcome was recorded; None if it has none.
    ended_at: datetime | None


@dataclass
class _Moment:
    """The debate right after one event."""

    debate: Debate
    _known: dict[frozenset[str], frozenset[str]] = field(
        default_factory=dict[frozenset[str], frozenset[str]]
    )

    def inputs(self, turn: Turn) -> Sequence[str]:
        """Keys of the outcomes without which the turn would not be ready now."""
        outcomes = [key for key in self.debate.times if key != "start"]
        return self._needed(turn.key, tuple(outcomes))

    def _needed(self, turn: str, keys: Sequence[str]) -> Sequence[str]:
        """Those of the keys that are needed: halves that can be left out hold none."""
        if not keys:
            return ()
        left_out = frozenset(keys)
        if left_out not in self._known:
            without_them = ready(without(self.debate, left_out))
            self._known[left_out] = frozenset(one.key for one in without_them)
        if turn in self._known[left_out]:
            return ()
        if len(keys) == 1:
            return keys
        middle = len(keys) // 2
        return (*self._needed(turn, keys[:middle]), *self._needed(turn, keys[middle:]))


def explain(log: Sequence[Recorded]) -> Sequence[Explained]:
    """Every turn that became ready, in the order they did.

    Raises:
        LogBroken: The log cannot be.
    """
    seen: set[str] = set()
    end = fold(log)
    found: list[Explained] = []
    debate: Debate | None = None
    for recorded in log:
        debate = apply(debate, recorded)
        moment = _Moment(debate)
        for turn in [turn for turn in ready(debate) if turn.key not in seen]:
            seen.add(turn.key)
            inputs = sorted(moment.inputs(turn), key=debate.times.__getitem__)
            # A summary is made of a text of its own, not of what the debate shows its agents.
            sees = ACTS[turn.act].asks_model and turn.act is not Act.SUMMARY
            found.append(
                Explained(
                    turn=turn,
                    ready_seq=recorded.seq,
                    ready_at=recorded.at,
                    inputs=tuple((key, debate.times[key]) for key in inputs),
                    parts=parts_for(debate, turn) if sees else (),
                    ended_at=end.times.get(ACTS[turn.act].outcome_key or turn.key),
                )
            )
    return found


def explanation(log: Sequence[Recorded]) -> str:
    """The same as text for people."""
    debate = fold(log)
    title = f"Why each turn of debate {debate.id} ran when it did"
    lines = [title, "=" * len(title), ""]
    for one in explain(log):
        lines += [*_lines(debate, one), ""]
    lines.append(f"In all: {usage_words(debate.usage)}.")
    return visible("\n".join(lines)) + "\n"


def without(debate: Debate, keys: Collection[str]) -> Debate:
    """The debate without these outcomes."""
    return replace(
        debate,
        times=_left(debate.times, keys),
        contributions=_left(debate.contributions, keys),
        failures=_left(debate.failures, keys),
        questions=_left(debate.questions, keys),
        clarifications=_left(debate.clarifications, keys),
        answers={n: a for n, a in debate.answers.items() if f"answer/{n}" not in keys},
        closed=frozenset(key for key in debate.closed if f"{key}/closed" not in keys),
        guidance=_left(debate.guidance, keys),
        summaries=_left(debate.summaries, keys),
        ballots=_left(debate.ballots, keys),
        abstentions=_left(debate.abstentions, keys),
        stop=None if any(f"{key}/".startswith("stop/") for key in keys) else debate.stop,
        vote_called_by=None if "vote-called" in keys else debate.vote_called_by,
        out_of_time=debate.out_of_time and "time" not in keys,
        tally=None if "tally" in keys else debate.tally,
        verdict=None if "verdict" in keys else debate.verdict,
    )


def _left(outcomes: Mapping[str, V], keys: Collection[str]) -> dict[str, V]:
    return {key: outcome for key, outcome in outcomes.items() if key not in keys}


def _lines(debate: Debate, one: Explained) -> Iterator[str]:
    yield f"{turn_words(debate, one.turn)}  [{one.turn.key}]"
    yield f"  ready {after(debate, one.ready_at)}, after event {one.ready_seq}"
    if not one.inputs:
        yield "  waited for nothing"
    elif len(one.inputs) > _MOST_LISTED:
        key, at = one.inputs[-1]
        yield f"  waited for {len(one.inputs)} outcomes, the last: {key} ({after(debate, at)})"
    else:
        for key, at in one.inputs:
            yield f"  waited for {key} ({after(debate, at)})"
    for part in one.parts:
        yield f"  saw {part.label} ({part.kind.value}, {counted(len(part.text), 'character')})"
    if one.ended_at is None:
        yield "  has no outcome"
        return
    took = duration((one.ended_at - one.ready_at).total_seconds())
    yield f"  ended {after(debate, one.ended_at)}, took {took}{_ending(debate, one.turn)}"


def _ending(debate: Debate, turn: Turn) -> str:
    """How the turn ended, where that is worth a word."""
    failure = debate.failures.get(turn.key)
    if failure:
        return f", failed: {failure.reason}"
    made = debate.contributions.get(turn.key)
    if made and made.carried_from:
        return f", carried over from {made.carried_from}"
    if turn.key in debate.abstentions:
        return f", {name_of(debate, turn.agent)} abstained"
    return ""
