"""What surfaces are built from: providers by what the environment has, and clear refusals."""

import json
from pathlib import Path

import pytest

from bot.building import (
    build_embedder,
    build_providers,
    check_providers,
    check_settings,
    default_models,
    load_settings,
    model_sets,
)
from bot.settings import BotSettings, read_settings
from core.config.writing import all_as_yaml
from core.errors import ConfigurationBroken
from core.settings import ModelChoice, ModelServer, Settings, agent_for
from core.testing import a_setup
from core.use_cases.choices import Choices, with_choices
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always

GROQ = ModelServer(
    name="groq", base_url="https://api.groq.com/openai/v1", key_variable="GROQ_API_KEY"
)
WORKSHOP = ModelServer(name="workshop", base_url="http://10.0.0.7:8000/v1")


def environment(**values: str) -> BotSettings:
    return BotSettings(_env_file=None, **values)  # pyright: ignore[reportCallIssue]


async def loaded(tmp_path: Path, text: str, keys: BotSettings | None = None) -> Settings:
    file = tmp_path / "moot.yaml"
    file.write_text(text, encoding="utf-8")
    return (await load_settings(keys or environment(), file)).settings


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("moonshot", "MOONSHOT_API_KEY"),
        ("compatible", "OPENAI_BASE_URL"),
        ("groq", "GROQ_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_anything_starts(provider: str, variable: str) -> None:
    with pytest.raises(ConfigurationBroken, match=f"{provider}, but {variable} is not set"):
        check_providers(a_setup(provider=provider), environment(), (GROQ,))


async def test_servers_of_the_settings_are_providers_once_their_keys_are_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("GROQ_API_KEY=gsk-from-a-file\n", encoding="utf-8")
    bare = build_providers(environment(), (), (GROQ, WORKSHOP))
    settings = read_settings(tmp_path / ".env")
    with_key = build_providers(settings, (), (GROQ, WORKSHOP))

    assert set(bare) == {"ollama", "offline", "workshop"}
    assert set(with_key) >= {"ollama", "offline", "workshop", "groq"}
    assert settings.key_in("GROQ_API_KEY") == "gsk-from-a-file"
    assert "gsk-from-a-file" in settings.secrets
    monkeypatch.setenv("GROQ_API_KEY", "gsk-from-outside")
    assert read_settings(tmp_path / ".env").key_in("GROQ_API_KEY") == "gsk-from-outside"
    for provider in (*bare.values(), *with_key.values()):
        await provider.close()


async def test_several_keys_mix_the_strongest_models_unless_people_name_one(tmp_path: Path) -> None:
    keys = environment(anthropic_api_key="k", openai_api_key="k")
    mixed = (await load_settings(keys)).settings
    assert [model.model for model in mixed.mixed_models] == ["claude-opus-5-5", "gpt-6.1-sol"]
    assert mixed.judge_models == mixed.mixed_models
    assert mixed.background_models[0].model == "claude-haiku-5-5", "as cheap as gpt-6-luna"
    single = (await load_settings(environment(openai_api_key="k"))).settings
    assert (single.mixed_models, single.judge_models) == ((), ())
    assert single.agent_model.model == default_models()["openai"]

    named = await loaded(tmp_path, "default_model: {provider: anthropic}", keys)
    assert (named.mixed_models, named.judge_models) == ((), ())
    judged = await loaded(tmp_path, "judge: {provider: openai}", keys)
    assert (judged.judge_models, judged.mixed_models) == ((), mixed.mixed_models)
    agents = "agents: [{id: a}, {id: b, provider: openai}, {id: c}, {id: d}]"
    dealt = [agent.model for agent in (await loaded(tmp_path, agents, keys)).agents]
    assert dealt == ["claude-opus-5-5", "gpt-6.1-sol", "gpt-6.1-sol", "claude-opus-5-5"]
    again = await loaded(tmp_path, all_as_yaml(mixed, tmp_path), keys)
    assert (again.mixed_models, again.judge_models) == (mixed.mixed_models, mixed.judge_models)


def test_models_of_named_servers_can_be_chosen_each_once_and_none_without_its_key() -> None:
    settings = Settings(
        servers=(
            ModelServer(name="groq", base_url="https://g.example/v1", key_variable="GROQ_API_KEY"),
            ModelServer(name="vllm", base_url="https://v.example/v1", models=("qwen", "llama")),
            ModelServer(name="shut", base_url="https://s.example", key_variable="SHUT_API_KEY"),
        ),
        agents=(
            agent_for("security", ModelChoice(provider="groq", model="llama-4")),
            agent_for("architect", ModelChoice(provider="vllm", model="qwen")),
        ),
        fallbacks=(ModelChoice(provider="shut", model="x"),),
    )
    keys = environment(anthropic_api_key="sk-ant-0123456789abcdef")
    keys.take_variables({"GROQ_API_KEY": "gsk-0123456789abcdef"})
    sets = model_sets(keys, settings)
    assert sets[0].id == "anthropic"
    assert [(models.id, models.words) for models in sets[1:]] == [
        ("groq/llama-4", "groq: llama-4"),
        ("vllm/qwen", "vllm: qwen"),
        ("vllm/llama", "vllm: llama"),
        ("offline", "No model: the offline engine"),
    ]
    chosen = with_choices(settings, Choices(models="vllm/llama"), sets)
    names = (chosen.agent_model.full_name, chosen.judge_model.full_name)
    assert names == ("vllm/llama", "vllm/llama")


MCP = """
evidence:
  mcp_servers:
    - {{name: docs, channels: ["*"], tools: [{{name: search}}], {}}}
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'servers: [{name: a, base_url: "http://169.254.169.254/v1"}]',
            "server a: 169.254.169.254 is where machines",
        ),
        (MCP.format("url: 'http://169.254.169.254/mcp'"), "The address of the MCP server docs: "),
        (MCP.format("url: 'ftp://docs.example.com'"), "url must begin with https:// or http://"),
        (
            MCP.format("url: 'http://docs.example.com/mcp', key_variable: DOCS_TOKEN"),
            "the key in DOCS_TOKEN would be sent unencrypted; use https://.",
        ),
    ],
)
async def test_a_servers_address_is_checked_at_the_start(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationBroken) as error:
        await loaded(tmp_path, text)
    assert words in str(error.value)


async def test_a_variable_that_an_mcp_server_needs_is_named_and_handed_on(tmp_path: Path) -> None:
    settings = await loaded(tmp_path, MCP.format("command: [docs], variables: [DOCS_TOKEN]"))
    with pytest.raises(ConfigurationBroken, match="The MCP server docs needs DOCS_TOKEN"):
        check_settings(settings, environment())

    secrets = tmp_path / ".env"
    secrets.write_text("DOCS_TOKEN=abcdef123\nOTHER_TOKEN=abcdef456\n", encoding="utf-8")
    with_token = read_settings(secrets)
    check_settings(settings, with_token)
    variables = with_token.for_program(("DOCS_TOKEN",))
    assert variables["DOCS_TOKEN"] == "abcdef123"
    assert variables.keys() & {"OTHER_TOKEN", "SLACK_BOT_TOKEN", "OPENAI_API_KEY"} == set()
    assert "PATH" in variables


@pytest.mark.parametrize(
    ("url", "own", "key"),
    [
        ("", "", "of-openai"),
        ("", "its-own", "its-own"),
        ("https://vectors.test/v1", "", ""),
        ("https://vectors.test/v1", "its-own", "its-own"),
    ],
)
def test_no_other_server_for_embeddings_is_sent_the_key_of_openai(
    url: str, own: str, key: str
) -> None:
    values = {"moot_embeddings_url": url, "moot_embeddings_key": own}
    assert environment(openai_api_key="of-openai", **values).embeddings_key == key


async def test_embeddings_are_asked_for_with_that_key() -> None:
    answer = {"data": [{"object": "embedding", "index": 0, "embedding": [1.0]}], "model": "m"}
    async with Vendor(always(Reject(status=200, body=json.dumps(answer)))) as vendor:
        where = {"moot_embeddings_model": "m", "moot_embeddings_url": f"{vendor.url}/v1"}
        embedder = build_embedder(environment(openai_api_key="of-openai", **where))
        assert embedder
        assert await embedder.embed(["a queue"]) == [[1.0]]
        await embedder.close()
    assert "of-openai" not in str(vendor.asked[0].headers)
