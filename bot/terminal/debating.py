"""`moot debate` and `moot review`: run a debate or resume one, and print its result."""

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
from bot.plugins import Plugins, run_sinks
from bot.settings import BotSettings, LogLevel
from bot.terminal.files import (
    check_writable,
    error_reason,
    tell,
    tell_notices,
    write_file,
    write_output,
)
from bot.terminal.options import DebateCommand
from bot.terminal.records import facts_in
from bot.terminal.screen import ProgressSink, screen_for
from bot.terminal.session import DebateSession
from bot.terminal.sources import (
    INPUT,
    diff_references,
    fetchers_here,
    references_to,
    revision_references,
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
from core.use_cases.steer import SteerDebate, sole_steward

SURFACE = "terminal"
DONE, FAILED, PROVIDERS_FAILED = 0, 1, 3
#: US dollars. A debate with a higher estimate starts only after the person confirms.
ASKS_ABOVE = Decimal(1)
#: Questions can be read from files, so the limit is higher than for Slack.
_QUESTION_MAX_CHARS = 100_000
_HOW = (
    'Type it (moot debate "Kafka or SQS?"), name a file (--problem-file FILE), or write it to '
    "standard input (moot debate -)."
)


def debate_request(command: DebateCommand, question: str) -> DebateRequest:
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


async def hold(command: DebateCommand, *, revision: str | None = None) -> int:
    """Run a new debate, or resume one.

    Args:
        command: The parsed command line.
        revision: The changed text of a resumed review: a file, a page or a git range.

    Returns:
        The exit code: 0 with a verdict, 1 without, 3 if there is none because models failed.
    """
    question = _question(command)
    # Checked before any money is spent.
    check_writable(command.output)
    check_writable(command.report)
    environment, settings, plugins = await _settings_for(command)
    request = debate_request(command, question)
    if command.dry_run:
        setup = open_debate(request, settings, delimiter=secrets.token_hex(8))
        write_output("\n".join(dry_run_lines(setup, estimating(settings)(setup))) + "\n", None)
        return DONE
    async with open_store(environment.moot_database) as store:
        facts = facts_in(store)
        if command.resume is None:
            debate_id, setup = await _begin(request, settings, environment, facts, yes=command.yes)
        else:
            debate_id = command.resume
            setup = await _resume(
                debate_id, settings, environment, facts, command=command, revision=revision
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
        # Runs beside the first turns: each waits for the provider of its own agent only.
        loading = asyncio.create_task(calls.load({agent.provider for agent in setup.agents}))
        try:
            async with run_sinks(plugins.sinks):
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
            hint = f"The record is kept. Go on with: moot debate --resume {debate_id}"
            if isinstance(error, ModelsAway):
                tell(f"The debate failed to go on. {error}\n{hint}")
                return PROVIDERS_FAILED
            tell(hint)
            raise
        finally:
            screen.close()
            # Providers that failed to load are reported by their turns.
            await asyncio.gather(loading, return_exceptions=True)
            await calls.close()
        record = record_json(await store.events(debate_id))
    show_result(debate, command, record, environment.moot_database)
    if debate.verdict:
        return DONE
    return PROVIDERS_FAILED if debate.failures and not debate.stop else FAILED


async def _settings_for(command: DebateCommand) -> tuple[BotSettings, Settings, Plugins]:
    # Progress lines are shown already, so only warnings and errors are logged.
    environment = start_up(LogLevel.WARNING if command.verbose else LogLevel.ERROR)
    plugins = find_plugins(environment)
    loaded = await load_settings(environment, command.config, plugins=plugins)
    tell_notices((*plugins.left_out, *loaded.notices))
    # Agents may ask people questions if either the command or the settings allow it.
    clarifying = {"enabled": command.clarify or loaded.settings.clarifying.enabled}
    changes = {
        "clarifying": loaded.settings.clarifying.model_copy(update=clarifying),
        "question_max_chars": _QUESTION_MAX_CHARS,
    }
    return environment, loaded.settings.model_copy(update=changes), plugins


def current_user() -> Person:
    """The person at the terminal. The display name is marked as a login name."""
    try:
        name = getuser()
    except (OSError, KeyError):
        name = "somebody"
    return Person(id=name, name=f"{name} (login)")


def _question(command: DebateCommand) -> str:
    """The question as typed, or read from a file or standard input.

    Empty for a resumed debate, and for a review or playbook without a question.
    """
    argument, file = command.question_text, command.problem_file
    if command.resume is not None:
        if command.dry_run:
            raise BadInput("--dry-run shows a debate before it starts: leave --resume out.")
        if argument is not None or file is not None:
            raise BadInput(
                "--resume continues a debate with its own question: leave the question out."
            )
        return ""
    if argument is not None and file is not None:
        raise BadInput(f"The question is given twice, typed and as a file. {_HOW}")
    if argument == INPUT or file == Path(INPUT):
        if command.diff == INPUT:
            raise BadInput("Standard input holds the question or the diff, not both.")
        return _read_question("The text on standard input", sys.stdin.read)
    if file is not None:
        read = partial(file.read_text, encoding="utf-8")
        return _read_question(f"The problem file {file}", read)
    if argument is not None:
        if _is_file(argument):
            raise BadInput(
                f"{argument} is a file. To debate the question in it: --problem-file {argument}"
            )
        return _read_question("The question", lambda: argument)
    if command.format == REVIEW or command.playbook:
        return ""  # the subject may be a source; debates that need a question are refused later
    raise BadInput(f"There is no question. {_HOW}")


def _is_file(text: str) -> bool:
    try:
        return len(text.split()) == 1 and Path(text).is_file()
    except OSError:  # longer than a file name can be
        return False


def _read_question(origin: str, read: Callable[[], str]) -> str:
    """Read a question; `origin` names the place in error messages."""
    try:
        text = read().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise BadInput(f"{origin} is not UTF-8 text.") from None
    except OSError as error:
        raise BadInput(f"{origin} cannot be read: {error_reason(error)}.") from None
    if not text.strip():
        raise BadInput(f"{origin} is blank. {_HOW}")
    return text


async def _begin(
    request: DebateRequest,
    settings: Settings,
    environment: BotSettings,
    facts: FactLog,
    *,
    yes: bool,
) -> tuple[str, Setup]:
    """Record a new debate, after the person has confirmed an expensive one."""
    start = StartDebate(
        facts=facts,
        settings=lambda: settings,
        estimating=estimating(settings),
        bounds=UNBOUNDED,
    )
    setup = await start.setup_for(request)
    check_providers(setup, environment, settings.servers)
    estimate = start.estimating(setup)
    # The models and the expected cost are shown before any money is spent.
    tell(f"Models: {debate_models_words(setup, to_be_cast=True)}")
    tell(f"{estimate_words(estimate)} {cap_words(setup, estimate)}".rstrip())
    is_expensive = estimate.cost is not None and estimate.cost > ASKS_ABOVE
    if is_expensive and not yes and sys.stdin.isatty() and not confirm("Start it?", err=True):
        raise BadInput("Nothing was started, and nothing was spent.")
    setup = setup.model_copy(update={"forecast": estimate.forecast})
    started = await start.begin(setup, origin=f"{SURFACE}/{secrets.token_hex(8)}")
    return started.debate_id, setup


async def _resume(
    debate_id: str,
    settings: Settings,
    environment: BotSettings,
    facts: FactLog,
    *,
    command: DebateCommand,
    revision: str | None,
) -> Setup:
    """Check that a debate can be resumed here; record the changed text and `--when always`."""
    debate = await facts.debate(debate_id)
    place = debate.setup.place
    if place.surface != SURFACE:
        raise BadInput(f"Debate {debate.id} belongs to {place.surface} and cannot be resumed here.")
    check_providers(debate.setup, environment, settings.servers)
    note, user = AddNote(facts=facts, bounds=UNBOUNDED), current_user()
    if revision is not None:
        answer = AnswerQuestions(facts=facts, note=note)
        origin = f"{SURFACE}/{secrets.token_hex(8)}"
        references = revision_references(revision, user)
        await answer.submit_revision(debate, user, references, origin=origin)
    if command.when == When.ALWAYS:
        steer = SteerDebate(facts=facts, note=note, stewards=sole_steward(user), mention=str)
        await steer.want(debate, user)
    return debate.setup


def show_result(debate: Debate, command: DebateCommand, record: str, database: str) -> None:
    text = decision_text(debate) + "\n"
    write_output(record if command.json else visible(text), None)
    if command.output:
        is_json = command.output.suffix.lower() == ".json"
        write_file(command.output, record if is_json else text)
        tell(f"Wrote {command.output}")
    if command.report:
        try:
            write_file(command.report, report(debate))
            tell(f"Wrote the report: {command.report}")
        except MootError as error:
            tell(f"Warning: {error}")
    if command.verbose:
        tell(verbose_summary(debate))
    tell(f"Saved in {database}. Show it again with: moot show {debate.id}")
    if was_skipped(debate) and not debate.reopened_by:
        tell(f"To have it debated anyway: moot debate --resume {debate.id} --when always")
