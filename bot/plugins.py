"""Finds plugins among the installed packages, and leaves out those that cannot be used.

A plugin is code that runs in the bot with all its rights: whoever installs a package beside Moot
lets it in, unless `MOOT_PLUGINS` says otherwise; what it does not allow is not even imported.
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
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from pydantic import ValidationError

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


#: Events that wait for a sink; those that come while so many wait are lost for it.
ROOM = 1000
#: Seconds a sink may take for one event.
PATIENCE = 30.0
#: Seconds that sinks have at the end for what they have not heard yet.
_LAST_WORDS = 5.0


class QueuedSink:
    """A plugin's sink, and what waits to be told to it while `run` runs."""

    def __init__(
        self, name: str, sink: EventSink, *, room: int = ROOM, patience: float = PATIENCE
    ) -> None:
        """`room` is in events, `patience` in seconds for one."""
        self.name = name
        #: Events it did not hear, because too many waited already.
        self.lost = 0
        #: How it failed last, as a clause; empty: it never did.
        self.fault = ""
        self._sink = sink
        self._queue = asyncio.Queue[Callable[[], Awaitable[None]]](room)
        self._patience = patience

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        self._put(partial(self._sink.publish, debate, recorded))

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        self._put(partial(self._sink.turns_began, debate, turns))

    def _put(self, tell: Callable[[], Awaitable[None]]) -> None:
        try:
            self._queue.put_nowait(tell)
        except asyncio.QueueFull:
            if not self.lost:
                _log.error("plugin is too slow", sink=self.name, waiting=self._queue.qsize())
            self.lost += 1

    async def run(self) -> None:
        while True:
            tell = await self._queue.get()
            try:
                async with asyncio.timeout(self._patience):
                    await tell()
            except TimeoutError:
                self._failed(f"it took longer than {self._patience:g} s", None)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever another's code does
                # Not its text, which may hold what was said in a debate: doctors show this.
                self._failed(f"it raised {type(error).__name__}", error)
            finally:
                self._queue.task_done()

    async def heard_all(self) -> None:
        await self._queue.join()

    def _failed(self, cause: str, error: BaseException | None) -> None:
        # The traceback once for a cause: a sink may fail at every event.
        traceback = error if cause != self.fault else None
        self.fault = cause
        _log.error("plugin failed", sink=self.name, reason=cause, exc_info=traceback)


@asynccontextmanager
async def listening(plugins: Sequence[QueuedSink]) -> AsyncGenerator[None]:
    tasks = [asyncio.create_task(plugin.run(), name=f"plugin/{plugin.name}") for plugin in plugins]
    try:
        yield
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await asyncio.gather(*(plugin.heard_all() for plugin in plugins))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class GuardedProvider:
    """A `ModelProvider` that asks another one; whatever that raises becomes a `ProviderError`."""

    def __init__(self, name: str, provider: ModelProvider, package: str) -> None:
        self.name = name
        self._provider = provider
        self._package = package

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        try:
            reply = cast("object", await self._provider.complete(request, on_first_token))
        except ProviderError:
            raise
        except (Exception, SystemExit) as error:
            _log.exception("plugin failed", provider=self.name, package=self._package)
            what = type(error).__name__
            raise ProviderError(
                f"The provider {self.name} of the plugin {self._package} failed: {what}."
            ) from error
        if isinstance(reply, ModelReply):
            return reply
        raise ProviderError(
            f"The provider {self.name} of the plugin {self._package} returned no ModelReply."
        )

    async def close(self) -> None:
        try:
            await self._provider.close()
        except (Exception, SystemExit):  # noqa: BLE001 - whatever another's code does
            _log.exception("plugin failed", provider=self.name, package=self._package)


#: Values of `MOOT_PLUGINS` besides names of packages.
ALL, NONE = "all", "none"
#: Longest words of an error that are shown.
_WORDS_CHARS = 200


class PluginKind(StrEnum):
    """What a plugin brings; the value is the group of its entry point."""

    ROLE = "moot.roles"
    FORMAT = "moot.formats"
    PROVIDER = "moot.providers"
    SINK = "moot.sinks"


@dataclass(frozen=True, kw_only=True)
class Plugin:
    kind: PluginKind
    #: The entry point's name: that of the role, format, provider or sink.
    name: str
    #: The package that brings it, and its version.
    package: str
    #: Whether `MOOT_PLUGINS` lets it in.
    is_allowed: bool = True
    #: Why it is left out, as a clause; empty: it is used.
    fault: str = ""

    @property
    def title(self) -> str:
        """As `role wcag of moot-wcag 1.0`."""
        return f"{self.kind.name.lower()} {self.name} of {self.package}"


@dataclass(frozen=True, kw_only=True)
class Plugins:
    found: tuple[Plugin, ...] = ()
    roles: tuple[Role, ...] = ()
    agendas: tuple[Agenda, ...] = ()
    #: By the provider's name; each provider is guarded.
    providers: Mapping[str, ServedModels] = field(default_factory=dict[str, ServedModels])
    sinks: tuple[QueuedSink, ...] = ()

    @property
    def left_out(self) -> Sequence[str]:
        return [
            f"The {plugin.title} is left out: {plugin.fault}."
            for plugin in self.found
            if plugin.fault
        ]


#: None are looked for, or none may come in.
NO_PLUGINS = Plugins()


def discover(
    allowed: str, variable: Variable, reserved: Mapping[PluginKind, Collection[str]]
) -> Plugins:
    """Load the plugins that are allowed, and leave out those that cannot be used.

    `allowed` is `all`, `none`, or names of packages; `reserved` are names of built-in parts.

    Raises:
        ConfigurationBroken: `allowed` names a package that is not there.
    """
    installed = entry_points()  # once: it reads a file of every package that is installed
    entries = [entry for kind in PluginKind for entry in installed.select(group=kind.value)]
    entries.sort(key=lambda entry: (entry.group, _package(entry), entry.name))
    let_in = _let_in(map(_package, entries), allowed)
    plugins = list[Plugin]()
    brought: dict[PluginKind, dict[str, Any]] = {kind: {} for kind in PluginKind}
    for entry in entries:
        kind, package = PluginKind(entry.group), _package(entry)
        is_allowed = package in let_in
        fault = ""
        try:
            if is_allowed and (entry.name in reserved[kind] or entry.name in brought[kind]):
                fault = "its name is taken"
            elif is_allowed:
                brought[kind][entry.name] = _TAKE[kind](entry, package, variable)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever another's code does
            fault = _in_short(error)
        plugins.append(
            Plugin(kind=kind, name=entry.name, package=package, is_allowed=is_allowed, fault=fault)
        )
    return Plugins(
        found=tuple(plugins),
        roles=tuple(brought[PluginKind.ROLE].values()),
        agendas=tuple(brought[PluginKind.FORMAT].values()),
        providers=brought[PluginKind.PROVIDER],
        sinks=tuple(brought[PluginKind.SINK].values()),
    )


def _let_in(packages: Iterable[str], allowed: str) -> Collection[str]:
    words, there = allowed.strip().lower(), set(packages)
    if words in {ALL, NONE}:
        return there if words == ALL else ()
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - few name packages

    names = {canonicalize_name(name.strip()) for name in words.split(",") if name.strip()}
    names_by_package = {package: canonicalize_name(package.split(" ")[0]) for package in there}
    if absent := sorted(names.difference(names_by_package.values())):
        raise ConfigurationBroken(
            f"MOOT_PLUGINS names {absent[0]}, which brings no plugin. Packages with plugins: "
            f"{', '.join(sorted(names_by_package.values())) or 'none is installed'}. "
            f"Or write {ALL} or {NONE}."
        )
    return [package for package, name in names_by_package.items() if name in names]


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def _in_short(error: BaseException) -> str:
    """What is wrong, on one line; our own words are left as they are."""
    match error:
        case ConfigurationBroken():
            words = str(error)
        case ValidationError():
            first = error.errors(include_url=False)[0]
            words = complaint(": ".join(map(str, first["loc"])) or "a value", first)
        case _:
            words = f"{type(error).__name__}: {error}"
    return redact(" ".join(words.split()))[:_WORDS_CHARS].rstrip(" :.")


def _of_kind(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise ConfigurationBroken(f"it is no {kind.__module__}.{kind.__name__}")
    return value


def _check_name(entry: EntryPoint, name: str) -> None:
    if name != entry.name:
        raise ConfigurationBroken(f"its name is {name}, not that of its entry point")


def _role(entry: EntryPoint, package: str, _variable: Variable) -> Role:
    role = _of_kind(entry.load(), Role)
    _check_name(entry, role.id)
    if not role.prompt.strip():
        raise ConfigurationBroken("it has no prompt")
    return role.model_copy(update={"source": package})


def _agenda(entry: EntryPoint, package: str, _variable: Variable) -> Agenda:
    agenda = _of_kind(entry.load(), Agenda)
    _check_name(entry, agenda.name)
    for act, text in agenda.prompts.items():
        if why := override_fault(act.value, text):
            raise ConfigurationBroken(f"its prompt of {act.value} cannot be used: {why}")
    return agenda.model_copy(update={"source": package})


def _provider(entry: EntryPoint, package: str, variable: Variable) -> ServedModels:
    served = _of_kind(entry.load()(variable), ServedModels)
    if not _waits(served.provider, "complete", "close"):
        raise ConfigurationBroken("its provider lacks async def complete or close")
    if not served.model:
        raise ConfigurationBroken("it names no model that serves where settings name none")
    records = tuple({**item, "provider": entry.name} for item in served.capabilities)
    for record in records:
        capability("", "", [{k: v for k, v in record.items() if k not in {"provider", "match"}}])
    guarded = GuardedProvider(entry.name, served.provider, package)
    return replace(served, provider=guarded, capabilities=records)


def _sink(entry: EntryPoint, package: str, variable: Variable) -> QueuedSink:
    sink = cast("Callable[[Variable], object]", entry.load())(variable)
    if not _waits(sink, "publish", "turns_began"):
        raise ConfigurationBroken("it makes nothing with async def publish and turns_began")
    return QueuedSink(f"{entry.name} of {package}", cast("EventSink", sink))


def _waits(value: object, *methods: str) -> bool:
    return all(iscoroutinefunction(getattr(value, name, None)) for name in methods)


_TAKE: Mapping[PluginKind, Callable[[EntryPoint, str, Variable], object]] = {
    PluginKind.ROLE: _role,
    PluginKind.FORMAT: _agenda,
    PluginKind.PROVIDER: _provider,
    PluginKind.SINK: _sink,
}
