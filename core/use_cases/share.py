"""Shares a debate as a page: creates, opens and revokes links.

A link is a capability: everybody who has it can read the debate until the link expires. It is
signed (HMAC-SHA256 with a key derived from the installation's secret), and valid only while the
debate has the grant in the link. Revoking the page or deleting the debate deletes the grant.
"""

import hmac
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from core.debate.state import Debate
from core.errors import BadInput, DebateUnknown
from core.ports import Clock
from core.use_cases.choices import ChannelChoicesStore
from core.use_cases.fact_log import DebateCache

#: Debate id, time of expiry in Unix seconds, grant, and signature.
_NAME = re.compile(r"(d[a-z2-7]{7})\.([0-9]{1,12})\.([0-9a-f]{16})\.([0-9a-f]{64})", re.ASCII)
#: Derives a key of its own from the installation's secret for this purpose.
_PURPOSE = b"links to pages of debates"
FORBIDDEN = (
    "This channel's settings forbid pages of its debates; nothing was shared. `/debate export ID` "
    "posts the report into the debate's thread instead."
)


class PageGrants(Protocol):
    """Stores which debates have pages. Every method may raise `StoreDown`."""

    async def grant(self, debate: Debate) -> str:
        """Return the debate's grant, 16 hexadecimal digits; create it if it has none."""
        ...

    async def grant_of(self, debate_id: str) -> str: ...

    async def withdraw(self, debate_id: str) -> bool:
        """Delete the debate's grant. Return whether it had one."""
        ...


@dataclass(frozen=True, kw_only=True)
class PageLink:
    address: str
    until: datetime


@dataclass(frozen=True, kw_only=True)
class SharedDebate:
    debate: Debate
    until: datetime


@dataclass(frozen=True, kw_only=True)
class ShareDebates:
    """Creates, opens and revokes links. Every method may raise `StoreDown`."""

    debates: DebateCache
    grants: PageGrants
    channels: ChannelChoicesStore
    clock: Clock
    #: The installation's secret.
    secret: bytes = field(repr=False)
    #: Base URL of the pages: "https://moot.example.com/pages".
    address: str
    #: How long a link is valid.
    holds: timedelta

    async def share(self, debate: Debate) -> PageLink:
        """Return a new link. The caller has checked that the person may see the debate."""
        if (await self.channels.get(debate.setup.place)).no_pages:
            raise BadInput(FORBIDDEN)
        until = (self.clock.now() + self.holds).astimezone(UTC).replace(microsecond=0)
        name = f"{debate.id}.{int(until.timestamp())}.{await self.grants.grant(debate)}"
        return PageLink(address=f"{self.address}/{name}.{self._signature(name)}", until=until)

    async def withdraw(self, debate: Debate) -> bool:
        """Revoke every link to the debate. Return whether there may have been one."""
        return await self.grants.withdraw(debate.id)

    async def open_link(self, name: str) -> SharedDebate | None:
        """Return the debate of a link. `name` is the last part of the link, an untrusted text.

        None for every reason: the link is forged, expired or revoked, the channel forbids pages
        now, or the debate is deleted.
        """
        match = _NAME.fullmatch(name)
        # A forged link causes no query, so that response times reveal nothing about debates.
        if not match or not hmac.compare_digest(self._signature(name.rpartition(".")[0]), match[4]):
            return None
        until = datetime.fromtimestamp(int(match[2]), UTC)
        if until <= self.clock.now() or await self.grants.grant_of(match[1]) != match[3]:
            return None
        try:
            debate = await self.debates.debate(match[1])
        except DebateUnknown:
            return None
        forbidden = (await self.channels.get(debate.setup.place)).no_pages
        return None if forbidden else SharedDebate(debate=debate, until=until)

    def _signature(self, name: str) -> str:
        key = hmac.digest(self.secret, _PURPOSE, "sha256")
        return hmac.digest(key, name.encode(), "sha256").hex()
