"""Commands on recorded debates: list, show, ask, explain, export, score."""

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from shlex import quote

from bot.building import (
    build_calls,
    build_embedder,
    check_providers,
    database_place,
    estimating,
    find_plugins,
    load_settings,
    open_records,
)
from bot.log import start_up
from bot.settings import BotSettings, LogLevel
from bot.terminal.files import (
    check_writable,
    form_for,
    tell,
    tell_notices,
    write_file,
    write_json,
    write_output,
)
from bot.terminal.summary import metrics as metrics_of
from core.clock import SystemClock
from core.debate.log import RecordedEvent, fold
from core.errors import BadInput, DebateUnknown, LogBroken, MootError, StoreError, reading
from core.figures import duration, money, quantity, when
from core.opening import ALONE, DebateRequest, open_debate
from core.ports import DebateEntry, DebateFilter, DebateStore
from core.rules.ending import ending_sentences, round_reasons, rounds_words, state_of, state_words
from core.transcript import evaluation
from core.transcript.cited import decision_line, source_title
from core.transcript.decision import adr, adr_title, decision_text
from core.transcript.explain import explanation, turn_explanation
from core.transcript.markdown import visible
from core.transcript.people import adr_status, outcome_words, recalled_title, standing_words
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.review_comment import task_list
from core.transcript.vote import headline_option, moves_section, options_words
from core.transcript.words import as_markdown, seconds_taken, spent_words
from core.use_cases.fact_log import FactLog
from core.use_cases.recall import SURE_FROM, RecallDecisions, recalled_decision

#: A limit above the number of debates in any database.
ALL = 2**31
_PROVIDERS_FAILED = 3
_SCORES = {
    "json": evaluation.as_json,
    "csv": evaluation.as_csv,
    "md": evaluation.as_markdown,
}


def quiet_settings() -> BotSettings:
    """Read the environment's settings, and log only errors from now on."""
    return start_up(LogLevel.ERROR)


def report_unreadable(debate_id: str, error: StoreError) -> None:
    tell(f"Debate {debate_id} is left out: {error}")


def facts_in(store: DebateStore) -> FactLog:
    """A fact log for a process that runs no debates, so `wake` does nothing."""
    return FactLog(store=store, clock=SystemClock(), wake=lambda _debate_id: None)


@asynccontextmanager
async def records() -> AsyncGenerator[tuple[DebateStore, str]]:
    """Open the debates for reading; also return a description of the database's location."""
    database = quiet_settings().moot_database
    async with open_records(database) as store:
        yield store, database_place(database)


async def events_of(store: DebateStore, debate_id: str, location: str) -> Sequence[RecordedEvent]:
    """The events of a debate; `location` names the database in the error message."""
    try:
        return await store.events(debate_id)
    except DebateUnknown:
        raise DebateUnknown(
            f"There is no debate {debate_id} in {location}. `moot list` lists all debates."
        ) from None


async def read_log(debate_id: str) -> Sequence[RecordedEvent]:
    async with records() as (store, location):
        return await events_of(store, debate_id, location)


async def list_records(limit: int, *, running_only: bool, as_json: bool = False) -> None:
    async with records() as (store, location):
        entries = await store.find(DebateFilter(limit=limit, open_only=running_only))
        rows = [await debate_row(store, entry) for entry in entries]
    if as_json:
        write_json([values for values, _ in rows])
    elif not entries:
        tell(f"{'No debate is running' if running_only else 'There are no debates'} in {location}.")
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 - slow, needed for terminals only
        from rich.table import Table  # noqa: PLC0415 - see above
        from rich.text import Text  # noqa: PLC0415 - see above

        grid = Table("Id", "Status", "Started", "Verdict", "Team", "Question", box=None)
        for _, cells in rows:
            grid.add_row(*map(Text, cells))
        Console().print(grid)
    else:
        write_output("".join(f"{chr(9).join(cells)}\n" for _, cells in rows), None)


async def ids_and_questions() -> Sequence[tuple[str, str]]:
    """Debates for shell completion; empty if the database cannot be read."""
    with suppress(MootError):
        async with records() as (store, _):
            return [(entry.debate_id, entry.question) for entry in await store.find(DebateFilter())]
    return ()


async def ask_register(question: str, *, as_json: bool = False) -> None:
    if not question.strip():
        raise BadInput("The question is blank.")
    embedder = build_embedder(quiet_settings())
    async with records() as (store, location):
        register = RecallDecisions(store=store, on_unreadable=report_unreadable, embedder=embedder)
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
        write_json(values)
        return
    if not decisions:
        tell(f"No decision on this is known in {location}.")
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
    write_output(visible("\n\n".join(parts)) + "\n", None)


async def debate_row(
    store: DebateStore, entry: DebateEntry
) -> tuple[Mapping[str, str | None], Sequence[str]]:
    """A debate in the list, with its result: as values for JSON, and as the cells of a row."""
    state = status = entry.status
    result = standing = ""
    # A debate that cannot be read, or was deleted meanwhile, is still listed.
    with suppress(LogBroken, DebateUnknown):
        debate = fold(await store.events(entry.debate_id))
        with reading(debate.id):
            best = headline_option(debate) or (adr_title(debate) if debate.verdict else "")
            words = state_words(debate), state_of(debate).value, best, standing_words(debate)
        state, status, result, standing = words
    values = {
        "id": entry.debate_id,
        "status": status,
        "started_at": entry.started_at.isoformat(),
        "ended_at": entry.ended_at.isoformat() if entry.ended_at else None,
        "decided": result,
        "standing": standing,
        "question": entry.question,
        "asked_by": entry.asked_by,
        "workspace": entry.workspace,
        "channel": entry.channel,
    }
    cells = (entry.debate_id, state, when(entry.started_at), result, standing, entry.question)
    return values, [" ".join(visible(cell).split()) for cell in cells]


async def show_record(debate_id: str, *, metrics: bool) -> None:
    log = await read_log(debate_id)
    debate = fold(log)
    setup = debate.setup
    lines = [
        f"Debate {debate.id}: {state_words(debate)}",
        f"Question: {' '.join(setup.question.split())}",
        f"Asked by {setup.asked_by.display_name}, {when(debate.started_at)}",
        ", ".join((setup.format, rounds_words(debate), *(agent.name for agent in setup.agents))),
        f"Took {duration(seconds_taken(debate))}, cost {spent_words(debate.usage)}",
        *(f"Source {source.id}: {source_title(debate, source)}" for source in debate.evidence),
    ]
    parts = ["\n".join(lines), decision_text(debate)]
    if standing := standing_words(debate):
        parts.append(f"The team's decision: {standing}.")
    if debate.outcome:
        parts.append(f"How it turned out: {outcome_words(debate.outcome)}")
    if debate.verdict is None:
        parts.append("\n".join((*round_reasons(debate), *ending_sentences(debate))))
    if minds := options_words(debate):
        parts += [f"# Who stands where\n\n{minds}", as_markdown(moves_section(debate), 1)]
    if metrics:
        expected = setup.forecast
        if expected is None:  # the debate started without an estimate
            environment = quiet_settings()
            loaded = await load_settings(environment, plugins=find_plugins(environment))
            expected = estimating(loaded.settings)(setup).forecast
        parts.append(metrics_of(log, expected))
    write_output(visible("\n\n".join(filter(None, parts))) + "\n", None)


async def explain_record(debate_id: str, turn: str) -> None:
    log = await read_log(debate_id)
    write_output(turn_explanation(log, turn) if turn else explanation(log), None)


async def export_record(debate_id: str, form: str | None, output: Path | None) -> None:
    form = form_for(output, form, ("md", "json"))
    check_writable(output)
    write_output(export_text(await read_log(debate_id), form), output)


def export_text(log: Sequence[RecordedEvent], form: str) -> str:
    """A debate as text.

    `form` is json (the whole record), adr, github (the task list of a review) or md (the report).
    """
    if form == "json":
        return record_json(log)
    debate = fold(log)
    with reading(debate.id):
        return {"adr": adr, "github": task_list}.get(form, report)(debate)


async def export_records(person: str, channel: str, form: str, folder: Path) -> None:
    ending, count = "json" if form == "json" else "md", 0
    async with records() as (store, _):
        channels = [channel] if channel else None
        for entry in await store.find(DebateFilter(channels=channels, limit=ALL)):
            if person and entry.asked_by != person:
                continue
            try:
                text = export_text(await store.events(entry.debate_id), form)
            except (LogBroken, BadInput) as error:  # the other debates are still written
                tell(f"Left out {entry.debate_id}: {error}")
                continue
            write_file(folder / f"{entry.debate_id}.{ending}", text)
            count += 1
    tell(f"Wrote {quantity(count, 'debate')} into {folder}.")


async def score(
    debate_id: str,
    names: Sequence[str],
    *,
    form: str | None,
    against_single: bool,
    config: Path | None,
    output: Path | None,
) -> int:
    """Score a debate, or compare it with its single answer.

    Returns the exit code: 0, or 3 if no model could be asked.
    """
    form = form_for(output, form, tuple(_SCORES))
    check_writable(output)
    if against_single and form == "csv":
        raise BadInput("A comparison is md or json.")
    environment = quiet_settings()
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, config, plugins=plugins)
    debate = fold(await read_log(debate_id))
    if against_single:
        evaluation.compared_texts(debate)
    elif debate.verdict is None:
        raise BadInput(f"Debate {debate.id} has no decision that could be scored.")
    # Evaluators are chosen like agents: those of the settings, else built-in roles.
    request = DebateRequest(
        question=debate.setup.question,
        asked_by=debate.setup.asked_by,
        place=debate.setup.place,
        agents=names,
    )
    changes = {"question_max_chars": len(debate.setup.question), "casting": False}
    usable = loaded.settings.model_copy(update=changes)
    roster = open_debate(request, usable, delimiter=debate.setup.delimiter)
    tell_notices((*loaded.notices, *(item for item in roster.warnings if item != ALONE)))
    check_providers(roster, environment, loaded.settings.servers)
    calls = build_calls(environment, loaded.settings, plugins=plugins)
    try:
        most = evaluation.CALLS if against_single else 1
        tell(
            f"{quantity(len(roster.agents), 'evaluator')}, {quantity(most, 'call')} each. Their "
            f"cost comes beside the debate's: {money(debate.usage.cost)}."
        )
        if against_single:
            comparison = await evaluation.compare(calls, debate, roster.agents)
            as_json = form == "json"
            render = evaluation.comparison_json if as_json else evaluation.comparison_markdown
            write_output(render(comparison), output)
            return 0 if comparison.counting else _PROVIDERS_FAILED
        scores = await evaluation.evaluate(calls, debate, roster.agents)
    finally:
        await calls.close()
    write_output(_SCORES[form](scores), output)
    for failure in scores.failed:
        tell(f"Warning: {failure.name} could not score the debate: {failure.reason}")
    return 0 if scores.marks else _PROVIDERS_FAILED
