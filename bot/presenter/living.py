"""Makes what living posts show from the log of their debate, as it is when they are sent."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.presenter.post import Content, Scene, marked_content
from bot.presenter.posts import LIVING
from bot.queue.outgoing import RenderedPosts
from bot.queue.rows import PostRow, Posts
from bot.slack.ids import pin_key
from bot.store.records import ChannelSettings
from bot.views import notices
from bot.views.message import MessageView
from core.debate.log import fold
from core.debate.people_events import DebateWanted
from core.debate.state import Debate, Status
from core.use_cases.debate_cache import DebateCache, DebateLog


@dataclass
class LivingPosts:
    """Renders living posts; see `bot.queue.outgoing.Render`."""

    log: DebateLog
    #: Where it is seen whether the board could be pinned; None: nobody says so.
    rows: Posts | None = None
    #: What channels have set; None: nothing.
    channels: ChannelSettings | None = None
    #: Debates can be shared as pages.
    pages: bool = False
    _debates: DebateCache = field(init=False)

    def __post_init__(self) -> None:
        self._debates = DebateCache(self.log)

    async def render(self, rows: Sequence[PostRow]) -> RenderedPosts:
        debate = await self._debates.debate(rows[0].debate_id or "")
        contents = {row.key: await self._content(debate, row) for row in rows if row.post in LIVING}
        return RenderedPosts(seq=debate.seq, contents=contents)

    async def _content(self, debate: Debate, row: PostRow) -> Mapping[str, Any]:
        post = LIVING[row.post]
        scene = Scene(debate=debate, key=row.key, pages=self.pages)
        if post.of_edition and _edition_of(row.key) < debate.edition:
            scene = await self._before_wanted(scene)
        elif post.name == "board":
            scene = replace(scene, remarks=await self._remarks(debate))
        elif post.name == "pin" and self.channels and debate.status is Status.CONCLUDED:
            settings = await self.channels.get(debate.setup.place)
            scene = replace(scene, keep_pinned=settings.keep_pinned)
        view: Content = post.shows(scene) if post.shows else {}
        content = view.payload if isinstance(view, MessageView) else view
        return marked_content(debate, content)

    async def _before_wanted(self, scene: Scene) -> Scene:
        """The debate as it was when somebody wanted it to go on: this edition counts no more."""
        log = await self.log.events(scene.debate.id)
        entries = [recorded for recorded in log if isinstance(recorded.event, DebateWanted)]
        last = entries[_edition_of(scene.key) - 1]
        before = await asyncio.to_thread(fold, [entry for entry in log if entry.seq < last.seq])
        by = last.event.by if isinstance(last.event, DebateWanted) else before.setup.asked_by
        return replace(scene, debate=before, superseded=notices.superseded_note(by))

    async def _remarks(self, debate: Debate) -> Sequence[str]:
        pin = await self.rows.row_by_key(pin_key(debate.id)) if self.rows else None
        return [f"The board could not be pinned: {pin.error}"] if pin and pin.error else []


def _edition_of(key: str) -> int:
    last = key.rpartition("/")[2]
    return int(last) if last.isdecimal() else 1
