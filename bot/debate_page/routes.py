"""HTTP routes of debate pages: read-only, and not stored by browsers or proxies.

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

#: The path of all pages, below the address in the settings.
FOLDER = "/pages"
_FOUND, _ABSENT, _CROWDED, _DOWN = 200, 404, 429, 503
#: Number of rendered pages in the cache.
_CACHED_PAGES = 16
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAGE_HEADERS = {**HEADERS, "Cache-Control": "private, no-store"}
_LATER = "Moot's database does not answer. Try again in a minute."
#: Concurrent requests for one debate, and for all debates.
MOST_OF_LINK, _MOST_OF_ALL = 5, 40
_TOO_MANY = "Too many people are reading this now. Try again in a few seconds."


@dataclass
class PageRoutes:
    """Serves the pages of debates to anybody with a link."""

    share: ShareDebates
    #: By debate, its newest event, and the end of the link's validity.
    _pages: Recent[tuple[str, int, datetime], str] = field(
        default_factory=lambda: Recent[tuple[str, int, datetime], str](_CACHED_PAGES), init=False
    )
    #: Pages are rendered one at a time, in a thread.
    _rendering: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    #: Number of current requests, by debate.
    _requests: Counter[str] = field(default_factory=Counter[str], init=False)

    def add_to(self, application: web.Application) -> None:
        application.router.add_get(f"{FOLDER}/page.css", self._style)
        application.router.add_get(f"{FOLDER}/{{name:.*}}", self._page)

    async def _style(self, request: web.Request) -> web.Response:
        del request
        headers = {**HEADERS, "Cache-Control": "public, max-age=300"}
        return web.Response(text=STYLE, content_type="text/css", headers=headers)

    async def _page(self, request: web.Request) -> web.Response:
        """The page, or the same text for every invalid link."""
        name = request.match_info["name"]
        # All links to a debate share a limit.
        debate_id = name.partition(".")[0]
        if self._requests[debate_id] >= MOST_OF_LINK or self._requests.total() >= _MOST_OF_ALL:
            headers = {**_PAGE_HEADERS, "Retry-After": "5"}
            return web.Response(text=_TOO_MANY, status=_CROWDED, headers=headers)
        self._requests[debate_id] += 1
        try:
            shared_debate = await self.share.open_link(name)
            html = await self._html(shared_debate) if shared_debate else absent()
        except StoreError as error:
            _log.warning("page not shown", reason=type(error).__name__)
            return web.Response(text=_LATER, status=_DOWN, headers=_PAGE_HEADERS)
        finally:
            self._requests[debate_id] -= 1
            self._requests += Counter()  # removes zero counts
        return web.Response(
            text=html,
            status=_FOUND if shared_debate else _ABSENT,
            content_type="text/html",
            headers=_PAGE_HEADERS,
        )

    async def _html(self, shared_debate: SharedDebate) -> str:
        debate, until = shared_debate.debate, shared_debate.until
        key = (debate.id, debate.seq, until)
        async with self._rendering:
            document = self._pages.get(key)
            document = document or await asyncio.to_thread(page, debate, until)
            self._pages[key] = document
            return document
