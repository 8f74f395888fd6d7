"""Links: allowed hosts only, public addresses only, bounded, over real HTTP on the loopback."""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from bot.addresses import is_public
from bot.links import FetchLinks, is_allowed, raw_address
from core.debate.evidence import SourceKind, SourceReference
from core.debate.people import Person, Place
from core.errors import BadInput
from core.evidence.reading import FetchedFile
from core.rules.sources import page_reference

PLACE = Place(surface="terminal")
_NOT_PUBLIC = "its address is not public"


def loopback(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return address.is_loopback


async def fetched(fetch: FetchLinks, url: str, most: int = 1000) -> FetchedFile:
    reference = SourceReference(
        kind=SourceKind.LINK, title=url, address=url, fetch=url, by=Person(id="U1")
    )
    answer = await fetch(reference, PLACE, most)
    assert isinstance(answer, FetchedFile)
    return answer


async def refusal(fetch: FetchLinks, url: str, most: int = 1000) -> str:
    with pytest.raises(BadInput) as refused:
        await fetched(fetch, url, most)
    return str(refused.value)


@asynccontextmanager
async def a_site(paths: list[str]) -> AsyncGenerator[str]:
    """A site with a page, redirects, an endless page and an error."""

    async def page(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        match request.path:
            case "/page":
                assert "Cookie" not in request.headers
                assert "Authorization" not in request.headers
                answer = web.Response(text="<h1>Load</h1>", content_type="text/html")
                answer.set_cookie("a", "b")
                return answer
            case "/moved":
                raise web.HTTPFound("/page")
            case "/elsewhere":
                raise web.HTTPFound(f"http://other.test:{request.url.port}/page")
            case "/inside":
                raise web.HTTPFound("http://169.254.169.254/latest/meta-data")
            case "/private":
                raise web.HTTPFound("/auth/login?next=/private")
            case "/file":
                raise web.HTTPFound("file:///etc/passwd")
            case "/loop":
                raise web.HTTPFound("/loop")
            case "/endless":
                stream = web.StreamResponse()
                await stream.prepare(request)
                for _ in range(10_000):
                    await stream.write(b"x" * 1000)
                return stream
            case _:
                return web.Response(status=404)

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://localhost:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_page_of_an_allowed_host_is_fetched_and_redirects_are_followed() -> None:
    paths = list[str]()
    async with a_site(paths) as url:
        fetch = FetchLinks(["localhost"], may_call=loopback)
        for path in ("/page", "/moved"):
            file = await fetched(fetch, url + path)
            assert file.content == b"<h1>Load</h1>"
            assert file.media_type == "text/html; charset=utf-8"
        assert await refusal(fetch, url + "/gone") == "the page answers with the code 404"
        assert "needs a sign-in" in await refusal(fetch, url + "/private")
        assert await refusal(fetch, url + "/loop") == "it has too many redirects"
        assert await refusal(fetch, url + "/endless") == "it has more than 1 kB"


async def test_only_allowed_hosts_are_called() -> None:
    paths = list[str]()
    async with a_site(paths) as url:
        assert "pages of localhost are not read" in await refusal(
            FetchLinks([], may_call=loopback), url + "/page"
        )
        fetch = FetchLinks(["localhost"], may_call=loopback)
        for path in ("/elsewhere", "/inside", "/file"):
            assert "not read" in await refusal(fetch, url + path) or path == "/file"
    assert paths == ["/elsewhere", "/inside", "/file"]
    below = FetchLinks(["*.example.com"])
    for host in ("example.com", "evil-example.com", "example.com.evil.test"):
        assert f"pages of {host} are not read" in await refusal(below, f"https://{host}/")


@pytest.mark.parametrize(
    ("viewer", "raw"),
    [
        (
            "https://github.com/o/r/blob/main/docs/a.md#L3",
            "https://raw.githubusercontent.com/o/r/main/docs/a.md",
        ),
        ("https://gitlab.com/g/s/r/-/blob/main/a.md", "https://gitlab.com/g/s/r/-/raw/main/a.md"),
        ("https://bitbucket.org/o/r/src/main/a.md", "https://bitbucket.org/o/r/raw/main/a.md"),
        (
            "https://codeberg.org/o/r/src/branch/main/a.md",
            "https://codeberg.org/o/r/raw/branch/main/a.md",
        ),
        ("https://github.com/o/r/issues/5", "https://github.com/o/r/issues/5"),
    ],
)
def test_a_page_that_shows_a_file_is_read_as_the_file(viewer: str, raw: str) -> None:
    assert raw_address(viewer) == raw
    assert is_allowed(urlsplit(raw).hostname or "", [urlsplit(viewer).hostname or ""])


def test_the_query_of_a_page_is_used_for_its_fetch_only() -> None:
    link = "https://b.s3.test/plan.pdf?id=5&sig=Zm9vYmFy"
    page = page_reference(link, Person(id="U1"))
    assert (page.title, page.address, page.fetch) == (
        *("https://b.s3.test/plan.pdf?…",) * 2,
        link,
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost/",
    ],
)
async def test_no_private_address_is_called_however_it_is_reached(url: str) -> None:
    host = url[7:].rstrip("/").strip("[]")
    text = await refusal(FetchLinks([host]), url)
    assert text in {_NOT_PUBLIC, "the page cannot be reached"}


async def test_a_name_is_checked_each_time_it_is_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = [["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1", "169.254.169.254"], ["::ffff:10.0.0.1"]]
    looked_up, paths = list[str](), list[str]()

    async def getaddrinfo(host: str, port: int, **_: object) -> Sequence[object]:
        looked_up.append(host)
        addresses = answers[len(looked_up) - 1]
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses
        ]

    async with a_site(paths) as url:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
        page = url.replace("localhost", "changes.test") + "/page"
        fetch = FetchLinks(["changes.test"], may_call=loopback)
        assert (await fetched(fetch, page)).content == b"<h1>Load</h1>"
        for _ in answers[1:]:
            assert await refusal(fetch, page) in {_NOT_PUBLIC, "the page cannot be reached"}
        monkeypatch.undo()

    # Moot calls the address it has checked, without a second look-up.
    assert (looked_up, paths) == (["changes.test"] * len(answers), ["/page"])


@pytest.mark.parametrize(
    "url", ["ftp://a.test/", "file:///etc/passwd", "http://", "http://a:b@c.test/"]
)
async def test_only_plain_addresses_of_pages_are_taken(url: str) -> None:
    assert "not the address of a page" in await refusal(FetchLinks(["a.test", "c.test"]), url)


@pytest.mark.parametrize("public", ["93.184.216.34", "2606:2800:220:1::1946", "64:ff9b::808:808"])
def test_public_is_what_everybody_can_reach(public: str) -> None:
    assert is_public(ipaddress.ip_address(public))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.1.1", "192.168.0.1", "100.64.0.1", "169.254.1.1", "224.0.0.1"),
        *("192.0.0.192", "192.0.0.8", "192.88.99.1", "168.63.129.16", "240.0.0.1"),
        *(
            "::",
            "::1",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "4000::1",
            "3fff::1",
        ),
        *("::127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),
        *("2002:7f00:1::", "2002:a83f:8110::", "::a83f:8110"),
    ],
)
def test_what_is_not_known_to_be_public_is_not(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))
