"""`moot accept|reject|revisit|outcome`: decide on a verdict, say how that turned out, read it."""

import secrets
from datetime import date

from bot.building import open_records, open_store
from bot.log import set_up_logs
from bot.settings import LogLevel, read_settings
from bot.terminal.debating import current_user
from bot.terminal.files import put_out, tell
from bot.terminal.records import log_in
from core.clock import SystemClock
from core.errors import StoreInUse
from core.events import fold
from core.models import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.transcript.markdown import visible
from core.transcript.people import adr_status, outcome_words
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.fact_log import FactLog


async def decide(debate_id: str, kind: DecisionKind, why: str, *, on: date | None = None) -> None:
    """Record a decision on a verdict of this database; the newest one stands.

    Raises:
        BadInput: There is no verdict to decide on, or the day has passed.
        StoreError: There is no such debate; the database cannot be opened, or a bot uses it.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
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
    """Print how a decision turned out, as far as somebody said.

    Raises:
        BadInput: There is nothing that could have turned out.
        StoreError: There is no such debate, or the database cannot be opened.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
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

    Raises:
        BadInput: There is nothing that could have turned out.
        StoreError: There is no such debate; the database cannot be opened, or a bot uses it.
    """
    environment = read_settings()
    set_up_logs(LogLevel.ERROR, environment.moot_log_format, environment.secrets)
    said = DecisionOutcome(
        kind=kind, by=current_user(), why=why, origin=f"terminal/{secrets.token_hex(8)}"
    )
    try:
        async with open_store(environment.moot_database) as store:
            facts = FactLog(store=store, clock=SystemClock(), wake=_wake_nobody)
            decide = DecideOnVerdict(facts=facts)
            debate = fold(await log_in(store, debate_id, environment))
            standing = await decide.say_outcome(debate, said)
    except StoreInUse as error:
        instead = f"While the bot runs, type `/debate outcome {debate_id}` in Slack."
        raise StoreInUse(f"{error} {instead}") from error
    tell(f"Recorded: {visible(outcome_words(standing))}")


def _wake_nobody(debate_id: str) -> None:
    """No debate runs in this process."""
    del debate_id
