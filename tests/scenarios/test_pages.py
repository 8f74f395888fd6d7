"""A debate shared as a page: who may, what a link shows, and when it shows nothing."""

import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from bot.operations.backup import purge
from bot.settings import PageSettings
from bot.slack.ids import ActionId, FieldId
from bot.testing import BotSpec, Team, quick_workspace, running_bot, team_at_work
from core.debate.people import Place
from core.debate.turn import Act
from core.testing import ScriptedProvider
from core.use_cases.choices import ChannelChoices
from core.use_cases.share import ShareDebates
from slack_on_loopback import run_workspace

BASE = "https://moot.example.com/debates"
PAGES = PageSettings(base=BASE, holds=timedelta(days=14))
SPEC = BotSpec(rounds=1, pages=PAGES)
SHOWN = re.compile(rf"{BASE}(/pages/[\w.]+)")
#: One bot and one debate for most tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = "Kafka or PostgreSQL as our wombat queue?"


@dataclass(frozen=True)
class Answer:
    """What a browser was sent."""

    status: int
    text: str
    headers: Mapping[str, str]


async def fetched(team: Team, path: str) -> Answer:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{team.moot.http.address}{path}") as answer,
    ):
        return Answer(answer.status, await answer.text(), dict(answer.headers))


@dataclass(frozen=True)
class Ended:
    """A team, and the board of a debate of its that has ended."""

    team: Team
    board: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ended() -> AsyncGenerator[Ended]:
    async with team_at_work(spec=SPEC) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        yield Ended(team, board)


def path_in(words: str) -> str:
    match = SHOWN.search(words)
    assert match, words
    return match[1]


async def shared(team: Team, board: str) -> str:
    """Share the debate by typing; return the path of its page."""
    await team.type(f"export {team.debate_id(board)} page")
    return path_in(team.ephemeral_texts()[-1])


def sharing(team: Team) -> ShareDebates:
    assert team.moot.context.acts.share
    return team.moot.context.acts.share


async def test_the_button_below_the_verdict_makes_a_link_for_who_clicked_alone(
    ended: Ended,
) -> None:
    team, board = ended.team, ended.board
    before = len(team.thread(board)), len(team.workspace.messages(team.channel))
    await team.click(team.verdict(board), ActionId.SHARE_PAGE.value, user="alex")
    text = (await team.workspace.wait_for(lambda: team.ephemeral_texts("alex")))[-1]
    assert "Whoever has this link can read everything" in text
    assert "page off" in text
    assert (len(team.thread(board)), len(team.workspace.messages(team.channel))) == before
    answer = await fetched(team, path_in(text))
    assert answer.status == 200
    assert f"<h1>{QUESTION}</h1>" in answer.text


async def test_a_page_may_run_nothing_and_is_kept_by_nobody(ended: Ended) -> None:
    team, board = ended.team, ended.board
    answer = await fetched(team, await shared(team, board))
    style = await fetched(team, "/pages/page.css")
    assert await team.moot.health.report()
    policy = answer.headers["Content-Security-Policy"]
    directives = {
        "default-src 'none'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    }
    assert set(policy.split("; ")) == directives
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert not re.search(r"<script|<form|<img|<iframe| style=| on\w+=", answer.text)
    assert style.status == 200
    assert style.headers["Content-Type"].startswith("text/css")


async def test_a_link_that_is_not_ours_ended_or_was_taken_back_shows_the_same_nothing(
    ended: Ended,
) -> None:
    team, board = ended.team, ended.board
    debate_id = team.debate_id(board)
    path = await shared(team, board)
    name = path.removeprefix("/pages/")
    (_, until, grant, mark), share = name.split("."), sharing(team)
    debate = await team.moot.context.acts.find.visible(
        debate_id, person=team.workspace.user("dana").id, workspace=team.workspace.state.team_id
    )
    over = await replace(share, holds=timedelta(seconds=-1)).share(debate)
    foreign = await replace(share, secret=b"another installation's").share(debate)
    nothing = [
        "",
        "nonsense",
        "page.css/../x",
        f"{name}0",
        name.upper(),
        name[:-1],
        f"dzzzzzz2.{until}.{grant}.{mark}",
        f"{debate_id}.{int(until) + 1}.{grant}.{mark}",
        f"{debate_id}.{until}.{'0' * 16}.{mark}",
        f"{debate_id}.{until}.{grant}.{mark[::-1]}",
        over.address.rpartition("/")[2],
        foreign.address.rpartition("/")[2],
    ]
    answers = [await fetched(team, f"/pages/{path}") for path in nothing]
    assert (await fetched(team, path)).status == 200  # the link they were made from is good
    await team.type(f"export {debate_id} page off")
    assert "leads anywhere any more" in team.ephemeral_texts()[-1]
    answers.append(await fetched(team, path))
    again = await shared(team, board)
    assert (await fetched(team, again)).status == 200
    answers.append(await fetched(team, path))  # a new link does not bring an old one back
    assert {answer.status for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert "There is nothing to read here" in answers[0].text
    same = {
        tuple(sorted((k, v) for k, v in answer.headers.items() if k != "Date"))
        for answer in answers
    }
    assert len(same) == 1


async def test_a_channel_can_forbid_pages_and_ends_those_that_are_out(ended: Ended) -> None:
    team, board = ended.team, ended.board
    path = await shared(team, board)
    await team.type("settings")
    form = (await team.workspace.wait_for(lambda: team.workspace.views(team.user)))[-1]
    field = FieldId.NO_PAGES.value
    fields = {field: {field: {"selected_options": [{"value": "on"}]}}}
    await team.workspace.submit(team.user, form["id"], fields)
    await team.wait_until_sent()
    assert "no pages of debates" in team.workspace.messages(team.channel)[-1]["text"]
    assert (await fetched(team, path)).status == 404
    await team.type(f"export {team.debate_id(board)} page")
    assert "forbid pages" in team.ephemeral_texts()[-1]
    here = team.workspace.channel(team.channel).id
    place = Place(surface="slack", workspace=team.workspace.state.team_id, channel=here)
    await team.moot.context.records.channels.put(place, ChannelChoices())
    assert (await fetched(team, path)).status == 200


async def test_where_nobody_switched_pages_on_there_are_none() -> None:
    async with team_at_work(spec=replace(SPEC, pages=None)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        verdict = next(reply for reply in team.replies(board) if reply["ts"] == team.verdict(board))
        assert "Share a page" not in str(verdict["blocks"])
        await team.type(f"export {team.debate_id(board)} page")
        assert "whoever runs Moot has not switched that on" in team.ephemeral_texts()[-1]
        assert (await fetched(team, "/pages/page.css")).status == 404


async def test_a_mention_gets_no_link_because_what_it_is_told_is_kept(ended: Ended) -> None:
    team, board = ended.team, ended.board
    await team.say(f"@Moot export {team.debate_id(board)} page")
    refused = "A mention cannot do that"
    await team.workspace.wait_for(lambda: refused in team.ephemeral_texts()[-1])


async def test_while_it_runs_a_page_shows_how_far_the_debate_is() -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(spec=replace(SPEC, provider=models)) as team:
        board = await team.debate(QUESTION)
        path = await shared(team, board)
        early = await fetched(team, path)
        assert "None yet: the debate is running." in early.text
        models.let_go()
        await team.wait_for_end(board)
        assert "None yet" not in (await fetched(team, path)).text


async def test_links_end_with_the_app() -> None:
    async with team_at_work(spec=SPEC) as team:
        board = await team.debate(QUESTION)
        path = await shared(team, board)
        team.workspace.uninstall()
        while (await fetched(team, path)).status != 404:
            await team.moot.context.clock.sleep(0.02)


async def test_links_end_with_the_debate(tmp_path: Path) -> None:
    database = tmp_path / "moot.db"
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=SPEC) as team:
            path = await shared(team, await team.debate(QUESTION))
            assert (await fetched(team, path)).status == 200
        purged = await purge(str(database), workspace.state.team_id, None)
        assert purged.debates == 1
        async with running_bot(workspace, database=database, spec=SPEC) as team:
            assert (await fetched(team, path)).status == 404


async def test_who_ends_links_is_told_whether_there_was_a_page(ended: Ended) -> None:
    team, debate_id = ended.team, ended.team.debate_id(ended.board)
    await shared(team, ended.board)
    await team.type(f"export {debate_id} page off")
    assert "leads anywhere any more" in team.ephemeral_texts()[-1]

    await team.type(f"export {debate_id} page off")
    assert "has no page; nothing was changed" in team.ephemeral_texts()[-1]
