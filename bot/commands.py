"""Facts in the log: a debate begins, people add to it, it is given up. No Slack in here."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.limits import Bounds, check_context, check_money, check_notes, check_room, check_size
from bot.running.port import Runner
from core.errors import BadInput, DebateUnknown
from core.events import DebateFailed, DebateStarted, Event, NoteAdded, fold
from core.models import Debate, Note, Person, Place, Setup, Status
from core.opening import Wish, open_debate
from core.ports import Clock, DebateEntry, DebateFilter, DebateStore, Spending
from core.redaction import redact
from core.settings import Settings

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 7
_DELIMITER_BYTES = 8


def new_debate_id() -> str:
    """Return a fresh id: "d" and seven characters that cannot be misread."""
    return "d" + "".join(secrets.choice(_BASE32) for _ in range(_ID_LENGTH))


@dataclass(frozen=True, kw_only=True)
class Started:
    """A debate that was asked for."""

    debate_id: str
    setup: Setup
    #: False: this very request was here before, and its debate is the one it began.
    fresh: bool


@dataclass(frozen=True, kw_only=True)
class Commands:
    """The use cases. Every method may raise `StoreDown`; what it did by then may be done again."""

    store: DebateStore
    runner: Runner
    clock: Clock
    #: What holds where nothing else was asked.
    settings: Callable[[], Settings]
    #: How much people may ask for.
    bounds: Bounds = field(default_factory=Bounds)
    #: Knows what was spent; None: no cap over several debates holds.
    spending: Spending | None = None
    #: What is counted is counted and added one after another: bounds hold within this process.
    _counting: asyncio.Lock = field(
        default_factory=asyncio.Lock, init=False, repr=False, compare=False
    )

    async def start_debate(
        self, wish: Wish, *, origin: str, settings: Settings | None = None
    ) -> Started:
        """Begin a debate, once per origin.

        Args:
            wish: What was asked.
            origin: What asked for it (a trigger id, an event id, a form's id).
            settings: What holds where nothing was asked; None: the usual ones.

        Raises:
            BadInput: The question cannot be used, too many debates run, or a cap on money is
                used up; nothing was started.
        """
        delimiter = secrets.token_hex(_DELIMITER_BYTES)
        check_context(wish.context, self.bounds)
        setup = open_debate(wish, settings or self.settings(), delimiter=delimiter)
        async with self._counting:
            if await self.store.begun(origin) is None:
                check_room(wish, await self._running(wish.place), self.bounds)
                if self.spending:
                    caps, today = (settings or self.settings()).caps, self.clock.now().date()
                    await check_money(wish, caps, self.spending, today)
            started = await self.store.create(
                new_debate_id(), DebateStarted(setup=setup), origin=origin, at=self.clock.now()
            )
        debate_id = started.recorded.debate_id
        self.runner.wake(debate_id)
        return Started(debate_id=debate_id, setup=setup, fresh=started.fresh)

    async def record(self, debate_id: str, event: Event) -> bool:
        """Add what a person did to the log and let it take effect; False if it was there."""
        try:
            appended = await self.store.append(debate_id, event, at=self.clock.now())
        except asyncio.CancelledError:  # who asked waits no more, but it may be in the log by now
            self.runner.wake(debate_id)
            raise
        self.runner.wake(debate_id)
        return appended.fresh

    async def add_note(self, debate_id: str, *, note_id: str, author: Person, text: str) -> bool:
        """Add what a person said to a running debate; False if it has ended.

        Calling it again with the same id changes nothing.

        Raises:
            BadInput: It is too long, or the debate takes no more notes.
        """
        async with self._counting:
            return await self._add_note(debate_id, note_id, author, text)

    async def _add_note(self, debate_id: str, note_id: str, author: Person, text: str) -> bool:
        debate = fold(await self.store.events(debate_id))
        if debate.status is not Status.RUNNING:
            return False
        if note_id in {note.id for note in debate.notes}:
            return True
        check_size(text, self.bounds)
        check_notes(debate, self.bounds)
        note = Note(id=note_id, author=author, text=redact(text), after=len(debate.contributions))
        await self.store.append(debate_id, NoteAdded(note=note), at=self.clock.now())
        self.runner.wake(debate_id)
        return True

    async def give_up(self, debate_id: str, reason: str) -> None:
        """End a debate that nobody can see, so that it spends no more money."""
        failed = DebateFailed(reason=reason)
        await self.store.append(debate_id, failed, at=self.clock.now())
        self.runner.wake(debate_id)

    async def debate(self, debate_id: str, *, workspace: str) -> Debate:
        """Return a debate of this workspace.

        Raises:
            BadInput: There is none with this id.
        """
        try:
            found = fold(await self.store.events(debate_id))
        except DebateUnknown:
            raise BadInput(self.unknown(debate_id)) from None
        if found.setup.place.workspace != workspace:
            raise BadInput(self.unknown(debate_id))
        return found

    def unknown(self, debate_id: str) -> str:
        """Return that there is no such debate, or none that one may see."""
        return f"There is no debate `{debate_id}`. `/debate list` shows this channel's debates."

    async def _running(self, place: Place) -> Sequence[DebateEntry]:
        most = self.bounds.debates_per_workspace
        wanted = DebateFilter(workspace=place.workspace, open_only=True, limit=most)
        return await self.store.find(wanted)
