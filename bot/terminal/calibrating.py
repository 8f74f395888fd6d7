"""How decisions turned out: what people say, and how often accepted ones held."""

import json
import secrets
from datetime import date
from pathlib import Path
from typing import Any

from bot.building import database_place, open_records, open_store
from bot.log import logger, set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.debating import current_user
from bot.terminal.files import check_writable, form_for, put_out, tell
from bot.terminal.records import log_in, quiet_settings
from core.calibration import (
    Calibration,
    Case,
    calibration,
    interval_words,
    states,
)
from core.clock import SystemClock
from core.debate.follow_up import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.debate.log import fold
from core.errors import StoreInUse
from core.figures import percent
from core.transcript.markdown import visible
from core.transcript.people import adr_status, outcome_words
from core.transcript.words import table
from core.use_cases.calibrate import CountOutcomes
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.fact_log import FactLog

_log = logger(__name__)

#: More than any database holds.
_ALL = 2**31
_HEADS = ("", "Held", "Partly", "Reversed", "Share held (95% interval)", "Confidence said")
_NOTE = (
    "Held in part counts as not held. Intervals are Wilson's; with many rows one in twenty misses. "
    "Only decisions your teams accepted are here, and only those somebody spoke of again. *Against "
    "it*: decisions of which this model or role held another option best to the end. Moot weights "
    "nothing by these figures."
)


async def show_calibration(channel: str, form: str | None, output: Path | None) -> None:
    form = form_for(output, form, ("md", "json"))
    check_writable(output)
    environment = read_settings()
    set_up_logs(LogLevel.WARNING, environment.moot_log_format, environment.secrets)
    async with open_records(environment.moot_database) as store:
        counting = CountOutcomes(
            store=store,
            on_unreadable=lambda debate_id, error: _log.warning(
                "debate not counted", debate=debate_id, reason=str(error)
            ),
        )
        cases = await counting.cases(None, [channel] if channel else None, _ALL)
    counts = calibration(cases)
    match form:
        case "json":
            values = {"summary": _summary(counts), "decisions": [_values(case_) for case_ in cases]}
            text = json.dumps(values, ensure_ascii=False, indent=2) + "\n"
        case _:
            text = calibration_text(counts)
    put_out(text, output)
    if not cases:
        tell(f"No accepted decision is known in {database_place(environment.moot_database)}.")


def calibration_text(counts: Calibration) -> str:
    parts = [" ".join(counts.findings), states(counts)]
    for group in dict.fromkeys(row.group for row in counts.rows):
        rows = [
            (
                row.name,
                row.held,
                row.partly,
                row.reversed,
                interval_words(row.share),
                "" if row.stated is None else percent(row.stated),
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
        "accepted": counts.accepted,
        "known": counts.known,
        "too_early": counts.too_early,
        "unanswered": counts.unanswered,
        "not_asked": counts.not_asked,
        "replaced": counts.replaced,
        "findings": list(counts.findings),
        "rows": [
            {
                "group": row.group,
                "name": row.name,
                "held": row.held,
                "partly": row.partly,
                "reversed": row.reversed,
                "share_held": round(row.share.mean, 4),
                "low": round(row.share.low, 4),
                "high": round(row.share.high, 4),
                "confidence_said": None if row.stated is None else round(row.stated, 4),
            }
            for row in counts.rows
        ],
    }


async def decide(debate_id: str, kind: DecisionKind, why: str, *, on: date | None = None) -> None:
    """Record a decision on a verdict of this database; the newest one stands."""
    environment = quiet_settings()
    origin = f"terminal/{secrets.token_hex(8)}"
    decision = Decision(kind=kind, by=current_user(), why=why, revisit_on=on, origin=origin)
    try:
        async with open_store(environment.moot_database) as store:
            facts = FactLog(store=store, clock=SystemClock(), wake=_wake_nobody)
            debate = fold(await log_in(store, debate_id, environment))
            await DecideOnVerdict(facts=facts).decide(debate, decision)
            debate = fold(await log_in(store, debate_id, environment))
    except StoreInUse as error:
        raise StoreInUse(f"{error} While the bot runs, decide in Slack.") from error
    tell(f"Recorded: debate {debate_id} is {visible(adr_status(debate))}.")


async def show_outcome(debate_id: str) -> None:
    environment = quiet_settings()
    async with open_records(environment.moot_database) as store:
        facts = FactLog(store=store, clock=SystemClock(), wake=_wake_nobody)
        debate = fold(await log_in(store, debate_id, environment))
        DecideOnVerdict(facts=facts).check_outcome(debate)
    if debate.outcome is None:
        tell(f"Nobody has said how debate {debate_id} turned out: moot outcome {debate_id} held")
        return
    put_out(visible(outcome_words(debate.outcome)) + "\n", None)


async def say_outcome(debate_id: str, kind: OutcomeKind, why: str) -> None:
    """Record how a decision turned out; the newest one stands.

    A running bot shows in Slack what was recorded here when it starts next.
    """
    environment = quiet_settings()
    outcome = DecisionOutcome(
        kind=kind, by=current_user(), why=why, origin=f"terminal/{secrets.token_hex(8)}"
    )
    try:
        async with open_store(environment.moot_database) as store:
            facts = FactLog(store=store, clock=SystemClock(), wake=_wake_nobody)
            decide = DecideOnVerdict(facts=facts)
            debate = fold(await log_in(store, debate_id, environment))
            current = await decide.say_outcome(debate, outcome)
    except StoreInUse as error:
        instead = f"While the bot runs, type `/debate outcome {debate_id}` in Slack."
        raise StoreInUse(f"{error} {instead}") from error
    tell(f"Recorded: {visible(outcome_words(current))}")


def _wake_nobody(debate_id: str) -> None:
    del debate_id
