"""The default provider, building of providers, and loading of SDKs."""

import pytest

from core.clock import SystemClock
from core.errors import ConfigurationBroken, KeyRefused
from core.llm.call import ModelCalls
from core.llm.providers.factory import (
    DEFAULT_MODELS,
    KEYED,
    PROVIDER_NAMES,
    build,
    build_server,
    choose,
)
from core.llm.providers.openai import OpenAIProvider
from core.request import ModelRequest
from core.settings import ModelChoice, ModelServer, Settings, agent_for
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
def test_an_unknown_provider_or_missing_address_is_an_error(name: str, words: str) -> None:
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
async def test_an_invalid_key_is_not_sent(
    request_: ModelRequest, name: str, key: str, words: str
) -> None:
    with pytest.raises(KeyRefused, match=words):
        await build(name, key, "http://127.0.0.1:1").complete(request_)


async def test_blanks_around_a_key_are_ignored(vendor: Vendor, request_: ModelRequest) -> None:
    provider = build("openai", " sk-test\n", f"{vendor.url}/v1")

    await provider.complete(request_)

    assert vendor.asked[0].headers["authorization"] == "Bearer sk-test"
    await provider.close()


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions"])
async def test_an_address_may_include_the_path_of_chats_and_a_query(
    vendor: Vendor, request_: ModelRequest, path: str
) -> None:
    server = ModelServer(name="azure", base_url=f"{vendor.url}{path}?api-version=preview")
    provider = build_server(server)

    await provider.complete(request_)

    sent = vendor.asked[0]
    assert (sent.path, sent.query) == ("/v1/chat/completions", "api-version=preview")
    await provider.close()


class Loading(OpenAIProvider):
    is_loaded = False

    async def load(self) -> None:
        self.is_loaded = True


async def test_only_the_providers_in_use_are_loaded() -> None:
    ours, other = Loading("sk-test"), Loading("sk-test")
    providers = {"openai": ours, "openrouter": other, "offline": build("offline")}
    await ModelCalls(providers, SystemClock()).load({"openai", "offline"})
    assert (ours.is_loaded, other.is_loaded) == (True, False)


def test_settings_name_the_providers_that_debates_ask() -> None:
    fallbacks = (ModelChoice(provider="workshop", model="m"),)
    agent = agent_for("architect", ModelChoice(provider="openrouter", model="m"))
    agent = agent.model_copy(update={"fallbacks": fallbacks})
    absent = agent.model_copy(update={"provider": "moonshot", "fallbacks": (), "enabled": False})
    settings = Settings(
        agents=(agent, absent),
        judge_model=ModelChoice(provider="anthropic", model="m"),
        fallbacks=(ModelChoice(provider="openai", model="m"),),
    )
    assert settings.providers >= {"openrouter", "workshop", "anthropic", "openai"}
    assert "moonshot" not in settings.providers
