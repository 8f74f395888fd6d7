"""Finds plugins in the installed packages, and ignores unusable ones.

Plugins run in the bot with all its rights. All installed plugins are loaded unless `MOOT_PLUGINS`
restricts them; plugins that it does not allow are not imported.
"""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from bot.log import logger
from core.acts.prompt import override_fault
from core.capabilities import capability
from core.debate.agenda import Agenda
from core.debate.agents import Role
from core.debate.log import RecordedEvent
from core.debate.state import Debate
from core.debate.turn import Turn
from core.errors import ConfigurationBroken, ProviderError
from core.ports import EventSink, ModelProvider, ServedModels, Variable
from core.redaction import redact
from core.request import ModelReply, ModelRequest
from core.wrong_values import complaint

_log = logger(__name__)

T = TypeVar("T")


#: Most waiting events of a sink; further events are dropped.
ROOM = 1000
#: Time limit of a sink for one event, in seconds.
PATIENCE = 30.0
#: Time limit for waiting events at the end, in seconds.
_DRAIN_SECONDS = 5.0


class QueuedSink:
    """A plugin's sink with a queue of events, which `run` delivers."""

    def __init__(
        self, name: str, sink: EventSink, *, room: int = ROOM, patience: float = PATIENCE
    ) -> None:
        """`room` is the length of the queue, `patience` the seconds for one event."""
        self.name = name
        #: Number of events that were dropped because the queue was full.
        self.dropped = 0
        #: Its last failure, as a clause; empty if it never failed.
        self.fault = ""
        self._sink = sink
        self._queue = asyncio.Queue[Callable[[], Awaitable[None]]](room)
        self._patience = patience

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        self._enqueue(partial(self._sink.publish, debate, recorded))

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        self._enqueue(partial(self._sink.turns_began, debate, turns))

    def _enqueue(self, deliver: Callable[[], Awaitable[None]]) -> None:
        try:
            self._queue.put_nowait(deliver)
        except asyncio.QueueFull:
            if not self.dropped:
                _log.error("plugin is too slow", sink=self.name, waiting=self._queue.qsize())
            self.dropped += 1

    async def run(self) -> None:
        while True:
            deliver = await self._queue.get()
            try:
                async with asyncio.timeout(self._patience):
                    await deliver()
            except TimeoutError:
                self._record_failure(f"it took longer than {self._patience:g} s", None)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - code of a plugin
                # Without the error's text, which may quote a debate: `moot doctor` shows this.
                self._record_failure(f"it raised {type(error).__name__}", error)
            finally:
                self._queue.task_done()

    async def drain(self) -> None:
        """Wait until all events are delivered."""
        await self._queue.join()

    def _record_failure(self, cause: str, error: BaseException | None) -> None:
        # Log a traceback once for each cause: a sink may fail at every event.
        traceback = error if cause != self.fault else None
        self.fault = cause
        _log.error("plugin failed", sink=self.name, reason=cause, exc_info=traceback)


@asynccontextmanager
async def run_sinks(plugins: Sequence[QueuedSink]) -> AsyncGenerator[None]:
    """Deliver events to the sinks of plugins during the block."""
    tasks = [asyncio.create_task(plugin.run(), name=f"plugin/{plugin.name}") for plugin in plugins]
    try:
        yield
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await asyncio.gather(*(plugin.drain() for plugin in plugins))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_REPLY = TypeAdapter(ModelReply)


class GuardedProvider:
    """Wraps the provider of a plugin: all its errors become `ProviderError`."""

    def __init__(self, name: str, provider: ModelProvider, package: str) -> None:
        self.name = name
        self._provider = provider
        self._package = package

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        try:
            reply = cast("object", await self._provider.complete(request, on_first_token))
            if isinstance(reply, ModelReply):
                # A wrong type, such as a cost as a float, would fail later, in sums or in the log.
                return _REPLY.validate_python(asdict(reply))
        except ProviderError:
            raise
        except (Exception, SystemExit) as error:
            _log.exception("plugin failed", provider=self.name, package=self._package)
            kind = type(error).__name__
            raise ProviderError(
                f"The provider {self.name} of the plugin {self._package} failed: {kind}."
            ) from error
        raise ProviderError(
            f"The provider {self.name} of the plugin {self._package} did not return a ModelReply."
        )

    async def close(self) -> None:
        try:
            await self._provider.close()
        except (Exception, SystemExit):  # noqa: BLE001 - whatever another's code does
            _log.exception("plugin failed", provider=self.name, package=self._package)


#: Values of `MOOT_PLUGINS` besides names of packages.
ALL, NONE = "all", "none"
#: Most characters of an error message that are shown.
_MESSAGE_CHARS = 200


class PluginKind(StrEnum):
    """The kinds of plugins; the value is the group of the entry point."""

    ROLE = "moot.roles"
    FORMAT = "moot.formats"
    PROVIDER = "moot.providers"
    SINK = "moot.sinks"


@dataclass(frozen=True, kw_only=True)
class Plugin:
    kind: PluginKind
    #: The name of the entry point, which is that of the role, format, provider or sink.
    name: str
    #: The package of the plugin, and its version.
    package: str
    #: Whether `MOOT_PLUGINS` allows it.
    is_allowed: bool = True
    #: Why it is unusable, as a clause; empty if it is usable.
    fault: str = ""

    @property
    def title(self) -> str:
        """A title like `role wcag of moot-wcag 1.0`."""
        return f"{self.kind.name.lower()} {self.name} of {self.package}"


@dataclass(frozen=True, kw_only=True)
class Plugins:
    #: All plugins, including unusable ones and those that are not allowed.
    entries: tuple[Plugin, ...] = ()
    roles: tuple[Role, ...] = ()
    agendas: tuple[Agenda, ...] = ()
    #: By the provider's name; each provider is guarded.
    providers: Mapping[str, ServedModels] = field(default_factory=dict[str, ServedModels])
    sinks: tuple[QueuedSink, ...] = ()

    @property
    def left_out(self) -> Sequence[str]:
        return [
            f"The {plugin.title} is left out: {plugin.fault}."
            for plugin in self.entries
            if plugin.fault
        ]


#: For programs without plugins.
NO_PLUGINS = Plugins()


def discover(
    allowed: str, variable: Variable, reserved: Mapping[PluginKind, Collection[str]]
) -> Plugins:
    """Load the allowed plugins that are usable.

    `allowed` is `all`, `none`, or names of packages; `reserved` are names of built-in parts.

    Raises:
        ConfigurationBroken: `allowed` names a package without plugins.
    """
    all_entries = entry_points()  # slow: reads a file of every installed package
    entries = [entry for kind in PluginKind for entry in all_entries.select(group=kind.value)]
    entries.sort(key=lambda entry: (entry.group, _package(entry), entry.name))
    packages = _allowed_packages(map(_package, entries), allowed)
    plugins = list[Plugin]()
    values: dict[PluginKind, dict[str, Any]] = {kind: {} for kind in PluginKind}
    for entry in entries:
        kind, package = PluginKind(entry.group), _package(entry)
        is_allowed = package in packages
        fault = ""
        try:
            if is_allowed and (entry.name in reserved[kind] or entry.name in values[kind]):
                fault = "its name is taken"
            elif is_allowed:
                values[kind][entry.name] = _LOADERS[kind](entry, package, variable)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - code of a plugin
            fault = _short_message(error)
        plugins.append(
            Plugin(kind=kind, name=entry.name, package=package, is_allowed=is_allowed, fault=fault)
        )
    return Plugins(
        entries=tuple(plugins),
        roles=tuple(values[PluginKind.ROLE].values()),
        agendas=tuple(values[PluginKind.FORMAT].values()),
        providers=values[PluginKind.PROVIDER],
        sinks=tuple(values[PluginKind.SINK].values()),
    )


def _allowed_packages(packages: Iterable[str], allowed: str) -> Collection[str]:
    text, installed = allowed.strip().lower(), set(packages)
    if text in {ALL, NONE}:
        return installed if text == ALL else ()
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - rarely needed

    names = {canonicalize_name(name.strip()) for name in text.split(",") if name.strip()}
    names_by_package = {package: canonicalize_name(package.split(" ")[0]) for package in installed}
    if absent := sorted(names.difference(names_by_package.values())):
        raise ConfigurationBroken(
            f"MOOT_PLUGINS names {absent[0]}, which has no plugins. Packages with plugins: "
            f"{', '.join(sorted(names_by_package.values())) or 'none is installed'}. "
            f"Or write {ALL} or {NONE}."
        )
    return [package for package, name in names_by_package.items() if name in names]


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _short_message(error: BaseException) -> str:
    """The message of an error on one line, shortened and without secrets."""
    match error:
        case ConfigurationBroken():
            text = str(error)
        case ValidationError():
            first = error.errors(include_url=False)[0]
            text = complaint(": ".join(map(str, first["loc"])) or "a value", first)
        case _:
            text = f"{type(error).__name__}: {error}"
    return redact(" ".join(text.split()))[:_MESSAGE_CHARS].rstrip(" :.")


def _check_type(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise ConfigurationBroken(f"it is not a {kind.__module__}.{kind.__name__}")
    return value


def _check_name(entry: EntryPoint, name: str) -> None:
    if name != entry.name:
        raise ConfigurationBroken(f"its name is {name}, not that of its entry point")


def _role(entry: EntryPoint, package: str, _variable: Variable) -> Role:
    role = _check_type(entry.load(), Role)
    _check_name(entry, role.id)
    if not role.prompt.strip():
        raise ConfigurationBroken("it has no prompt")
    return role.model_copy(update={"source": package})


def _agenda(entry: EntryPoint, package: str, _variable: Variable) -> Agenda:
    agenda = _check_type(entry.load(), Agenda)
    _check_name(entry, agenda.name)
    for act, text in agenda.prompts.items():
        if fault := override_fault(act.value, text):
            raise ConfigurationBroken(f"its prompt of {act.value} cannot be used: {fault}")
    return agenda.model_copy(update={"source": package})


def _provider(entry: EntryPoint, package: str, variable: Variable) -> ServedModels:
    served = _check_type(entry.load()(variable), ServedModels)
    if not _has_async(served.provider, "complete", "close"):
        raise ConfigurationBroken("its provider lacks async def complete or close")
    if not served.model:
        raise ConfigurationBroken("it names no default model")
    records = tuple({**item, "provider": entry.name} for item in served.capabilities)
    for record in records:
        capability("", "", [{k: v for k, v in record.items() if k not in {"provider", "match"}}])
    provider = GuardedProvider(entry.name, served.provider, package)
    return replace(served, provider=provider, capabilities=records)


def _sink(entry: EntryPoint, package: str, variable: Variable) -> QueuedSink:
    sink = cast("Callable[[Variable], object]", entry.load())(variable)
    if not _has_async(sink, "publish", "turns_began"):
        raise ConfigurationBroken("its sink lacks async def publish or turns_began")
    return QueuedSink(f"{entry.name} of {package}", cast("EventSink", sink))


def _has_async(value: object, *methods: str) -> bool:
    return all(iscoroutinefunction(getattr(value, name, None)) for name in methods)


_LOADERS: Mapping[PluginKind, Callable[[EntryPoint, str, Variable], object]] = {
    PluginKind.ROLE: _role,
    PluginKind.FORMAT: _agenda,
    PluginKind.PROVIDER: _provider,
    PluginKind.SINK: _sink,
}
