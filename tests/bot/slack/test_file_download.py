"""Calls and files go with the bot's token, through the proxy of the environment."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.slack.access import Accesses
from bot.slack.client import slack_client, slack_session
from bot.slack.clients import SingleWorkspaceClient, WorkspaceClient
from bot.slack.evidence import SlackSources, file_references
from bot.slack.payloads import Identity, SharedFile
from core.debate.people import Person, Place
from core.evidence.reader import FetchedFile

HERE = Place(surface="slack", workspace="T1", channel="C0HERE")


@asynccontextmanager
async def serving(base: str = "") -> AsyncGenerator[tuple[str, list[str]]]:
    """A Slack with one file, or a proxy to it: its address, and who asked for the file."""
    headers: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        headers.append(request.headers.get("Authorization", ""))
        own = base or f"http://{request.host}"
        if "files.info" in request.path:
            file = {"id": "F1", "name": "a.csv", "size": 3, "channels": [HERE.channel]}
            file["url_private"] = f"{own}/file/a.csv"
            return web.json_response({"ok": True, "file": file})
        return web.Response(body=b"a,b")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", headers
    finally:
        await runner.cleanup()


async def fetched(address: str) -> bytes:
    identity = Identity(team_id=HERE.workspace, user_id="U0MOOT")
    (reference,) = file_references([SharedFile(id="F1")], Person(id="U1", name="Ann"))
    async with slack_session() as session:
        client = slack_client("xoxb-1", f"{address}/api/", session)
        clients = SingleWorkspaceClient(WorkspaceClient(client, identity))
        file = await SlackSources(clients, Accesses(clients)).fetch_file(reference, HERE, 10**6)
    assert isinstance(file, FetchedFile)
    return file.content


async def test_passwords_of_this_account_for_other_programs_do_not_stand_against_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n", encoding="ascii")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with serving() as (address, headers):
        assert await fetched(address) == b"a,b"
    assert headers == ["Bearer xoxb-1"] * 2


async def test_files_come_through_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving("http://slack.invalid") as (proxy, headers):
        monkeypatch.setenv("HTTP_PROXY", proxy)
        assert await fetched("http://slack.invalid") == b"a,b"
    assert headers == ["Bearer xoxb-1"] * 2
