"""The presenter: hears what happens in debates and queues what people are to see."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.presenter.edits import edits_of
from bot.presenter.posts import board_edit, posts_of
from bot.presenter.reading_order import Reading, read, step
from bot.store.posts import NewPost
from bot.views.board import BoardAction
from core.events import Recorded
from core.models import Debate, Status, Turn

#: `Place.surface` of debates that are held in Slack.
SLACK = "slack"


class PostQueue(Protocol):
    """Takes posts and sends them later, in order, each once."""

    async def post(self, posts: Sequence[NewPost]) -> None:
        """Queue posts in this order, all or none; keys known already are left alone.

        Raises:
            StoreDown: Nothing was queued.
        """
        ...

    async def replace(self, post: NewPost) -> None:
        """Queue an edit of which only the newest state matters.

        Raises:
            StoreDown: Nothing was queued.
        """
        ...


class DebateLog(Protocol):
    """Where a debate's log can be read; a `DebateStore` is one."""

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        """The log in order, from the first event with a greater `seq`."""
        ...


@dataclass
class Presenter:
    """An `EventSink`. Publishing an event again queues nothing new."""

    posts: PostQueue
    log: DebateLog
    #: Buttons that the board shows while a debate runs.
    enabled: Collection[BoardAction] = ()
    _readings: dict[str, Reading] = field(default_factory=dict[str, Reading], init=False)

    async def publish(self, debate: Debate, recorded: Recorded) -> None:
        """Queue what the event lets people see, then bring the board up to date.

        Raises:
            StoreDown: The database failed; publish the event again.
        """
        if debate.setup.place.surface != SLACK:
            return
        reached = step(await self._before(recorded), recorded)
        posts = [
            post for event in reached.released for post in posts_of(debate, event, self.enabled)
        ]
        if posts:
            await self.posts.post(posts)
        for edit in edits_of(debate, recorded, self.enabled):
            await self.posts.replace(edit)
        self._remember(debate, reached.reading)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Show on the board who is at work; which turns is a matter of the debate itself.

        Raises:
            StoreDown: The database failed.
        """
        del turns
        if debate.setup.place.surface == SLACK:
            await self.posts.replace(board_edit(debate, self.enabled))

    async def _before(self, recorded: Recorded) -> Reading:
        """How far people had read before this event; from the log after a restart."""
        reading = self._readings.get(recorded.debate_id, Reading())
        if reading.seq == recorded.seq - 1:
            return reading
        log = await self.log.events(recorded.debate_id)
        return read(earlier for earlier in log if earlier.seq < recorded.seq).reading

    def _remember(self, debate: Debate, reading: Reading) -> None:
        """Only what is queued has been read; an ended debate is forgotten."""
        if debate.status is Status.RUNNING:
            self._readings[debate.id] = reading
        else:
            self._readings.pop(debate.id, None)
