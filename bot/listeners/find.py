"""`/debate list`, `/debate search` and App Home: only what this person may see.

App Home is drawn when somebody opens it, and again when a debate they may see begins or ends.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackClientError

from bot.log import logger
from bot.presenter.sink import SLACK
from bot.queue.rows import Posts
from bot.running.keyed_tasks import KeyedTasks
from bot.slack.access import Accesses, SlackSilent
from bot.slack.clients import WorkspaceClients
from bot.slack.ids import board_key
from bot.slack.origins import value_at
from bot.slack.payloads import Command, Interaction
from bot.views.lists import (
    MOST_AT_HOME,
    MOST_LISTED,
    DebateRow,
    channel_list,
    home,
    own_list,
    row_text,
    search_list,
)
from bot.views.message import MessageView
from bot.views.notices import recalled
from core.calibration import calibration
from core.errors import LogBroken, MootError, reading
from core.models import Debate, Place
from core.ports import Clock
from core.use_cases.calibrate import CountOutcomes
from core.use_cases.find import FindDebates, FoundDebate
from core.use_cases.recall import SURE_FROM, RecalledDecision

_log = logger(__name__)

#: People of one workspace whose Home is redrawn: those who opened it last.
MOST_READERS = 50
#: Decisions of a person's channels that are counted for their Home, newest first.
MOST_COUNTED = 500
#: Seconds before each Home that is redrawn. Many events in that time are one, a new board has its
#: address by then, and a workspace's limit of about 50 questions a minute is kept:
#: https://docs.slack.dev/apis/web-api/rate-limits (tier 3, `users.conversations`).
PAUSE_SECONDS = 2.0
#: Seconds that the bot waits for a Home it is drawing when it stops.
_LAST_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class DebateLists:
    """Debates as Slack lists them, each with the address of its board."""

    find: FindDebates
    posts: Posts
    clients: WorkspaceClients
    #: Decisions are found by meaning, too: a model for embeddings is set up.
    by_meaning: bool = False

    async def listed(self, command: Command) -> MessageView:
        """Return the channel's debates; in a direct message those of all one's channels.

        Raises:
            BadInput: The person is not in the channel.
        """
        team, person = command.team_id, command.user_id
        if command.is_direct:
            return own_list(await self.rows(await self.find.everywhere(team, person, MOST_LISTED)))
        here = Place(surface=SLACK, workspace=team, channel=command.channel_id)
        return channel_list(await self.rows(await self.find.in_channel(here, person, MOST_LISTED)))

    async def found(self, command: Command, query: str) -> MessageView:
        """Return debates of one's channels that hold these words."""
        hits = await self.find.search(command.team_id, command.user_id, query, MOST_LISTED)
        return search_list(query, await self.rows(hits))

    async def recalled(self, decisions: Sequence[RecalledDecision]) -> MessageView:
        """Return the recalled decisions that the person may see."""
        rows = await self.rows(
            (FoundDebate(debate=decision.debate) for decision in decisions),
            lambda row: recalled([row], sure=True),
        )
        by_id = {decision.debate.id: decision for decision in decisions}
        is_sure = bool(rows) and by_id[rows[0].debate.id].likeness >= SURE_FROM
        return recalled(rows, sure=is_sure, by_meaning=self.by_meaning)

    async def rows(
        self, hits: Iterable[FoundDebate], show: Callable[[DebateRow], object] = row_text
    ) -> Sequence[DebateRow]:
        """Return debates with the addresses of their boards, as far as those are posted.

        Args:
            hits: Debates.
            show: Renders a row; debates that it cannot render are left out.
        """
        hits, rows = list(hits), list[DebateRow]()
        boards = await self.posts.rows_with_keys([board_key(hit.debate.id) for hit in hits])
        for hit in hits:
            board, address = boards.get(board_key(hit.debate.id)), ""
            if board and board.ts:
                place = hit.debate.setup.place
                team_url = (await self.clients.of(place.workspace)).identity.url
                address = f"{team_url}archives/{place.channel}/p{board.ts.replace('.', '')}"
            row = DebateRow(debate=hit.debate, address=address, excerpt=hit.excerpt)
            try:
                with reading(hit.debate.id):
                    show(row)
            except LogBroken as error:
                self.find.on_unreadable(hit.debate.id, error)
            else:
                rows.append(row)
        return rows


@dataclass
class HomeTab:
    """Everybody's Home, as long as this process lives; whoever comes later opens it anyway."""

    lists: DebateLists
    access: Accesses
    clients: WorkspaceClients
    clock: Clock
    outcomes: CountOutcomes
    #: Which models serve, in words.
    models: str = ""
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
            await self._publish(team, person, home([], unknown=True, models=self.models))
            return
        await self._draw(team, person, channels)

    def changed(self, debate: Debate) -> None:
        """Redraw every Home, soon, that shows this debate."""
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
        """Redraw one Home after another; who has news again meanwhile comes last."""
        news = self._news[team]
        while news:
            await self.clock.sleep(self.pause_seconds)
            person = next(iter(news))
            changed = news.pop(person)
            try:
                channels = await self.access.of(team).channels_of(person)
                if not channels.isdisjoint(changed):
                    await self._draw(team, person, channels)
            except MootError as error:
                _log.warning("Home not redrawn", reason=type(error).__name__)

    async def _draw(self, team: str, person: str, channels: Collection[str]) -> None:
        hits = await self.lists.find.newest(team, channels, MOST_AT_HOME)
        rows = await self.lists.rows(hits)
        cases = await self.outcomes.cases(team, channels, MOST_COUNTED)
        view = home(rows, models=self.models, turned_out=calibration(cases))
        await self._publish(team, person, view)

    async def _publish(self, team: str, person: str, view: Mapping[str, Any]) -> None:
        client = (await self.clients.of(team)).client
        try:
            await client.views_publish(user_id=person, view=dict(view))
        except (SlackClientError, ClientError, OSError) as error:
            _log.warning("Home not drawn", reason=type(error).__name__)


def register(app: AsyncApp, tab: HomeTab) -> None:
    """Listen to the opening of Home."""

    @app.event("app_home_opened")
    async def opened(body: dict[str, Any]) -> None:
        event = Interaction.model_validate(body)
        if value_at(body, "event", "tab") in {None, "home"}:  # the other one is "messages"
            await tab.opened(event.team_id, event.user_id)
