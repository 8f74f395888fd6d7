"""Debates as Slack lists them for a person: only what they may see."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.log import logger
from bot.presenter.sink import SLACK
from bot.queue.rows import Posts
from bot.slack.client import WorkspaceClients
from bot.slack.ids import board_key
from bot.slack.payloads import Command
from bot.views.lists import (
    MOST_LISTED,
    DebateRow,
    channel_list,
    own_list,
    row_text,
    search_list,
)
from bot.views.message import MessageView
from bot.views.notices import decision_matches
from core.debate.people import Place
from core.errors import LogBroken, reading
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
