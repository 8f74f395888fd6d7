"""HTTP mode with a real Bolt app: signatures, the challenge, retries."""

from dataclasses import replace

import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from slack_on_loopback.errors import PersonRefusal
from slack_on_loopback.rates import QUICK
from slack_on_loopback.workspace import Workspace
from tests.bots import Client, bolt_app, on_http


async def test_a_request_url_takes_the_challenge(ws: Workspace, client: Client) -> None:
    async with on_http(ws, bolt_app(ws, client)) as url:
        assert await ws.use_http(url)
        assert ws.connected


async def test_a_wrong_secret_is_refused_by_the_app(ws: Workspace, client: Client) -> None:
    app = AsyncApp(client=client, signing_secret="another secret")
    async with on_http(ws, app) as url:
        assert not await ws.use_http(url)
        with pytest.raises(PersonRefusal):
            await ws.command("dana", "general", "/echo", "x")


class Receiver:
    """A bare HTTP endpoint that fails as it is told."""

    def __init__(self, *statuses: int, headers: dict[str, str] | None = None):
        self._statuses, self._headers = list(statuses), headers or {}
        self.requests: list[tuple[dict[str, str], str]] = []

    async def handle(self, request: web.Request) -> web.Response:
        self.requests.append((dict(request.headers), await request.text()))
        status = self._statuses.pop(0) if self._statuses else 200
        return web.Response(status=status, headers=self._headers)


async def deliver_to(receiver: Receiver, ws: Workspace, tries: int) -> None:
    site = web.Application()
    site.router.add_post("/", receiver.handle)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    ws.app.request_url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await ws.say("dana", "general", "hello")
    await ws.wait_for(lambda: len(ws.deliveries) == tries)
    await runner.cleanup()


async def test_a_failed_event_comes_again_with_its_headers(ws: Workspace) -> None:
    receiver = Receiver(500, 500)
    await deliver_to(receiver, ws, 3)
    numbers = [headers.get("X-Slack-Retry-Num") for headers, _ in receiver.requests]
    reasons = [headers.get("X-Slack-Retry-Reason") for headers, _ in receiver.requests]
    assert numbers == [None, "1", "2"]
    assert reasons == [None, "http_error", "http_error"]
    assert len({body for _, body in receiver.requests}) == 1


async def test_an_app_can_ask_not_to_be_tried_again(ws: Workspace) -> None:
    receiver = Receiver(500, headers={"X-Slack-No-Retry": "1"})
    await deliver_to(receiver, ws, 1)
    await ws.say("dana", "general", "next")
    assert [delivery.attempt for delivery in ws.deliveries] == [0]


async def test_slacks_own_verifier_accepts_the_signature(ws: Workspace) -> None:
    receiver = Receiver()
    await deliver_to(receiver, ws, 1)
    headers, body = receiver.requests[0]
    assert SignatureVerifier(ws.signing_secret).is_valid_request(body, headers)
    assert not SignatureVerifier("wrong").is_valid_request(body, headers)


@pytest.mark.workspace(pace=replace(QUICK, ack_seconds=0.5))
async def test_an_app_that_is_down_is_no_answer(ws: Workspace) -> None:
    ws.app.request_url = "http://127.0.0.1:9/"
    with pytest.raises(PersonRefusal, match="command_failed"):
        await ws.command("dana", "general", "/echo", "x")
