"""Fetches linked pages, from allowed hosts with public addresses only.

A name is resolved once, all its addresses must be public, and only these are called, so that a name
that changes between two look-ups (DNS rebinding) does no harm. Redirects are followed one by one,
and each target is checked like the first address.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from bot.addresses import Ip, is_public
from core.debate.evidence import SourceReference, SourceText
from core.debate.people import Place
from core.errors import BadInput
from core.evidence.reading import FetchedFile
from core.figures import size

_MOST_REDIRECTS = 5
_SECONDS = 30.0
_CHUNK = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OK = 200
_AWAY = "the page cannot be reached"
_SIGN_IN = re.compile(r"/(?:log-?in|sign-?in|sso|saml\d?|oauth\d?)(?=[/?.]|$)", re.IGNORECASE)
#: Pages of code hosts that show a file, and the address of the file itself.
_VIEWERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"https://github\.com/([^/?#]+/[^/?#]+)/(?:blob|raw)/([^?#]+)"),
        r"https://raw.githubusercontent.com/\1/\2",
    ),
    (re.compile(r"(https://[^/?#\s]{1,200}/[^?#\s]{1,300})/-/blob/([^?#]+)"), r"\1/-/raw/\2"),
    (re.compile(r"(https://bitbucket\.org/[^/?#]+/[^/?#]+)/src/([^?#]+)"), r"\1/raw/\2"),
    (re.compile(r"(https://codeberg\.org/[^/?#]+/[^/?#]+)/src/([^?#]+)"), r"\1/raw/\2"),
)
#: Host → the host whose permission it shares.
_PARENT_HOSTS = {"raw.githubusercontent.com": "github.com"}


def is_allowed(host: str, hosts: Sequence[str]) -> bool:
    """Return whether a host is one of these; `*.example.com` is every host below it."""
    name = host.casefold().rstrip(".")
    if name in _PARENT_HOSTS and is_allowed(_PARENT_HOSTS[name], hosts):
        return True
    patterns = (host.casefold().rstrip(".") for host in hosts)
    return any(
        name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern
        for pattern in patterns
    )


def raw_address(address: str) -> str:
    """The address of the file that a page of a code host shows; other addresses unchanged."""
    for viewer, raw in _VIEWERS:
        if match := viewer.match(address):
            return match.expand(raw)
    return address


class FetchLinks:
    """Fetches sources that are links."""

    def __init__(self, hosts: Sequence[str], *, may_call: Callable[[Ip], bool] = is_public) -> None:
        self._hosts = hosts
        self._may_call = may_call

    async def __call__(
        self, reference: SourceReference, _place: Place, most_bytes: int, /
    ) -> FetchedFile | SourceText:
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with guarded_session(self._may_call, timeout=timeout) as session:
            try:
                return await self._follow(session, reference.fetch, most_bytes)
            except TimeoutError:
                raise BadInput("the page was not loaded in time") from None
            except (aiohttp.ClientError, OSError, ValueError):
                raise BadInput(_AWAY) from None

    async def _follow(
        self, session: aiohttp.ClientSession, address: str, most_bytes: int
    ) -> FetchedFile:
        address, first = raw_address(address), urlsplit(address).path
        for _ in range(_MOST_REDIRECTS + 1):
            self._check(address)
            if _SIGN_IN.search(urlsplit(address).path) and not _SIGN_IN.search(first):
                raise BadInput("the page needs a sign-in; paste what it says, or attach it")
            async with session.get(address, allow_redirects=False) as response:
                if response.status in _REDIRECTS:
                    address = urljoin(address, response.headers.get("Location", ""))
                    continue
                if response.status != _OK:
                    raise BadInput(f"the page answers with the code {response.status}")
                return FetchedFile(
                    content=await body_within(response, most_bytes),
                    name=urlsplit(address).path.rpartition("/")[2],
                    media_type=response.headers.get("Content-Type", ""),
                )
        raise BadInput("it has too many redirects")

    def _check(self, address: str) -> None:
        try:
            parts = urlsplit(address)
            host = (parts.hostname or "").casefold().rstrip(".")
            parts.port  # noqa: B018 - raises if it is not a number
        except ValueError:
            raise BadInput("it is not an address") from None
        if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
            raise BadInput("it is not the address of a page")
        if not is_allowed(host, self._hosts):
            raise BadInput(f"pages of {host} are not read; an administrator can allow the host")
        # An IP address is not resolved, so it is checked here.
        with suppress(ValueError):
            if not self._may_call(ipaddress.ip_address(host.strip("[]"))):
                raise BadInput("its address is not public")


def guarded_session(may_call: Callable[[Ip], bool], **options: Any) -> aiohttp.ClientSession:
    """Return an HTTP session for addresses that people name: pages and webhooks.

    It uses no cookies, proxies or passwords of this machine.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            resolver=GuardedResolver(may_call), use_dns_cache=False, force_close=True
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        **options,
    )


async def body_within(response: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        content += chunk
        if len(content) > most_bytes:  # does not rely on Content-Length
            raise BadInput(f"it has more than {size(most_bytes)}")
    return bytes(content)


class GuardedResolver(AbstractResolver):
    """Resolves names; refuses a name with an address that may not be called."""

    def __init__(self, may_call: Callable[[Ip], bool]) -> None:
        self._may_call = may_call

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        entries = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, family=family
        )
        addresses = {str(sockaddr[0]): kind for kind, _, _, _, sockaddr in entries}
        if not all(
            self._may_call(ipaddress.ip_address(address.partition("%")[0])) for address in addresses
        ):
            raise BadInput("its address is not public")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=kind,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address, kind in addresses.items()
        ]

    async def close(self) -> None:
        """Do nothing: there are no resources."""
