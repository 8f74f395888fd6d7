"""What the doctor says about keys, addresses and models, over real HTTP."""

import json
from collections.abc import AsyncIterator, Sequence
from datetime import date

import pytest
from pydantic import SecretStr

from bot.operations.doctor.check_models import check_models
from bot.operations.doctor.findings import CheckMark, Finding, as_text, exit_code
from bot.settings import BotSettings, read_settings
from core.debate.agents import ModelChoice
from core.settings import Settings
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Vendor, always

KEY = "sk-ant-secret-000000000000"
CLAUDE = ModelChoice(provider="anthropic", model="claude-sonnet-5-5")


def listing(*models: str) -> Reject:
    return Reject(status=200, body=json.dumps({"data": [{"id": model} for model in models]}))


def vendors(request: VendorRequest) -> Say | Reject:
    """Anthropic and OpenAI with lists of models, and Ollama with one model."""
    match request.path:
        case "/v1/models" if request.headers["authorization"] in {f"Bearer {KEY}", "Bearer none"}:
            return listing("claude-sonnet-5-5", "claude-haiku-5-5-20261001", "gpt-6-luna")
        case "/v1/models":
            return Reject(status=401, code="authentication_error", message=f"Bad key {KEY}")
        case "/api/tags":
            return Reject(status=200, body=json.dumps({"models": [{"name": "llama-4:8b"}]}))
        case "/api/show":
            facts = {"model_info": {"llama.context_length": 8192}}
            return Reject(status=200, body=json.dumps(facts))
        case "/v1/messages" | "/api/chat" | "/v1/chat/completions" if "opus" not in str(
            request.body
        ):
            return Say(text="OK")
        case _:
            return Reject(status=404)


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with Vendor(vendors) as running:
        running.context_tokens = None
        yield running


@pytest.fixture
def environment(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> BotSettings:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", vendor.url)
    monkeypatch.setenv("OLLAMA_HOST", vendor.url)
    return read_settings(None)


def on(choice: ModelChoice, **changes: object) -> Settings:
    return Settings(agent_model=choice, judge_model=choice).model_copy(update=changes)


def marks(findings: Sequence[Finding]) -> dict[str, CheckMark]:
    return {finding.what: finding.mark for finding in findings}


async def test_a_model_is_found_by_its_dated_version(environment: BotSettings) -> None:
    haiku = ModelChoice(provider="anthropic", model="claude-haiku-5-5")
    marks_by_name = marks(await check_models(environment, on(haiku)))

    assert marks_by_name["model anthropic/claude-haiku-5-5"] is CheckMark.GOOD


async def test_a_refused_key_says_which_and_never_shows_it(
    environment: BotSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-other-1111111111111")
    findings = await check_models(read_settings(None), on(CLAUDE))

    assert marks(findings)["anthropic (ANTHROPIC_API_KEY)"] is CheckMark.BAD
    assert "Put a valid key into ANTHROPIC_API_KEY." in as_text(findings)
    assert "sk-ant" not in as_text(findings)
    assert exit_code(findings) == 1


async def test_a_model_that_is_not_there_is_told_with_others(environment: BotSettings) -> None:
    opus = ModelChoice(provider="anthropic", model="claude-opus-9")
    findings = await check_models(environment, on(CLAUDE, fallbacks=(opus,)))

    assert marks(findings)["model anthropic/claude-opus-9"] is CheckMark.BAD
    assert "for example: claude-sonnet-5-5" in as_text(findings)


async def test_a_missing_key_of_a_provider_that_is_used_is_a_matter_of_configuration(
    environment: BotSettings,
) -> None:
    luna = ModelChoice(provider="openai", model="gpt-6-luna")
    findings = await check_models(environment, on(CLAUDE, fallbacks=(luna,)))

    assert "Set OPENAI_API_KEY." in as_text(findings)
    assert exit_code(findings) == 4


async def test_ollamas_models_and_their_context_are_looked_at(environment: BotSettings) -> None:
    here = ModelChoice(provider="ollama", model="llama-4:8b")
    absent = ModelChoice(provider="ollama", model="qwen:7b")
    findings = await check_models(environment, on(here, fallbacks=(absent,)))
    text = as_text(findings)

    assert marks(findings)["model ollama/llama-4:8b"] is CheckMark.GOOD
    assert "Run: ollama pull qwen:7b" in text
    assert "context of llama-4:8b: 8,192 tokens; Moot asks for up to 8,192" in text


async def test_a_record_larger_than_the_models_own_context_is_told(
    environment: BotSettings,
) -> None:
    here = ModelChoice(provider="ollama", model="llama-4:8b")
    wide = {"provider": "ollama", "match": "*", "context_tokens": 65_536}
    findings = await check_models(environment, on(here, models=(wide,)))

    assert "8,192 tokens, Moot would use 65,536" in as_text(findings)


async def test_a_compatible_server_is_reached_at_its_address(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{vendor.url}/v1")
    choice = ModelChoice(provider="compatible", model="gpt-6-luna")
    findings = await check_models(read_settings(None), on(choice))

    assert marks(findings)["compatible"] is CheckMark.GOOD
    assert marks(findings)["model compatible/gpt-6-luna"] is CheckMark.GOOD


async def test_what_answers_without_a_list_of_models_is_not_the_vendor(
    vendor: Vendor, environment: BotSettings
) -> None:
    vendor.script = always(Reject(status=200, body="<html>Log in</html>"))
    findings = await check_models(environment, on(CLAUDE))

    assert marks(findings)["anthropic (ANTHROPIC_API_KEY)"] is CheckMark.BAD


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK says so, too
@pytest.mark.parametrize(
    ("model", "today", "mark", "words"),
    [
        ("claude-sonnet-4-0", date(2026, 6, 15), CheckMark.BAD, "was retired on 2026-06-15"),
        ("claude-sonnet-4-0", date(2026, 5, 1), CheckMark.BAD, "retires on 2026-06-15"),
        ("claude-sonnet-4-0", date(2026, 1, 1), CheckMark.SKIPPED, "retires on 2026-06-15"),
        ("claude-sonnet-4-5", date(2026, 11, 21), CheckMark.SKIPPED, "no day is known"),
    ],
)
async def test_a_model_that_goes_is_told_in_time(
    environment: BotSettings, *, model: str, today: date, mark: CheckMark, words: str
) -> None:
    choice = ModelChoice(provider="anthropic", model=model)
    findings = await check_models(environment, on(choice), today)
    (leaving,) = [finding for finding in findings if finding.remedy.startswith("Take ")]

    assert leaving.mark is mark
    assert words in leaving.found
    assert leaving.remedy == "Take claude-sonnet-5-5."
    assert "agents, the judge" in leaving.what


@pytest.mark.parametrize(
    ("is_set", "words"), [(False, "none is set up"), (True, "a key is set, but every agent")]
)
async def test_without_a_model_doctor_says_what_to_do(
    environment: BotSettings, *, is_set: bool, words: str
) -> None:
    if not is_set:
        environment = environment.model_copy(update={"anthropic_api_key": SecretStr("")})
    offline = on(ModelChoice(provider="offline", model="any"))
    findings = await check_models(environment, offline)
    (finding,) = [finding for finding in findings if finding.what == "models"]

    assert words in finding.found
    assert ("default_model" in finding.remedy) == is_set
