"""Links, files and threads as sources, and the reasons for refused ones."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.access import WorkspaceDirectories
from bot.slack.client import SingleWorkspaceClient, WorkspaceClient, slack_client, slack_session
from bot.slack.evidence import (
    LinkBounds,
    LinkedSources,
    SlackSources,
    call_with_retries,
    file_references,
    linked_references,
    sources_in,
)
from bot.slack.payloads import Identity, SharedFile
from core.debate.evidence import SourceReference
from core.debate.people import Person, Place
from core.errors import BadInput
from core.evidence.reading import FetchedFile
from tests.bot.slack.test_outcomes import refusal

HERE = Place(surface="slack", workspace="T1", channel="C0HERE")
TEAM = "https://team.slack.com"
PAGE = "https://docs.example.com/queues"
MESSAGE = f"{TEAM}/archives/C0HERE/p1700000000123456"
OFFER = f"{TEAM}/files/U1/F0OFFER/the%20offer.pdf"
REPLY = f"{MESSAGE}?thread_ts=1700000000.000100&cid=C0HERE"
HOSTS = ("docs.example.com", "*.example.org")
ANN = Person(id="U1", name="Ann")
BOUNDS = LinkBounds(channel=HERE.channel, workspace_url=f"{TEAM}/", hosts=HOSTS, by=ANN)
KEY = "sk-ant-" + "api03-abcdefghijklmnop1234"


def linked(typed: str) -> tuple[SourceReference, ...]:
    return linked_references(typed, BOUNDS)


def written(text: str, thread: str = "") -> LinkedSources:
    return sources_in(text, BOUNDS, thread)


@pytest.mark.parametrize(
    ("typed", "sources"),
    [
        (MESSAGE, [("thread", "C0HERE/1700000000.123456/")]),
        (REPLY, [("thread", "C0HERE/1700000000.000100/")]),
        (f"{MESSAGE}?thread_ts=../1", [("thread", "C0HERE/1700000000.123456/")]),
        (f"{MESSAGE.replace('team.', 'Team.')}/", [("thread", "C0HERE/1700000000.123456/")]),
        (f"{TEAM}/files/U1/F0OFFER/", [("file", "F0OFFER")]),
        (
            f"<{OFFER}|offer>, {PAGE} https://a.example.org/x\n{OFFER}",
            [("file", "F0OFFER"), ("link", PAGE), ("link", "https://a.example.org/x")],
        ),
    ],
)
def test_links_lead_to_threads_files_and_pages(typed: str, sources: list[tuple[str, str]]) -> None:
    references = linked(typed)
    assert [(reference.kind.value, reference.fetch) for reference in references] == sources
    assert all(reference.by == ANN and reference.address in typed for reference in references)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (MESSAGE.replace("HERE", "ELSE"), "a message of another channel"),
        (f"{TEAM}/admin", "leads to no message and no file"),
        (MESSAGE.replace("team.", "other."), "Pages of other.slack.com"),
        ("https://example.org/", "Pages of example.org are not read here"),
        ("see the handbook", "“see” is no link"),
        ("file:///etc/passwd", "is no link"),
        ("https://[::1", "is no link"),
        ("\n".join(f"https://docs.example.com/{n}" for n in range(51)), "There are 51 links; 50"),
    ],
)
def test_a_link_that_cannot_be_a_source_is_refused_with_a_reason(typed: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        linked(typed)


def test_links_in_a_text_are_sources_or_have_a_reason_why_not() -> None:
    text = (
        f"As <{MESSAGE}|said>, see {PAGE}, https://example.net/x and https://example.net/y, "
        f"or https://[::1. And {REPLY}."
    )
    links = written(text, thread="1700000000.000100")  # the text's own thread is no source

    fetched = [reference.fetch for reference in links.references]
    assert fetched == ["C0HERE/1700000000.123456/", PAGE]
    (reason,) = links.refusals
    assert "Pages of example.net are not read here" in reason


def test_the_number_of_links_in_a_text_is_limited() -> None:
    links = written(" ".join(f"https://docs.example.com/{n}" for n in range(60)))
    assert len(links.references) == 50
    assert links.refusals == ("Only the first 50 links of a text are read.",)


@pytest.mark.parametrize(
    "link",
    [
        f"https://docs.example.com/x?token={KEY}",
        f"https://docs.example.com/x?token={KEY.replace('-', '%2D')}",
        "https://ann:hunter22@docs.example.com/x",
        "https://ann@docs.example.com/x",
        f"{TEAM}/files/U1/F0OFFER/{KEY}.txt",
    ],
)
def test_a_link_with_a_secret_is_no_source_however_it_is_given(link: str) -> None:
    with pytest.raises(BadInput, match="looks like another secret") as error:
        linked(link)
    assert written(f"See {link}") == LinkedSources((), (str(error.value),))
    assert KEY not in str(error.value)
    assert "hunter22" not in str(error.value)


async def test_files_come_through_the_proxy_of_the_environment_with_the_bots_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is used although ~/.netrc has a password for every host."""
    headers: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        headers.append(request.headers.get("Authorization", ""))
        if "files.info" in request.path:
            file = {"id": "F1", "name": "a.csv", "size": 3, "channels": [HERE.channel]}
            file["url_private"] = "http://slack.invalid/file/a.csv"
            return web.json_response({"ok": True, "file": file})
        return web.Response(body=b"a,b")

    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password secret\n", encoding="ascii")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    (reference,) = file_references([SharedFile(id="F1")], ANN)
    async with TestServer(app) as proxy, slack_session() as session:
        monkeypatch.setenv("HTTP_PROXY", str(proxy.make_url("/")))
        client = slack_client("xoxb-1", "http://slack.invalid/api/", session)
        identity = Identity(team_id=HERE.workspace, user_id="U0MOOT")
        clients = SingleWorkspaceClient(WorkspaceClient(client, identity))
        file = await SlackSources(clients, WorkspaceDirectories(clients)).fetch_file(
            reference, HERE, 10**6
        )
    assert isinstance(file, FetchedFile)
    assert file.content == b"a,b"
    assert headers == ["Bearer xoxb-1"] * 2


@pytest.mark.leaping
@pytest.mark.parametrize(("asked", "waited"), [("3", 3), ("500", 60)])
async def test_a_reading_waits_as_long_as_slack_asks_for_and_a_minute_at_most(
    asked: str, waited: int
) -> None:
    times = list[float]()

    async def call() -> AsyncSlackResponse:
        times.append(asyncio.get_running_loop().time())
        raise refusal(429, {"ok": False, "error": "ratelimited"}, {"Retry-After": asked})

    with pytest.raises(BadInput, match="Slack does not show it"):
        await call_with_retries(call)
    assert [round(later - time) for time, later in pairwise(times)] == [waited] * 3
