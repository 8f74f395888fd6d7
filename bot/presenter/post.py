"""The declaration of a post: its event, its content and its place (pure)."""

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
#: The arguments of a Slack method: a message, or the arguments themselves.
Content = MessageView | Mapping[str, Any]


class PostPlace(Enum):
    #: The debate's own thread.
    THREAD = auto()
    #: The channel: the post begins a thread, or is about the message that does.
    CHANNEL = auto()
    #: The thread in which people asked for the debate, if any.
    ASKED = auto()
    #: The thread of the debate that this one continues from, if any.
    OLDER = auto()


@dataclass(frozen=True, kw_only=True)
class Occasion(Generic[E]):
    debate: Debate
    event: E
    #: The event's number in its debate.
    seq: int
    #: The log up to this event; empty if the caller did not read it.
    log: Sequence[RecordedEvent] = ()


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The input of a living post: the debate in its current state, and facts outside its log."""

    debate: Debate
    #: The post's key.
    key: str
    #: Whether debates can be shared as pages.
    pages: bool = False
    #: Warnings to show, as plain text.
    remarks: Sequence[str] = ()
    #: Whether the channel keeps boards pinned after the end.
    keep_pinned: bool = False
    #: Why the post's edition counts no more, as safe mrkdwn. `debate` is then the one before that.
    superseded: str = ""


def of_event(occasion: Occasion[Any], part: str | int) -> str:
    """The default key: the event's number and the part."""
    return event_key(occasion.debate.id, occasion.seq, part)


@dataclass(frozen=True, kw_only=True)
class Post(Generic[E]):
    """One kind of post. Exactly one of `view` and `shows` is given."""

    #: The event that causes it.
    on: type[E]
    #: For a post that never changes: its content, in zero or more parts.
    view: Callable[[Occasion[E]], Iterable[Content]] | None = None
    #: For a living post: its content, rendered again as the debate goes on.
    shows: Callable[[Scene], Content] | None = None
    #: The name of a living post. Stored in its row, so it must never change.
    name: str = ""
    #: Events after which the post is edited without delay, because a person waits for it.
    prompt: tuple[type[Any], ...] = ()
    #: Whether the post is for one edition of the debate, which its key names.
    of_edition: bool = False
    #: Whether this event causes it.
    when: Callable[[Occasion[E]], object] = lambda _: True
    #: Its key, for a part's number from 0.
    key: Callable[[Occasion[E], int], str] = of_event
    method: str = "post"
    where: PostPlace = PostPlace.THREAD
    #: Whether it is sent before posts of other debates in the channel: somebody waits for it.
    urgent: bool = False
    #: Whether the channel shows it, too.
    broadcast: bool = False
    #: The turn that sets its place in the reading order; None: it is sent at once.
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
        # The content of a living post is rendered when it is sent.
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
    """An emoji on the person's message that caused the event; nothing if it was not a message."""

    def view(occasion: Occasion[E]) -> Sequence[Content]:
        ts = note_ts(message(occasion.event))
        return [{"name": emoji, "target_ts": ts}] if ts else ()

    def key(occasion: Occasion[E], _part: int) -> str:
        return of_event(occasion, emoji)

    return Post(on=on, view=view, key=key, method="react", where=PostPlace.CHANNEL)


def post_about(debate: Debate, key: str, content: Content, method: str = "post") -> NewPost:
    """A post in a debate's thread outside the registry of posts."""
    post = Post[Debate](
        on=Debate, view=lambda _: [content], key=lambda _, _part: key, method=method
    )
    return next(iter(post.posts(Occasion(debate=debate, event=debate, seq=debate.seq))))


def marked_content(debate: Debate, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the note about written examples to the content, if the debate is one.

    It is in the blocks and in the text, which notifications and screen readers use.
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
