"""`/debate list`, `/debate search` and App Home: only what this person may see."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import ClientError
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackClientError

from bot.log import logger
from bot.presenter.sink import SLACK
from bot.queue.rows import Posts
from bot.slack.access import Accesses, SlackSilent
from bot.slack.client import WorkspaceClients
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
from bot.views.notices import decision_matches
from core.calibration import calibration
from core.debate.people import Place
from core.errors import LogBroken, reading
from core.use_cases.calibrate import CountOutcomes
from core.use_cases.find import FindDebates, FoundDebate
from core.use_cases.recall import SURE_FROM, RecalledDecision

_log = logger(__name__)

#: Decisions of a person's channels that are counted for their Home, newest first.
MOST_COUNTED = 500


@dataclass(frozen=True, kw_only=True)
class DebateLists:
    """Debates as Slack lists them, each with the address of its board."""

    find: FindDebates
    posts: Posts
    clients: WorkspaceClients
    #: Decisions are found by meaning, too: a model for embeddings is set up.
    by_meaning: bool = False

    async def debate_list(self, command: Command) -> MessageView:
        team, person = command.team_id, command.user_id
        if command.is_direct:
            return own_list(await self.rows(await self.find.everywhere(team, person, MOST_LISTED)))
        here = Place(surface=SLACK, workspace=team, channel=command.channel_id)
        return channel_list(await self.rows(await self.find.in_channel(here, person, MOST_LISTED)))

    async def search_results(self, command: Command, query: str) -> MessageView:
        hits = await self.find.search(command.team_id, command.user_id, query, MOST_LISTED)
        return search_list(query, await self.rows(hits))

    async def recalled_decisions(self, decisions: Sequence[RecalledDecision]) -> MessageView:
        rows = await self.rows(
            (FoundDebate(debate=decision.debate) for decision in decisions),
            lambda row: decision_matches([row], sure=True),
        )
        by_id = {decision.debate.id: decision for decision in decisions}
        is_sure = bool(rows) and by_id[rows[0].debate.id].likeness >= SURE_FROM
        return decision_matches(rows, sure=is_sure, by_meaning=self.by_meaning)

    async def rows(
        self, hits: Iterable[FoundDebate], show: Callable[[DebateRow], object] = row_text
    ) -> Sequence[DebateRow]:
        """Return debates with the addresses of their boards, as far as those are posted.

        Those that `show` cannot render are left out.
        """
        hits, rows = list(hits), list[DebateRow]()
        boards = await self.posts.rows_with_keys([board_key(hit.debate.id) for hit in hits])
        for hit in hits:
            board, address = boards.get(board_key(hit.debate.id)), ""
            if board and board.ts:
                place = hit.debate.setup.place
                workspace = await self.clients.of(place.workspace)
                address = workspace.identity.link_to(place.channel, board.ts)
            row = DebateRow(debate=hit.debate, address=address, excerpt=hit.excerpt)
            try:
                with reading(hit.debate.id):
                    show(row)
            except LogBroken as error:
                self.find.on_unreadable(hit.debate.id, error)
            else:
                rows.append(row)
        return rows


@dataclass(frozen=True, kw_only=True)
class HomeTab:
    """Draws Home for who opens it."""

    lists: DebateLists
    access: Accesses
    clients: WorkspaceClients
    outcomes: CountOutcomes
    #: Which models serve, in words.
    models: str = ""

    async def draw(self, team: str, person: str) -> None:
        try:
            channels = await self.access.channels_of(person, team)
        except SlackSilent:
            await self._publish(team, person, home([], unknown=True, models=self.models))
            return
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
    @app.event("app_home_opened")
    async def opened(body: dict[str, Any]) -> None:
        event = Interaction.model_validate(body)
        if value_at(body, "event", "tab") in {None, "home"}:  # the other one is "messages"
            await tab.draw(event.team_id, event.user_id)
