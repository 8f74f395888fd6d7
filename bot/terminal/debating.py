"""`moot debate`: from what was typed to a decision, and a record that can be taken up again."""

import asyncio
import secrets
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from getpass import getuser
from pathlib import Path

from typer import confirm

from bot.building import (
    build_calls,
    build_reader,
    build_tools,
    build_turns,
    check_providers,
    estimating,
    find_plugins,
    load_settings,
    open_store,
)
from bot.log import start_up
from bot.plugins import Plugins, listening
from bot.settings import BotSettings, LogLevel
from bot.terminal.files import (
    check_writable,
    put_out,
    reason_of,
    tell,
    tell_notices,
    write_file,
)
from bot.terminal.options import DebateCommand
from bot.terminal.records import facts_in
from bot.terminal.screen import ProgressSink, screen_for
from bot.terminal.session import DebateSession
from bot.terminal.sources import (
    INPUT,
    diff_references,
    fetchers_here,
    handed_in,
    references_to,
)
from bot.terminal.summary import dry_run_lines, verbose_summary
from core.clock import SystemClock
from core.debate.people import Person, Place
from core.debate.rules import ShadowWhen, When
from core.debate.setup import Setup
from core.debate.state import Debate
from core.engine import Engine
from core.errors import BadInput, ModelsAway, MootError
from core.estimate import cap_words, estimate_words
from core.opening import DebateRequest, open_debate
from core.rules.ending import was_skipped
from core.rules.formats.review import NAME as REVIEW
from core.settings import Settings
from core.telling import Sinks
from core.transcript.decision import decision_text
from core.transcript.markdown import visible
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.words import debate_models_words
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import UNBOUNDED
from core.use_cases.messages import AddNote, AnswerQuestions
from core.use_cases.start import StartDebate
from core.use_cases.steer import SteerDebate, only_steward

SURFACE = "terminal"
DONE, FAILED, PROVIDERS_FAILED = 0, 1, 3
#: A debate that will probably cost more than so many US dollars is asked about first.
ASKS_ABOVE = Decimal(1)
#: A file may hold more than anybody would type into a chat.
_QUESTION_MAX_CHARS = 100_000
_HOW = (
    'Type it (moot debate "Kafka or SQS?"), name a file (--problem-file FILE), or write it to '
    "standard input (moot debate -)."
)


def request_of(command: DebateCommand, question: str) -> DebateRequest:
    user, shadow = current_user(), None
    if command.shadow is not None:
        shadow = ShadowWhen.ALWAYS if command.shadow else ShadowWhen.NEVER
    changes = () if command.diff is None else diff_references(command.diff, user)
    return DebateRequest(
        question=question,
        context=command.context,
        asked_by=user,
        place=Place(surface=SURFACE),
        agents=command.roles,
        rounds=command.rounds,
        when=When(command.when) if command.when else None,
        shadow=shadow,
        sealed=False,  # nobody votes here
        format=command.format,
        playbook=command.playbook,
        references=(*references_to(command.source or (), user), *changes),
    )


async def hold(command: DebateCommand, *, revised: str | None = None) -> int:
    """Hold the debate, or go on with one.

    Args:
        command: What was typed.
        revised: For a resumed review: a changed text, as a file, a page or a git range.

    Returns:
        The exit code: 0 done, 1 it ended without a decision, 3 because no model could be asked.
    """
    question = _question(command)
    # Checked before anything is paid for.
    check_writable(command.output)
    check_writable(command.report)
    environment, settings, plugins = await _settings_for(command)
    request = request_of(command, question)
    if command.dry_run:
        setup = open_debate(request, settings, delimiter=secrets.token_hex(8))
        put_out("\n".join(dry_run_lines(setup, estimating(settings)(setup))) + "\n", None)
        return DONE
    async with open_store(environment.moot_database) as store:
        facts = facts_in(store)
        if command.resume is None:
            debate_id, setup = await _begin(request, settings, environment, facts, yes=command.yes)
        else:
            debate_id = command.resume
            setup = await _take_up(
                debate_id, settings, environment, facts, command=command, revised=revised
            )
        calls = build_calls(environment, settings, plugins=plugins)
        reader = build_reader(settings, build_tools(settings, environment), fetchers_here(store))
        screen, clock = screen_for(), SystemClock()
        engine = Engine(
            store=store,
            turns=build_turns(calls, settings, store, reader),
            sink=Sinks(ProgressSink(screen, verbose=command.verbose), *plugins.sinks),
            clock=clock,
        )
        # Concurrent with the first turns: each waits for its own agent's provider only.
        loading = asyncio.create_task(calls.load({agent.provider for agent in setup.agents}))
        try:
            async with listening(plugins.sinks):
                debate = await DebateSession(
                    debate_id,
                    engine=engine,
                    store=store,
                    clock=clock,
                    screen=screen,
                    person=current_user(),
                ).hold()
        except MootError as error:
            screen.close()
            go_on = f"The record is kept. Go on with: moot debate --resume {debate_id}"
            if isinstance(error, ModelsAway):
                tell(f"The debate failed to go on. {error}\n{go_on}")
                return PROVIDERS_FAILED
            tell(go_on)
            raise
        finally:
            screen.close()
            # Providers that failed to load are reported by their turns.
            await asyncio.gather(loading, return_exceptions=True)
            await calls.close()
        record = record_json(await store.events(debate_id))
    hand_out(debate, command, record, environment.moot_database)
    if debate.verdict:
        return DONE
    return PROVIDERS_FAILED if debate.failures and not debate.stop else FAILED


async def _settings_for(command: DebateCommand) -> tuple[BotSettings, Settings, Plugins]:
    # The progress lines suffice, so logs stay quiet.
    environment = start_up(LogLevel.WARNING if command.verbose else LogLevel.ERROR)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, command.config, plugins=plugins)
    tell_notices((*plugins.left_out, *loaded.notices))
    # Questions to people are asked if the command or the settings say so.
    asking = {"enabled": command.clarify or loaded.settings.clarifying.enabled}
    changes = {
        "clarifying": loaded.settings.clarifying.model_copy(update=asking),
        "question_max_chars": _QUESTION_MAX_CHARS,
    }
    return environment, loaded.settings.model_copy(update=changes), plugins


def current_user() -> Person:
    """Return the person at the terminal; others read that the name is that of a login."""
    try:
        name = getuser()
    except (OSError, KeyError):
        name = "somebody"
    return Person(id=name, name=f"{name} (login)")


def _question(command: DebateCommand) -> str:
    """The question, typed or in a file; empty when a debate is taken up again."""
    typed, file = command.question_text, command.problem_file
    if command.resume is not None:
        if command.dry_run:
            raise BadInput("--dry-run shows a debate before it is held: not one to --resume.")
        if typed is not None or file is not None:
            raise BadInput("--resume goes on with a debate as it is: leave the question out.")
        return ""
    if typed is not None and file is not None:
        raise BadInput(f"The question is here twice, typed and as a file. {_HOW}")
    if typed is not None and typed != INPUT and _is_file(typed):
        raise BadInput(f"{typed} is a file. To debate the question in it: --problem-file {typed}")
    text, what = typed, "The question"
    if INPUT in (typed, str(file)):
        if command.diff == INPUT:
            raise BadInput("Standard input holds the question or the diff, not both.")
        what = "What standard input holds"
        text = _read(what, sys.stdin.read)
    elif file is not None:
        what = f"The problem file {file}"
        text = _read(what, partial(file.read_text, encoding="utf-8"))
    if text is None and (command.format == REVIEW or command.playbook):
        return ""  # a source may be the subject; other debates are refused without a question
    if text is None:
        raise BadInput(f"There is no question. {_HOW}")
    if not text.strip():
        raise BadInput(f"{what} is blank. {_HOW}")
    return text


def _is_file(typed: str) -> bool:
    try:
        return len(typed.split()) == 1 and Path(typed).is_file()
    except OSError:  # longer than a name can be
        return False


def _read(what: str, read: Callable[[], str]) -> str:
    try:
        return read().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise BadInput(f"{what} is not UTF-8 text.") from None
    except OSError as error:
        raise BadInput(f"{what} cannot be read: {reason_of(error)}.") from None


async def _begin(
    request: DebateRequest,
    settings: Settings,
    environment: BotSettings,
    facts: FactLog,
    *,
    yes: bool,
) -> tuple[str, Setup]:
    """Record a new debate, unless the person at the terminal finds it too dear."""
    start = StartDebate(
        facts=facts,
        settings=lambda: settings,
        estimating=estimating(settings),
        bounds=UNBOUNDED,
    )
    setup = await start.setup_for(request)
    check_providers(setup, environment, settings.servers)
    estimate = start.estimating(setup)
    # What it will cost, and whom it asks, before anything is spent.
    tell(f"Models: {debate_models_words(setup, to_be_cast=True)}")
    tell(f"{estimate_words(estimate)} {cap_words(setup, estimate)}".rstrip())
    is_dear = estimate.cost is not None and estimate.cost > ASKS_ABOVE
    if is_dear and not yes and sys.stdin.isatty() and not confirm("Start it?", err=True):
        raise BadInput("Nothing was started, and nothing was spent.")
    whole = setup.model_copy(update={"forecast": estimate.forecast})
    begun = await start.begin(whole, origin=f"{SURFACE}/{secrets.token_hex(8)}")
    return begun.debate_id, whole


async def _take_up(
    debate_id: str,
    settings: Settings,
    environment: BotSettings,
    facts: FactLog,
    *,
    command: DebateCommand,
    revised: str | None,
) -> Setup:
    """Check that a debate can go on here; record the changed text and `--when always`."""
    debate = await facts.debate(debate_id)
    place = debate.setup.place
    if place.surface != SURFACE:
        raise BadInput(f"Debate {debate.id} is held on {place.surface}, not here.")
    check_providers(debate.setup, environment, settings.servers)
    note, user = AddNote(facts=facts, bounds=UNBOUNDED), current_user()
    if revised is not None:
        answer = AnswerQuestions(facts=facts, note=note)
        origin = f"{SURFACE}/{secrets.token_hex(8)}"
        references = handed_in(revised, user)
        await answer.submit_revision(debate, user, references, origin=origin)
    if command.when == When.ALWAYS:
        steer = SteerDebate(facts=facts, note=note, stewards=only_steward(user), mention=str)
        await steer.want(debate, user)
    return debate.setup


def hand_out(debate: Debate, command: DebateCommand, record: str, where: str) -> None:
    text = decision_text(debate) + "\n"
    put_out(record if command.json else visible(text), None)
    if command.output:
        whole = command.output.suffix.lower() == ".json"
        write_file(command.output, record if whole else text)
        tell(f"Wrote {command.output}")
    if command.report:
        try:
            write_file(command.report, report(debate))
            tell(f"Generated report: {command.report}")
        except MootError as error:
            tell(f"Warning: {error}")
    if command.verbose:
        tell(verbose_summary(debate))
    tell(f"Saved in {where}. Show it again with: moot show {debate.id}")
    if was_skipped(debate) and not debate.reopened_by:
        tell(f"Debate it all the same with: moot debate --resume {debate.id} --when always")
