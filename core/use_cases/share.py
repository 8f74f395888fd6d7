"""Sharing a debate as a page: a link is made, opened and taken back.

The link is a capability: whoever has it reads the debate until it ends. It cannot be made up
(HMAC-SHA256 with a key made from the installation's secret), and holds only while the debate has
the grant that it names: taking the page back, or deleting the debate, deletes that.
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

#: Debate, the second in which it ends, the grant, and what shows that all of it is ours.
_NAME = re.compile(r"(d[a-z2-7]{7})\.([0-9]{1,12})\.([0-9a-f]{16})\.([0-9a-f]{64})", re.ASCII)
#: What the installation's secret is used for here, and nowhere else.
_PURPOSE = b"links to pages of debates"
FORBIDDEN = (
    "This channel's settings forbid pages of its debates; nothing was shared. `/debate export ID` "
    "posts the report into the debate's thread instead."
)


class PageGrants(Protocol):
    """Keeps which debates have pages. Every method may raise `StoreDown`."""

    async def grant(self, debate: Debate) -> str:
        """The debate's grant, 16 hexadecimal digits; made if it has none."""
        ...

    async def grant_of(self, debate_id: str) -> str: ...

    async def withdraw(self, debate_id: str) -> bool:
        """Delete the debate's grant; whether it had one."""
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
    """Makes, opens and takes back links. Every method may raise `StoreDown`."""

    debates: DebateCache
    grants: PageGrants
    channels: ChannelChoicesStore
    clock: Clock
    #: The installation's.
    secret: bytes = field(repr=False)
    #: Folder of the pages as browsers find it: "https://moot.example.com/pages".
    address: str
    #: How long a link holds.
    holds: timedelta

    async def share(self, debate: Debate) -> PageLink:
        """Return a new link; the caller has made sure that the person may see the debate."""
        if (await self.channels.get(debate.setup.place)).no_pages:
            raise BadInput(FORBIDDEN)
        until = (self.clock.now() + self.holds).astimezone(UTC).replace(microsecond=0)
        signed = f"{debate.id}.{int(until.timestamp())}.{await self.grants.grant(debate)}"
        return PageLink(address=f"{self.address}/{signed}.{self._mark(signed)}", until=until)

    async def withdraw(self, debate: Debate) -> bool:
        """Let every link to the debate end; whether there may have been one."""
        return await self.grants.withdraw(debate.id)

    async def open_link(self, name: str) -> SharedDebate | None:
        """Return the debate behind a link; `name` is the end of the link, anything at all.

        None, whatever the reason: no such link was made, it ended or was taken back, the channel
        forbids pages by now, or the debate is not there any more.
        """
        match = _NAME.fullmatch(name)
        # What is not ours costs no look into the database, and so tells nothing of what is there.
        if not match or not hmac.compare_digest(self._mark(name.rpartition(".")[0]), match[4]):
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

    def _mark(self, signed: str) -> str:
        key = hmac.digest(self.secret, _PURPOSE, "sha256")
        return hmac.digest(key, signed.encode(), "sha256").hex()
