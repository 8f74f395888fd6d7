"""Where pages of debates are served: one folder, for reading only, never kept by anybody.

Sources: https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy and
https://owasp.org/www-project-secure-headers.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web

from bot.debate_page.page import STYLE, absent, page
from bot.log import logger
from core.errors import StoreError
from core.use_cases.share import SharedDebate, ShareDebates
from core.values import Recent

_log = logger(__name__)

#: The folder, below the address that is set.
FOLDER = "/pages"
_FOUND, _ABSENT, _CROWDED, _DOWN = 200, 404, 429, 503
#: Pages that are kept made: by debate, its newest event, and when the link ends.
_KEPT = 16
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_NOT_KEPT = {**HEADERS, "Cache-Control": "private, no-store"}
_LATER = "Moot's database does not answer. Try again in a minute."
#: Requests that are answered at once: of one debate's links, and of all.
MOST_OF_LINK, _MOST_OF_ALL = 5, 40
_TOO_MANY = "Too many are reading right now. Try again in a few seconds."


@dataclass
class PageRoutes:
    """Shows debates to whoever has a link."""

    share: ShareDebates
    _made: Recent[tuple[str, int, datetime], str] = field(
        default_factory=lambda: Recent[tuple[str, int, datetime], str](_KEPT), init=False
    )
    #: One page is made at a time, beside what else the process does.
    _making: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    #: Requests that are being answered, by debate.
    _reading: Counter[str] = field(default_factory=Counter[str], init=False)

    def add_to(self, application: web.Application) -> None:
        application.router.add_get(f"{FOLDER}/page.css", self._style)
        application.router.add_get(f"{FOLDER}/{{name:.*}}", self._page)

    async def _style(self, request: web.Request) -> web.Response:
        del request
        headers = {**HEADERS, "Cache-Control": "public, max-age=300"}
        return web.Response(text=STYLE, content_type="text/css", headers=headers)

    async def _page(self, request: web.Request) -> web.Response:
        """The page, or the same words whatever the reason is that there is none."""
        name = request.match_info["name"]
        # All links to a debate count as one; what is no link of ours is answered without a wait.
        debate_id = name.partition(".")[0]
        if self._reading[debate_id] >= MOST_OF_LINK or self._reading.total() >= _MOST_OF_ALL:
            headers = {**_NOT_KEPT, "Retry-After": "5"}
            return web.Response(text=_TOO_MANY, status=_CROWDED, headers=headers)
        self._reading[debate_id] += 1
        try:
            shared = await self.share.open_link(name)
            html = await self._html(shared) if shared else absent()
        except StoreError as error:
            _log.warning("page not shown", reason=type(error).__name__)
            return web.Response(text=_LATER, status=_DOWN, headers=_NOT_KEPT)
        finally:
            self._reading[debate_id] -= 1
            self._reading += Counter()  # forgets debates that nobody reads
        return web.Response(
            text=html,
            status=_FOUND if shared else _ABSENT,
            content_type="text/html",
            headers=_NOT_KEPT,
        )

    async def _html(self, shared: SharedDebate) -> str:
        key = (shared.debate.id, shared.debate.seq, shared.until)
        async with self._making:
            document = self._made.get(key)
            document = document or await asyncio.to_thread(page, shared.debate, shared.until)
            self._made[key] = document
            return document
