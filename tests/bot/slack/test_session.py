"""The connections to Slack: kept between calls, replaced when Slack closes them, timed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.client import slack_client, slack_session


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


async def test_passwords_of_this_account_for_other_programs_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n", encoding="ascii")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with serving(Counting()) as client:
        assert (await client.auth_test())["ok"]


async def test_calls_go_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    proxy = Counting()
    async with serving(proxy) as client:
        monkeypatch.setenv("HTTP_PROXY", client.base_url.removesuffix("/api/"))
        behind = slack_client("xoxb-1", "http://slack.invalid/api/", client.session)
        assert (await behind.auth_test())["ok"]
    assert len(proxy.connections) == 1
