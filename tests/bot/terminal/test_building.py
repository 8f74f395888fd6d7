"""What surfaces are built from: providers by what the environment has, and clear refusals."""

import json
from pathlib import Path

import pytest

from bot.building import (
    build_embedder,
    build_providers,
    check_providers,
    check_settings,
    load_settings,
    usual_models,
)
from bot.settings import BotSettings, read_settings
from core.config.writing import all_as_yaml
from core.debate.setup import Setup
from core.errors import ConfigurationBroken
from core.settings import ModelServer, Settings
from core.testing import a_setup
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always


def environment(**values: str) -> BotSettings:
    return BotSettings(_env_file=None, **values)  # pyright: ignore[reportCallIssue]


def setup_with(provider: str) -> Setup:
    return a_setup(provider=provider)


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("moonshot", "MOONSHOT_API_KEY"),
        ("compatible", "OPENAI_BASE_URL"),
    ],
)
def test_a_missing_key_is_named_before_anything_starts(provider: str, variable: str) -> None:
    with pytest.raises(ConfigurationBroken, match=f"{provider}, but {variable} is not set"):
        check_providers(setup_with(provider), environment())


GROQ = ModelServer(
    name="groq", base_url="https://api.groq.com/openai/v1", key_variable="GROQ_API_KEY"
)
WORKSHOP = ModelServer(name="workshop", base_url="http://10.0.0.7:8000/v1")


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


def test_a_servers_missing_key_is_named_before_anything_starts() -> None:
    with pytest.raises(ConfigurationBroken, match="groq, but GROQ_API_KEY is not set"):
        check_providers(setup_with("groq"), environment(), (GROQ,))
    check_providers(setup_with("workshop"), environment(), (GROQ, WORKSHOP))


async def test_a_server_cannot_be_where_machines_get_their_credentials(tmp_path: Path) -> None:
    text = 'servers: [{name: a, base_url: "http://169.254.169.254/v1"}]'
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigurationBroken, match=r"server a: .* is where machines"):
        await load_settings(environment(), tmp_path / "a.yaml")


async def test_several_keys_mix_the_strongest_models_unless_people_name_one(tmp_path: Path) -> None:
    file = tmp_path / "moot.yaml"
    keys = environment(anthropic_api_key="k", openai_api_key="k")

    async def loaded(text: str) -> Settings:
        file.write_text(text, encoding="utf-8")
        return (await load_settings(keys, file)).settings

    mixed = (await load_settings(keys)).settings
    assert [model.model for model in mixed.mixed_models] == ["claude-opus-5-5", "gpt-6.1-sol"]
    assert mixed.judge_models == mixed.mixed_models
    assert mixed.background_models[0].model == "claude-haiku-5-5", "as cheap as gpt-6-luna"
    single = (await load_settings(environment(openai_api_key="k"))).settings
    assert (single.mixed_models, single.judge_models) == ((), ())
    assert single.agent_model.model == usual_models()["openai"]

    named = await loaded("default_model: {provider: anthropic}")
    assert (named.mixed_models, named.judge_models) == ((), ())
    judged = await loaded("judge: {provider: openai}")
    assert (judged.judge_models, judged.mixed_models) == ((), mixed.mixed_models)
    agents = (await loaded("agents: [{id: a}, {id: b, provider: openai}, {id: c}, {id: d}]")).agents
    assert [agent.model for agent in agents] == [
        "claude-opus-5-5",
        "gpt-6.1-sol",
        "gpt-6.1-sol",
        "claude-opus-5-5",
    ]
    settings = await loaded(all_as_yaml(mixed, tmp_path))
    assert (settings.mixed_models, settings.judge_models) == (
        mixed.mixed_models,
        mixed.judge_models,
    )


MCP = """
evidence:
  mcp_servers:
    - {{name: docs, channels: ["*"], tools: [{{name: search}}], {}}}
"""


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ("url: 'http://169.254.169.254/mcp'", "The address of the MCP server docs: "),
        ("url: 'ftp://docs.example.com'", "The address of the MCP server docs: "),
        (
            "url: 'http://docs.example.com/mcp', key_variable: DOCS_TOKEN",
            "what DOCS_TOKEN holds would travel unencrypted; use https://.",
        ),
    ],
)
async def test_an_mcp_servers_address_is_checked_at_the_start(
    server: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "moot.yaml"
    file.write_text(MCP.format(server), encoding="utf-8")

    with pytest.raises(ConfigurationBroken) as error:
        await load_settings(environment(), file)

    assert words in str(error.value)


async def test_a_variable_that_an_mcp_server_needs_is_named_and_handed_on(tmp_path: Path) -> None:
    file, secrets = tmp_path / "moot.yaml", tmp_path / ".env"
    file.write_text(MCP.format("command: [docs], variables: [DOCS_TOKEN]"), encoding="utf-8")
    settings = (await load_settings(environment(), file)).settings

    with pytest.raises(ConfigurationBroken, match="The MCP server docs needs DOCS_TOKEN"):
        check_settings(settings, environment())

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
