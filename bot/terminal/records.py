"""What one can do with records: list, show, explain, export."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote

from bot.building import (
    build_embedder,
    database_place,
    estimating,
    find_plugins,
    load_settings,
    open_records,
)
from bot.process import start_up
from bot.settings import BotSettings, LogLevel
from bot.terminal.files import check_writable, form_for, put_json, put_out, tell, write_file
from bot.terminal.summary import metrics as metrics_of
from core.clock import SystemClock
from core.debate.log import RecordedEvent, fold
from core.errors import BadInput, DebateUnknown, LogBroken, MootError, StoreError, reading
from core.figures import duration, money, quantity, when
from core.ports import DebateEntry, DebateFilter, DebateStore
from core.rules.ending import ending_sentences, round_reasons, rounds_words, state_of, state_words
from core.transcript.adr import adr, title_of
from core.transcript.ballots import options_words
from core.transcript.cited import decision_line, title_in
from core.transcript.decision import decision_text
from core.transcript.explain import explanation, turn_explanation
from core.transcript.found import task_list
from core.transcript.markdown import visible
from core.transcript.options import headline_option, moves_section
from core.transcript.people import (
    adr_status,
    outcome_words,
    recalled_title,
    standing_words,
)
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.words import as_markdown, seconds_taken
from core.use_cases.fact_log import FactLog
from core.use_cases.recall import SURE_FROM, RecallDecisions, recalled_decision

#: More than any database holds.
ALL = 2**31


def quiet_settings() -> BotSettings:
    """The environment's settings; from here on only errors are logged."""
    return start_up(LogLevel.ERROR)


def tell_left_out(debate_id: str, error: StoreError) -> None:
    tell(f"Debate {debate_id} is left out: {error}")


def facts_in(store: DebateStore) -> FactLog:
    """No debate runs here, so there is nothing to wake."""
    return FactLog(store=store, clock=SystemClock(), wake=lambda _debate_id: None)


async def read_log(debate_id: str) -> Sequence[RecordedEvent]:
    environment = quiet_settings()
    async with open_records(environment.moot_database) as store:
        return await log_in(store, debate_id, environment)


async def log_in(
    store: DebateStore, debate_id: str, environment: BotSettings
) -> Sequence[RecordedEvent]:
    try:
        return await store.events(debate_id)
    except DebateUnknown:
        raise DebateUnknown(
            f"There is no debate {debate_id} in {database_place(environment.moot_database)}. "
            "`moot list` shows which there are."
        ) from None


async def list_records(limit: int, *, running_only: bool, as_json: bool = False) -> None:
    environment = quiet_settings()
    filters = DebateFilter(limit=limit, open_only=running_only)
    async with open_records(environment.moot_database) as store:
        entries = await store.find(filters)
        listed = [await listed_debate(store, entry) for entry in entries]
    if as_json:
        put_json([values for values, _ in listed])
    elif not entries:
        none = "No debate is running" if running_only else "There are no debates"
        tell(f"{none} in {database_place(environment.moot_database)}.")
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - only where somebody looks
        from rich.table import Table  # noqa: PLC0415 - see above
        from rich.text import Text  # noqa: PLC0415 - see above

        grid = Table("Id", "Status", "Started", "Verdict", "Team", "Question", box=None)
        for _, row in listed:
            grid.add_row(*map(Text, row))
        Console().print(grid)
    else:
        put_out("".join(f"{chr(9).join(row)}\n" for _, row in listed), None)


async def ids_and_questions() -> Sequence[tuple[str, str]]:
    """For the shell to complete; none where the database cannot be read."""
    environment = quiet_settings()
    try:
        async with open_records(environment.moot_database) as store:
            return [(entry.debate_id, entry.question) for entry in await store.find(DebateFilter())]
    except MootError:
        return ()


async def ask_register(question: str, *, as_json: bool = False) -> None:
    if not question.strip():
        raise BadInput("The question is blank.")
    environment = quiet_settings()
    embedder = build_embedder(environment)
    async with open_records(environment.moot_database) as store:
        register = RecallDecisions(store=store, on_unreadable=tell_left_out, embedder=embedder)
        decisions = await register.anywhere(question)
    if embedder:
        await embedder.close()
    if as_json:
        values = [
            {
                "id": decision.debate.id,
                "likeness": round(decision.likeness, 2),
                "decided": decision_line(verdict) if (verdict := decision.debate.verdict) else "",
                "status": adr_status(decision.debate),
                "question": decision.debate.setup.question,
                "ended_at": (end := decision.debate.ended_at) and end.isoformat(),
            }
            for decision in decisions
        ]
        put_json(values)
        return
    if not decisions:
        tell(f"No decision on this is known in {database_place(environment.moot_database)}.")
        tell(f"To have it debated: moot debate {quote(' '.join(visible(question).split()))}")
        return
    is_sure = decisions[0].likeness >= SURE_FROM
    first = recalled_title(decisions[0].debate)
    tell(f"{first}:" if is_sure else "The closest decisions that are known:")
    parts = [
        f"{recalled_decision(debate)}\n({standing_words(debate) or adr_status(debate)}, "
        f"{when(debate.ended_at or debate.now)}; all of it: moot show {debate.id})"
        for debate in (decision.debate for decision in decisions)
    ]
    put_out(visible("\n\n".join(parts)) + "\n", None)


async def listed_debate(
    store: DebateStore, entry: DebateEntry
) -> tuple[Mapping[str, str | None], Sequence[str]]:
    """A debate in the list, with what it led to: for programs, and as the cells of a row."""
    state = status = entry.status
    decided = standing = ""
    # One that cannot be read, or is gone, hides no other.
    with suppress(LogBroken, DebateUnknown):
        debate = fold(await store.events(entry.debate_id))
        with reading(debate.id):
            best = headline_option(debate) or (title_of(debate) if debate.verdict else "")
            words = state_words(debate), state_of(debate).value, best, standing_words(debate)
        state, status, decided, standing = words
    values = {
        "id": entry.debate_id,
        "status": status,
        "started_at": entry.started_at.isoformat(),
        "ended_at": entry.ended_at.isoformat() if entry.ended_at else None,
        "decided": decided,
        "standing": standing,
        "question": entry.question,
        "asked_by": entry.asked_by,
        "workspace": entry.workspace,
        "channel": entry.channel,
    }
    cells = (entry.debate_id, state, when(entry.started_at), decided, standing, entry.question)
    return values, [" ".join(visible(cell).split()) for cell in cells]


async def show_record(debate_id: str, *, metrics: bool) -> None:
    log = await read_log(debate_id)
    debate = fold(log)
    setup = debate.setup
    names = ", ".join(agent.name for agent in setup.agents)
    parts = [
        "\n".join(
            [
                f"Debate {debate.id}: {state_words(debate)}",
                f"Question: {' '.join(setup.question.split())}",
                f"Asked by {setup.asked_by.display_name}, {when(debate.started_at)}",
                f"{setup.format}, {rounds_words(debate)}, {names}",
                f"Took {duration(seconds_taken(debate))}, cost {money(debate.usage.cost)}",
                *(f"Source {source.id}: {title_in(debate, source)}" for source in debate.evidence),
            ]
        ),
        decision_text(debate),
    ]
    if decision_state := standing_words(debate):
        parts.append(f"The team's decision: {decision_state}.")
    if debate.outcome:
        parts.append(f"How it turned out: {outcome_words(debate.outcome)}")
    so_far = (*round_reasons(debate), *ending_sentences(debate))
    if debate.verdict is None and so_far:
        parts.append("\n".join(so_far))
    if minds := options_words(debate):
        moves = as_markdown(moves_section(debate), 1)
        parts += [f"# Who stands where\n\n{minds}", *filter(None, [moves])]
    if metrics:
        expected = setup.forecast
        if expected is None:  # nobody estimated when it began
            environment = quiet_settings()
            plugins = find_plugins(environment)
            settings = (await load_settings(environment, plugins=plugins)).settings
            expected = estimating(settings)(setup).forecast
        parts.append(metrics_of(log, expected))
    put_out(visible("\n\n".join(parts)) + "\n", None)


async def explain_record(debate_id: str, turn: str) -> None:
    log = await read_log(debate_id)
    put_out(turn_explanation(log, turn) if turn else explanation(log), None)


async def export_record(debate_id: str, form: str | None, output: Path | None) -> None:
    form = form_for(output, form, ("md", "json"))
    check_writable(output)
    put_out(in_form(await read_log(debate_id), form), output)


def in_form(log: Sequence[RecordedEvent], form: str) -> str:
    """A debate as json (the whole record), adr, md (report), or of a review a list for GitHub."""
    debate = fold(log)
    with reading(debate.id):
        match form:
            case "json":
                return record_json(log)
            case "adr":
                return adr(debate)
            case "github":
                return task_list(debate)
            case _:
                return report(debate)


async def export_records(person: str, channel: str, form: str, folder: Path) -> None:
    ending, count = "json" if form == "json" else "md", 0
    async with open_records(quiet_settings().moot_database) as store:
        channels = [channel] if channel else None
        for entry in await store.find(DebateFilter(channels=channels, limit=ALL)):
            if person and entry.asked_by != person:
                continue
            try:
                text = in_form(await store.events(entry.debate_id), form)
            except (LogBroken, BadInput) as error:  # the others are written all the same
                tell(f"Left out {entry.debate_id}: {error}")
                continue
            write_file(folder / f"{entry.debate_id}.{ending}", text)
            count += 1
    tell(f"Wrote {quantity(count, 'debate')} into {folder}.")
