"""Many workspaces: installation by OAuth, separation, and removal."""

import json
import re
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

import aiohttp
import pytest
from cryptography.fernet import Fernet

from bot.app import Moot, running
from bot.settings import OAuthAccess, SlackAccess
from bot.slack.ids import ActionId
from bot.testing import BotSpec, Team, quick_workspace
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import ConfigurationBroken
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from slack_on_loopback import (
    OAuthApp,
    OAuthServer,
    PersonRefusal,
    WorkspaceConfig,
    run_oauth_server,
)
from tests.free_port import free_port

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
SECRET = "0123456789abcdef0123456789abcdef"
KEY, NEWER_KEY = Fernet.generate_key().decode(), Fernet.generate_key().decode()


def a_workspace(name: str, **changes: str | bool) -> WorkspaceConfig:
    base = quick_workspace()
    settings = {**base.manifest["settings"], "socket_mode_enabled": False}
    return replace(
        base,
        team_name=name,
        team_id=f"T0{name.upper()}",
        signing_secret=SECRET,
        manifest={**base.manifest, "settings": settings},
        **changes,
    )


@dataclass
class Hall:
    """Several workspaces and the bot that serves them."""

    oauth_server: OAuthServer
    moot: Moot

    def team(self, number: int = 0) -> Team:
        return Team(workspace=self.oauth_server.workspaces[number], moot=self.moot)

    async def install(self, number: int = 0) -> tuple[int, str]:
        """Install the app like a browser; return status and text of the last page."""
        back, cookie = await self.allow(number)
        return await get(back, cookie)

    async def allow(self, number: int = 0) -> tuple[str, str]:
        """Install the app up to Slack's redirect; return the redirect's address and our cookie."""
        async with aiohttp.ClientSession() as browser:
            async with browser.get(f"{self.moot.http.address}/slack/install") as page:
                cookie = page.headers["Set-Cookie"].partition(";")[0]
                to_slack = link_in(await page.text(), 0)
            async with browser.get(to_slack) as page:
                path = link_in(await page.text(), number)
            url = f"{self.oauth_server.url}{path}"
            async with browser.get(url, allow_redirects=False) as answer:
                return answer.headers["Location"], cookie

    async def connect(self, number: int = 0) -> Team:
        """Install the app in a workspace and let it send its requests."""
        status, page = await self.install(number)
        assert status == 200, page
        team = self.team(number)
        assert await team.workspace.use_http(f"{self.moot.http.address}/slack/events")
        return team


def forge(team: Team, board: str, debate_id: str, other_id: str) -> None:
    """Replace the debate's id in a board's buttons."""
    channel = team.workspace.channel(team.channel)
    message = channel.messages[board]
    message["blocks"] = json.loads(json.dumps(message["blocks"]).replace(debate_id, other_id))


def link_in(page: str, number: int) -> str:
    return unescape(re.findall(r"<a[^>]*href=\"([^\"]+)\"", page)[number])


async def get(url: str, cookie: str = "") -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as browser,
        browser.get(url, headers={"Cookie": cookie}) as answer,
    ):
        return answer.status, await answer.text()


def access(oauth_server: OAuthServer, port: int, keys: tuple[str, ...] = (KEY,)) -> SlackAccess:
    oauth = OAuthAccess(
        client_id=oauth_server.app.client_id,
        client_secret=oauth_server.app.client_secret,
        token_keys=keys,
        public_url=f"http://127.0.0.1:{port}",
    )
    return SlackAccess(signing_secret=SECRET, api_url=oauth_server.api_url, oauth=oauth)


@asynccontextmanager
async def bot_of(
    oauth_server: OAuthServer,
    database: Path | str,
    keys: tuple[str, ...] = (KEY,),
    spec: BotSpec | None = None,
) -> AsyncGenerator[Hall]:
    port = free_port()
    parts = (spec or BotSpec()).parts(oauth_server.workspaces[0], database)
    async with running(
        replace(
            parts,
            slack=access(oauth_server, port, keys),
            environment=parts.environment.model_copy(update={"moot_port": port}),
        )
    ) as moot:
        for workspace in oauth_server.workspaces:
            await workspace.use_http(f"{moot.http.address}/slack/events")
        yield Hall(oauth_server, moot)


@pytest.fixture
async def oauth_server() -> AsyncGenerator[OAuthServer]:
    async with run_oauth_server(a_workspace("Riverside"), a_workspace("Lakeside")) as server:
        yield server


@pytest.fixture
async def hall(oauth_server: OAuthServer, tmp_path: Path) -> AsyncGenerator[Hall]:
    async with bot_of(oauth_server, tmp_path / "moot.db") as hall:
        yield hall


def stored(database: Path) -> bytes:
    """Everything in the database's files."""
    return b"".join(path.read_bytes() for path in sorted(database.parent.glob("moot.db*")))


async def test_two_workspaces_debate_side_by_side_and_see_nothing_of_each_other(hall: Hall):
    riverside, two = await hall.connect(0), await hall.connect(1)
    board, other = await riverside.debate(QUESTION), await two.debate("Tabs or spaces?")
    first, second = await riverside.wait_for_end(board), await two.wait_for_end(other)

    assert (first.status, second.status) == (Status.CONCLUDED, Status.CONCLUDED)
    assert first.setup.place.workspace != second.setup.place.workspace
    for typed in (f"show {first.id}", f"stop {first.id}", "list", "search queue"):
        await two.type(typed)
        assert "job queue" not in two.ephemeral_texts()[-1]
    await riverside.type(f"show {first.id}")
    assert "job queue" in riverside.ephemeral_texts()[-1]
    await two.workspace.open_home("dana")
    home = await two.workspace.wait_for(lambda: two.workspace.home("dana"))
    assert "Tabs or spaces" in str(home)
    assert "job queue" not in str(home)


async def test_a_button_that_names_another_workspaces_debate_does_nothing(hall: Hall):
    riverside, two = await hall.connect(0), await hall.connect(1)
    debate = await riverside.wait_for_end(await riverside.debate(QUESTION))
    before = await hall.moot.store.events(debate.id)
    other = await two.debate("Tabs or spaces?")
    theirs = await two.wait_for_end(other)
    forge(two, two.verdict(other), theirs.id, debate.id)
    await two.click(two.verdict(other), ActionId.ACCEPT.value)

    await two.workspace.wait_for(
        lambda: two.ephemeral_texts() and debate.id in two.ephemeral_texts()[-1]
    )
    assert await hall.moot.store.events(debate.id) == before


async def test_a_state_is_good_for_one_browser_and_one_use(hall: Hall):
    back, cookie = await hall.allow()
    stranger = await get(back)
    first = await get(back, cookie)
    again = await get(back, cookie)

    assert (stranger[0], first[0], again[0]) == (400, 200, 401)


async def test_a_person_who_says_no_and_a_wrong_code_install_nothing(hall: Hall):
    refused = await get(f"{hall.moot.http.address}/slack/oauth_redirect?error=access_denied")
    back, cookie = await hall.allow()
    wrong = await get(re.sub(r"code=\w+", "code=made-up", back), cookie)

    assert "access_denied" in refused[1]
    assert wrong[0] == 401
    await hall.team().workspace.command("dana", "architecture", "/debate", QUESTION)
    assert not await hall.moot.store.find(_all())


async def test_tokens_are_not_readable_in_the_database(hall: Hall, tmp_path: Path):
    team = await hall.connect()
    content = stored(tmp_path / "moot.db")

    assert team.workspace.bot_token.encode() not in content
    assert hall.oauth_server.app.client_secret.encode() not in content


@pytest.mark.slow
async def test_debates_of_every_workspace_go_on_after_a_restart_with_a_new_key_in_front(
    oauth_server: OAuthServer, tmp_path: Path
):
    database = tmp_path / "moot.db"
    async with bot_of(oauth_server, database) as hall:
        riverside, two = await hall.connect(0), await hall.connect(1)
        boards = [await riverside.debate(QUESTION), await two.debate("Tabs or spaces?")]
    async with bot_of(oauth_server, database, (NEWER_KEY, KEY)) as hall:
        ended = [await hall.team(n).wait_for_end(board) for n, board in enumerate(boards)]

    assert [debate.status for debate in ended] == [Status.CONCLUDED] * 2
    async with bot_of(oauth_server, database, (NEWER_KEY,)) as hall:  # without the old key
        team = hall.team()
        debate = await team.wait_for_end(await team.debate("Go or Rust?"))
    assert debate.status is Status.CONCLUDED


async def test_a_database_without_its_key_is_of_no_use(oauth_server: OAuthServer, tmp_path: Path):
    database = tmp_path / "moot.db"
    async with bot_of(oauth_server, database) as hall:
        await hall.connect()
    async with bot_of(oauth_server, database, (NEWER_KEY,)) as hall:
        with pytest.raises(PersonRefusal):  # not acknowledged: Slack sends events again
            await oauth_server.workspaces[0].command("dana", "architecture", "/debate", "help")
        assert not await hall.moot.store.find(_all())


@pytest.mark.slow
async def test_what_people_do_first_after_a_restart_is_taken_though_slack_says_nothing(
    oauth_server: OAuthServer, tmp_path: Path
):
    database, models = tmp_path / "moot.db", ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models)
    async with bot_of(oauth_server, database, spec=spec) as hall:
        board = await (await hall.connect()).debate(QUESTION)
    async with bot_of(oauth_server, database, spec=spec) as hall:
        team = hall.team()
        team.workspace.faults.server_error("auth.test", times=None)
        await team.say("Two people only.", board)
        await team.type("Go or Rust?")
        team.workspace.faults.clear()
        debate = await team.wait_for_log(board, lambda debate: debate.notes)
        assert [note.text for note in debate.notes] == ["Two people only."]
        models.let_go()
        await team.wait_for_end(board)
        assert len(await hall.moot.store.find(_all())) == 2
        assert not any("reinstall" in words for words in team.ephemeral_texts())


@pytest.mark.slow
async def test_removal_ends_what_runs_and_deletes_the_tokens_of_that_workspace_only(
    hall: Hall, tmp_path: Path
):
    riverside, two = await hall.connect(0), await hall.connect(1)
    board = await riverside.debate(QUESTION)
    await riverside.workspace.wait_for(lambda: board in riverside.workspace.pins(riverside.channel))
    tokens = tokens_in(tmp_path / "moot.db")
    riverside.workspace.uninstall()
    await riverside.workspace.wait_for(lambda: tokens_in(tmp_path / "moot.db") == tokens[1:])
    debate = (await hall.moot.store.find(_all()))[0]

    assert len(tokens) == 2
    assert debate.status != Status.RUNNING
    assert board
    other = await two.wait_for_end(await two.debate("Tabs or spaces?"))
    assert other.status is Status.CONCLUDED
    again = await hall.connect(0)
    await again.workspace.channel_action("dana", "invite", channel=again.channel, member="moot")
    later = await again.wait_for_end(await again.debate("Go or Rust?"))
    assert later.status is Status.CONCLUDED


async def test_a_workspace_that_never_installed_is_told_so(hall: Hall):
    await hall.team().workspace.command("dana", "architecture", "/debate", QUESTION)
    assert "install" in " ".join(hall.team().ephemeral_texts()).lower()


async def test_a_token_about_to_expire_is_rotated_in_the_middle_of_a_debate(tmp_path: Path):
    rotating = OAuthApp(
        token_seconds=3600
    )  # less than the two hours before expiry at which tokens are rotated
    async with (
        run_oauth_server(a_workspace("Riverside"), app=rotating) as oauth_server,
        bot_of(oauth_server, tmp_path / "moot.db") as hall,
    ):
        team = await hall.connect()
        debate = await team.wait_for_end(await team.debate(QUESTION))

        assert debate.status is Status.CONCLUDED
        assert oauth_server.rotations > 0
        assert team.workspace.bot_token.encode() not in stored(tmp_path / "moot.db")


async def test_long_tokens_are_kept_on_postgresql_too(on_postgres: str):
    async with run_oauth_server(
        a_workspace("Riverside"), app=OAuthApp(token_seconds=43_200)
    ) as oauth_server:
        async with bot_of(oauth_server, on_postgres) as hall:
            await hall.connect()
        async with bot_of(oauth_server, on_postgres, (NEWER_KEY, KEY)) as hall:
            team = hall.team()
            debate = await team.wait_for_end(await team.debate(QUESTION))

    assert len(oauth_server.workspaces[0].bot_token) > 120
    assert debate.status is Status.CONCLUDED


@pytest.mark.slow
@pytest.mark.parametrize("is_org_wide", [True, False])
async def test_an_organisation_installs_once_for_all_its_workspaces(
    tmp_path: Path, *, is_org_wide: bool
):
    grid = a_workspace("Riverside", enterprise_id="E0GRID", is_org_wide=is_org_wide)
    database = tmp_path / "moot.db"
    async with run_oauth_server(grid) as oauth_server:
        async with bot_of(oauth_server, database) as hall:
            team = await hall.connect()
            board = await team.debate(QUESTION)
        async with bot_of(oauth_server, database) as hall:
            team = hall.team()
            debate = await team.wait_for_end(board)
            await team.type("search Kafka")
            await team.workspace.open_home(team.user)
            await team.workspace.wait_for(lambda: "Kafka" in str(team.workspace.home(team.user)))

    assert debate.status is Status.CONCLUDED
    assert "Kafka" in team.ephemeral_texts()[-1]
    assert "did not answer" not in team.ephemeral_texts()[-1]


@pytest.mark.parametrize("keys", [(), ("secret",)])
async def test_without_a_good_key_it_does_not_start(
    oauth_server: OAuthServer, tmp_path: Path, keys: tuple[str, ...]
):
    with pytest.raises(ConfigurationBroken, match="MOOT_TOKEN_KEYS"):
        async with bot_of(oauth_server, tmp_path / "moot.db", keys):
            pass


def tokens_in(database: Path) -> list[str]:
    """The encrypted tokens, by workspace."""
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT bot_token FROM slack_bots ORDER BY team_id DESC")
        return [row[0] for row in rows]


def _all() -> DebateFilter:
    return DebateFilter(limit=100)
