"""The composition root: builds all parts of the bot in the order of their dependencies."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from slack_bolt.async_app import AsyncApp

import bot.store.tables
import core.store.tables
from bot.building import build_reader, build_turns, database_url, estimating
from bot.debate_page.routes import FOLDER, PageRoutes
from bot.landing.landing_queue import LandingQueue
from bot.landing.receivers import Receiver
from bot.listeners.answers import NOT_INSTALLED
from bot.listeners.catch_up import CatchUp
from bot.listeners.context import (
    BotRecords,
    DebateLists,
    Examine,
    ListenerContext,
    OperatorChoices,
    UseCases,
)
from bot.listeners.messages import notify_too_fast
from bot.listeners.place_gone import RefusedPosts
from bot.listeners.registration import register_all
from bot.log import logger
from bot.mcp.in_slack import SlackCallerDebates, TokenCallers
from bot.operations.backup import EndedDebates
from bot.operations.health import Health, health_of
from bot.operations.metrics import CountingSink, Metrics, exposition
from bot.plugins import QueuedSink, run_sinks
from bot.presenter.sink import LandingPosts, LivingPosts, Presenter
from bot.queue.outbox import Outbox, PostAddresses
from bot.queue.outgoing import Outgoing
from bot.queue.rate_limits import Pace
from bot.queue.rows import Posts
from bot.running.debates import Runner
from bot.settings import BotSettings, SlackAccess
from bot.slack.access import WorkspaceDirectories
from bot.slack.client import WorkspaceClients
from bot.slack.connection.bursts import BurstLimits, Bursts
from bot.slack.connection.http import (
    AddRoutes,
    HttpServer,
    WebServer,
    answer_failures,
    figures_server,
    quiet_logger,
)
from bot.slack.connection.socket import SocketGateway
from bot.slack.evidence import SlackSources
from bot.slack.install.workspaces import Installation, many_workspaces, one_workspace
from bot.store.leases import Leases
from bot.store.personal_tokens import PersonalTokens
from bot.store.records import (
    KEPT,
    ChannelSettings,
    DebatePageGrants,
    Deliveries,
    Expiring,
    Organisations,
    Reminders,
    RestoredIds,
    deleting_daily,
)
from bot.store.search import DebateWords
from bot.timeouts import DEFAULT_TIMEOUTS, Timeouts
from core.clock import SystemClock
from core.debate.evidence import SourceKind
from core.engine import Engine
from core.errors import ConfigurationBroken, StoreError
from core.evidence.earlier import FetchDecision, FetchEarlierDecisions
from core.evidence.tools import FetchTools
from core.llm.call import ModelCalls
from core.ports import Embedder, EventSink
from core.settings import Settings
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.upkeep import probe
from core.telling import Sinks
from core.transcript.words import usual_models_words
from core.use_cases.choices import ModelSet
from core.use_cases.decide import AskAboutDebate, DecideOnVerdict
from core.use_cases.fact_log import FactLog
from core.use_cases.find import FindDebates
from core.use_cases.messages import AddNote, AnswerQuestions
from core.use_cases.recall import CountOutcomes, RecallDecisions
from core.use_cases.remind import RemindPeople
from core.use_cases.restore import pause_restored
from core.use_cases.share import ShareDebates
from core.use_cases.start import StartDebate
from core.use_cases.steer import SteerDebate

_log = logger(__name__)
_NOT_INSTALLED = (
    "{} is set, but {} is not installed. Type `make extras` in a checkout (docs/deploy.md says how "
    "elsewhere), or empty the variable."
)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The inputs of a bot: everything that differs between a real bot and one under test."""

    slack: SlackAccess
    #: Addresses, ports, limits and switches; its credentials are not used.
    environment: BotSettings
    #: A file path (SQLite) or a database URL.
    database: str
    #: Closed when the bot stops.
    calls: ModelCalls
    settings: Settings
    #: Sinks of plugins, which get every event.
    sinks: Sequence[QueuedSink] = ()
    #: Calls tools of MCP servers; None: no tools.
    tools: FetchTools | None = None
    #: Models that people can choose, in addition to those of the settings.
    models: Sequence[ModelSet] = ()
    pace: Pace = field(default_factory=Pace)
    #: Time limits of answers to people and load balancers.
    timeouts: Timeouts = DEFAULT_TIMEOUTS
    burst_limits: BurstLimits = field(default_factory=BurstLimits)
    #: Runs the checks of `/debate doctor`.
    examine: Examine | None = None
    #: For the search by meaning; None: search by words only.
    embedder: Embedder | None = None
    #: Receivers of debates and decisions outside Slack.
    receivers: Sequence[Receiver] = ()


@dataclass(frozen=True, kw_only=True)
class Moot:
    context: ListenerContext
    store: SqlDebateStore
    runner: Runner
    landing: LandingQueue
    http: HttpServer
    #: The server of the metrics; None: not served.
    figures: WebServer | None
    health: Health
    #: Sends reminders of decisions to revisit.
    reminders: asyncio.Task[None]


@asynccontextmanager
async def running(parts: Parts) -> AsyncGenerator[Moot]:
    """Run a bot during the block, then stop it cleanly within ten seconds.

    Raises:
        ConfigurationBroken: Slack refuses a token, the port is in use, or the database is unusable.
        MootError: Slack or the database cannot be reached.
    """
    async with AsyncExitStack() as stack:
        for client in filter(None, (parts.calls, parts.embedder)):
            stack.push_async_callback(client.close)
        database = await _open_database(parts, stack)
        tracing = await _tracing(parts, SqlDebateStore(database), stack)
        await stack.enter_async_context(run_sinks(parts.sinks))
        # Either workspaces install Moot by OAuth, or there is one with the token of the settings.
        installation = await stack.enter_async_context(
            one_workspace(parts.slack)
            if parts.slack.oauth is None
            else many_workspaces(parts.slack, Organisations(database), database_url(parts.database))
        )
        secret = await SqlDebateStore(database).secret()
        wiring = _Wiring(parts, database, installation.clients, tracing=tracing, secret=secret)
        context = wiring.context
        bursts, gateway = Bursts(partial(notify_too_fast, context), parts.burst_limits), None
        catch_up = CatchUp(context, parts.pace, bursts.rejected)
        app = _bolt_app(parts, installation, replace(context, on_unrecorded=catch_up.look))
        app.use(bursts.check)
        if parts.slack.app_token:
            gateway = SocketGateway(app, parts.slack.app_token)
            gateway.on_connected = catch_up.look
        health = health_of(
            partial(probe, database),
            gateway,
            client=installation.client,
            debates=lambda: wiring.runner.held_ids,
            seconds=parts.timeouts.check,
        )
        http = HttpServer(
            parts.environment.moot_host,
            parts.environment.moot_port,
            health.report,
            app=None if gateway else app,
            installing=installation.installing,
            routes=[
                *([PageRoutes(context.acts.share).add_to] if context.acts.share else []),
                *await _mcp_routes(parts, wiring, stack),
            ],
        )
        figures = wiring.figures_server(health)
        # Stopped in the opposite order of the start.
        for part in (wiring.outbox, wiring.runner, catch_up, bursts):
            stack.push_async_callback(part.close)
        for server in filter(None, (figures, http, gateway)):
            stack.push_async_callback(server.close)
            await server.start()
        first_calls = wiring.outbox.first_calls
        first_calls.restored = await pause_restored(RestoredIds(database), wiring.facts)
        await wiring.outbox.start()
        # Before debates continue, so that answers given during downtime count before time limits.
        await catch_up.start()
        # Loaded now, as loading would block the event loop at the first call.
        await parts.calls.load(parts.settings.providers)
        await wiring.runner.start()
        reminders = asyncio.create_task(_keep_reminding(context.acts.remind), name="reminders")
        stack.callback(reminders.cancel)
        stack.enter_context(http.ready())
        _log.info("running", team=installation.name, address=http.address)
        yield Moot(
            context=context,
            store=wiring.store,
            runner=wiring.runner,
            landing=wiring.landing,
            http=http,
            figures=figures,
            health=health,
            reminders=reminders,
        )


async def _open_database(parts: Parts, stack: AsyncExitStack) -> Database:
    """Open the database with its tables, and start the daily deletion of expired rows."""
    database = await Database.open(database_url(parts.database))
    stack.push_async_callback(database.close)
    await core.store.tables.prepare(database)
    await bot.store.tables.prepare(database)
    expiring: list[tuple[Expiring, timedelta]] = [
        (Deliveries(database), KEPT),
        (PersonalTokens(database), timedelta()),
    ]
    if (days := parts.environment.moot_retention_days) is not None:
        expiring.append((EndedDebates(database), timedelta(days=days)))
    for rows, age in expiring:
        await stack.enter_async_context(deleting_daily(rows, SystemClock(), age))
    return database


async def _tracing(
    parts: Parts, store: SqlDebateStore, stack: AsyncExitStack
) -> Sequence[EventSink]:
    if not (collector := parts.environment.otel_exporter_otlp_endpoint):
        return ()
    try:
        from bot.operations.tracing import TracingSink, tracing_to  # noqa: PLC0415 - an extra
    except ImportError as error:
        text = _NOT_INSTALLED.format("OTEL_EXPORTER_OTLP_ENDPOINT", "the OpenTelemetry exporter")
        raise ConfigurationBroken(text) from error
    return (TracingSink(await stack.enter_async_context(tracing_to(collector)), store),)


async def _keep_reminding(remind: RemindPeople) -> None:
    while True:
        try:
            for debate_id, error in (await remind.look()).items():
                _log.warning("cannot remind", debate=debate_id, reason=str(error))
        except StoreError as error:
            _log.warning("cannot look at dates", reason=str(error))
        await asyncio.sleep(60.0)  # reminders need no more precision


class _Wiring:
    """The parts of a bot and their connections, in the order of their dependencies."""

    def __init__(
        self,
        parts: Parts,
        database: Database,
        clients: WorkspaceClients,
        *,
        tracing: Sequence[EventSink],
        secret: bytes,
    ) -> None:
        self._parts, self._database, self._clients = parts, database, clients
        self._secret = secret
        self._clock, self._metrics = SystemClock(), Metrics()
        self.store, self.posts = SqlDebateStore(database), Posts(database)
        self._channels, self._words = ChannelSettings(database), DebateWords(database)
        leases = Leases(database, secrets.token_hex(8))

        # Posts in Slack.
        pages = parts.environment.pages is not None
        outgoing = Outgoing(
            posts=self.posts,
            leases=leases,
            clients=clients,
            pace=parts.pace,
            render=LivingPosts(self.store, self.posts, self._channels, pages=pages).render,
            on_error=lambda kind: self._metrics.slack_errors.labels(kind).inc(),
        )
        self.outbox = Outbox(outgoing)
        presenter = Presenter(posts=self.outbox, log=self.store, words=self._words)

        # Deliveries outside Slack.
        self._directories = WorkspaceDirectories(clients, parts.timeouts)
        slack = SlackSources(clients, self._directories)
        addresses = PostAddresses(posts=self.posts, clock=self._clock, link_to=slack.link_to)
        self.landing = LandingQueue(
            outbox=self.outbox,
            store=self.store,
            receivers={receiver.name: receiver for receiver in parts.receivers},
            tell=LandingPosts(self.outbox),
            thread_link=addresses.of_thread,
            on_outcome=lambda outcome: self._metrics.landings.labels(outcome).inc(),
        )

        # Debates: their sources, their turns, and the sinks of their events.
        fetchers = {
            SourceKind.FILE: slack.fetch_file,
            SourceKind.THREAD: slack.fetch_thread,
            SourceKind.REGISTER: FetchEarlierDecisions(self.store, addresses.of_verdict),
            SourceKind.DECISION: FetchDecision(self.store),
        }
        reader = build_reader(parts.settings, parts.tools, fetchers)
        counting = CountingSink(self.store, self._clock, self._metrics)
        self.runner = Runner(
            engine=Engine(
                store=self.store,
                turns=build_turns(parts.calls, parts.settings, self.store, reader),
                sink=Sinks(presenter, self.landing, *parts.sinks, *tracing, counting),
                clock=self._clock,
            ),
            store=self.store,
            clock=self._clock,
            leases=leases if leases.is_shared else None,
            waits_for_start=True,
        )

        # Use cases, and the context of the listeners.
        self.facts = FactLog(store=self.store, clock=self._clock, wake=self.runner.wake)
        self.context = self._context()
        presenter.reminders = self.context.acts.remind
        outgoing.on_refused = RefusedPosts(steer=self.context.acts.steer, outbox=self.outbox)

    def _context(self) -> ListenerContext:
        parts, environment = self._parts, self._parts.environment
        records = BotRecords(
            channels=self._channels,
            deliveries=Deliveries(self._database),
            grants=DebatePageGrants(self._database),
            tokens=PersonalTokens(self._database),
        )
        acts = self._use_cases(records)
        lists = DebateLists(
            find=acts.find,
            posts=self.posts,
            clients=self._clients,
            by_meaning=parts.embedder is not None,
        )
        return ListenerContext(
            acts=acts,
            records=records,
            operator=OperatorChoices(
                token_lifetime=environment.token_lifetime,
                examine=parts.examine,
                models=usual_models_words(parts.settings),
                retry_landings=self.landing.retry if parts.receivers else None,
                retention_days=environment.moot_retention_days,
                open_workspaces=environment.open_workspaces,
            ),
            lists=lists,
            directories=self._directories,
            clients=self._clients,
            outbox=self.outbox,
            posts=self.posts,
            clock=self._clock,
            timeouts=parts.timeouts,
        )

    def _use_cases(self, records: BotRecords) -> UseCases:
        parts, facts, store, people = self._parts, self.facts, self.store, self._directories
        bounds, pages = parts.environment.bounds, parts.environment.pages
        changes = {"question_max_chars": bounds.question_characters}
        settings = parts.settings.model_copy(update=changes)
        note = AddNote(facts=facts, bounds=bounds)
        return UseCases(
            start=StartDebate(
                facts=facts,
                settings=lambda: settings,
                channels=self._channels,
                models=parts.models,
                estimating=estimating(parts.settings),
                bounds=bounds,
                spending=store,
            ),
            answer=AnswerQuestions(facts=facts, note=note),
            ask=AskAboutDebate(facts=facts, bounds=bounds, caps=settings.limits, spending=store),
            steer=SteerDebate(
                facts=facts, note=note, stewards=self._channels.stewards, mention="<@{}>".format
            ),
            decide=DecideOnVerdict(facts=facts),
            find=FindDebates(
                store=store,
                debates=facts.debates,
                index=self._words,
                people=people,
                on_unreadable=_note_unreadable,
            ),
            recall=RecallDecisions(
                store=store,
                people=people,
                on_unreadable=_note_unreadable,
                bounds=bounds,
                embedder=parts.embedder,
            ),
            remind=RemindPeople(
                facts=facts,
                reminders=Reminders(self._database),
                people=people,
                dates=parts.settings.outcomes,
            ),
            count=CountOutcomes(store=store, on_unreadable=_note_unreadable),
            share=pages
            and ShareDebates(
                debates=facts.debates,
                grants=records.grants,
                channels=self._channels,
                clock=self._clock,
                secret=self._secret,
                address=f"{pages.base}{FOLDER}",
                holds=pages.holds,
            ),
        )

    def figures_server(self, health: Health) -> WebServer | None:
        if (port := self._parts.environment.moot_metrics_port) is None:
            return None
        self._metrics.running.set_function(lambda: len(self.runner.held_ids))
        self._metrics.age.set_function(lambda: self.outbox.age)
        look_up = partial(
            exposition,
            self._metrics,
            health=health.by_part,
            depth=self.posts.backlog,
            backlog=self.landing.landings.backlog,
            seconds=self._parts.timeouts.check,
        )
        return figures_server(self._parts.environment.moot_metrics_host, port, look_up)


def _note_unreadable(debate_id: str, error: StoreError) -> None:
    _log.warning("cannot show", debate=debate_id, reason=str(error))


async def _mcp_routes(parts: Parts, wiring: _Wiring, stack: AsyncExitStack) -> Sequence[AddRoutes]:
    if parts.environment.token_lifetime is None:
        return ()
    try:
        from bot.mcp.over_http import McpRoutes  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationBroken(_NOT_INSTALLED.format("MOOT_MCP", "the MCP SDK")) from error
    context = wiring.context
    callers = TokenCallers(
        tokens=context.records.tokens,
        directories=context.directories,
        spending=wiring.store,
        clock=context.clock,
        day_cost=parts.settings.limits.token_day_cost,
    )
    routes = McpRoutes(
        callers.caller,
        lambda caller: SlackCallerDebates(context, caller),
        parts.environment.mcp_hosts,
    )
    stack.push_async_callback(routes.close)
    await routes.start()
    return (routes.add_to,)


def _bolt_app(parts: Parts, installation: Installation, context: ListenerContext) -> AsyncApp:
    if not (parts.slack.app_token or parts.slack.signing_secret):
        raise ConfigurationBroken(
            "HTTP mode needs a signing secret: without it, anybody could send requests as Slack."
        )
    app = AsyncApp(
        client=installation.client,
        authorize=installation.authorize,
        signing_secret=parts.slack.signing_secret or None,
        request_verification_enabled=bool(parts.slack.signing_secret),
        logger=quiet_logger(),
        name="moot",
        user_facing_authorize_error_message=NOT_INSTALLED,
        # `answer_failures` handles the error; otherwise Bolt would log the request.
        raise_error_for_unhandled_request=True,
    )
    answer_failures(app)
    if installation.middleware is not None:
        app.use(installation.middleware)
    register_all(app, context)
    return app
