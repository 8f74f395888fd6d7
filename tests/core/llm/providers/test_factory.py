"""Which provider serves when nothing is said, and how each is built."""

import pytest

from core.errors import ConfigurationBroken, KeyRefused
from core.llm.providers.factory import DEFAULT_MODELS, KEYED, PROVIDER_NAMES, build, choose
from core.request import ModelRequest
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always

PULLED = Reject(
    status=200, body='{"models": [{"name": "nomic-embed-text"}, {"name": "llama-4:8b"}]}'
)


@pytest.mark.parametrize("name", PROVIDER_NAMES)
async def test_every_provider_can_be_built_without_a_network(name: str) -> None:
    provider = build(name, "sk-test", "http://127.0.0.1:9/v1")

    assert provider.name == name
    await provider.close()


def test_an_unknown_provider_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigurationBroken, match=r"'opnai'.*anthropic, openai"):
        build("opnai")


def test_a_compatible_provider_needs_an_address() -> None:
    with pytest.raises(ConfigurationBroken, match="address"):
        build("compatible", "key")


@pytest.mark.parametrize("name", KEYED)
async def test_a_key_that_is_set_chooses_its_provider(name: str) -> None:
    choice = await choose(dict.fromkeys(KEYED, "") | {name: "sk-test"})

    assert choice.provider == name
    assert choice.models == DEFAULT_MODELS[name]


async def test_of_several_keys_the_first_in_order_counts() -> None:
    assert (await choose({"openai": "b", "anthropic": "a"})).provider == "anthropic"


async def test_without_keys_an_ollama_that_answers_serves_its_first_model_that_writes(
    vendor: Vendor,
) -> None:
    vendor.script = always(PULLED)

    choice = await choose({}, vendor.url)

    assert choice.provider == "ollama"
    assert choice.models.agent == "llama-4:8b"
    assert vendor.asked[0].path == "/api/tags"


@pytest.mark.parametrize("answer", [Reject(status=500), Reject(status=200, body='{"models": []}')])
async def test_an_ollama_without_models_is_none(vendor: Vendor, answer: Reject) -> None:
    vendor.script = always(answer)

    assert (await choose({}, vendor.url)).provider == "offline"


async def test_with_nothing_there_it_is_the_offline_engine() -> None:
    async with Vendor() as vendor:
        url = vendor.url

    assert (await choose({}, url)).provider == "offline"


@pytest.mark.parametrize("key", ["sk-t\u00e4st", "sk-\u200btest", "sk-te st"])
async def test_a_key_that_cannot_be_one_is_not_sent(request_: ModelRequest, key: str) -> None:
    with pytest.raises(KeyRefused, match=r"holds a sign that no key has \(U\+"):
        await build("openai", key, "http://127.0.0.1:1").complete(request_)


async def test_blanks_around_a_key_do_not_count(vendor: Vendor, request_: ModelRequest) -> None:
    provider = build("openai", " sk-test\n", f"{vendor.url}/v1")

    await provider.complete(request_)

    assert vendor.asked[0].headers["authorization"] == "Bearer sk-test"
    await provider.close()
