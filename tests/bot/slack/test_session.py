"""The connections to Slack: kept between calls, replaced when Slack closes them, timed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outbox.methods import slack_client, slack_session


@dataclass(eq=False)
class Counting:
    """A server that answers every call and counts the connections they came on."""

    closes_at_once: bool = False
    connections: list[object] = field(default_factory=list[object])

    async def answer(self, request: web.Request) -> web.Response:
        if request.transport not in self.connections:
            self.connections.append(request.transport)
        answer = web.json_response({"ok": True, "team_id": "T1"})
        if self.closes_at_once:
            answer.force_close()
        return answer


@asynccontextmanager
async def serving(server: Counting) -> AsyncGenerator[AsyncWebClient]:
    app = web.Application()
    app.router.add_post("/api/{method}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    async with slack_session() as session:
        yield slack_client("xoxb-1", url, session)
    await runner.cleanup()


async def test_calls_share_a_connection():
    server = Counting()
    async with serving(server) as client:
        for _ in range(3):
            await client.auth_test()
    assert len(server.connections) == 1


async def test_a_connection_that_slack_closed_is_replaced():
    server = Counting(closes_at_once=True)
    async with serving(server) as client:
        for _ in range(3):
            assert (await client.auth_test())["ok"]
    assert len(server.connections) == 3
