"""PUBLIC test kit: the real bot against a local Slack, over real HTTP and WebSocket.

async with run_workspace(quick_workspace()) as workspace:
    async with running_bot(workspace, provider=ScriptedProvider(), database=path) as team:
        board = await team.debate("Kafka or PostgreSQL?")
        await team.wait_for_end(board)
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.app import Moot, Parts, running
from bot.landing.receivers import Receiver
from bot.listeners.context import Examine
from bot.queue.rate_limits import FAST, Pace
from bot.settings import BotSettings, PageSettings, SlackAccess
from bot.slack.connection.bursts import BurstLimits
from bot.slack.ids import ActionId, headline_key
from bot.slack.manifest import manifest
from bot.slack.payloads import PostedMessage
from bot.timeouts import DEFAULT_TIMEOUTS, Timeouts
from core.clock import SystemClock
from core.debate.log import fold
from core.debate.rules import Clarifying, Playbook, When
from core.debate.state import Debate, Status
from core.evidence.tools import FetchTools
from core.llm.call import ModelCalls
from core.ports import DebateFilter, Embedder, ModelProvider
from core.retry import RetryPolicy
from core.rules.formats import critique
from core.settings import EvidenceLimits, ModelChoice, Settings
from core.testing import ScriptedProvider
from core.use_cases.limits import Bounds
from slack_on_loopback import QUICK, Workspace, WorkspaceConfig, run_workspace

#: Seconds that a debate with scripted models may take.
WAIT_SECONDS = 300.0
#: Seconds to wait until all sinks have received an event.
_PUBLISH_SECONDS = 5.0
#: A busy machine may take longer than Slack's three seconds.
PATIENT_PACE = replace(QUICK, ack_seconds=120.0, trigger_seconds=600.0)
#: The default person and channel.
USER = "dana"
CHANNEL = "architecture"
MODEL = "scripted-1"
#: Long time limits, so that a slow machine does not fail tests.
UNHURRIED = Timeouts(**{name: 10 * seconds for name, seconds in vars(DEFAULT_TIMEOUTS).items()})
#: Retries of model calls without a wait.
QUICK_RETRIES = RetryPolicy(tries=2, first_wait=0.01, longest_wait=0.02)

Message = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Team:
    workspace: Workspace
    moot: Moot
    user: str = USER
    channel: str = CHANNEL

    async def debate(self, question: str, *, user: str = "") -> str:
        earlier_ids = {entry.debate_id for entry in await self._entries()}
        await self.type(question, user=user)
        entries = [entry for entry in await self._entries() if entry.debate_id not in earlier_ids]
        if len(entries) != 1:
            raise AssertionError(
                f"{len(entries)} debates were started: {self.ephemeral_texts(user)}"
            )
        return await self.board_of(entries[0].debate_id)

    async def type(self, words: str, *, user: str = "") -> None:
        await self.workspace.command(user or self.user, self.channel, "/debate", words)

    async def say(self, text: str, board: str = "", *, user: str = "") -> Message:
        """Write in the channel, or in the thread of a board."""
        return await self.workspace.say(user or self.user, self.channel, text, board or None)

    async def click(
        self, board: str, action_id: str = ActionId.STOP.value, *, user: str = ""
    ) -> None:
        await self.workspace.click(user or self.user, self.channel, board, action_id)

    def verdict(self, board: str, edition: int = 1) -> str:
        """Timestamp of the verdict's short form, the post with the team's buttons."""
        key = headline_key(self.debate_id(board), edition)
        return next(str(reply["ts"]) for reply in self.replies(board) if key_of(reply) == key)

    def ephemeral_texts(self, user: str = "") -> Sequence[str]:
        """Texts of ephemeral messages to this person, oldest first."""
        messages = self.workspace.ephemeral(user or self.user, self.channel)
        return [str(message["text"]) for message in messages]

    def has_told(self, words: str) -> bool:
        """Whether an ephemeral message to this person contains these words."""
        return any(words in text for text in self.ephemeral_texts())

    def thread(self, board: str) -> Sequence[Message]:
        return self.workspace.thread(self.channel, board)

    def replies(self, board: str) -> Sequence[Message]:
        """The bot's posts in a thread."""
        return [message for message in self.thread(board)[1:] if message.get("bot_id")]

    def has_replied(self, board: str, words: str) -> bool:
        return any(words in reply["text"] for reply in self.replies(board))

    def posts(self, board: str, name: str) -> Sequence[Message]:
        """The bot's posts in a thread whose key ends with `name`, like `card` or `headline`."""
        return [reply for reply in self.replies(board) if key_of(reply).endswith(f"/{name}")]

    async def wait_for_card(self, board: str) -> Message:
        """Wait for the card with the questions to people."""
        return (await self.workspace.wait_for(lambda: self.posts(board, "card")))[0]

    def boards(self) -> Sequence[str]:
        """Timestamps of the boards in the channel, oldest first."""
        messages = self.workspace.messages(self.channel)
        return [str(message["ts"]) for message in messages if key_of(message).endswith("/board")]

    async def new_board(self, earlier: Sequence[str] = ()) -> str:
        """Wait for a board, of a debate that was started by a mention or in the form."""
        boards = await self.workspace.wait_for(
            lambda: [board for board in self.boards() if board not in earlier]
        )
        return boards[0]

    async def board_of(self, debate_id: str) -> str:
        boards = await self.workspace.wait_for(
            lambda: [board for board in self.boards() if self.debate_id(board) == debate_id],
            timeout=WAIT_SECONDS,
        )
        return boards[0]

    def debate_id(self, board: str) -> str:
        # Called often; `self.thread` would copy all messages.
        return key_of(self.workspace.channel(self.channel).thread(board)[0]).partition("/")[0]

    async def debate_at(self, board: str) -> Debate:
        return fold(await self.moot.store.events(self.debate_id(board)))

    async def wait_for_posts(self, count: int, board: str) -> Sequence[Message]:
        await self.workspace.wait_for(
            lambda: len(self.replies(board)) >= count, timeout=WAIT_SECONDS
        )
        return self.replies(board)

    async def wait_for_end(self, board: str, *, seconds: float = WAIT_SECONDS) -> Debate:
        """Wait until a debate has ended and everything is posted; return the debate."""
        debate_id = self.debate_id(board)
        await self.workspace.wait_for(lambda: self._has_ending(board), timeout=seconds)
        # Until all sinks have received the last event, and have queued their posts.
        last = (await self.moot.store.events(debate_id))[-1].seq
        with suppress(TimeoutError):  # an event with an unanswered question stays unpublished
            async with asyncio.timeout(_PUBLISH_SECONDS):
                while await self.moot.store.published_seq(debate_id) < last:
                    await self.moot.context.clock.sleep(0.02)
        await self.wait_until_sent()
        return fold(await self.moot.store.events(debate_id))

    async def wait_for_log(self, board: str, has: Callable[[Debate], object]) -> Debate:
        debate_id = self.debate_id(board)
        async with asyncio.timeout(WAIT_SECONDS):
            while not has(debate := fold(await self.moot.store.events(debate_id))):
                await self.moot.context.clock.sleep(0.05)
        return debate

    async def wait_until_sent(self) -> None:
        while await self.moot.context.posts.lanes_with_work():
            await self.moot.context.clock.sleep(0.02)

    async def status(self, board: str) -> Status:
        return (await self.debate_at(board)).status

    async def _entries(self) -> Sequence[Any]:
        return await self.moot.store.find(DebateFilter(limit=100))

    def _has_ending(self, board: str) -> bool:
        # Called after every change in the workspace; `self.thread` would copy all messages.
        thread = self.workspace.channel(self.channel).thread(board)
        is_decided = any(message.get("subtype") == "thread_broadcast" for message in thread)
        return is_decided or any(
            "ended without a decision" in message["text"] for message in thread[1:]
        )


def key_of(message: Message) -> str:
    """The key in the metadata of a post; empty for posts of other apps and people."""
    return PostedMessage.model_validate(message).key


def quick_workspace() -> WorkspaceConfig:
    """Return a workspace without Slack's rate limits, and with long time limits for the bot.

    Redeliveries are tried longer, as they may have to wait for a connection.
    """
    delays = (*QUICK.redelivery_delays, 1.0, 5.0, 20.0)
    pace = replace(PATIENT_PACE, redelivery_delays=delays)
    return WorkspaceConfig(pace=pace, manifest=manifest(), ignored_arguments=frozenset())


def socket_access(workspace: Workspace) -> SlackAccess:
    return SlackAccess(
        bot_token=workspace.bot_token, app_token=workspace.app_token, api_url=workspace.api_url
    )


def http_access(workspace: Workspace) -> SlackAccess:
    return SlackAccess(
        bot_token=workspace.bot_token,
        signing_secret=workspace.signing_secret,
        api_url=workspace.api_url,
    )


@dataclass(frozen=True, kw_only=True)
class BotSpec:
    """The inputs of a bot under test."""

    provider: ModelProvider = field(default_factory=ScriptedProvider)
    #: Models, which the agents get in turn.
    models: Sequence[str] = (MODEL,)
    format: str = critique.NAME
    rounds: int = 2
    #: Always debate: scripted agents agree at once, and most tests need rounds.
    when: When = When.ALWAYS
    pace: Pace = FAST
    #: Time limits of answers to people.
    timeouts: Timeouts = UNHURRIED
    bounds: Bounds = field(default_factory=Bounds)
    #: Limits on the requests of one person.
    burst_limits: BurstLimits = field(default_factory=BurstLimits)
    #: Whether to use HTTP mode instead of Socket Mode.
    http: bool = False
    #: Whether agents ask people questions first.
    clarifying: Clarifying = field(default_factory=Clarifying)
    #: Whether agents are chosen for the question; else there are the three default agents.
    casting: bool = False
    #: Playbooks by name.
    playbooks: Mapping[str, Playbook] = field(default_factory=dict[str, Playbook])
    #: Limits on sources.
    evidence: EvidenceLimits = field(default_factory=EvidenceLimits)
    #: Runs the checks of `/debate doctor`.
    examine: Examine | None = None
    #: Address of debate pages; None: no pages.
    pages: PageSettings | None = None
    #: Lifetime of a token; None: no tokens.
    token_lifetime: timedelta | None = None
    #: Workspaces in whose shared channels people of other organisations may take part.
    open_workspaces: frozenset[str] = frozenset()
    #: Address of the trace collector; empty: no traces.
    traces: str = ""
    #: For the search by meaning; None: search by words only.
    embedder: Embedder | None = None
    #: Receivers of debates and decisions outside Slack.
    receivers: Sequence[Receiver] = ()

    @property
    def environment(self) -> BotSettings:
        """The environment settings of this bot; the process environment is not read."""
        pages, holds = self.pages, self.token_lifetime
        values: dict[str, object] = {
            "moot_port": 0,
            "moot_metrics_port": 0,
            "otel_exporter_otlp_endpoint": self.traces,
            "moot_open_workspaces": ",".join(self.open_workspaces),
            "moot_mcp": holds is not None,
        }
        if pages:
            values |= {"moot_pages_url": pages.base, "moot_pages_days": pages.holds.days}
        if holds:
            values["moot_token_days"] = holds.days
        bounds = {f"moot_{name}": value for name, value in vars(self.bounds).items()}
        return BotSettings.model_validate({**values, **bounds})

    def parts(self, workspace: Workspace, database: Path | str) -> Parts:
        choice = ModelChoice(provider=self.provider.name, model=MODEL)
        providers = {self.provider.name: self.provider}
        calls = ModelCalls(providers, SystemClock(), retries=QUICK_RETRIES)
        return Parts(
            slack=http_access(workspace) if self.http else socket_access(workspace),
            environment=self.environment,
            database=str(database),
            calls=calls,
            settings=Settings(
                agent_model=choice,
                mixed_models=tuple(
                    ModelChoice(provider=self.provider.name, model=model) for model in self.models
                ),
                judge_model=choice,
                format=self.format,
                rounds=self.rounds,
                when=self.when,
                clarifying=self.clarifying,
                casting=self.casting,
                playbooks=self.playbooks,
                evidence=self.evidence,
            ),
            tools=FetchTools(self.evidence, key_in=lambda _: "", environment=lambda _: {}),
            pace=self.pace,
            timeouts=self.timeouts,
            burst_limits=self.burst_limits,
            examine=self.examine,
            embedder=self.embedder,
            receivers=self.receivers,
        )


@asynccontextmanager
async def running_bot(
    workspace: Workspace, *, database: Path | str | None = None, spec: BotSpec | None = None
) -> AsyncGenerator[Team]:
    """Run the real bot against a workspace. The default database is a temporary file."""
    spec = spec or BotSpec()
    with TemporaryDirectory(prefix="moot-test-") as folder:
        parts = spec.parts(workspace, database or Path(folder) / "moot.db")
        async with running(parts) as moot:
            if spec.http:
                await workspace.use_http(f"{moot.http.address}/slack/events")
            yield Team(workspace=workspace, moot=moot)


@asynccontextmanager
async def team_at_work(
    *, config: WorkspaceConfig | None = None, spec: BotSpec | None = None
) -> AsyncGenerator[Team]:
    async with (
        run_workspace(config or quick_workspace()) as workspace,
        running_bot(workspace, spec=spec) as team,
    ):
        yield team
