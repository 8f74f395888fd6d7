"""What the doctor says about keys, addresses and models, over real HTTP."""

import json
from collections.abc import AsyncIterator
from datetime import date

import pytest
from pydantic import SecretStr

from bot.operations.doctor.check_models import check_models
from bot.operations.doctor.findings import CheckMark, as_text, exit_code
from bot.settings import BotSettings, read_settings
from core.debate.agents import ModelChoice
from core.settings import Settings
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Vendor, always

KEY = "sk-ant-secret-000000000000"
CLAUDE = ModelChoice(provider="anthropic", model="claude-sonnet-5-5")
LLAMA = ModelChoice(provider="ollama", model="llama-4:8b")


def vendors(request: VendorRequest) -> Say | Reject:
    """Anthropic and OpenAI with lists of models, and Ollama with one model."""
    body: dict[str, object]
    match request.path:
        case "/v1/models" if request.headers["authorization"] in {f"Bearer {KEY}", "Bearer none"}:
            models = ("claude-sonnet-5-5", "claude-haiku-5-5-20261001", "gpt-6-luna")
            body = {"data": [{"id": model} for model in models]}
        case "/v1/models":
            return Reject(status=401, code="authentication_error", message=f"Bad key {KEY}")
        case "/api/tags":
            body = {"models": [{"name": "llama-4:8b"}]}
        case "/api/show":
            body = {"model_info": {"llama.context_length": 8192}}
        case "/v1/messages" | "/api/chat" | "/v1/chat/completions" if "opus" not in str(
            request.body
        ):
            return Say(text="OK")
        case _:
            return Reject(status=404)
    return Reject(status=200, body=json.dumps(body))


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


@pytest.mark.parametrize(
    ("settings", "code", "lines"),
    [
        # Found by its dated version.
        (
            on(ModelChoice(provider="anthropic", model="claude-haiku-5-5")),
            0,
            ["✓ model anthropic/claude-haiku-5-5: answers"],
        ),
        (
            on(CLAUDE, fallbacks=(ModelChoice(provider="anthropic", model="claude-opus-9"),)),
            1,
            ["✗ model anthropic/claude-opus-9: ", "for example: claude-sonnet-5-5"],
        ),
        (
            on(CLAUDE, fallbacks=(ModelChoice(provider="openai", model="gpt-6-luna"),)),
            4,
            ["Set OPENAI_API_KEY."],
        ),
        (
            on(LLAMA, fallbacks=(ModelChoice(provider="ollama", model="qwen:7b"),)),
            1,
            [
                "✓ model ollama/llama-4:8b: answers",
                "Run: ollama pull qwen:7b",
                "context of llama-4:8b: 8,192 tokens; Moot asks for up to 8,192",
            ],
        ),
        (
            on(LLAMA, models=({"provider": "ollama", "match": "*", "context_tokens": 65_536},)),
            1,
            ["8,192 tokens, Moot would use 65,536"],
        ),
    ],
)
async def test_models_are_asked_and_their_errors_are_reported(
    environment: BotSettings, settings: Settings, code: int, lines: list[str]
) -> None:
    findings = await check_models(environment, settings)
    text = as_text(findings)
    assert [line for line in lines if line not in text] == [], text
    assert exit_code(findings) == code


async def test_a_refused_key_says_which_and_never_shows_it(
    environment: BotSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-other-1111111111111")
    text = as_text(await check_models(read_settings(None), on(CLAUDE)))

    assert "✗ anthropic (ANTHROPIC_API_KEY): " in text
    assert "Put a valid key into ANTHROPIC_API_KEY." in text
    assert "sk-ant" not in text


async def test_a_compatible_server_is_reached_at_its_address(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{vendor.url}/v1")
    choice = ModelChoice(provider="compatible", model="gpt-6-luna")
    text = as_text(await check_models(read_settings(None), on(choice)))

    assert "✓ compatible: " in text
    assert "✓ model compatible/gpt-6-luna: answers" in text


async def test_what_answers_without_a_list_of_models_is_not_the_vendor(
    vendor: Vendor, environment: BotSettings
) -> None:
    vendor.script = always(Reject(status=200, body="<html>Log in</html>"))
    text = as_text(await check_models(environment, on(CLAUDE)))
    assert "✗ anthropic (ANTHROPIC_API_KEY): " in text


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK says so, too
@pytest.mark.parametrize(
    ("model", "today", "mark", "words"),
    [
        ("claude-sonnet-4-0", date(2026, 6, 15), CheckMark.BAD, "was retired on 2026-06-15"),
        ("claude-sonnet-4-0", date(2026, 5, 1), CheckMark.BAD, "retires on 2026-06-15"),
        ("claude-sonnet-4-0", date(2026, 1, 1), CheckMark.SKIPPED, "retires on 2026-06-15"),
        ("claude-sonnet-4-5", date(2026, 11, 21), CheckMark.SKIPPED, "date is unknown"),
    ],
)
async def test_a_model_that_retires_soon_is_reported(
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
    ("is_set", "words"), [(False, "none is set up"), (True, "a key is set, but the settings give")]
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
