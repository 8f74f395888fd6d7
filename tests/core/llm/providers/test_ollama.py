"""Ollama: the window is as large as needed, and nothing is dropped silently."""

from dataclasses import replace

import pytest

from core.capabilities import capability
from core.errors import ProviderDown, ProviderError, RequestRejected
from core.llm.providers.ollama import OllamaProvider, window
from core.request import ModelRequest, Part, PartKind
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always


def saying(request: ModelRequest, text: str) -> ModelRequest:
    part = Part(kind=PartKind.CONTEXT, label="Context", text=text)
    return replace(request, model="llama-4:8b", parts=(part, *request.parts))


@pytest.mark.parametrize(
    ("characters", "expected"), [(0, 4096), (8_000, 4096), (12_000, 8192), (60_000, 32768)]
)
def test_the_window_is_the_next_power_of_two(
    request_: ModelRequest, characters: int, expected: int
) -> None:
    limits = capability("ollama", "llama-4:8b")

    assert window(saying(request_, "x" * characters), limits, 1000) == expected


async def test_what_does_not_fit_is_refused_before_it_is_sent(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = OllamaProvider(vendor.url)

    with pytest.raises(RequestRejected, match="context holds 32768"):
        await provider.complete(saying(request_, "x" * 200_000))

    assert vendor.asked == []


async def test_nothing_may_be_dropped_or_shifted_out(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = OllamaProvider(vendor.url)

    await provider.complete(saying(request_, "x" * 12_000))

    body = vendor.asked[0].body
    assert body["options"] == {"num_ctx": 8192, "num_predict": 1000, "temperature": 0.4}
    assert (body["truncate"], body["shift"], body["think"]) == (False, False, False)
    await provider.close()


@pytest.mark.parametrize("address", ["http://{}", "http://{}/", "http://{}/v1/", "{}"])
async def test_an_address_is_understood_as_people_write_it(
    vendor: Vendor, request_: ModelRequest, address: str
) -> None:
    provider = OllamaProvider(address.format(vendor.url.removeprefix("http://")))

    await provider.complete(replace(request_, model="llama-4:8b"))

    assert vendor.asked[0].path == "/api/chat"
    await provider.close()


async def test_a_model_that_was_not_pulled_says_what_to_do(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = always(Reject(status=404, body='{"error": "model not found"}'))
    provider = OllamaProvider(vendor.url)

    with pytest.raises(RequestRejected, match="ollama pull"):
        await provider.complete(request_)
    await provider.close()


async def test_its_models_are_listed(vendor: Vendor) -> None:
    body = '{"models": [{"name": "nomic-embed-text"}, {"name": "llama-4:8b"}, {}]}'
    vendor.script = always(Reject(status=200, body=body))
    provider = OllamaProvider(vendor.url)

    assert await provider.models() == ("nomic-embed-text", "llama-4:8b")
    await provider.close()


@pytest.mark.parametrize("body", ["<html></html>", "[]", '{"models": 3}', ""])
async def test_something_else_at_its_address_is_not_ollama(vendor: Vendor, body: str) -> None:
    vendor.script = always(Reject(status=200, body=body))
    provider = OllamaProvider(vendor.url)

    with pytest.raises(ProviderDown):
        await provider.models()
    await provider.close()


async def test_without_a_list_of_models_no_model_is_said_to_be_missing(vendor: Vendor) -> None:
    vendor.script = always(Reject(status=404, body="404 page not found"))
    provider = OllamaProvider(vendor.url)

    with pytest.raises(ProviderError) as caught:
        await provider.models()
    assert "ollama pull" not in str(caught.value)
    with pytest.raises(RequestRejected, match="ollama pull"):
        await provider.context("llama-4:8b")
    await provider.close()


async def test_the_window_only_grows_within_a_debate(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = OllamaProvider(vendor.url)
    other = replace(request_, cache_key="another debate")

    for request, characters in [(request_, 12_000), (request_, 0), (other, 0), (request_, 60_000)]:
        await provider.complete(saying(request, "x" * characters))

    windows = [request.body["options"]["num_ctx"] for request in vendor.asked]
    assert windows == [8192, 8192, 4096, 32768]
    await provider.close()


async def test_a_model_holds_what_ollama_says_unless_settings_know_better(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.context_tokens = 131_072
    long = saying(request_, "x" * 200_000)
    provider = OllamaProvider(vendor.url)
    assert await provider.context("llama-4:8b") == 131_072
    await provider.complete(long)
    assert vendor.asked[0].body["options"]["num_ctx"] == 131_072

    record = {"provider": "ollama", "match": "llama-4*", "context_tokens": 16_384}
    bound = OllamaProvider(vendor.url, records=(record,))
    await bound.context("llama-4:8b")
    with pytest.raises(RequestRejected, match="context holds 16384"):
        await bound.complete(long)
