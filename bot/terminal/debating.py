"""`moot debate`: from what was typed to a decision, and a record that can be taken up again."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.building import (
    build_calls,
    build_turns,
    check_providers,
    estimating,
    load_settings,
    open_store,
)
from bot.commands import new_debate_id
from bot.log import set_up_logs
from bot.settings import BotSettings, LogLevel, read_settings
from bot.terminal.dry_run import rehearse_aloud
from bot.terminal.files import check_writable, put_out, tell, with_suffix, write_file
from bot.terminal.progress import Progress, screen_for
from bot.terminal.question import read_question
from bot.terminal.summary import verbose_summary
from bot.terminal.table import Table
from bot.terminal.who import person
from core.clock import SystemClock
from core.engine import Engine
from core.errors import BadInput, MootError
from core.events import DebateStarted, fold
from core.llm.call import ModelCalls
from core.models import Debate, Place, Setup
from core.opening import Wish, open_debate
from core.ports import DebateStore
from core.settings import Settings
from core.transcript.decision import decision_text
from core.transcript.inert import visible
from core.transcript.record import record_json
from core.transcript.report import report
from core.turns.take import Turns

SURFACE = "terminal"
DONE, FAILED, PROVIDERS_FAILED = 0, 1, 3
#: A file may hold more than anybody would type into a chat.
_QUESTION_MAX_CHARS = 100_000


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was typed after `moot debate`."""

    question: str | None = None
    problem_file: Path | None = None
    context: str = ""
    agents: Sequence[str] | None = None
    rounds: int | None = None
    format: str | None = None
    config: Path | None = None
    output: Path | None = None
    report: Path | None = None
    clarify: bool = False
    verbose: bool = False
    #: Show what would be asked and what it would cost; ask nobody.
    dry_run: bool = False
    #: Id of a debate to go on with.
    resume: str | None = None


async def hold(asked: Asked) -> int:
    """Hold the debate, or go on with one.

    Returns:
        The exit code: 0 done, 1 it ended without a decision, 3 because no model could be asked.

    Raises:
        BadInput: What was typed cannot be used.
        ConfigurationBroken: The settings cannot be used.
        MootError: Something else that can be told in words.
    """
    question = _question(asked)
    check_writable(asked.output)
    check_writable(_report_path(asked))
    environment = _environment(verbose=asked.verbose)
    loaded = await load_settings(environment, asked.config)
    for notice in loaded.notices:
        tell(f"Notice: {notice}")
    if asked.dry_run:
        setup = _setup(asked, question, loaded.settings)
        return rehearse_aloud(setup, await estimating(loaded.settings)(setup))
    async with open_store(environment.moot_database) as store:
        session = Session(
            asked=asked,
            environment=environment,
            settings=loaded.settings,
            store=store,
            take_turns=lambda calls: build_turns(calls, loaded.settings, store),
        )
        return await session.hold(question)


def _question(asked: Asked) -> str:
    """The question; empty when a debate is taken up again.

    Raises:
        BadInput: There is none, or there are several; or a debate is to be resumed with another.
    """
    if asked.resume is not None and asked.dry_run:
        raise BadInput("--dry-run shows a debate before it is held: it does not go with --resume.")
    if asked.resume is None:
        return read_question(asked.question, asked.problem_file)
    if asked.question is not None or asked.problem_file is not None:
        raise BadInput("--resume goes on with a debate as it is: leave the question out.")
    return ""


def _report_path(asked: Asked) -> Path | None:
    return with_suffix(asked.report, ".md") if asked.report else None


def _environment(*, verbose: bool) -> BotSettings:
    """The process settings; progress tells people what they need, so logs stay quiet."""
    environment = read_settings()
    level = LogLevel.WARNING if verbose else LogLevel.ERROR
    set_up_logs(level, environment.moot_log_format, environment.secrets)
    return environment


@dataclass(frozen=True, kw_only=True)
class Session:
    """One call of `moot debate`, its settings read and its database open."""

    asked: Asked
    environment: BotSettings
    settings: Settings
    store: DebateStore
    take_turns: Callable[[ModelCalls], Turns]

    async def hold(self, question: str) -> int:
        """Hold the debate from its start, or from where it was interrupted."""
        debate_id = await (self._begin(question) if self.asked.resume is None else self._find())
        try:
            debate = await self._advance(debate_id)
        except MootError:
            tell(f"The record is kept. Go on with: moot debate --resume {debate_id}")
            raise
        hand_out(debate, self.asked, record_json(await self.store.events(debate_id)))
        where = self.environment.moot_database
        tell(f"Saved in {where}. Show it again with: moot show {debate_id}")
        return _exit_code(debate)

    async def _find(self) -> str:
        """The debate to go on with."""
        debate = fold(await self.store.events(self.asked.resume or ""))
        if debate.setup.place.surface != SURFACE:
            raise BadInput(f"Debate {debate.id} is held on {debate.setup.place.surface}, not here.")
        check_providers(debate.setup, self.environment)
        return debate.id

    async def _begin(self, question: str) -> str:
        """Start a debate."""
        setup = _setup(self.asked, question, self.settings)
        check_providers(setup, self.environment)
        forecast = (await estimating(self.settings)(setup)).forecast
        setup = setup.model_copy(update={"forecast": forecast})
        debate_id = new_debate_id()
        origin = f"{SURFACE}/{secrets.token_hex(8)}"
        started = DebateStarted(setup=setup)
        await self.store.create(debate_id, started, origin=origin, at=SystemClock().now())
        return debate_id

    async def _advance(self, debate_id: str) -> Debate:
        """Run the debate to its end, with progress on standard error."""
        screen, clock = screen_for(), SystemClock()
        calls = build_calls(self.environment, self.settings)
        sink = Progress(screen, verbose=self.asked.verbose)
        turns = self.take_turns(calls)
        engine = Engine(store=self.store, turns=turns, sink=sink, clock=clock)
        table = Table(debate_id, engine=engine, store=self.store, clock=clock, screen=screen)
        try:
            return await table.hold()
        finally:
            screen.close()
            await calls.close()


def _setup(asked: Asked, question: str, settings: Settings) -> Setup:
    """The debate asked for. Questions to people are asked only if that was asked for, too."""
    asking = settings.clarifying.model_copy(
        update={"enabled": asked.clarify or settings.clarifying.enabled}
    )
    usable = {"clarifying": asking, "question_max_chars": _QUESTION_MAX_CHARS}
    wish = Wish(
        question=question,
        context=asked.context,
        asked_by=person(),
        place=Place(surface=SURFACE),
        agents=asked.agents,
        rounds=asked.rounds,
        format=asked.format,
    )
    return open_debate(wish, settings.model_copy(update=usable), delimiter=secrets.token_hex(8))


def hand_out(debate: Debate, asked: Asked, record: str) -> None:
    """The decision to standard output, and the files that were asked for."""
    text = decision_text(debate) + "\n"
    put_out(visible(text), None)
    if asked.output:
        whole = asked.output.suffix.lower() == ".json"
        write_file(asked.output, record if whole else text)
        tell(f"Wrote {asked.output}")
    path = _report_path(asked)
    if path:
        try:
            write_file(path, report(debate))
            tell(f"Generated report: {path}")
        except MootError as error:
            tell(f"Warning: {error}")
    if asked.verbose:
        tell(verbose_summary(debate))


def _exit_code(debate: Debate) -> int:
    """Done when there is a decision, partial or not."""
    if debate.verdict:
        return DONE
    return PROVIDERS_FAILED if debate.failures and not debate.stop else FAILED
