"""Ollama: context windows, addresses and models."""

from dataclasses import replace

import pytest

from core.errors import ProviderDown, RequestRejected
from core.llm.providers.ollama import OllamaProvider
from core.request import Effort, ModelRequest, Part, PartKind
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always


def saying(request: ModelRequest, characters: int) -> ModelRequest:
    part = Part(kind=PartKind.CONTEXT, label="Context", text="x" * characters)
    return replace(request, model="llama-4:8b", parts=(part, *request.parts))


async def test_the_window_is_a_power_of_two_that_only_grows_within_a_debate(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = OllamaProvider(vendor.url)
    other = replace(request_, cache_key="another debate")

    for request, size in [(request_, 12_000), (request_, 0), (other, 8_000), (request_, 60_000)]:
        await provider.complete(saying(request, size))

    bodies = [request.body for request in vendor.asked]
    assert [body["options"]["num_ctx"] for body in bodies] == [8192, 8192, 4096, 32768]
    assert bodies[0]["options"] == {"num_ctx": 8192, "num_predict": 1000, "temperature": 0.4}
    # Nothing may be dropped or shifted out.
    assert (bodies[0]["truncate"], bodies[0]["shift"], bodies[0]["think"]) == (False, False, False)
    await provider.close()


@pytest.mark.parametrize(
    ("model", "sent"), [("gpt-oss:20b", ("medium", 5096)), ("qwen3:8b", (False, 1000))]
)
async def test_a_model_that_always_thinks_gets_an_effort(
    vendor: Vendor, request_: ModelRequest, model: str, sent: tuple[object, int]
) -> None:
    provider = OllamaProvider(vendor.url)

    await provider.complete(replace(request_, model=model, effort=Effort.MEDIUM))

    body = vendor.asked[0].body
    assert (body["think"], body["options"]["num_predict"]) == sent
    await provider.close()


@pytest.mark.parametrize("address", ["http://{}/", "http://{}/v1/", "{}"])
async def test_an_address_is_accepted_in_all_usual_forms(
    vendor: Vendor, request_: ModelRequest, address: str
) -> None:
    provider = OllamaProvider(address.format(vendor.url.removeprefix("http://")))

    await provider.complete(replace(request_, model="llama-4:8b"))

    assert vendor.asked[0].path == "/api/chat"
    await provider.close()


@pytest.mark.parametrize("body", ["<html></html>", "[]", '{"models": 3}', ""])
async def test_another_server_at_the_address_is_not_taken_for_ollama(
    vendor: Vendor, body: str
) -> None:
    vendor.script = always(Reject(status=200, body=body))
    provider = OllamaProvider(vendor.url)

    with pytest.raises(ProviderDown):
        await provider.models()
    await provider.close()


async def test_the_context_is_that_of_ollama_unless_settings_name_one(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.context_tokens = 131_072
    long = saying(request_, 200_000)
    provider = OllamaProvider(vendor.url)
    with pytest.raises(RequestRejected, match="context holds 32768"):
        await provider.complete(long)
    assert await provider.context("llama-4:8b") == 131_072
    await provider.complete(long)
    assert [request.body["options"]["num_ctx"] for request in vendor.asked] == [131_072]
    await provider.close()

    record = {"provider": "ollama", "match": "llama-4*", "context_tokens": 16_384}
    bound = OllamaProvider(vendor.url, records=(record,))
    await bound.context("llama-4:8b")
    with pytest.raises(RequestRejected, match="context holds 16384"):
        await bound.complete(long)
    await bound.close()
