"""OpenAI and compatible servers: endpoints, and the fields of requests."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from core.errors import (
    KeyRefused,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderSilent,
    ReplyCutOff,
    ReplyUnusable,
    RequestRejected,
)
from core.llm.providers import sdk
from core.llm.providers.factory import build_server
from core.llm.providers.openai import (
    MOONSHOT,
    OPENAI,
    OPENROUTER,
    Dialect,
    OpenAIProvider,
    ResponsesReading,
)
from core.request import AnswerForm, ModelRequest
from core.settings import ModelServer
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor, always

RESPONSES, CHAT = "/v1/responses", "/v1/chat/completions"
FORM = AnswerForm(
    name="ballot", schema={"type": "object", "properties": {"ranking": {"enum": ["p1", "p2"]}}}
)


def without_responses(refusal: Reject) -> Script:
    """A server that refuses Responses that way."""

    def script(request: VendorRequest) -> Say | Reject:
        return refusal if request.path == RESPONSES else Say()

    return script


def a_provider(vendor: Vendor, dialect: Dialect = OPENAI) -> OpenAIProvider:
    return OpenAIProvider("sk-test", f"{vendor.url}/v1", dialect=dialect)


def paths(vendor: Vendor) -> list[str]:
    return [request.path for request in vendor.asked]


@pytest.mark.parametrize(
    "refusal",
    [
        Reject(status=404, message="Not Found"),
        Reject(status=405, message="Method Not Allowed"),
        Reject(status=400, message="This endpoint is not supported."),
        Reject(status=400, message="Unknown request URL: POST /v1/responses."),
        Reject(status=501, message="The Responses API is not implemented"),
    ],
)
async def test_an_address_without_responses_gets_chat_requests_from_then_on(
    vendor: Vendor, request_: ModelRequest, refusal: Reject
) -> None:
    vendor.script = without_responses(refusal)
    provider = a_provider(vendor)

    await provider.complete(request_)
    await provider.complete(request_)

    assert paths(vendor) == [RESPONSES, CHAT, CHAT]
    await provider.close()


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (Reject(status=400, message="Unknown model."), RequestRejected),
        (Reject(status=401, message="This endpoint is not supported for you."), KeyRefused),
        (Reject(status=500, message="endpoint not found"), ProviderDown),
        (Reject(status=501, message="Try later."), ProviderDown),
        (Reject(status=404, code="model_not_found"), RequestRejected),
    ],
)
async def test_any_other_failure_does_not_lead_to_chat(
    vendor: Vendor, request_: ModelRequest, refusal: Reject, kind: type[ProviderError]
) -> None:
    vendor.script = without_responses(refusal)
    provider = a_provider(vendor)

    with pytest.raises(kind):
        await provider.complete(request_)

    assert paths(vendor) == [RESPONSES]
    await provider.close()


async def test_an_address_without_either_api_is_asked_for_both_again(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = always(Reject(status=404))
    provider = a_provider(vendor)

    for _ in range(2):
        with pytest.raises(RequestRejected):
            await provider.complete(request_)

    assert paths(vendor) == [RESPONSES, CHAT] * 2
    await provider.close()


#: Dialect and model, what the body holds, which fields it lacks, and which parts are marked.
SENT: dict[str, tuple[Dialect, str, Mapping[str, Any], set[str], str]] = {
    "a model that reasons": (
        OPENAI,
        "gpt-6.1-terra",
        {
            "prompt_cache_options": {"mode": "explicit"},
            "prompt_cache_key": "d1234567",
            "store": False,
            "instructions": "You debate.",
            "reasoning": {"effort": "low"},
            "max_output_tokens": 1000 + 4096,
        },
        {"temperature"},
        "prompt_cache_breakpoint",
    ),
    "a model that samples": (
        OPENAI,
        "gpt-4o",
        {"temperature": 0.4, "prompt_cache_key": "d1234567"},
        {"prompt_cache_options", "reasoning"},
        "",
    ),
    "OpenRouter": (
        OPENROUTER,
        "anthropic/claude-sonnet-5.5",
        {"provider": {"require_parameters": True}, "usage": {"include": True}},
        {"store", "prompt_cache_key"},
        "cache_control",
    ),
    "Moonshot always reasons": (
        MOONSHOT,
        "kimi-k3.1-pro",
        {"reasoning_effort": "low", "max_completion_tokens": 1000 + 16384},
        {"temperature", "max_tokens"},
        "",
    ),
}


@pytest.mark.parametrize(("dialect", "model", "holds", "lacks", "mark"), SENT.values(), ids=SENT)
async def test_each_model_gets_the_fields_that_it_accepts(  # noqa: PLR0913, PLR0917 - one case, one row
    vendor: Vendor,
    request_: ModelRequest,
    dialect: Dialect,
    model: str,
    holds: Mapping[str, Any],
    lacks: set[str],
    mark: str,
) -> None:
    provider = a_provider(vendor, dialect)

    await provider.complete(replace(request_, model=model))

    (request,) = vendor.asked
    assert request.path == (RESPONSES if dialect is OPENAI else CHAT)
    assert holds.items() <= request.body.items()
    assert lacks.isdisjoint(request.body)
    content = (request.body.get("input") or request.body["messages"])[-1]["content"]
    assert not mark or [mark in part for part in content] == [True, True, True, False]
    await provider.close()


async def test_an_unknown_model_gets_common_fields_only(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = without_responses(Reject(status=404))
    provider = a_provider(vendor)

    await provider.complete(replace(request_, model="llama-4", cache_key=""))

    body = vendor.asked[1].body
    usual = {"model", "messages", "max_tokens", "stream", "stream_options", "temperature"}
    assert set(body) == usual
    assert isinstance(body["messages"][1]["content"], str)
    assert "prompt_cache_key" not in vendor.asked[0].body
    await provider.close()


@pytest.mark.parametrize("script", [always(Say()), without_responses(Reject(status=404))])
@pytest.mark.parametrize("answers", ["object", "prompt"])
async def test_without_strict_schemas_the_schema_goes_into_the_prompt(
    vendor: Vendor, request_: ModelRequest, script: Script, answers: str
) -> None:
    vendor.script = script
    records = ({"match": "llama-4", "answers": answers},)
    provider = OpenAIProvider("sk-test", f"{vendor.url}/v1", records=records)

    await provider.complete(replace(request_, model="llama-4", answer=FORM, cache_key=""))

    sent = str(vendor.asked[-1].body)
    assert "JSON Schema" in sent
    assert "ranking" in sent
    assert "json_schema" not in sent
    assert ("json_object" in sent) == (answers == "object")
    await provider.close()


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ({"status": "failed", "error": {"code": "rate_limit_exceeded"}}, ProviderBusy),
        ({"status": "failed", "error": None}, ProviderDown),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            ReplyUnusable,
        ),
        ({"status": "incomplete", "incomplete_details": None}, ReplyCutOff),
        ({"status": "cancelled"}, ProviderDown),
        (None, ProviderDown),
    ],
)
async def test_a_response_that_is_not_completed_is_no_reply(
    vendor: Vendor,
    request_: ModelRequest,
    response: dict[str, object] | None,
    kind: type[ProviderError],
) -> None:
    event = {"type": "response.failed", "response": response}
    vendor.script = always(Reject(status=200, body=f"data: {json.dumps(event)}\n\n"))
    provider = a_provider(vendor)

    with pytest.raises(kind) as caught:
        await provider.complete(request_)

    assert type(caught.value) is kind
    await provider.close()


def test_a_compatible_server_may_send_text_in_deltas_only() -> None:
    reading = ResponsesReading("OpenAI")
    for word in ("Use ", "A."):
        reading.take({"type": "response.output_text.delta", "delta": word})
    reading.take({"type": "response.completed", "response": {"status": "completed"}})

    assert reading.text() == "Use A."


async def test_openrouter_names_the_price_of_a_call(vendor: Vendor, request_: ModelRequest) -> None:
    vendor.script = always(Say(cost=0.00123))
    provider = a_provider(vendor, OPENROUTER)

    assert str((await provider.complete(request_)).usage.cost) == "0.00123"
    await provider.close()


async def test_an_endless_dns_lookup_is_silence(
    request_: ModelRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object, **__: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", never)
    monkeypatch.setattr(sdk, "_CONNECTING", httpx2.Timeout(None, connect=10.0, pool=0.1))
    provider = build_server(ModelServer(name="far", base_url="http://models.test/v1"))

    with pytest.raises(ProviderSilent):
        async with asyncio.timeout(5):
            await provider.complete(request_)
    await provider.close()


OPENAIS_OWN = (
    *("store", "prompt_cache", "service_tier", "safety_identifier", "reasoning", "metadata"),
    "verbosity",
)


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_other_servers_get_no_fields_of_openai(
    vendor: Vendor, request_: ModelRequest, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ours")
    fields = {"name": "groq", "base_url": f"{vendor.url}/v1", "api": api}
    # Even what settings say of a model's cache does not make OpenAI's fields welcome.
    caching = ({"provider": "groq", "cache": "explicit"},)
    provider = build_server(ModelServer.model_validate(fields), "gsk-test", caching)

    await provider.complete(replace(request_, user="somebody", answer=FORM))

    (request,) = vendor.asked
    assert request.path == (CHAT if api == "chat" else RESPONSES)
    assert request.headers["authorization"] == "Bearer gsk-test"
    assert not [name for name in request.headers if name.startswith("openai-")]
    body = json.dumps(request.body)
    assert not [field for field in OPENAIS_OWN if field in body]
    assert '"enum": ["p1", "p2"]' in body
    assert '"strict": true' in body
    await provider.close()
