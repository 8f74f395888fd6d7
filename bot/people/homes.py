"""App Home: drawn when somebody opens it, and anew when a debate they may see begins or ends."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackClientError

from bot.log import logger
from bot.people.finding import Finding
from bot.running.keyed_tasks import KeyedTasks
from bot.slack.access import Accesses, SlackSilent
from bot.slack.clients import WorkspaceClients
from bot.views.lists import MOST_AT_HOME, Row, home
from core.errors import MootError
from core.models import Debate
from core.ports import Clock

_log = logger(__name__)

#: People of one workspace whose Home is drawn anew: those who opened it last.
MOST_READERS = 50
#: Seconds before each Home that is drawn anew. Many events in that time are one, a new board has
#: its address by then, and a workspace's limit of about 50 questions a minute is kept:
#: https://docs.slack.dev/apis/web-api/rate-limits (tier 3, `users.conversations`).
PAUSE_SECONDS = 2.0
#: Seconds that the bot waits for a Home it is drawing when it stops.
_LAST_SECONDS = 1.0


@dataclass
class Homes:
    """Everybody's Home, as long as this process lives; whoever comes later opens it anyway."""

    finding: Finding
    access: Accesses
    seats: WorkspaceClients
    clock: Clock
    pause_seconds: float = PAUSE_SECONDS
    #: By workspace: who opened Home, the latest last.
    _readers: dict[str, dict[str, None]] = field(
        default_factory=dict[str, dict[str, None]], init=False
    )
    #: By workspace: people who have not seen what is new yet, and in which channels that is.
    _news: dict[str, dict[str, set[str]]] = field(
        default_factory=dict[str, dict[str, set[str]]], init=False
    )

    def __post_init__(self) -> None:
        """Begin with nobody."""
        self._drawing = KeyedTasks(self._draw_news)

    async def opened(self, team: str, person: str) -> None:
        """Draw the Home of who opened it, and remember them.

        Raises:
            StoreDown: The database does not answer.
        """
        readers = self._readers.setdefault(team, {})
        readers.pop(person, None)
        readers[person] = None
        if len(readers) > MOST_READERS:
            del readers[next(iter(readers))]
        try:
            channels = await self.access.of(team).channels_of(person)
        except SlackSilent:
            await self._publish(team, person, home([], unknown=True))
            return
        await self._draw(team, person, channels)

    def changed(self, debate: Debate) -> None:
        """Draw every Home anew, soon, that shows this debate."""
        place = debate.setup.place
        news = self._news.setdefault(place.workspace, {})
        for person in self._readers.get(place.workspace, ()):
            news.setdefault(person, set()).add(place.channel)
        if news:
            self._drawing.wake(place.workspace)

    async def close(self) -> None:
        """Draw nothing any more."""
        await self._drawing.close(_LAST_SECONDS)

    async def _draw_news(self, team: str) -> None:
        """One Home after another; who has news again meanwhile comes last."""
        news = self._news[team]
        while news:
            await self.clock.sleep(self.pause_seconds)
            person = next(iter(news))
            await self._draw_again(team, person, news.pop(person))

    async def _draw_again(self, team: str, person: str, changed: Collection[str]) -> None:
        try:
            channels = await self.access.of(team).channels_of(person)
            if not channels.isdisjoint(changed):
                await self._draw(team, person, channels)
        except MootError as error:
            _log.warning("Home not drawn anew", reason=type(error).__name__)

    async def _draw(self, team: str, person: str, channels: Collection[str]) -> None:
        found = await self.finding.newest(team, channels, MOST_AT_HOME)
        view = home([Row(one.debate, one.address, one.excerpt) for one in found])
        await self._publish(team, person, view)

    async def _publish(self, team: str, person: str, view: Mapping[str, Any]) -> None:
        client = (await self.seats.of(team)).client
        try:
            await client.views_publish(user_id=person, view=dict(view))
        except (SlackClientError, ClientError, OSError) as error:
            _log.warning("Home not drawn", reason=type(error).__name__)
