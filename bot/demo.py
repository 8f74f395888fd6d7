"""`moot demo`: a local Slack, the real bot connected to it, and a debate one can watch."""

import asyncio
import errno
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import typer
from pydantic import SecretStr

from bot.app import Moot, Parts, running
from bot.building import build_calls, build_tools, load_settings, model_sets
from bot.demo_guide import ANOTHER, BEGINNING, ENDING, closing_buttons, own_line, playing_line
from bot.demo_screen import print_decision
from bot.demo_settings import asking, costs_money, demo_settings, models_in_words, offline
from bot.examples import (
    READING_SECONDS,
    ExamplePlayer,
    Playback,
    example_provider,
    written_examples,
)
from bot.operations.doctor.examine import examine_here
from bot.paced_provider import PacedProvider
from bot.process import start_up, stop_signal
from bot.queue.rate_limits import FAST, Pace
from bot.settings import BotSettings, LogLevel, SlackAccess
from bot.slack.ids import board_key, headline_key
from bot.slack.manifest import manifest
from bot.slack.payloads import plain
from bot.terminal.options import DemoOptions
from bot.terminal.screen import news
from core.clock import SystemClock
from core.debate.log import fold
from core.debate.state import Debate, Status
from core.errors import BadInput, ConfigurationBroken
from core.figures import duration
from core.llm.call import ModelCalls
from core.ports import DebateFilter
from core.settings import Settings
from core.transcript.decision import decision_text
from core.transcript.markdown import visible
from core.use_cases.choices import ModelSet
from slack_on_loopback import QUICK, GuideLine, SlackPace, Workspace, WorkspaceConfig, run_workspace

QUESTION = (
    "React Native, two native apps or a web app for our couriers' phones? It must work offline, "
    "customers' addresses must stay private, and three developers have 4 months to build it."
)
USER = "dana"
CHANNEL = "architecture"
_GLANCE_SECONDS = 0.2

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Demo:
    settings: Settings
    calls: ModelCalls
    models: Sequence[ModelSet] = ()
    options: DemoOptions
    #: Keys and addresses of models.
    environment: BotSettings

    @asynccontextmanager
    async def stage(self) -> AsyncGenerator["Stage"]:
        folder = self.options.data or Path(mkdtemp(prefix="moot-demo-"))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            async with (
                _workspace(self.options, folder) as workspace,
                running(self._parts(workspace, folder)) as moot,
            ):
                yield Stage(workspace=workspace, moot=moot)
        finally:
            if self.options.data is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _parts(self, workspace: Workspace, folder: Path) -> Parts:
        access = SlackAccess(
            bot_token=workspace.bot_token,
            app_token=workspace.app_token,
            api_url=workspace.api_url,
        )
        database = str(folder / "moot.db")
        # The doctor looks at what runs here: this Slack and this database.
        changes: dict[str, Any] = {
            "slack_bot_token": SecretStr(access.bot_token),
            "slack_app_token": SecretStr(access.app_token),
            "slack_signing_secret": SecretStr(""),
            "slack_client_id": "",
            "slack_client_secret": SecretStr(""),
            "slack_api_url": access.api_url,
            "moot_database": database,
        }
        here = self.environment.model_copy(update=changes)
        return Parts(
            slack=access,
            environment=BotSettings.model_validate({"moot_port": 0}),
            database=database,
            calls=self.calls,
            settings=self.settings,
            tools=build_tools(self.settings, self.environment),
            models=self.models,
            pace=FAST if self.options.fast else Pace(),
            examine=partial(examine_here, here, self.settings, is_served=False),
        )


@asynccontextmanager
async def _workspace(options: DemoOptions, folder: Path) -> AsyncGenerator[Workspace]:
    config = WorkspaceConfig(
        port=options.port,
        manifest=manifest(),
        pace=QUICK if options.fast else SlackPace(),
        state_file=folder / "workspace.json",
    )
    try:
        async with run_workspace(config) as workspace:
            yield workspace
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise ConfigurationBroken(
            f"Port {options.port} is in use. Type: moot demo --port {options.port + 1}"
        ) from None


@dataclass
class Stage:
    workspace: Workspace
    moot: Moot

    @property
    def address(self) -> str:
        return f"{self.workspace.url.rstrip('/')}/#/{self.workspace.channel(CHANNEL).id}"

    async def begin(self, question: str) -> str:
        """Type the question as a person of the workspace; return the debate's id.

        Raises:
            BadInput: The bot refused it, with the bot's answer as message.
        """
        before = set(await self._debates())
        await self.workspace.command(USER, CHANNEL, "/debate", question)
        fresh = [debate_id for debate_id in await self._debates() if debate_id not in before]
        if not fresh:
            answers = self.workspace.ephemeral(USER, CHANNEL)
            raise BadInput(plain(str(answers[-1]["text"])) if answers else "Nothing was started.")
        return fresh[0]

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
        await self.show_own(models)

    async def play_examples(self, patience: float, playback: Playback, models: str = "") -> None:
        """Play an example once the page is opened, and the next one when somebody asks for it."""
        player, names = self.player(patience, playback), list(written_examples())
        self.workspace.show_guide(GuideLine(text=BEGINNING))
        await self.workspace.until_watched()
        for place, name in enumerate(names, start=1):
            playback.press("go-on")
            debate_id = await player.begin(name)
            guiding = asyncio.create_task(self._guide(debate_id, playback))
            try:
                await player.answer(name, debate_id)
                await self.follow(debate_id)
            finally:
                guiding.cancel()
            has_more = place < len(names)
            self.workspace.show_guide(await self._closing_line(debate_id, has_more=has_more))
            if has_more:
                await self._until_another(models)

    async def _until_another(self, models: str) -> None:
        """Wait until somebody asks for the next example; they may ask their own questions first."""
        own = asyncio.create_task(self.show_own(models, has_more=True))
        try:
            while await self.workspace.guide_pressed() != ANOTHER:
                pass
        finally:
            own.cancel()

    async def show_own(self, models: str, *, has_more: bool = False) -> None:
        """Say at the top what happens to the questions that people ask from now on."""
        earlier, last_line = set(await self._debates()), None
        while True:
            await asyncio.sleep(_GLANCE_SECONDS)
            own = [debate_id for debate_id in await self._debates() if debate_id not in earlier]
            if own:
                debate = fold(await self.moot.store.events(own[0]))
                line = own_line(debate, models, await self._closing_line(own[0], has_more=has_more))
                if line != last_line:
                    self.workspace.show_guide(line)
                    last_line = line

    async def _closing_line(self, debate_id: str, *, has_more: bool) -> GuideLine:
        verdict = await self._place_of(headline_key(debate_id))
        return GuideLine(
            text=ENDING,
            thread=await self._place_of(board_key(debate_id)),
            message=verdict[1] if verdict else "",
            buttons=closing_buttons(verdict, has_more=has_more),
        )

    async def _guide(self, debate_id: str, playback: Playback) -> None:
        """Show the debate's progress on the page, open its thread, and obey the buttons."""
        last_line = None
        while True:
            debate = fold(await self.moot.store.events(debate_id))
            thread = await self._place_of(board_key(debate_id))
            verdict = await self._place_of(headline_key(debate_id))
            line = playing_line(debate, thread, playback, verdict[1] if verdict else "")
            if line != last_line:
                self.workspace.show_guide(line)
                last_line = line
            with suppress(TimeoutError):
                async with asyncio.timeout(_GLANCE_SECONDS):
                    playback.press(await self.workspace.guide_pressed())

    async def _place_of(self, key: str) -> tuple[str, str] | None:
        row = await self.moot.posts.row_by_key(key)
        return (self.workspace.channel(CHANNEL).id, row.ts) if row and row.ts else None

    async def has_debates(self) -> bool:
        return bool(await self._debates())

    async def follow(self, debate_id: str, say: Say = lambda _line: None) -> Debate:
        """Say what happens; return the debate when it has ended and everything is posted."""
        offset = 0
        while True:
            log = await self.moot.store.events(debate_id)
            for count in range(offset + 1, len(log) + 1):
                for line in news(fold(log[:count]), log[count - 1].event, verbose=True):
                    say(visible(line))
            offset = len(log)
            debate = fold(log)
            # Ended, and everything is in the workspace.
            over = (
                debate.status is not Status.RUNNING
                and debate_id not in await self.moot.store.unfinished_ids()
                and not await self.moot.posts.lanes_with_work()
            )
            if over:
                return debate
            await asyncio.sleep(_GLANCE_SECONDS)

    async def _debates(self) -> Sequence[str]:
        return [entry.debate_id for entry in await self.moot.store.find(DebateFilter())]


async def show(options: DemoOptions) -> int:
    """Run the demonstration; return the exit code."""
    environment = start_up(LogLevel.WARNING)
    loaded = await load_settings(environment)
    for notice in loaded.notices:
        typer.echo(f"Notice: {notice}", err=True)
    examples, playback = options.plays_examples, Playback()
    # Playing an example only costs nothing, so no confirmation is needed.
    is_free = options.once and examples
    settings = loaded.settings if is_free else _agreed_settings(loaded.settings, yes=options.yes)
    debating = demo_settings(settings, options.rounds, options.roles, options.form or "")
    speed = 0.0 if options.fast or options.once else options.speed
    demo = Demo(
        settings=debating if options.once else asking(debating),
        calls=build_calls(
            environment,
            settings,
            None if options.fast else lambda engine: PacedProvider(engine, SystemClock()),
            more=[example_provider(speed=speed, read=playback.read)],
        ),
        models=model_sets(environment, loaded.settings),
        options=options,
        environment=environment,
    )
    async with demo.stage() as stage:
        stopped = stop_signal()
        for line in _introduction(demo, stage, settings.clarifying.wait_seconds):
            typer.echo(line)
        typer.echo()
        if options.once:
            return await _play_once(demo, stage, stopped)
        patience = 0.0 if options.fast else READING_SECONDS / options.speed
        guiding = asyncio.create_task(
            stage.guide(patience, playback, models_in_words(debating), examples=examples)
        )
        if not examples:
            await stage.begin(options.question or QUESTION)
        await stopped.wait()
        guiding.cancel()
        typer.echo("Stopped.")
        return 0


def _introduction(demo: Demo, stage: Stage, usual_wait: float) -> Iterator[str]:
    options, settings, examples = demo.options, demo.settings, demo.options.plays_examples
    if not options.once:  # the address would be gone before anybody opens it
        yield f"A local Slack is at {stage.address} (Ctrl-C ends it)."
    if examples:
        yield "Examples: debates written by hand, played by the real engine."
        if not options.once:
            yield "The first begins when you open the page. Type /debate and a question there:"
    yield models_in_words(settings)
    is_paced = not options.fast and not (options.once and examples)
    if is_paced and settings.agent_model.provider == "offline":
        yield (
            "A turn takes a few seconds, as with a model: time to read and steer. Without: --fast"
        )
    if settings.clarifying.enabled:
        wait, usual = duration(settings.clarifying.wait_seconds), duration(usual_wait)
        yield f"The agents ask you first and wait {wait} (on Slack: {usual})."


async def _play_once(demo: Demo, stage: Stage, stopped: asyncio.Event) -> int:
    """Print one debate until it, or whoever watches, ends it; return the exit code."""
    examples = demo.options.plays_examples
    answering = None
    if examples:
        player, name = stage.player(0.0), next(iter(written_examples()))
        debate_id = await player.begin(name)
        answering = asyncio.create_task(player.answer(name, debate_id))
    else:
        debate_id = await stage.begin(demo.options.question or QUESTION)
    following = asyncio.create_task(stage.follow(debate_id, typer.echo))
    stopping = asyncio.create_task(stopped.wait())
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
        # Nobody has it but here: the demonstration's database goes with it.
        typer.echo(f"{visible(decision_text(debate))}\n")
    print_decision(debate)
    return 0 if debate.status is Status.CONCLUDED else 1


def _agreed_settings(settings: Settings, *, yes: bool) -> Settings:
    if yes or not costs_money(settings):
        return settings
    if not sys.stdin.isatty():
        typer.echo("Nobody can be asked about spending money, so this runs offline. See --yes.")
        return offline(settings)
    is_confirmed = typer.confirm(f"{models_in_words(settings)} This spends money. Go on?")
    return settings if is_confirmed else offline(settings)
