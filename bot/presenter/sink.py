"""The presenter: hears what happens in debates and queues what people are to see."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.presenter.edits import board_edit, edits_of, unpinning
from bot.presenter.example_mark import marked
from bot.presenter.finding import words_of
from bot.presenter.post import ViewOptions, occasion_of, with_log
from bot.presenter.posts import posts_of_group, posts_on
from bot.presenter.reading_order import ReadingPosition, release_after, release_all
from bot.presenter.session import session_post, session_status
from bot.slack.ids import pin_key, vote_key
from bot.store.posts import Channel, NewPost, PostRow, PostState
from bot.views.board import BoardAction
from core.events import (
    DebateConcluded,
    DebateFailed,
    DebateStarted,
    DebateWanted,
    DecisionRecorded,
    OptionEdited,
    OptionsMerged,
    OutcomeGiven,
    PeopleBallotCast,
    Recorded,
    VerdictReached,
)
from core.models import Debate, Decision, DecisionOutcome, Place, Status, Turn
from core.recent import Recent
from core.use_cases.choices import ChannelChoices

#: Debates whose reading position is kept in memory.
_REMEMBERED = 1000
#: After these there is more to find a debate by.
_WORTH_FINDING = (
    DebateStarted,
    OptionsMerged,
    OptionEdited,
    VerdictReached,
    DecisionRecorded,
    OutcomeGiven,
)
#: After these a list of debates looks different.
_WORTH_LISTING = (
    DebateStarted,
    DebateConcluded,
    DebateFailed,
    DebateWanted,
    DecisionRecorded,
    OutcomeGiven,
)
#: These change what is said of the vote.
_ABOUT_VOTE = (PeopleBallotCast, DecisionRecorded, DebateWanted)
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


class PostRows(Protocol):
    """Tells what became of posts."""

    async def row_by_key(self, key: str) -> PostRow | None:
        """The post with this key."""
        ...


class ChannelChoicesReader(Protocol):
    """Tells what channels have set."""

    async def get(self, place: Place) -> ChannelChoices:
        """What the channel has set."""
        ...


class WordIndex(Protocol):
    """Keeps what debates are found by."""

    async def put(self, debate_id: str, channel: Channel, words: str) -> None:
        """Set the words of a debate."""
        ...


class ReminderBook(Protocol):
    """Keeps dates."""

    async def put(self, debate: Debate, decision: Decision, at: datetime) -> None:
        """Remember when people are to be reminded of a decision made at this time."""
        ...

    async def put_again(self, debate: Debate, given: DecisionOutcome, at: datetime) -> None:
        """Remember when to ask again how it turned out, where it was too early to say."""
        ...


@dataclass
class Presenter:
    """An `EventSink`. Publishing an event again queues nothing new."""

    posts: PostQueue
    log: DebateLog
    #: Buttons that the board shows while a debate runs.
    enabled: Collection[BoardAction] = ()
    #: Where it is seen whether the board could be pinned; None: nobody says so.
    rows: PostRows | None = None
    #: What channels have set; None: nothing.
    channels: ChannelChoicesReader | None = None
    #: Keeps dates to look at decisions again; None: nobody is reminded.
    reminders: ReminderBook | None = None
    #: What debates are found by; None: they are not.
    words: WordIndex | None = None
    #: Told of debates that look different in lists.
    on_listed: Callable[[Debate], None] | None = None
    #: Debates can be shared as pages.
    pages: bool = False
    #: Tell Slack how debates stand, for where the app is installed as an agent.
    sessions: bool = False
    #: Debates whose board is pinned: nothing more to look up.
    _pinned: Recent[str, bool] = field(
        default_factory=lambda: Recent[str, bool](_REMEMBERED), init=False
    )
    #: Bounded, as a debate can go on and end on another replica; what is forgotten is read anew.
    _positions: Recent[str, ReadingPosition] = field(
        default_factory=lambda: Recent[str, ReadingPosition](_REMEMBERED), init=False
    )

    async def publish(self, debate: Debate, recorded: Recorded) -> None:
        """Queue what the event lets people see, then bring the board up to date.

        Raises:
            StoreDown: The database failed; publish the event again.
        """
        if debate.setup.place.surface != SLACK:
            return
        # How far people had read before this event; from the log after a restart.
        position = self._positions.get(recorded.debate_id, ReadingPosition())
        if position.seq != recorded.seq - 1:
            log = await self.log.events(recorded.debate_id)
            before_it = [earlier for earlier in log if earlier.seq < recorded.seq]
            position = (await asyncio.to_thread(release_all, before_it)).position
        reached = release_after(position, debate, recorded)
        posts = [
            marked(debate, post)
            for group in reached.groups
            for post in posts_of_group(debate, group, self._options)
        ]
        posts += await self._from_log(debate, recorded)
        if posts:
            await self.posts.post(posts)
        before, has_vote_post = position.debate, not debate.setup.quiet
        if not has_vote_post and before and self.rows and isinstance(recorded.event, _ABOUT_VOTE):
            # An earlier version gave a quiet debate's vote a post, too, which is still there.
            row = await self.rows.row_by_key(vote_key(before.id, before.edition))
            has_vote_post = row is not None
        changes = edits_of(debate, recorded, before, has_vote_post=has_vote_post, pages=self.pages)
        for edit in changes:
            await self.posts.replace(marked(debate, edit))
        if self.sessions and (before is None or session_status(before) != session_status(debate)):
            await self.posts.replace(session_post(debate))
        if recorded.seq > 1:
            await self.posts.replace(await self._board(debate))
        await self._follow_up(debate, recorded)
        # Only what is queued has been read. An ended debate is forgotten, and so is one that waits
        # for people, perhaps for days: this would be half of the memory it takes.
        if debate.status is Status.RUNNING and not reached.is_parked:
            self._positions[debate.id] = reached.position
        else:
            self._positions.pop(debate.id, None)

    @property
    def _options(self) -> ViewOptions:
        return ViewOptions(enabled=self.enabled, pages=self.pages)

    async def _from_log(self, debate: Debate, recorded: Recorded) -> Sequence[NewPost]:
        """The posts that are made from the whole log."""
        declared = [post for post in posts_on(recorded.event) if post.from_log]
        if not declared:
            return ()
        log = await self.log.events(debate.id)
        occasion = with_log(occasion_of(debate, recorded, self._options), log)
        # Seven rounds take 50 ms to write down: too long to keep everybody else waiting.
        made = await asyncio.to_thread(
            lambda: [post for one in declared for post in one.posts(occasion)]
        )
        return [marked(debate, post) for post in made]

    async def _follow_up(self, debate: Debate, recorded: Recorded) -> None:
        """Do what an end, and what people decided, leads to besides posts."""
        if self.words and isinstance(recorded.event, _WORTH_FINDING):
            place = debate.setup.place
            channel = Channel(place.workspace, place.channel)
            await self.words.put(debate.id, channel, words_of(debate))
        if self.on_listed and isinstance(recorded.event, _WORTH_LISTING):
            self.on_listed(debate)
        match recorded.event:
            case DebateConcluded(edition=edition) | DebateFailed(edition=edition) if (
                edition != debate.edition
            ):
                pass  # written while somebody wanted the debate to go on
            case DebateConcluded():
                self._pinned.pop(debate.id, None)
                place = debate.setup.place
                chosen = await self.channels.get(place) if self.channels else ChannelChoices()
                if not chosen.keep_pinned:
                    await self.posts.post([unpinning(debate)])
            case DebateFailed():
                self._pinned.pop(debate.id, None)
                await self.posts.post([unpinning(debate)])  # nothing there to come back to
            case DecisionRecorded(decision=decision):
                if self.reminders:
                    await self.reminders.put(debate, decision, recorded.at)
            case OutcomeGiven(outcome=given) if self.reminders:
                await self.reminders.put_again(debate, given, recorded.at)
            case _:
                pass

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Edit the board unless this process has just published this state of the debate.

        An earlier one may not have lived to do it. Who is at work is a matter of the debate itself.
        """
        del turns
        position = self._positions.get(debate.id, ReadingPosition())
        if debate.setup.place.surface == SLACK and position.seq != debate.seq:
            await self.posts.replace(await self._board(debate))

    async def _board(self, debate: Debate) -> NewPost:
        pin, remarks = None, list[str]()
        if self.rows and debate.id not in self._pinned:
            pin = await self.rows.row_by_key(pin_key(debate.id))
        if pin and pin.state is PostState.SENT:
            self._pinned[debate.id] = True
        if pin and pin.state is PostState.FAILED:
            remarks = [f"The board could not be pinned: {pin.error or 'Slack refused it.'}"]
        return marked(debate, board_edit(debate, self.enabled, remarks))
