"""Strategy `rounds`: summarises finished rounds in the background, one round behind.

The summary of round n is made during round n+1, whose prompts show round n in full, and is used
from round n+2 on. No turn waits for it: until it is ready, prompts show the round in full. In a
debate of more than ten rounds the first five get one common summary, made during the tenth.
Source: Board of One's background summarizer.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.debate.agents import ContextMethod
from core.debate.contributions import Contribution
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.request import Part, PartKind
from core.rules.history.material import (
    META_ROUNDS,
    as_text,
    is_complete,
    meta_turn,
    round_of,
    round_summary,
    round_turn,
)

METHOD = ContextMethod.ROUNDS
#: After this round prompts show one common summary of the first rounds.
META_AFTER = 10
#: Trim priority of a round that is shown in full because its summary is late. It is shortened
#: before all later texts.
LATE_TRIM = 5


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    is_tenth_begun = debate.setup.rounds > META_AFTER and is_complete(debate, META_AFTER - 1)
    first = [round_turn(number) for number in range(1, META_ROUNDS + 1)]
    meta = [meta_turn()] if is_tenth_begun and not debate.open_turns(first) else []
    return [*of_each_round(debate, rounds), *meta]


def of_each_round(debate: Debate, rounds: int) -> Sequence[Turn]:
    """The open turns that summarise rounds that are over, up to `rounds`, and at least round 1."""
    turns = debate.open_turns(map(round_turn, range(1, max(1, rounds) + 1)))
    return [turn for turn in turns if is_complete(debate, turn.round)]


def shown_summaries(_debate: Debate, turn: Turn) -> Sequence[Turn]:
    """The summaries of all rounds except the last one; for the facilitator all earlier rounds."""
    before = turn.round if turn.act is Act.FACILITATION else turn.round - 1
    return [round_turn(number) for number in range(1, before)]


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """Summaries of older rounds, and the last round in full; the same text for all agents."""
    if turn.act is Act.FACILITATION:
        return _older(debate, turn.round, turn)
    state = "in full" if is_complete(debate, turn.round - 1) else "so far"
    last = last_round(debate, turn, round_of(debate, turn.round - 1), f" {state}")
    return [*_older(debate, turn.round - 1, turn), *last]


def last_round(
    debate: Debate, turn: Turn, contributions: Sequence[Contribution], state: str
) -> Sequence[Part]:
    """The round before a turn's. A cache breakpoint ends it only if no text can follow."""
    if not contributions:
        return ()
    label, text = f"Round {turn.round - 1}{state}", as_text(debate, contributions)
    is_over = is_complete(debate, turn.round - 1)
    return [Part(kind=PartKind.OTHER, label=label, text=text, ends_shared=is_over, trim_priority=4)]


def _older(debate: Debate, before: int, turn: Turn) -> Sequence[Part]:
    meta = debate.summaries.get(meta_turn().key) if turn.round > META_AFTER else None
    label, parts = f"Rounds 1 to {META_ROUNDS} in short", list[Part]()
    if meta:
        parts = [Part(kind=PartKind.SUMMARY, label=label, text=meta.text)]
    for number in range(META_ROUNDS + 1 if meta else 1, before):
        parts += summary_or_full_round(debate, number, round_of(debate, number))
    # Later prompts begin with the same parts, so each ends with a cache breakpoint.
    return [replace(part, ends_shared=True) for part in parts]


def summary_or_full_round(
    debate: Debate, number: int, contributions: Sequence[Contribution]
) -> Sequence[Part]:
    """A round's summary, or the round in full while there is none; empty for an empty round."""
    if short := round_summary(debate, number):
        return [Part(kind=PartKind.SUMMARY, label=f"Round {number} in short", text=short)]
    # If the prompt is too long, the oldest texts are shortened first.
    label, text = f"Round {number} in full", as_text(debate, contributions)
    part = Part(kind=PartKind.OTHER, label=label, text=text, trim_priority=LATE_TRIM)
    return [part] if text else []
