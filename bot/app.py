"""The composition root: every part of the running bot is made and tied together here."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from slack_bolt.async_app import AsyncApp

import bot.store.tables
import core.store.tables
from bot.building import build_turns, database_url, estimating
from bot.choices import ModelSet
from bot.commands import Commands
from bot.limits import Bounds
from bot.listeners.answers import NOT_INSTALLED
from bot.listeners.doctoring import Examine
from bot.listeners.estimating import Estimates
from bot.listeners.missed import MissedReplies
from bot.listeners.reception import Reception
from bot.listeners.refusals import Refusals
from bot.listeners.registration import register_all
from bot.log import logger
from bot.operations.health import Health
from bot.operations.metrics import CountingSink, Gauges, Metrics, exposition
from bot.operations.retention import housekeeping
from bot.people.answering import Answering
from bot.people.deciding import Deciding
from bot.people.finding import Finding
from bot.people.homes import Homes
from bot.people.reminding import MorningReminders, Reminding
from bot.people.restoring import hold_restored
from bot.people.starting import Starting
from bot.people.steering import Steering
from bot.presenter.sink import Presenter
from bot.running.cluster import Cluster, sharing_of
from bot.running.heartbeat import Heartbeat
from bot.running.port import Runner
from bot.settings import SlackAccess
from bot.slack.access import Accesses
from bot.slack.clients import WorkspaceClients
from bot.slack.connection.failing import answer_failures, quiet_logger
from bot.slack.connection.http import FiguresServer, HttpServer
from bot.slack.connection.probing import health_of
from bot.slack.connection.refused import RefusedRequests
from bot.slack.connection.socket import SocketGateway
from bot.slack.install.installation import Installation, many_workspaces, one_workspace
from bot.slack.outbox.pace import Pace
from bot.slack.outbox.sender import Outbox
from bot.store.deliveries import Deliveries
from bot.store.organisations import Organisations
from bot.store.posts import Posts
from bot.store.reminders import Reminders
from bot.store.restored import Restored
from bot.store.search import DebateWords
from bot.store.settings import ChannelSettings
from bot.views.board import BoardAction
from core.clock import SystemClock
from core.engine import Engine
from core.errors import ConfigurationBroken
from core.llm.call import ModelCalls
from core.ports import Clock, EventSink
from core.settings import Settings
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.installation import probe

_log = logger(__name__)

#: Puts something before a sink that hears everything it hears.
Watch = Callable[[EventSink], EventSink]
_NO_TRACES = (
    "OTEL_EXPORTER_OTLP_ENDPOINT is set, but what sends traces is not installed. "
    'Install Moot with the extra: pip install "moot[traces]", or empty the variable.'
)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a bot is made from; everything that differs between a real one and a tried one."""

    slack: SlackAccess
    #: A file path (SQLite) or a database URL.
    database: str
    #: Asks the models; closed when the bot stops.
    calls: ModelCalls
    settings: Settings
    #: Models people can choose among, besides those of the settings.
    models: Sequence[ModelSet] = ()
    host: str = "127.0.0.1"
    #: Where health (and, in HTTP mode, Slack's requests) is answered; 0 for any free port.
    port: int = 0
    #: Where Prometheus finds the figures; no port: nowhere.
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    pace: Pace = field(default_factory=Pace)
    #: How much people may ask for.
    bounds: Bounds = field(default_factory=Bounds)
    #: Looks whether everything works, for `/debate doctor`.
    examine: Examine | None = None
    #: How soon a dead replica is noticed, where there are several.
    beat: Heartbeat = field(default_factory=Heartbeat)
    #: Base address of a collector of traces; empty: none.
    traces: str = ""


@dataclass(frozen=True, kw_only=True)
class Moot:
    """A running bot."""

    seats: WorkspaceClients
    store: SqlDebateStore
    posts: Posts
    commands: Commands
    runner: Runner
    outbox: Outbox
    http: HttpServer
    #: None: nobody may look at them.
    figures: FiguresServer | None
    health: Health
    reminding: Reminding


@asynccontextmanager
async def running(parts: Parts) -> AsyncGenerator[Moot]:
    """Run a bot for as long as the block lasts; stop it cleanly within ten seconds.

    Raises:
        ConfigurationBroken: Slack refuses a token, the port is taken, the database is wrong.
        MootError: Slack or the database cannot be reached.
    """
    async with AsyncExitStack() as stack:
        stack.push_async_callback(parts.calls.close)
        database = await stack.enter_async_context(await _open(parts.database))
        await stack.enter_async_context(housekeeping(Deliveries(database), SystemClock()))
        metrics = Metrics()
        watch = await stack.enter_async_context(_watching(parts, database, metrics))
        door = await stack.enter_async_context(_door(parts, database))
        sharing = sharing_of(database_url(parts.database), parts.beat)
        reception, runner = _tie(
            parts, database, door.seats, sharing=sharing, metrics=metrics, watch=watch
        )
        app = _listening(parts, door, reception)
        gateway = SocketGateway(app, parts.slack.app_token) if parts.slack.app_token else None
        health = health_of(
            lambda: probe(database), gateway, client=door.client, held=lambda: runner.held
        )
        http = _http(parts, door, health, metrics, app=None if gateway else app)
        figures = _figures(parts, metrics, reception, runner)
        await _start(
            stack,
            reception,
            runner,
            sharing=sharing,
            missed=MissedReplies(reception, parts.pace),
            restored=Restored(database),
            ways_in=[one for one in (figures, http, gateway) if one],
        )
        stack.enter_context(http.ready())
        _log.info("running", team=door.name, address=http.address)
        yield Moot(
            seats=door.seats,
            store=SqlDebateStore(database),
            posts=reception.posts,
            commands=reception.commands,
            runner=runner,
            outbox=reception.outbox,
            http=http,
            figures=figures,
            health=health,
            reminding=reception.reminding,
        )


@asynccontextmanager
async def _watching(parts: Parts, database: Database, metrics: Metrics) -> AsyncGenerator[Watch]:
    """Give what counts, and traces where a collector is named, all that a sink hears."""
    clock, store = SystemClock(), SqlDebateStore(database)
    if not parts.traces:
        yield lambda sink: CountingSink(sink, store, clock, metrics)
        return
    try:
        from bot.operations.tracing import TracingSink, tracing_to  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationBroken(_NO_TRACES) from error
    async with tracing_to(parts.traces) as tracing:
        yield lambda sink: CountingSink(TracingSink(sink, tracing, clock), store, clock, metrics)


async def _start(  # noqa: PLR0913 - one per part
    stack: AsyncExitStack,
    reception: Reception,
    runner: Runner,
    *,
    sharing: Cluster,
    missed: MissedReplies,
    restored: Restored,
    ways_in: Sequence[HttpServer | FiguresServer | SocketGateway],
) -> None:
    """Start everything; what was started is stopped in the opposite order."""
    stack.push_async_callback(sharing.close)
    stack.push_async_callback(reception.outbox.close)
    stack.push_async_callback(runner.close)
    stack.push_async_callback(reception.estimates.close)
    stack.push_async_callback(reception.homes.close)
    stack.push_async_callback(missed.close)
    for way_in in ways_in:
        if isinstance(way_in, SocketGateway):
            way_in.on_connected = missed.look
        stack.push_async_callback(way_in.close)
        await way_in.start()
    await sharing.start()
    reception.outbox.restored = await hold_restored(restored, reception.commands)
    await reception.outbox.start()
    # Before debates go on: the time of a question may be over that was answered meanwhile.
    await missed.start()
    await runner.start()
    stack.push_async_callback(reception.reminding.close)
    reception.reminding.start()


def _door(parts: Parts, database: Database) -> AbstractAsyncContextManager[Installation]:
    """Return how workspaces come in: by OAuth, or with the one token of the settings."""
    if parts.slack.oauth is None:
        return one_workspace(parts.slack)
    return many_workspaces(parts.slack, Organisations(database), database_url(parts.database))


def _addresses(seats: WorkspaceClients) -> Callable[[str], Awaitable[str]]:
    """Return what tells a workspace's own address."""

    async def address(team_id: str) -> str:
        return (await seats.of(team_id)).identity.url

    return address


async def _open(location: str) -> Database:
    database = await Database.open(database_url(location))
    try:
        await core.store.tables.prepare(database)
        await bot.store.tables.prepare(database)
    except BaseException:
        await database.close()
        raise
    return database


def _tie(
    parts: Parts,
    database: Database,
    seats: WorkspaceClients,
    *,
    sharing: Cluster,
    metrics: Metrics,
    watch: Watch,
) -> tuple[Reception, Runner]:
    """Make the parts that know each other."""
    clock, store, posts = SystemClock(), SqlDebateStore(database), Posts(database)
    outbox = _outbox(parts, posts, seats, shares=(sharing, metrics))
    channels, words = ChannelSettings(database), DebateWords(database)
    reminders = Reminders(database)
    access = Accesses(seats)
    presenter = _presenter(database, outbox, MorningReminders(reminders, access))
    turns = build_turns(parts.calls, parts.settings, store)
    engine = Engine(store=store, turns=turns, sink=watch(presenter), clock=clock)
    runner = sharing.runner(engine, store, clock)
    commands = _commands(parts, store, runner, clock)
    outbox.on_refused = Refusals(commands=commands, outbox=outbox)
    begins = Starting(
        commands=commands,
        channels=channels,
        models=parts.models,
        estimating=estimating(parts.settings),
    )
    finding = Finding(commands=commands, words=words, posts=posts, team_url=_addresses(seats))
    homes = Homes(finding, access, seats, clock)
    presenter.on_listed = homes.changed
    reception = Reception(
        commands=commands,
        answering=Answering(commands=commands),
        starting=begins,
        estimates=Estimates(begins),
        steering=Steering(commands=commands, starting=begins),
        deciding=Deciding(commands=commands),
        reminding=Reminding(reminders, commands),
        finding=finding,
        homes=homes,
        access=access,
        seats=seats,
        outbox=outbox,
        posts=posts,
        deliveries=Deliveries(database),
        clock=clock,
        examine=parts.examine,
    )
    return reception, runner


def _commands(parts: Parts, store: SqlDebateStore, runner: Runner, clock: Clock) -> Commands:
    bounds = parts.bounds
    update = {"question_max_chars": bounds.question_characters}
    settings = parts.settings.model_copy(update=update)
    return Commands(
        store=store,
        runner=runner,
        clock=clock,
        settings=lambda: settings,
        bounds=bounds,
        spending=store,
    )


def _outbox(
    parts: Parts,
    posts: Posts,
    seats: WorkspaceClients,
    *,
    shares: tuple[Cluster, Metrics],
) -> Outbox:
    """Make the outbox, its channels shared out and its errors counted."""
    sharing, metrics = shares
    outbox = Outbox(
        posts=posts,
        seats=seats,
        clock=SystemClock(),
        life=secrets.token_hex(8),
        pace=parts.pace,
        supervise=sharing.channels,
        on_error=lambda kind: metrics.slack_errors.labels(kind).inc(),
    )
    sharing.remind(outbox.look_for_work)
    return outbox


def _presenter(database: Database, outbox: Outbox, reminders: MorningReminders) -> Presenter:
    return Presenter(
        posts=outbox,
        log=SqlDebateStore(database),
        enabled=tuple(BoardAction),
        rows=Posts(database),
        channels=ChannelSettings(database),
        reminders=reminders,
        words=DebateWords(database),
    )


def _http(
    parts: Parts, door: Installation, health: Health, metrics: Metrics, *, app: AsyncApp | None
) -> HttpServer:
    return HttpServer(
        parts.host,
        parts.port,
        health,
        app=app,
        signing_secret=parts.slack.signing_secret,
        installing=door.installing,
        refused=RefusedRequests(lambda cause: metrics.refused.labels(cause).inc()),
    )


def _figures(
    parts: Parts, metrics: Metrics, reception: Reception, runner: Runner
) -> FiguresServer | None:
    """Make what tells Prometheus how things are; None: nobody is told."""
    if parts.metrics_port is None:
        return None
    gauges = Gauges(
        debates=lambda: len(runner.held),
        depth=reception.posts.backlog,
        age=lambda: reception.outbox.age,
    )
    look_up = partial(exposition, metrics, gauges)
    return FiguresServer(parts.metrics_host, parts.metrics_port, look_up)


def _listening(parts: Parts, door: Installation, reception: Reception) -> AsyncApp:
    """Make the Bolt app."""
    if not (parts.slack.app_token or parts.slack.signing_secret):
        raise ConfigurationBroken("HTTP mode needs a signing secret: anybody could pose as Slack.")
    app = AsyncApp(
        client=door.client,
        authorize=door.authorize,
        signing_secret=parts.slack.signing_secret or None,
        request_verification_enabled=bool(parts.slack.signing_secret),
        logger=quiet_logger(),
        name="moot",
        user_facing_authorize_error_message=NOT_INSTALLED,
        raise_error_for_unhandled_request=True,  # told to `answer_failures`, not logged whole
    )
    answer_failures(app)
    if door.watch is not None:
        app.use(door.watch)
    register_all(app, reception)
    return app
