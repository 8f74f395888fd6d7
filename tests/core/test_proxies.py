"""Proxies from the environment are used for models and Slack, but not for this machine."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.operations.health import ask_health
from bot.slack.client import slack_client
from core.debate.turn import Act
from core.errors import ConfigurationBroken, ProviderDown
from core.llm.providers.factory import build, build_server
from core.proxies import check_proxies, names_socks, proxy_of
from core.request import ModelRequest, Part, PartKind
from core.settings import ModelServer
from tests.vendors.server import Vendor

NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
REQUEST = ModelRequest(
    model="m",
    act=Act.SUMMARY,
    role="check",
    system="",
    parts=(Part(kind=PartKind.TASK, label="Task", text="Say OK."),),
    delimiter="k7f3q9",
)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({}, "https://slack.com/api/", ""),
        ({"HTTPS_PROXY": "http://p:3128"}, "https://slack.com/api/", "http://p:3128"),
        ({"HTTPS_PROXY": "p:3128"}, "https://slack.com/api/", "http://p:3128"),
        ({"HTTPS_PROXY": "http://p:3128"}, "http://slack.test/api/", ""),
        ({"HTTPS_PROXY": "http://p:3128"}, "https://127.0.0.1:8765/api/", ""),
        ({"HTTP_PROXY": "http://p:3128"}, "http://localhost:8765/api/", ""),
        ({"HTTP_PROXY": "http://p:3128"}, "http://[::1]:8765/api/", ""),
        ({"ALL_PROXY": "socks5://p:1080"}, "https://slack.com/", "socks5://p:1080"),
        ({"https_proxy": "http://p:1", "no_proxy": "slack.com"}, "https://a.slack.com/", ""),
    ],
)
def test_the_environment_names_the_proxy_of_an_address(
    variables: dict[str, str], url: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert proxy_of(url) == proxy
    # aiohttp, and with it Slack's client, speaks to HTTP proxies only.
    assert slack_client("", url).proxy == (proxy if proxy.startswith("http") else None)


@pytest.mark.parametrize("name", ["anthropic", "ollama", "compatible"])
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://127.0.0.1:1"])
async def test_a_server_on_this_machine_is_asked_without_the_proxy(
    name: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    async with Vendor() as vendor:
        path = "/v1" if name == "compatible" else ""
        provider = build(name, "sk-test", f"{vendor.url}{path}")
        assert "PostgreSQL" in (await provider.complete(REQUEST)).text
        await provider.close()


def test_the_bot_on_this_machine_is_asked_for_its_health_without_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with socket.create_server(("127.0.0.1", 0)) as bot, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask_health, f"http://127.0.0.1:{bot.getsockname()[1]}/health")
        bot.settimeout(30)
        with bot.accept()[0] as connection:
            connection.recv(4096)
            report = b'{"database": "ok", "slack": "ok", "token": "ok"}'
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(report)}\r\n\r\n"
            connection.sendall(head.encode() + report)

    assert answer.result().healthy


def test_a_socks_proxy_is_known_however_its_scheme_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "SOCKS5://127.0.0.1:1")
    assert names_socks()


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://127.0.0.1:1"])
async def test_a_proxy_that_is_away_is_named_by_its_variable(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    provider = build_server(ModelServer(name="far", base_url="http://models.test/v1"))

    with pytest.raises(ProviderDown, match="ALL_PROXY names a proxy, which may be away"):
        await provider.complete(REQUEST)
    await provider.close()


@pytest.mark.parametrize("value", ["ftp://p:21", "http://", "http://p:x"])
def test_what_is_no_proxy_is_refused_by_the_name_of_its_variable(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)

    with pytest.raises(ConfigurationBroken, match="HTTPS_PROXY is no address of a proxy"):
        check_proxies()
