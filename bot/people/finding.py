"""Finding debates: of a channel, of all one's channels, by words; never more than one may see."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from bot.commands import Commands
from bot.log import logger
from bot.slack.ids import board_key
from bot.store.posts import Posts
from bot.store.search import DebateWords
from core.errors import DebateUnknown, StoreDown, StoreError
from core.events import fold
from core.models import Debate
from core.ports import DebateFilter
from core.rules.formats.registry import format_of

_log = logger(__name__)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A debate to be listed."""

    debate: Debate
    #: Address of its board; empty as long as that is not posted.
    address: str = ""
    #: The words around what was looked for.
    excerpt: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Looks debates up. Every method may raise `StoreDown`."""

    commands: Commands
    words: DebateWords
    posts: Posts
    #: Returns a workspace's own address, with a slash at its end.
    team_url: Callable[[str], Awaitable[str]]

    async def newest(
        self, workspace: str, channels: Collection[str], limit: int
    ) -> Sequence[Found]:
        """Return the newest debates of these channels."""
        wanted = DebateFilter(workspace=workspace, channels=tuple(channels), limit=limit)
        entries = await self.commands.store.find(wanted) if channels else ()
        return await self._all((entry.debate_id, "") for entry in entries)

    async def search(
        self, workspace: str, channels: Collection[str], wanted: str, limit: int
    ) -> Sequence[Found]:
        """Return debates of these channels that hold all the words."""
        hits = await self.words.find(workspace, tuple(channels), wanted, limit)
        return await self._all((hit.debate_id, hit.excerpt) for hit in hits)

    async def _all(self, wanted: Iterable[tuple[str, str]]) -> Sequence[Found]:
        found = [await self._one(debate_id, excerpt) for debate_id, excerpt in wanted]
        return [one for one in found if one]

    async def _one(self, debate_id: str, excerpt: str) -> Found | None:
        try:
            debate = fold(await self.commands.store.events(debate_id))
            format_of(debate)  # one of a newer Moot cannot be shown
        except DebateUnknown:
            return None
        except StoreDown:
            raise
        except StoreError as error:  # broken, or of a newer Moot: the others are shown
            _log.warning("cannot show", debate=debate_id, reason=str(error))
            return None
        return Found(debate=debate, address=await self._address(debate), excerpt=excerpt)

    async def _address(self, debate: Debate) -> str:
        board = await self.posts.row_by_key(board_key(debate.id))
        if board is None or board.ts is None:
            return ""
        place = debate.setup.place
        team_url = await self.team_url(place.workspace)
        return f"{team_url}archives/{place.channel}/p{board.ts.replace('.', '')}"
