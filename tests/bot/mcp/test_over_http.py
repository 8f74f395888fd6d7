"""Programs call the bot over HTTP: a debate in a channel, and what a person may not do there."""

import asyncio
import io
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from bot.mcp.in_slack import Caller, SlackCallerDebates
from bot.mcp.over_http import MOST_OF_ONE, McpRoutes
from bot.slack.connection.http import WebServer
from bot.testing import BotSpec, Team, team_at_work
from core.debate.log import fold
from core.debate.people import Person
from core.errors import StoreDown
from tests.bot.mcp.at_work import QUESTION, Editor, WaitingProvider, program_at

pytestmark = pytest.mark.asyncio(loop_scope="module")
#: As a token of a person would look; no secret of anybody.
TOKEN = "moot-of-"
NOT_THERE = "that you may see"
LIST_TOOLS = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


@dataclass
class Served:
    """A bot with `/mcp` beside it, whose callers are known in a test."""

    team: Team
    url: str = ""
    known: dict[str, Caller] = field(default_factory=dict[str, Caller])
    #: The database does not say whose a token is.
    is_down: bool = False
    #: Debates of dana's in a private channel, and in one that all may see.
    secret: str = ""
    open_to_all: str = ""

    async def caller(self, bearer: str) -> Caller | None:
        if self.is_down:
            raise StoreDown
        return self.known.get(bearer)

    def lets_in(self, name: str, *, cap: Decimal | None = None) -> str:
        """Make a token for somebody; return it."""
        token, workspace = f"{TOKEN}{name}", self.team.workspace
        self.known[token] = Caller(
            workspace=workspace.state.team_id,
            person=Person(id=workspace.user(name).id, name=name),
            token_id=f"t-{name}",
            cap=cap,
        )
        return token

    def program(self, name: str, cap: Decimal | None = None) -> AbstractAsyncContextManager[Editor]:
        return program_at(self.url, self.lets_in(name, cap=cap))

    async def posts(self, body: bytes, **headers: str) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and text of a bare request."""
        accept = "application/json, text/event-stream"
        headers = {"Content-Type": "application/json", "Accept": accept, **headers}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=io.BytesIO(body), headers=headers) as answer,
        ):
            return answer.status, dict(answer.headers), await answer.text()


@asynccontextmanager
async def served(spec: BotSpec | None = None) -> AsyncGenerator[Served]:
    async with team_at_work(spec=spec) as team:
        bot = Served(team)
        routes = McpRoutes(
            bot.caller,
            lambda caller: SlackCallerDebates(team.moot.context, caller),
            ["moot.example.com"],
        )
        application = web.Application(client_max_size=1024 * 1024)
        routes.add_to(application)
        server = WebServer(application, "127.0.0.1", 0)
        await routes.start()
        await server.start()
        bot.url = f"{server.address}/mcp"
        try:
            yield bot
        finally:
            await server.close()
            await routes.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house() -> AsyncGenerator[Served]:
    async with served(BotSpec(provider=WaitingProvider())) as bot:
        space, room = bot.team.workspace, "board-room"
        await space.channel_action("dana", "create", name=room, is_private=True, members=["dana"])
        await space.channel_action("dana", "invite", channel=room, member="moot")
        async with bot.program("dana") as dana:
            bot.secret = await dana.starts("Sell the house?", channel=room)
            bot.open_to_all = await dana.starts(channel=bot.team.channel)
        yield bot


async def test_a_debate_in_a_channel_is_started_and_read_from_an_editor(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    async with served() as bot:
        channel = bot.team.workspace.channel(bot.team.channel)
        async with bot.program("dana") as dana:
            begun = await dana.calls("start_debate", question=QUESTION, channel=f"#{channel.name}")
            # Nobody knows what scripted-1 costs: under the usual cap it is asked all the same.
            assert begun["cost_cap_usd"] is None
            ended = await dana.follows(begun["debate_id"])
            assert ended["state"] == "concluded"
            assert (await dana.calls("get_verdict", debate_id=begun["debate_id"]))["decision"]
        # Everybody in the channel sees it there, as if it had been typed.
        board = await bot.team.board_of(begun["debate_id"])
        assert board.replace(".", "") in ended["address"]
        debate = await bot.team.wait_for_end(board)
        assert debate.setup.asked_by.id == bot.team.workspace.user("dana").id
        bot.url = f"{bot.team.moot.http.address}/mcp"  # which serves none by itself
        assert (await bot.posts(LIST_TOOLS))[0] == 404
    assert caplog.records
    assert not [record for record in caplog.records if TOKEN in record.getMessage()]


async def test_who_was_removed_from_the_channel_sees_nothing_of_it_any_more(house: Served) -> None:
    space = house.team.workspace
    await space.channel_action("dana", "invite", channel="board-room", member="sam")
    async with house.program("sam") as sam:
        await space.channel_action("dana", "kick", channel="board-room", member="sam")
        assert NOT_THERE in await sam.is_refused("get_verdict", debate_id=house.secret)


async def test_who_is_in_the_channel_sees_a_debate_and_does_not_stop_anothers(
    house: Served,
) -> None:
    debate_id = house.open_to_all
    async with house.program("alex") as alex:
        assert await alex.calls("debate_status", debate_id=debate_id)
        assert "Only " in await alex.is_refused("stop_debate", debate_id=debate_id)
    assert fold(await house.team.moot.store.events(debate_id)).stop is None


async def test_a_token_that_is_spent_starts_nothing_and_a_revoked_one_does_nothing() -> None:
    async with served() as bot, bot.program("dana", Decimal(0)) as dana:
        here = {"question": QUESTION, "channel": bot.team.channel}
        assert "is spent" in await dana.is_refused("start_debate", **here)
        bot.lets_in("dana", cap=Decimal("0.5"))
        begun = await dana.calls("start_debate", **here)
        assert begun["cost_cap_usd"] == 0.5
        await dana.follows(begun["debate_id"])
        # The answer was lost, and meanwhile the debate has cost what there was.
        bot.lets_in("dana", cap=Decimal(0))
        again = await dana.calls("start_debate", **here)
        assert (again["debate_id"], again["fresh"]) == (begun["debate_id"], False)
        other = {**here, "question": "Or?"}
        assert "is spent" in await dana.is_refused("start_debate", **other)
        no_path = await dana.is_refused("start_debate", **other, sources=["/etc/passwd"])
        assert "is no link" in no_path
        bot.known.clear()
        assert (await bot.posts(LIST_TOOLS, Authorization=f"Bearer {TOKEN}dana"))[0] == 401


async def test_a_call_without_a_token_says_how_to_get_one(house: Served) -> None:
    token = house.lets_in("dana")
    for wrong in ("", "Bearer", "Bearer nonsense", f"Basic {token}", f"Bearer {token}x"):
        status, headers, text = await house.posts(LIST_TOOLS, Authorization=wrong)
        assert status == 401
        assert headers["WWW-Authenticate"].startswith("Bearer ")
        assert "/debate token" in text
        assert token not in text
    house.is_down = True
    status, _, text = await house.posts(LIST_TOOLS, Authorization=f"Bearer {token}")
    assert status == 503
    house.is_down = False


async def test_without_a_token_nobody_waits_for_the_body(house: Served) -> None:
    address = urlsplit(house.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(
        f"POST {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        "Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n".encode()
    )
    assert await reader.readline() == b"HTTP/1.1 401 Unauthorized\r\n"
    writer.close()
    await writer.wait_closed()


async def test_other_hosts_origins_and_too_large_requests_are_refused(house: Served) -> None:
    token = {"Authorization": f"Bearer {house.lets_in('dana')}"}
    assert (await house.posts(LIST_TOOLS, **token))[0] == 200
    assert (await house.posts(LIST_TOOLS, **token, Host="moot.example.com"))[0] == 200
    assert (await house.posts(LIST_TOOLS, **token, Host="evil.example.com"))[0] == 421
    assert (await house.posts(LIST_TOOLS, **token, Origin="https://evil.example.com"))[0] == 403
    assert (await house.posts(b"x" * (1024 * 1024 + 1), **token))[0] == 413
    assert (await house.posts(b"{", **token))[0] == 400


async def test_who_has_many_requests_wait_keeps_nobody_else_from_being_answered(
    house: Served,
) -> None:
    dana, sam = ({"Authorization": f"Bearer {house.lets_in(who)}"} for who in ("dana", "sam"))
    arguments = {"debate_id": house.open_to_all, "wait_seconds": 50}
    call = {"method": "tools/call", "params": {"name": "debate_status", "arguments": arguments}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, **call}).encode()
    tasks = [asyncio.create_task(house.posts(body, **dana)) for _ in range(MOST_OF_ONE + 1)]
    try:
        # Only what is refused is answered before the debate has news.
        finished, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        status, headers, text = finished.pop().result()
        assert (status, headers["Retry-After"]) == (429, "5")
        assert "fewer at once" in text
        assert (await house.posts(LIST_TOOLS, **sam))[0] == 200
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    # Who hung up is not counted for ever.
    async with asyncio.timeout(300):
        while (await house.posts(LIST_TOOLS, **dana))[0] != 200:  # noqa: ASYNC110 - the server says it
            await asyncio.sleep(0.1)
