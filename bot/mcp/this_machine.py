"""Debates of `moot mcp`: run in this process, in the terminal's database.

Only one process at a time may write to an SQLite file (`core/store/lock.py`), and an editor may
start a server for each window. The first server has the database until it ends; the others only
read. When it is free again, another server takes it over and continues the running debates.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot.building import (
    build_reader,
    build_turns,
    check_providers,
    estimating,
    open_read_only,
    open_store,
)
from bot.log import logger
from bot.mcp.arguments import CallerActions, StartArguments, request_key
from bot.running.debates import Runner
from bot.settings import BotSettings
from bot.terminal.debating import SURFACE
from bot.terminal.sources import fetchers_here, references_to
from core.debate.evidence import SourceKind, SourceReference
from core.debate.log import RecordedEvent, fold
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.engine import Engine
from core.errors import BadInput, DebateUnknown, StoreDown, StoreError, StoreInUse
from core.evidence.tools import FetchTools
from core.llm.call import ModelCalls
from core.ports import Clock, DebateFilter, DebateStore, Embedder
from core.settings import Settings
from core.telling import Sinks
from core.transcript.markdown import visible
from core.use_cases.choices import Choices
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import UNBOUNDED
from core.use_cases.messages import AddNote, AnswerQuestions
from core.use_cases.recall import RecallDecisions, RecalledDecision
from core.use_cases.start import StartDebate, StartedDebate
from core.use_cases.steer import SteerDebate, sole_steward

_log = logger(__name__)

#: Prefix of the origins of debates that this server started.
ORIGIN = "mcp/"
#: Seconds between attempts to open a database that another process uses.
POLL_INTERVAL = 5.0
_MOST_OPEN = 200


def _note_unreadable(debate_id: str, error: StoreError) -> None:
    _log.warning("cannot show", debate=debate_id, reason=str(error))


@dataclass(frozen=True, kw_only=True)
class _OpenDatabase:
    store: DebateStore
    runner: Runner
    actions: CallerActions


@dataclass(kw_only=True)
class ThisMachine:
    """The `CallerDebates` of `moot mcp`."""

    environment: BotSettings
    settings: Settings
    calls: ModelCalls
    tools: FetchTools
    embedder: Embedder | None
    person: Person
    clock: Clock
    #: Only files below this folder can be sources.
    folder: Path
    _database: _OpenDatabase | None = field(default=None, init=False)
    _reader: DebateStore | None = field(default=None, init=False)
    #: Closes the stores and the runner when the server ends.
    _open: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the database, now or as soon as no other process uses it; close it at the end."""
        async with self._open:
            # Creates or migrates the tables; if another process has the database, it did so.
            with suppress(StoreInUse):
                await self._acquire()
            waiting = asyncio.create_task(self._wait_for_database(), name="database")
            try:
                yield
            finally:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)

    async def actions(self) -> CallerActions:
        try:
            database = await self._acquire()
        except StoreInUse as error:
            raise BadInput(
                f"{error} Until then debates can only be read here. If it is the server of "
                "another window, ask there, or close it."
            ) from None
        return database.actions

    async def log(self, debate_id: str, *, to_change: bool = False) -> Sequence[RecordedEvent]:
        try:
            log = await (await self._open_reader()).events(debate_id)
        except DebateUnknown:
            raise BadInput(
                f"There is no debate {debate_id} here. list_debates lists those that exist."
            ) from None
        surface = fold(log).setup.place.surface
        if to_change and surface != SURFACE:
            raise BadInput(
                f"Debate {debate_id} is held in {surface.capitalize()}: it can be read here, and "
                "changed only there."
            )
        return log

    async def has_grown(self, debate_id: str, after: int) -> bool:
        return bool(await (await self._open_reader()).events(debate_id, after=after))

    async def newest(self, limit: int, *, running_only: bool) -> Sequence[Debate]:
        store = await self._open_reader()
        debates = list[Debate]()
        for entry in await store.find(DebateFilter(limit=limit, open_only=running_only)):
            try:
                debates.append(fold(await store.events(entry.debate_id)))
            except StoreDown:
                raise
            except StoreError as error:
                _note_unreadable(entry.debate_id, error)
        return debates

    async def recall(self, question: str) -> Sequence[RecalledDecision]:
        store = await self._open_reader()
        register = RecallDecisions(
            store=store, on_unreadable=_note_unreadable, embedder=self.embedder
        )
        return await register.anywhere(question)

    async def address(self, debate: Debate) -> str:
        del debate
        return ""

    def origin(self, request: str) -> str:
        return f"{ORIGIN}{request}"

    async def _acquire(self) -> _OpenDatabase:
        """Open the database and resume its debates.

        Raises:
            StoreInUse: Another process uses the database.
        """
        async with self._taking:
            if self._database is None:
                database = self._database = await self._open_database()
                for debate_id in await self._running(database.store):
                    database.runner.wake(debate_id)
            return self._database

    async def _open_database(self) -> _OpenDatabase:
        store = await self._open.enter_async_context(open_store(self.environment.moot_database))
        reader = build_reader(self.settings, self.tools, fetchers_here(store))
        turns = build_turns(self.calls, self.settings, store, reader)
        # Programs poll for progress, so events go to no sink.
        engine = Engine(store=store, turns=turns, sink=Sinks(), clock=self.clock)
        runner = Runner(engine=engine, store=store, clock=self.clock)
        self._open.push_async_callback(runner.close)
        facts = FactLog(store=store, clock=self.clock, wake=runner.wake)
        note = AddNote(facts=facts, bounds=UNBOUNDED)
        start = StartDebate(
            facts=facts,
            settings=lambda: self.settings,
            estimating=estimating(self.settings),
            bounds=UNBOUNDED,
            spending=store,
        )
        stewards = sole_steward(self.person)
        actions = CallerActions(
            start=lambda arguments: self._start(start, arguments),
            sources=self._sources,
            answer=AnswerQuestions(facts=facts, note=note),
            note=note,
            decide=DecideOnVerdict(facts=facts),
            steer=SteerDebate(facts=facts, note=note, stewards=stewards, mention=str),
        )
        return _OpenDatabase(store=store, runner=runner, actions=actions)

    async def _sources(
        self, _debate: Debate, names: Sequence[str]
    ) -> tuple[Sequence[SourceReference], str]:
        """References to files and pages, and a text of the files' sizes and modification times."""
        references = references_below(self.folder, names, self.person)
        files = [
            Path(reference.fetch) for reference in references if reference.kind is SourceKind.FILE
        ]
        try:
            stats = [file.stat() for file in files]
        except OSError as error:
            raise BadInput(f"A source cannot be read: {error.strerror}.") from None
        return references, " ".join(f"{stat.st_size}/{stat.st_mtime_ns}" for stat in stats)

    async def _start(self, start: StartDebate, arguments: StartArguments) -> StartedDebate:
        if arguments.channel:
            raise BadInput(
                "Debates of this server are held on this machine, in no channel: leave “channel” "
                "out. Nothing was started."
            )
        key = request_key("start", arguments, self.person.id, str(self.folder))
        origin, earlier = await start.origin_and_newest(self.origin(key))
        if earlier and earlier.status is Status.RUNNING:
            start.facts.wake(earlier.id)
            return StartedDebate(debate_id=earlier.id, setup=earlier.setup, fresh=False)
        references = references_below(self.folder, arguments.sources, self.person)
        request = arguments.request(references, asked_by=self.person, place=Place(surface=SURFACE))
        setup = await start.setup_for(request, Choices(clarify=arguments.clarify))
        check_providers(setup, self.environment, self.settings.servers)
        most = self.environment.bounds.debates_per_person
        store = start.facts.store
        running_ids = await self._running(store)
        entries = await store.find(DebateFilter(open_only=True, limit=_MOST_OPEN))
        is_repetition = any(entry.question == setup.question for entry in entries)
        if len(running_ids) >= most and not is_repetition:
            raise BadInput(
                f"{len(running_ids)} debates run here ({', '.join(running_ids)}), the most "
                "allowed (MOOT_DEBATES_PER_PERSON). Nothing was started: wait until one has ended, "
                "or end one with stop_debate."
            )
        setup = setup.model_copy(update={"forecast": start.estimating(setup).forecast})
        return await start.begin(setup, origin=origin)

    async def _running(self, store: DebateStore) -> Sequence[str]:
        """Ids of the running debates that this person started here, oldest first."""
        entries = await store.find(DebateFilter(open_only=True, limit=_MOST_OPEN))
        return [
            entry.debate_id
            for entry in reversed(entries)
            if entry.origin.startswith(ORIGIN) and entry.asked_by == self.person.id
        ]

    async def _open_reader(self) -> DebateStore:
        if self._database is not None:
            return self._database.store
        if self._reader is None:
            location = self.environment.moot_database
            self._reader = await self._open.enter_async_context(open_read_only(location))
        return self._reader

    async def _wait_for_database(self) -> None:
        while self._database is None:
            await self.clock.sleep(POLL_INTERVAL)
            try:
                await self._acquire()
            except StoreInUse:
                pass  # another process uses it
            except StoreError as error:
                _log.warning("cannot take the database", reason=str(error))


_LONGEST_NAME = 80


def references_below(
    folder: Path, names: Sequence[str], person: Person
) -> tuple[SourceReference, ...]:
    """The sources that a program named: the terminal's rules, limited to a folder.

    Stricter than the terminal, because injected text can make a program name files: only files
    below the folder, and no hidden ones. No file is allowed if the folder is the root or contains
    the home folder; some editors start servers there.

    Raises:
        BadInput: A source is not allowed; the message names it and the reason.
    """
    sources, folder = list[str](), folder.resolve()
    is_too_wide = folder.parent == folder
    with suppress(RuntimeError):  # the account `nobody` has no home folder
        is_too_wide = is_too_wide or Path.home().resolve().is_relative_to(folder)
    for name in names:
        if name.startswith(("http://", "https://")):
            sources.append(name)
            continue
        text = visible(name)[:_LONGEST_NAME]
        if is_too_wide:
            raise BadInput(
                f"The source “{text}” may not be read: this server was started in {folder}, which "
                "is no project. Have your editor start it in the project's folder, or put what "
                "matters into the context. Nothing was started."
            )
        try:
            path = (folder / name).resolve()
            is_inside = path.is_relative_to(folder)
            path.exists()
        except (OSError, ValueError, RuntimeError):
            raise BadInput(f"The source “{text}” cannot be looked at.") from None
        hidden = is_inside and any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not is_inside or hidden:
            raise BadInput(
                f"The source “{text}” is hidden or outside of the folder in which "
                "this server was started: it may not be read. Name a file below it, or put what "
                "matters into the context. Nothing was started."
            )
        sources.append(str(path))
    return references_to(sources, person)
