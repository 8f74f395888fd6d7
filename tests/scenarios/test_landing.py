"""Through Slack: a debate is accepted, its record lands in Git, and webhooks tell of it."""

import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession

from bot.landing.receivers import Receiver
from bot.listeners.answers import ADMINS_ONLY, NO_RECEIVERS
from bot.slack.ids import ActionId
from bot.testing import WAIT_SECONDS, BotSpec, Team, team_at_work
from core.clock import SystemClock
from tests.bot.landing.git_server import GitServer, running_git_server
from tests.bot.landing.test_repository import repository
from tests.bot.landing.test_webhooks import a_webhook, open_shop, receiver
from tests.scenarios.test_deciding import chosen_why, decide, ended


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[GitServer]:
    async with running_git_server(tmp_path) as server:
        yield server


def spec(*receivers: Receiver) -> BotSpec:
    return BotSpec(rounds=1, receivers=receivers)


async def post_with(team: Team, board: str, words: str) -> str:
    """Wait for a post of the thread that says this; return its text."""

    def match() -> str:
        texts = (str(reply["text"]) for reply in team.replies(board))
        return next((text for text in texts if words in text), "")

    return str(await team.workspace.wait_for(match, timeout=WAIT_SECONDS))


async def test_the_thread_says_where_an_accepted_decision_landed_and_webhooks_came(
    server: GitServer,
) -> None:
    async with open_shop() as shop:
        listener = receiver(a_webhook(shop.url), SystemClock())
        async with team_at_work(spec=spec(repository(server), listener)) as team:
            board, debate = await ended(team)
            await decide(team, board, ActionId.ACCEPT, chosen_why("We know it."))
            where = await post_with(team, board, "The decision record is")
            await team.workspace.wait_for(lambda: len(shop.taken) == 3, timeout=WAIT_SECONDS)
            mine = team.workspace.user("dana").id

    branch = f"moot/{debate.id}"
    assert f"branch `{branch}`" in where
    path = re.findall(r"`(docs/[^`]+)`", where)[0]
    assert "- Why: We know it." in server.show(f"{branch}:{path}")
    assert shop.types == ["debate.started", "debate.decided", "debate.accepted"]
    links = {message["data"]["link"] for message in shop.taken}
    assert [link for link in links if not link.endswith(board.replace(".", ""))] == []
    assert shop.taken[2]["data"]["decided_by"]["id"] == mine


async def test_who_accepted_is_told_why_the_record_is_not_there_and_admins_try_again(
    server: GitServer,
) -> None:
    wrong = replace(repository(server), token="another-token")
    async with team_at_work(spec=spec(wrong)) as team:
        board, debate = await ended(team)
        await decide(team, board, ActionId.ACCEPT)
        why = await post_with(team, board, "could not be saved")
        while not (await team.moot.landing.landings.backlog()).dead:
            await SystemClock().sleep(0.02)
        await team.type("doctor retry", user="alex")
        await team.type("doctor retry")
        text = team.ephemeral_texts()[-1]
        figures = await figures_of(team)

    assert text.startswith("1 landing sent again now.")
    assert team.ephemeral_texts("alex") == [ADMINS_ONLY]
    assert f"<@{team.workspace.user('dana').id}>" in why
    assert "refused the token in ADR_TOKEN" in why
    assert "Your decision itself is recorded." in why
    assert "another-token" not in str(team.thread(board))
    assert re.search(r'moot_landings_total\{outcome="dead"\} [12]\.0', figures)
    assert server.branches() == ["main"], debate.id


async def figures_of(team: Team) -> str:
    """Return what Prometheus reads."""
    figures = team.moot.figures
    assert figures
    async with ClientSession() as session, session.get(f"{figures.address}/metrics") as answer:
        return await answer.text()


async def test_where_nothing_is_sent_there_is_nothing_to_try_again() -> None:
    async with team_at_work(spec=spec()) as team:
        await team.type("doctor retry")
        assert team.ephemeral_texts()[-1] == NO_RECEIVERS
