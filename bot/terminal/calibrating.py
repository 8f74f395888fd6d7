"""Decisions and outcomes at the terminal: record them, and count how often decisions held."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

from bot.building import database_place, open_store
from bot.terminal.debating import current_user
from bot.terminal.files import as_json, check_writable, form_for, tell, write_output
from bot.terminal.records import (
    ALL,
    events_of,
    facts_in,
    quiet_settings,
    records,
    report_unreadable,
)
from core.calibration import Calibration, Case, calibration, counts_words, interval_words
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.errors import StoreInUse
from core.figures import percent
from core.transcript.markdown import visible
from core.transcript.people import adr_status, outcome_words
from core.transcript.words import table
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.recall import CountOutcomes

_HEADS = ("", "Held", "Partly", "Reversed", "Share held (95% interval)", "Confidence said")
_NOTE = (
    "Held in part counts as not held. Intervals are Wilson's; with many rows one in twenty misses. "
    "Only decisions your teams accepted are here, and only those somebody spoke of again. *Against "
    "it*: decisions of which this model or role held another option best to the end. Moot weights "
    "nothing by these figures."
)
#: Counts over all decisions; the names are keys of the JSON output.
_COUNTS = ("accepted", "known", "too_early", "unanswered", "not_asked", "replaced")


async def show_calibration(channel: str, form: str | None, output: Path | None) -> None:
    form = form_for(output, form, ("md", "json"))
    check_writable(output)
    async with records() as (store, location):
        counting = CountOutcomes(store=store, on_unreadable=report_unreadable)
        cases = await counting.cases(None, [channel] if channel else None, ALL)
    counts = calibration(cases)
    text = calibration_text(counts)
    if form == "json":
        values = {"summary": _summary(counts), "decisions": [_values(case) for case in cases]}
        text = as_json(values)
    write_output(text, output)
    if not cases:
        tell(f"No accepted decision is known in {location}.")


def calibration_text(counts: Calibration) -> str:
    parts = [" ".join(counts.findings), counts_words(counts)]
    for group in dict.fromkeys(row.group for row in counts.rows):
        rows = [
            (
                row.name,
                *(row.held, row.partly, row.reversed, interval_words(row.share)),
                "" if row.mean_confidence is None else percent(row.mean_confidence),
            )
            for row in counts.rows
            if row.group == group
        ]
        parts.append(table((group, *_HEADS[1:]), rows))
    return "\n\n".join([*parts, _NOTE]) + "\n"


def _values(case: Case) -> dict[str, Any]:
    return {
        "debate": case.debate_id,
        "accepted_at": case.accepted_at.isoformat() if case.accepted_at else None,
        "asked": case.asked,
        "replaced": case.replaced,
        "outcome": case.outcome.value if case.outcome else None,
        "said_at": case.said_at.isoformat() if case.said_at else None,
        "confidence": case.confidence,
        "was_skipped": case.was_skipped,
        "alone_agrees": case.alone_agrees,
        "models_for": [voice.model for voice in case.voices if voice.is_for],
        "models_against": [voice.model for voice in case.voices if not voice.is_for],
        "roles_for": [voice.role for voice in case.voices if voice.is_for],
        "roles_against": [voice.role for voice in case.voices if not voice.is_for],
        "overruled": case.overruled,
    }


def _summary(counts: Calibration) -> dict[str, Any]:
    return {
        **{name: getattr(counts, name) for name in _COUNTS},
        "findings": list(counts.findings),
        "rows": [
            {
                **{name: getattr(row, name) for name in ("group", "name", "held", "partly")},
                "reversed": row.reversed,
                "share_held": round(row.share.mean, 4),
                "low": round(row.share.low, 4),
                "high": round(row.share.high, 4),
                "confidence_said": None
                if row.mean_confidence is None
                else round(row.mean_confidence, 4),
            }
            for row in counts.rows
        ],
    }


@asynccontextmanager
async def _decision_on(
    debate_id: str, instead: str
) -> AsyncGenerator[tuple[Debate, DecideOnVerdict]]:
    """Open a debate of this database to record a decision or an outcome.

    Raises:
        StoreInUse: A bot uses the database; the message ends with `instead`.
    """
    location = quiet_settings().moot_database
    try:
        async with open_store(location) as store:
            debate = fold(await events_of(store, debate_id, database_place(location)))
            yield debate, DecideOnVerdict(facts=facts_in(store))
    except StoreInUse as error:
        raise StoreInUse(f"{error} {instead}") from error


async def decide(
    debate_id: str, kind: DecisionKind, reason: str, *, on: date | None = None
) -> None:
    origin = f"terminal/{secrets.token_hex(8)}"
    decision = Decision(kind=kind, by=current_user(), why=reason, revisit_on=on, origin=origin)
    instead = "While the bot runs, decide in Slack."
    async with _decision_on(debate_id, instead) as (debate, decide_on):
        await decide_on.decide(debate, decision)
        current = await decide_on.facts.debate(debate_id)
    tell(f"Recorded: debate {debate_id} is {visible(adr_status(current))}.")


async def show_outcome(debate_id: str) -> None:
    async with records() as (store, location):
        debate = fold(await events_of(store, debate_id, location))
        DecideOnVerdict(facts=facts_in(store)).check_outcome(debate)
    if debate.outcome is None:
        tell(f"Nobody has said how debate {debate_id} turned out: moot outcome {debate_id} held")
        return
    write_output(visible(outcome_words(debate.outcome)) + "\n", None)


async def say_outcome(debate_id: str, kind: OutcomeKind, reason: str) -> None:
    """Record how a decision turned out; it replaces an earlier outcome.

    Slack shows it after the next start of the bot.
    """
    origin = f"terminal/{secrets.token_hex(8)}"
    outcome = DecisionOutcome(kind=kind, by=current_user(), why=reason, origin=origin)
    instead = f"While the bot runs, type `/debate outcome {debate_id}` in Slack."
    async with _decision_on(debate_id, instead) as (debate, decide_on):
        current = await decide_on.say_outcome(debate, outcome)
    tell(f"Recorded: {visible(outcome_words(current))}")
