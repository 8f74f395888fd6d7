"""How a post is declared: what brings it about, how it looks, where it goes (pure)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from bot.queue.rows import NewPost
from bot.slack.ids import board_key, event_key, note_ts
from bot.views.message import EXAMPLE_NOTE, MessageView, context, is_example
from core.debate.log import RecordedEvent
from core.debate.state import Debate
from core.debate.turn import Turn

E = TypeVar("E")
#: What a method of Slack is called with: a message, or the arguments themselves.
Content = MessageView | Mapping[str, Any]


class PostPlace(Enum):
    #: The debate's own thread.
    THREAD = auto()
    #: The channel: it begins a thread, or is about the message that does.
    CHANNEL = auto()
    #: The thread of people's own in which they asked for the debate, if they did.
    ASKED = auto()
    #: The thread of the debate that this one goes on from, if it does.
    OLDER = auto()


@dataclass(frozen=True, kw_only=True)
class Occasion(Generic[E]):
    debate: Debate
    event: E
    #: The event's number in its debate.
    seq: int
    #: The log up to this event; empty where nobody read it.
    log: Sequence[RecordedEvent] = ()


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What a living post shows: the debate as it is now, and what only the queue knows."""

    debate: Debate
    #: The post's key.
    key: str
    #: Debates can be shared as pages.
    pages: bool = False
    #: What people should know besides, as clean text.
    remarks: Sequence[str] = ()
    #: The channel keeps boards pinned after the end.
    keep_pinned: bool = False
    #: Why the post's edition counts no more, as safe mrkdwn; `debate` is then as it was before.
    superseded: str = ""


def of_event(occasion: Occasion[Any], part: str | int) -> str:
    """The usual key: the event's number, and which of its posts it is."""
    return event_key(occasion.debate.id, occasion.seq, part)


@dataclass(frozen=True, kw_only=True)
class Post(Generic[E]):
    """One kind of post. Exactly one of `view` and `shows` is given."""

    #: The event that brings it about.
    on: type[E]
    #: Its content, fixed once and for all: none, one, or several that follow one another.
    view: Callable[[Occasion[E]], Iterable[Content]] | None = None
    #: Content of a living post: it is made anew as the debate goes on.
    shows: Callable[[Scene], Content] | None = None
    #: Which living post it is: written on its row, and never changed.
    name: str = ""
    #: Events after which a person waits for its edit.
    prompt: tuple[type[Any], ...] = ()
    #: It counts for the edition of the debate that its key names.
    of_edition: bool = False
    #: Whether the event brings it about.
    when: Callable[[Occasion[E]], object] = lambda _: True
    #: Its key; given the number of the part, from 0 on.
    key: Callable[[Occasion[E], int], str] = of_event
    method: str = "post"
    where: PostPlace = PostPlace.THREAD
    #: Somebody waits for it: it overtakes what other debates post in the channel.
    urgent: bool = False
    #: The channel sees it, too.
    broadcast: bool = False
    #: The turn whose place it takes in the order people read in; None: it goes out at once.
    turn: Callable[[E], Turn] | None = None

    def posts(self, occasion: Occasion[E]) -> Iterable[NewPost]:
        if not isinstance(occasion.event, self.on) or not self.when(occasion):
            return
        debate = occasion.debate
        place, mention, older = debate.setup.place, debate.setup.mention, debate.setup.continues
        if (self.where is PostPlace.ASKED and not mention) or (
            self.where is PostPlace.OLDER and not older
        ):
            return
        # The content of a living post is made when it is sent.
        contents: Iterable[Content] = self.view(occasion) if self.view else [{}]
        for part, content in enumerate(contents):
            payload = content.payload if isinstance(content, MessageView) else dict(content)
            if self.broadcast:
                payload["reply_broadcast"] = True
            if self.where is PostPlace.ASKED and mention:
                payload["thread_ts"] = mention.thread
            threads = {PostPlace.THREAD: debate.id, PostPlace.OLDER: older}
            root = threads.get(self.where)
            yield NewPost(
                key=self.key(occasion, part),
                workspace=place.workspace,
                channel=place.channel,
                method=self.method,
                payload=marked_content(debate, payload),
                debate_id=older if self.where is PostPlace.OLDER else debate.id,
                thread_key=board_key(root) if root else None,
                urgent=self.urgent,
                post=self.name,
            )


def reaction(on: type[E], emoji: str, message: Callable[[E], str]) -> Post[E]:
    """An emoji on the message of a person's that an event is; none where it is no message."""

    def view(occasion: Occasion[E]) -> Sequence[Content]:
        ts = note_ts(message(occasion.event))
        return [{"name": emoji, "target_ts": ts}] if ts else ()

    def key(occasion: Occasion[E], _part: int) -> str:
        return of_event(occasion, emoji)

    return Post(on=on, view=view, key=key, method="react", where=PostPlace.CHANNEL)


def post_about(debate: Debate, key: str, content: Content, method: str = "post") -> NewPost:
    """A post in a debate's thread that is not one of those its events bring about."""
    post = Post[Debate](
        on=Debate, view=lambda _: [content], key=lambda _, _part: key, method=method
    )
    return next(iter(post.posts(Occasion(debate=debate, event=debate, seq=debate.seq))))


def marked_content(debate: Debate, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is shown, with the note that it is an example where the debate is one.

    The note is in the blocks, for the eye, and in the text, for notifications and screen readers.
    """
    if not is_example(debate) or "text" not in content:
        return content
    payload: dict[str, Any] = dict(content)
    if EXAMPLE_NOTE not in payload["text"]:
        payload["text"] = f"{payload['text']}\n{EXAMPLE_NOTE}"
    blocks: list[Mapping[str, Any]] = payload.get("blocks", [])
    if blocks and EXAMPLE_NOTE not in str(blocks):
        payload["blocks"] = [*blocks, *map(dict, context(EXAMPLE_NOTE))]
    return payload
