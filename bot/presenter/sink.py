"""The presenter: receives events of debates, queues posts, and renders living posts."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from bot.landing.receivers import LandedRecord, Landing, Receiver
from bot.presenter.post import Content, Scene, marked_content, post_about
from bot.presenter.posts import LIVING, posts_of_group, prompt_posts
from bot.presenter.reading_order import ReadingPosition, position_after, release_after
from bot.queue.outgoing import RenderedPosts
from bot.queue.rows import DebateProgress, NewPost, PostRow, Posts
from bot.slack.ids import event_key, pin_key
from bot.slack.mrkdwn import link, literal
from bot.store.records import ChannelSettings
from bot.store.search import DebateWords
from bot.store.tables import Channel
from bot.views.message import MessageView, notice, person
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.people_events import DebateWanted, DecisionRecorded, OptionEdited, OutcomeGiven
from core.debate.state import Debate, Status
from core.debate.turn import Turn
from core.debate.turn_events import OptionsMerged, VerdictReached
from core.figures import duration
from core.rules.options import options_of
from core.use_cases.fact_log import DebateCache, DebateLog
from core.use_cases.remind import RemindPeople
from core.values import Recent


def search_words(debate: Debate) -> str:
    """The text for the search: question, options, verdict, decisions and outcomes."""
    setup, verdict = debate.setup, debate.verdict
    options = (item.name for item in options_of(debate).items)
    parts = [debate.id, setup.question, setup.context, *options]
    if verdict:
        parts += [verdict.decision, verdict.solution, verdict.implementation, verdict.dissent]
        parts += [
            *verdict.reasons,
            *verdict.tradeoffs,
            *verdict.recommendations,
            *verdict.open_questions,
        ]
    parts += [decision.why for decision in debate.decisions]
    parts += [outcome.why for outcome in debate.outcomes]
    return "\n".join(part for part in parts if part)


_WHY_LIMIT = 300
#: Most debates whose reading position is kept in memory.
_REMEMBERED = 1000
#: Events that change the words for the search.
_SEARCH_EVENTS = (
    DebateStarted,
    OptionsMerged,
    OptionEdited,
    VerdictReached,
    DecisionRecorded,
    OutcomeGiven,
)
#: `Place.surface` of debates in Slack.
SLACK = "slack"


class PostQueue(Protocol):
    """Takes posts and sends them later, in order, each once; see `bot.queue.outbox.Outbox`."""

    async def post(
        self, posts: Sequence[NewPost], progress: DebateProgress | None = None
    ) -> None: ...


@dataclass
class Presenter:
    """An `EventSink`. Publishing an event again queues nothing new."""

    posts: PostQueue
    log: DebateLog
    #: Stores reminders; None: nobody is reminded.
    reminders: RemindPeople | None = None
    #: The index for the search; None: debates are not indexed.
    words: DebateWords | None = None
    #: Bounded, because another replica may continue a debate. Forgotten ones are read from the log.
    _positions: Recent[str, ReadingPosition] = field(
        default_factory=lambda: Recent[str, ReadingPosition](_REMEMBERED), init=False
    )

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Queue the posts that the event releases, and request edits of living posts."""
        if debate.setup.place.surface != SLACK:
            return
        # The reading position before this event; after a restart, from the log.
        position = self._positions.get(recorded.debate_id, ReadingPosition())
        if position.seq != recorded.seq - 1:
            log = await self.log.events(recorded.debate_id)
            older = [earlier for earlier in log if earlier.seq < recorded.seq]
            position = await asyncio.to_thread(position_after, older)
        release = release_after(position, debate, recorded)
        is_end = isinstance(recorded.event, DebateConcluded)
        log = await self.log.events(debate.id) if is_end else ()

        def make() -> Sequence[NewPost]:
            return [post for group in release.groups for post in posts_of_group(debate, group, log)]

        # In a thread, because the files of seven rounds take 50 ms.
        posts = await asyncio.to_thread(make) if is_end else make()
        progress = DebateProgress(
            debate_id=debate.id, seq=recorded.seq, hurried=prompt_posts(recorded.event)
        )
        await self.posts.post(posts, progress)
        await self._follow_up(debate, recorded)
        # Stored only after queueing. Ended debates are forgotten, and so are those that wait for
        # people, perhaps for days: positions would be half of the memory that they take.
        if debate.status is Status.RUNNING and not release.is_parked:
            self._positions[debate.id] = release.position
        else:
            self._positions.pop(debate.id, None)

    async def _follow_up(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Update the search index and the reminders."""
        if self.words and isinstance(recorded.event, _SEARCH_EVENTS):
            place = debate.setup.place
            channel = Channel(place.workspace, place.channel)
            await self.words.put(debate.id, channel, search_words(debate))
        match recorded.event:
            case DebateStarted() if self.reminders:
                await self.reminders.put_reveal(debate)
            case DecisionRecorded(decision=decision) if self.reminders:
                await self.reminders.put(debate, decision, recorded.at)
            case OutcomeGiven(outcome=outcome) if self.reminders:
                await self.reminders.put_again(debate, outcome, recorded.at)
            case _:
                pass

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Does nothing: the board shows running turns from the debate itself."""


@dataclass(frozen=True)
class LandingPosts:
    """Queues the posts about landings. Reporting a landing twice queues nothing new."""

    posts: PostQueue

    async def report_landing(self, receiver: str, landing: Landing, record: LandedRecord) -> None:
        if not record.place:
            return
        text = f"The decision record is `{_code(record.place)}` in {literal(record.inside)}"
        if record.branch:
            text += f", branch `{_code(record.branch)}`, commit `{_code(record.commit)}`"
        if record.pull_link:
            text += f". {link(record.pull_link, 'Open a pull request')}"
        await self._post(landing, f"landed/{receiver}", f":card_index_dividers: {text}.")

    async def report_failure(
        self, receiver: Receiver, landing: Landing, why: str, *, again_after: float | None
    ) -> None:
        decision = landing.debate.decision
        mention = f" {person(decision.by)}" if decision else ""
        next_try = (
            f"It is tried again in {duration(again_after)} and then for most of a day."
            if again_after is not None
            else "It is not tried again by itself: once this is mended, a workspace admin "
            "types `/debate doctor retry` in the channel."
        )
        part = f"{'not' if again_after is None else 'late'}/{receiver.name}"
        failure = f"{literal(receiver.failure_text)} {literal(why[:_WHY_LIMIT])}"
        text = f":warning:{mention} {failure} {next_try} Your decision itself is recorded."
        await self._post(landing, part, text)

    async def _post(self, landing: Landing, part: str, text: str) -> None:
        key = event_key(landing.debate.id, landing.recorded.seq, part)
        await self.posts.post([post_about(landing.debate, key, notice(text))])


@dataclass
class LivingPosts:
    """Renders living posts; see `bot.queue.outgoing.Render`."""

    log: DebateLog
    #: The queue's rows, which say whether the board could be pinned; None: not looked up.
    rows: Posts | None = None
    #: Settings of channels; None: the defaults.
    channels: ChannelSettings | None = None
    #: Whether debates can be shared as pages.
    pages: bool = False
    _debates: DebateCache = field(init=False)

    def __post_init__(self) -> None:
        self._debates = DebateCache(self.log)

    async def render(self, rows: Sequence[PostRow]) -> RenderedPosts:
        debate = await self._debates.debate(rows[0].debate_id or "")
        contents = {row.key: await self._content(debate, row) for row in rows}
        return RenderedPosts(seq=debate.seq, contents=contents)

    async def _content(self, debate: Debate, row: PostRow) -> Mapping[str, Any]:
        post = LIVING[row.post]
        scene = Scene(debate=debate, key=row.key, pages=self.pages)
        if post.of_edition and _edition_of(row.key) < debate.edition:
            scene = await self._superseded_scene(scene)
        elif post.name == "board" and self.rows:
            pin = await self.rows.row_by_key(pin_key(debate.id))
            if pin and pin.error:
                scene = replace(scene, remarks=[f"The board could not be pinned: {pin.error}"])
        elif post.name == "pin" and self.channels and debate.status is Status.CONCLUDED:
            settings = await self.channels.get(debate.setup.place)
            scene = replace(scene, keep_pinned=settings.keep_pinned)
        view: Content = post.shows(scene) if post.shows else {}
        content = view.payload if isinstance(view, MessageView) else view
        return marked_content(debate, content)

    async def _superseded_scene(self, scene: Scene) -> Scene:
        """The scene of a superseded edition: the debate before a person had it debated anyway."""
        log = await self.log.events(scene.debate.id)
        entries = [recorded for recorded in log if isinstance(recorded.event, DebateWanted)]
        last = entries[_edition_of(scene.key) - 1]
        before = await asyncio.to_thread(fold, [entry for entry in log if entry.seq < last.seq])
        wanted_by = last.event.by if isinstance(last.event, DebateWanted) else before.setup.asked_by
        note = (
            f":warning: *Counts no more:* {person(wanted_by)} wanted it debated; "
            "another vote and verdict follow in the thread."
        )
        return replace(scene, debate=before, superseded=note)


def _edition_of(key: str) -> int:
    last = key.rpartition("/")[2]
    return int(last) if last.isdecimal() else 1


def _code(text: str) -> str:
    return literal(text.replace("`", "'"))
