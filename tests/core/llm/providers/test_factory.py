"""Which provider serves when nothing is said, and how each is built."""

import pytest

from core.errors import ConfigurationBroken, KeyRefused
from core.llm.providers.factory import DEFAULT_MODELS, KEYED, PROVIDER_NAMES, build, choose
from core.request import ModelRequest
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always

PULLED = '{"models": [{"name": "nomic-embed-text"}, {"name": "llama-4:8b"}, {}]}'


@pytest.mark.parametrize("name", PROVIDER_NAMES)
async def test_every_provider_can_be_built_without_a_network(name: str) -> None:
    provider = build(name, "sk-test", "http://127.0.0.1:9/v1")

    assert provider.name == name
    await provider.close()


@pytest.mark.parametrize(
    ("name", "words"), [("opnai", "'opnai'.*anthropic, openai"), ("compatible", "address")]
)
def test_what_cannot_be_built_is_said(name: str, words: str) -> None:
    with pytest.raises(ConfigurationBroken, match=words):
        build(name, "key")


@pytest.mark.parametrize(
    ("keys", "provider"),
    [*(({name: "sk-test"}, name) for name in KEYED), ({"openai": "b", "anthropic": "a"}, KEYED[0])],
)
async def test_the_first_key_that_is_set_chooses_its_provider(
    keys: dict[str, str], provider: str
) -> None:
    choice = await choose(dict.fromkeys(KEYED, "") | keys)

    assert choice.provider == provider
    assert choice.models == DEFAULT_MODELS[provider]


@pytest.mark.parametrize(
    ("answer", "provider", "model"),
    [
        (Reject(status=200, body=PULLED), "ollama", "llama-4:8b"),  # the first one that writes
        (Reject(status=200, body='{"models": []}'), "offline", DEFAULT_MODELS["offline"].agent),
        (Reject(status=500), "offline", DEFAULT_MODELS["offline"].agent),
    ],
)
async def test_without_keys_an_ollama_with_a_model_serves_or_the_offline_engine(
    vendor: Vendor, answer: Reject, provider: str, model: str
) -> None:
    vendor.script = always(answer)

    choice = await choose({}, vendor.url)

    assert (choice.provider, choice.models.agent) == (provider, model)
    assert vendor.asked[0].path == "/api/tags"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("", "No API key"),
        ("sk-t\u00e4st", r"holds a sign that no key has \(U\+"),
        ("sk-\u200btest", r"holds a sign that no key has \(U\+"),
        ("sk-te st", r"holds a sign that no key has \(U\+"),
    ],
)
@pytest.mark.parametrize("name", ["openai", "anthropic"])
async def test_a_key_that_cannot_be_one_is_not_sent(
    request_: ModelRequest, name: str, key: str, words: str
) -> None:
    with pytest.raises(KeyRefused, match=words):
        await build(name, key, "http://127.0.0.1:1").complete(request_)


async def test_blanks_around_a_key_do_not_count(vendor: Vendor, request_: ModelRequest) -> None:
    provider = build("openai", " sk-test\n", f"{vendor.url}/v1")

    await provider.complete(request_)

    assert vendor.asked[0].headers["authorization"] == "Bearer sk-test"
    await provider.close()
