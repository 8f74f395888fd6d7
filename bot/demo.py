"""`moot demo`: a local Slack with the real bot, and a debate to watch."""

import asyncio
import errno
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import mkdtemp
from textwrap import shorten
from typing import Any

import typer
from pydantic import SecretStr
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from bot.app import Moot, Parts, running
from bot.building import build_calls, build_tools, load_settings, model_sets
from bot.examples import (
    ANOTHER,
    BEGINNING,
    ENDING,
    READING_SECONDS,
    ExamplePlayer,
    PacedProvider,
    Playback,
    closing_buttons,
    example_provider,
    playing_line,
    question_line,
    written_examples,
)
from bot.interrupts import stop_signal
from bot.log import start_up
from bot.operations.doctor.examine import examine_here
from bot.queue.rate_limits import FAST, Pace
from bot.settings import BotSettings, LogLevel, SlackAccess
from bot.slack.ids import board_key, headline_key
from bot.slack.manifest import manifest
from bot.slack.payloads import plain
from bot.terminal.options import DemoOptions
from bot.terminal.screen import event_lines
from core.capabilities import capability
from core.clock import SystemClock
from core.debate.agents import OFFLINE, Agent
from core.debate.evidence import CitationStatus
from core.debate.log import fold
from core.debate.rules import Clarifying
from core.debate.state import Debate, Status
from core.debate.verdict import OVERTURNED_BY, Verdict
from core.errors import BadInput, ConfigurationBroken
from core.figures import duration
from core.llm.call import ModelCalls
from core.ports import DebateFilter
from core.settings import ROLES, ModelChoice, Settings, agent_for, role_id
from core.transcript.cited import cited_verdict, decision_line, source_title
from core.transcript.decision import decision_text, dissent_title, dissent_vote_words, dissent_words
from core.transcript.markdown import visible
from core.transcript.vote import move_lines, vote_words
from core.transcript.words import (
    confidence_words,
    few_words,
    line_words,
    name_of,
    spent_words,
    usual_models_words,
)
from core.use_cases.choices import ModelSet
from slack_on_loopback import QUICK, GuideLine, SlackPace, Workspace, WorkspaceConfig, run_workspace

QUESTION = (
    "React Native, two native apps or a web app for our couriers' phones? It must work offline, "
    "customers' addresses must stay private, and three developers have 4 months to build it."
)
USER = "dana"
CHANNEL = "architecture"
_POLL_SECONDS = 0.2


@dataclass(frozen=True, kw_only=True)
class Demo:
    settings: Settings
    calls: ModelCalls
    models: Sequence[ModelSet] = ()
    options: DemoOptions
    environment: BotSettings

    @asynccontextmanager
    async def stage(self) -> AsyncGenerator["Stage"]:
        """Run the local Slack and the bot during the block."""
        options = self.options
        folder = options.data or Path(mkdtemp(prefix="moot-demo-"))
        folder.mkdir(parents=True, exist_ok=True)
        config = WorkspaceConfig(
            port=options.port,
            manifest=manifest(),
            pace=QUICK if options.fast else SlackPace(),
            state_file=folder / "workspace.json",
        )
        try:
            async with (
                run_workspace(config) as workspace,
                running(self._parts(workspace, folder)) as moot,
            ):
                yield Stage(workspace=workspace, moot=moot)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise ConfigurationBroken(
                f"Port {options.port} is in use. Type: moot demo --port {options.port + 1}"
            ) from None
        finally:
            if options.data is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _parts(self, workspace: Workspace, folder: Path) -> Parts:
        access = SlackAccess(
            bot_token=workspace.bot_token,
            app_token=workspace.app_token,
            api_url=workspace.api_url,
        )
        database = str(folder / "moot.db")
        # The checks of `/debate doctor` must use the local Slack and this database.
        changes: dict[str, Any] = {
            "slack_bot_token": SecretStr(access.bot_token),
            "slack_app_token": SecretStr(access.app_token),
            "slack_signing_secret": SecretStr(""),
            "slack_client_id": "",
            "slack_client_secret": SecretStr(""),
            "slack_api_url": access.api_url,
            "moot_database": database,
        }
        demo_environment = self.environment.model_copy(update=changes)
        return Parts(
            slack=access,
            environment=BotSettings.model_validate({"moot_port": 0}),
            database=database,
            calls=self.calls,
            settings=self.settings,
            tools=build_tools(self.settings, self.environment),
            models=self.models,
            pace=FAST if self.options.fast else Pace(),
            examine=partial(examine_here, demo_environment, self.settings, is_served=False),
        )


@dataclass
class Stage:
    workspace: Workspace
    moot: Moot
    #: The line at the top of the page.
    _guide_line: GuideLine | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        return f"{self.workspace.url.rstrip('/')}/#/{self.workspace.channel(CHANNEL).id}"

    async def begin(self, question: str) -> str:
        """Type the question as a person of the workspace; return the debate's id.

        Raises:
            BadInput: The bot refused it; the message is the bot's answer.
        """
        earlier_ids = set(await self._debates())
        await self.workspace.command(USER, CHANNEL, "/debate", question)
        new_ids = await self._debates(earlier_ids)
        if not new_ids:
            answers = self.workspace.ephemeral(USER, CHANNEL)
            raise BadInput(plain(str(answers[-1]["text"])) if answers else "Nothing was started.")
        return new_ids[0]

    def player(self, patience: float, playback: Playback | None = None) -> ExamplePlayer:
        return ExamplePlayer(
            workspace=self.workspace,
            moot=self.moot,
            channel=CHANNEL,
            patience=patience,
            read=playback.read if playback else asyncio.sleep,
        )

    async def guide(
        self, patience: float, playback: Playback, models: str, *, examples: bool
    ) -> None:
        if examples and not await self.has_debates():
            await self.play_examples(patience, playback, models)
        await self.follow_new_debates(models)

    async def play_examples(self, patience: float, playback: Playback, models: str = "") -> None:
        """Play an example when the page is opened, and further ones on request."""
        player, names = self.player(patience, playback), list(written_examples())
        self._show(GuideLine(text=BEGINNING))
        await self.workspace.until_watched()
        for number, name in enumerate(names, start=1):
            playback.press("go-on")
            debate_id = await player.begin(name)
            guide = asyncio.create_task(self._guide(debate_id, playback))
            try:
                await player.answer(name, debate_id)
                await self.follow(debate_id)
            finally:
                guide.cancel()
            has_more = number < len(names)
            self._show(await self._closing_line(debate_id, has_more=has_more))
            if not has_more:
                return
            # Until a person asks for the next example, they may ask their own questions.
            new_debates = asyncio.create_task(self.follow_new_debates(models, has_more=True))
            try:
                while await self.workspace.guide_pressed() != ANOTHER:
                    pass
            finally:
                new_debates.cancel()

    def _show(self, line: GuideLine) -> None:
        if line != self._guide_line:
            self.workspace.show_guide(line)
            self._guide_line = line

    async def follow_new_debates(self, models: str, *, has_more: bool = False) -> None:
        """Show the state of debates that people start from now on at the top of the page."""
        earlier_ids = set(await self._debates())
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            new_ids = await self._debates(earlier_ids)
            if new_ids:
                debate = fold(await self.moot.store.events(new_ids[0]))
                closing = await self._closing_line(new_ids[0], has_more=has_more)
                self._show(question_line(debate, models, closing))

    async def _closing_line(self, debate_id: str, *, has_more: bool) -> GuideLine:
        verdict = await self._post_place(headline_key(debate_id))
        return GuideLine(
            text=ENDING,
            thread=await self._post_place(board_key(debate_id)),
            message=verdict[1] if verdict else "",
            buttons=closing_buttons(verdict, has_more=has_more),
        )

    async def _guide(self, debate_id: str, playback: Playback) -> None:
        """Show the debate's progress on the page, open its thread, and handle the buttons."""
        while True:
            debate = fold(await self.moot.store.events(debate_id))
            thread = await self._post_place(board_key(debate_id))
            verdict = await self._post_place(headline_key(debate_id))
            self._show(playing_line(debate, thread, playback, verdict[1] if verdict else ""))
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    playback.press(await self.workspace.guide_pressed())

    async def _post_place(self, key: str) -> tuple[str, str] | None:
        """Channel and ts of a post; None if it is not in Slack yet."""
        row = await self.moot.context.posts.row_by_key(key)
        return (self.workspace.channel(CHANNEL).id, row.ts) if row and row.ts else None

    async def has_debates(self) -> bool:
        return bool(await self._debates())

    async def follow(self, debate_id: str, say: Callable[[str], None] = lambda _: None) -> Debate:
        """Pass progress lines to `say`; return the debate after its end, when all is posted."""
        offset = 0
        while True:
            log = await self.moot.store.events(debate_id)
            for count in range(offset + 1, len(log) + 1):
                for line in event_lines(fold(log[:count]), log[count - 1].event, verbose=True):
                    say(visible(line))
            offset = len(log)
            debate = fold(log)
            is_over = (
                debate.status is not Status.RUNNING
                and debate_id not in await self.moot.store.unfinished_ids()
                and not await self.moot.context.posts.lanes_with_work()
            )
            if is_over:
                return debate
            await asyncio.sleep(_POLL_SECONDS)

    async def _debates(self, known_ids: Collection[str] = ()) -> Sequence[str]:
        ids = [entry.debate_id for entry in await self.moot.store.find(DebateFilter())]
        return [debate_id for debate_id in ids if debate_id not in known_ids]


async def show(options: DemoOptions) -> int:
    """Run the demonstration; return the exit code."""
    environment = start_up(LogLevel.WARNING)
    loaded = await load_settings(environment)
    for notice in loaded.notices:
        typer.echo(f"Notice: {notice}", err=True)
    examples, playback = options.plays_examples, Playback()
    is_free = options.once and examples  # no confirmation is needed
    settings = loaded.settings if is_free else _confirm_cost(loaded.settings, yes=options.yes)
    debate_settings = demo_settings(settings, options.rounds, options.roles, options.form or "")
    speed = 0.0 if options.fast or options.once else options.speed
    demo = Demo(
        settings=debate_settings if options.once else with_questions(debate_settings),
        calls=build_calls(
            environment,
            settings,
            None if options.fast else lambda engine: PacedProvider(engine, SystemClock()),
            extra_providers=[example_provider(speed=speed, read=playback.read)],
        ),
        models=model_sets(environment, loaded.settings),
        options=options,
        environment=environment,
    )
    async with demo.stage() as stage:
        stop_event = stop_signal()
        for line in _introduction(demo, stage, settings.clarifying.wait_seconds):
            typer.echo(line)
        typer.echo()
        if options.once:
            return await _play_once(demo, stage, stop_event)
        patience = 0.0 if options.fast else READING_SECONDS / options.speed
        guide = asyncio.create_task(
            stage.guide(patience, playback, models_in_words(debate_settings), examples=examples)
        )
        if not examples:
            await stage.begin(options.question or QUESTION)
        await stop_event.wait()
        guide.cancel()
        typer.echo("Stopped.")
        return 0


def _introduction(demo: Demo, stage: Stage, slack_wait: float) -> Iterator[str]:
    options, settings, examples = demo.options, demo.settings, demo.options.plays_examples
    if not options.once:  # with --once, the server stops before anybody could open it
        yield f"A local Slack is at {stage.address} (Ctrl-C ends it)."
    if examples:
        yield "Examples: written debates, played by the real engine."
        if not options.once:
            yield "The first begins when you open the page. Type /debate and a question there:"
    yield models_in_words(settings)
    is_paced = not options.fast and not (options.once and examples)
    if is_paced and settings.agent_model.provider == "offline":
        yield "A turn takes a few seconds, so that people can read and steer. No pauses: --fast"
    if settings.clarifying.enabled:
        wait, on_slack = duration(settings.clarifying.wait_seconds), duration(slack_wait)
        yield f"The agents ask you first and wait {wait} (in Slack: {on_slack})."


async def _play_once(demo: Demo, stage: Stage, stop_event: asyncio.Event) -> int:
    """Print one debate until its end or Ctrl-C; return the exit code."""
    examples = demo.options.plays_examples
    answering = None
    if examples:
        player, name = stage.player(0.0), next(iter(written_examples()))
        debate_id = await player.begin(name)
        answering = asyncio.create_task(player.answer(name, debate_id))
    else:
        debate_id = await stage.begin(demo.options.question or QUESTION)
    following = asyncio.create_task(stage.follow(debate_id, typer.echo))
    stopping = asyncio.create_task(stop_event.wait())
    await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (stopping, answering):
        if task:
            task.cancel()
    if not following.done():
        following.cancel()
        typer.echo("Stopped.")
        return 1
    debate = following.result()
    typer.echo()
    if not examples:
        # Print the full decision: the demo's database is deleted at its end.
        typer.echo(f"{visible(decision_text(debate))}\n")
    print_decision(debate)
    return 0 if debate.status is Status.CONCLUDED else 1


def _confirm_cost(settings: Settings, *, yes: bool) -> Settings:
    """The settings; offline ones unless the person agrees to spend money."""
    if yes or not costs_money(settings):
        return settings
    if not sys.stdin.isatty():
        typer.echo("Spending money cannot be confirmed here, so the demo runs offline. See --yes.")
        return offline(settings)
    is_confirmed = typer.confirm(f"{models_in_words(settings)} This spends money. Go on?")
    return settings if is_confirmed else offline(settings)


def demo_settings(
    settings: Settings, rounds: int | None, agents: Sequence[str], form: str = ""
) -> Settings:
    changes: dict[str, Any] = {"format": form} if form else {}
    if rounds is not None:
        changes["rounds"] = rounds
    if agents:
        roster, models = list[Agent](), cycle(settings.mixed_models or (settings.agent_model,))
        for name in agents:
            if (role := role_id(name)) is None:
                raise BadInput(f'There is no role "{name.strip()}". Roles: {", ".join(ROLES)}.')
            roster.append(agent_for(role, next(models)))
        changes["agents"] = tuple(roster)
    return settings.model_copy(update=changes)


def offline(settings: Settings) -> Settings:
    choice = ModelChoice(provider="offline", model="offline-checklists")
    model = {"provider": choice.provider, "model": choice.model}
    agents = tuple(agent.model_copy(update=model) for agent in settings.agents)
    changes: dict[str, Any] = {"agent_model": choice, "judge_model": choice, "agents": agents}
    changes |= {"mixed_models": (), "judge_models": (), "background_models": ()}
    changes["strongest_model"] = changes["shadow_model"] = None
    return settings.model_copy(update=changes)


def with_questions(settings: Settings) -> Settings:
    """Settings with which agents ask people questions first."""
    clarifying = Clarifying(enabled=True, wait_seconds=60.0)
    return settings.model_copy(update={"clarifying": clarifying})


def costs_money(settings: Settings) -> bool:
    """Whether a model costs money: it is neither the offline engine nor a local model."""
    defaults = (settings.agent_model, settings.judge_model)
    return any(
        choice.provider != OFFLINE
        and not capability(choice.provider, choice.model, settings.models).local
        for choice in (*defaults, *settings.agents, *settings.mixed_models)
    )


def models_in_words(settings: Settings) -> str:
    if settings.agent_model.provider == OFFLINE:
        return "Models: none. The built-in offline engine has checklists and declines the rest."
    return usual_models_words(settings)


#: Most items of a list and about the characters of each, in decreasing sizes. The first size that
#: fits the screen is used.
_SIZES = ((3, 200), (2, 140), (1, 110), (1, 70))
#: Lines of the screen if the output is not a terminal.
_LINES = 40


def print_decision(debate: Debate, console: Console | None = None) -> None:
    """Print the decision and its reasons on one screen; in colours on a terminal."""
    console = console or Console(highlight=False)
    verdict = debate.verdict
    if verdict is None:
        console.print(Text(f"There is no decision. {visible(debate.failure)}", style="bold red"))
        return
    # Leaves a line for the shell's prompt.
    lines = console.size.height - 2 if console.is_terminal else _LINES
    screen = Group()
    for most, characters in _SIZES:
        screen = Group(*_screen(debate, verdict, most, characters))
        if len(console.render_lines(screen)) <= lines:
            break
    console.print(screen)


def _screen(
    debate: Debate, verdict: Verdict, most: int, characters: int
) -> Iterator[RenderableType]:
    yield Rule("The agents' verdict", style="green")
    question = shorten(visible(debate.setup.question), 2 * characters, placeholder=" …")
    yield Text(question, style="dim")
    yield Text(f"→ {visible(decision_line(verdict))}", style="bold green")
    for title, style, items in _sections(debate, verdict):
        if not items:
            continue
        yield Text(title, style=f"bold {style}")
        for item in items[:most]:
            # A word has about six characters. `shorten` cuts very long words.
            item_text = few_words(visible(item), characters // 6)
            text = Text(f"· {shorten(item_text, 2 * characters, placeholder=' …')}")
            yield Padding(text, (0, 0, 0, 2))
    yield Text(f"{confidence_words(verdict)} Cost: {spent_words(debate.usage)}.", style="dim")


def _sections(debate: Debate, recorded: Verdict) -> Iterator[tuple[str, str, Sequence[str]]]:
    # Without addresses of the local Slack, which stops before this is read.
    citations = tuple(
        citation.model_copy(update={"address": ""}) for citation in recorded.citations
    )
    verdict = cited_verdict(debate, recorded.model_copy(update={"citations": citations}))
    yield "Why", "cyan", verdict.reasons
    yield "The vote", "cyan", [vote_words(debate)] if debate.tally else []
    yield "Who changed their mind", "cyan", [*map(line_words, move_lines(debate))]
    struck_out = [
        f"{name_of(debate, contribution.turn.agent)}: “{citation.words}” does not stand in "
        f"{citation.source}"
        for contribution in debate.contributions.values()
        for citation in contribution.citations
        if citation.status is CitationStatus.UNVERIFIED
    ]
    yield "Quotes struck out", "red", struck_out
    sources = [f"{source.id}: {source_title(debate, source)}" for source in debate.evidence]
    yield "Sources", "cyan", sources
    against = [*filter(None, (dissent_words(debate, verdict), dissent_vote_words(debate, verdict)))]
    yield dissent_title(debate, verdict), "yellow", against
    yield OVERTURNED_BY, "yellow", verdict.overturned_by
