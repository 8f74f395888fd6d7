"""Errors of vendors and servers, from their references, and Moot's messages about them."""

import json
from typing import Any, NamedTuple

import pytest

from core.errors import (
    KeyRefused,
    PromptTooLong,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    RequestRejected,
)
from core.llm.providers.errors import ReplyFailed, translate
from core.llm.providers.factory import build
from core.llm.providers.fields import money
from core.request import ModelRequest
from tests.core.llm.providers.test_odd_servers import asked_of, compatible
from tests.vendors.script import Reject
from tests.vendors.server import Vendor, always


class Failure(NamedTuple):
    """An error response of a server, and its meaning."""

    server: str
    status: int
    body: Any
    kind: type[ProviderError]
    #: Words of the message to people.
    words: str


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def of_proxy(kind: str, message: str, code: str) -> dict[str, Any]:
    inner = json.dumps({"message": message})
    return error(f"litellm.{kind}: BedrockException - {inner}", type=None, param=None, code=code)


def of_gemini(status: int, message: str, code: str, **more: Any) -> Any:
    return [{"error": {"code": status, "message": message, "status": code, **more}}]


WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}
QUOTA = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProject-FreeTier"}]}
UPSTREAM = {"raw": "m is temporarily rate-limited upstream.", "provider_name": "P"}

FAILURES = [
    Failure("OpenAI", 401, error("Incorrect API key provided.", type="invalid_request_error",
            code="invalid_api_key"), KeyRefused, "refuses the API key"),
    Failure("OpenAI", 429, error("Rate limit reached for m. Please try again in 20s.",
            type="requests", code="rate_limit_exceeded"), ProviderBusy, "limits our rate"),
    Failure("OpenAI", 429, error("You exceeded your current quota, please check your plan.",
            type="insufficient_quota", code="insufficient_quota"), KeyRefused, "wants payment"),
    Failure("OpenAI", 404, error("The model `m` does not exist or you do not have access to it.",
            type="invalid_request_error", code="model_not_found"), RequestRejected,
            "does not exist"),
    Failure("OpenAI", 400, error("This model's maximum context length is 128000 tokens. However, "
            "your messages resulted in 130000 tokens.", param="messages",
            code="context_length_exceeded"), PromptTooLong, "holds 128,000 tokens"),
    Failure("Azure", 401, error("Access denied due to invalid subscription key or wrong API "
            "endpoint.", code="401"), KeyRefused, "invalid subscription key"),
    Failure("Azure", 404, error("The API deployment for this resource does not exist.",
            code="DeploymentNotFound"), RequestRejected, "DeploymentNotFound"),
    Failure("Azure", 429, error("Requests have exceeded the token rate limit of your tier. Please "
            "retry after 7 seconds.", code="429"), ProviderBusy, "limits our rate"),
    Failure("Azure", 400, error("The response was filtered due to the prompt triggering Azure "
            "OpenAI's content management policy.", param="prompt", code="content_filter",
            innererror={"code": "ResponsibleAIPolicyViolation"}), RequestRejected,
            "content filter"),
    Failure("Gemini", 400, of_gemini(400, "API key not valid. Please pass a valid API key.",
            "INVALID_ARGUMENT"), KeyRefused, "refuses the API key"),
    Failure("Gemini", 429, of_gemini(429, "Resource has been exhausted (e.g. check quota).",
            "RESOURCE_EXHAUSTED", details=[WAIT]), ProviderBusy, "limits our rate"),
    Failure("Gemini", 503, of_gemini(503, "The model is overloaded. Please try again later.",
            "UNAVAILABLE"), ProviderBusy, "model is overloaded"),
    Failure("Gemini", 400, of_gemini(400, "The input token count (1200000) exceeds the maximum "
            "number of tokens allowed (1048576).", "INVALID_ARGUMENT"), PromptTooLong,
            "holds 1,048,576 tokens"),
    Failure("Gemini", 429, of_gemini(429, "You exceeded your current quota. limit: 0",
            "RESOURCE_EXHAUSTED", details=[QUOTA]), KeyRefused,
            "daily quota is used up; it is there again tomorrow"),
    Failure("Gemini", 400, of_gemini(400, "User location is not supported for the API use.",
            "FAILED_PRECONDITION"), KeyRefused, "country or region"),
    Failure("Bedrock by a proxy", 401, error("Authentication Error, Invalid proxy server token "
            "passed.", type="auth_error", code="401"), KeyRefused, "Invalid proxy server token"),
    Failure("Bedrock by a proxy", 400, of_proxy("BadRequestError", "The provided model identifier "
            "is invalid.", "400"), RequestRejected, "model identifier is invalid"),
    Failure("Bedrock by a proxy", 400, of_proxy("ContextWindowExceededError", "Input is too long "
            "for requested model.", "400"), PromptTooLong, "too long"),
    Failure("OpenRouter", 401, error("No auth credentials found", code=401), KeyRefused,
            "No auth credentials"),
    Failure("OpenRouter", 402, error("Insufficient credits. Add more and retry.", code=402),
            KeyRefused, "wants payment"),
    Failure("OpenRouter", 429, error("Provider returned error", code=429, metadata=UPSTREAM),
            ProviderBusy, "rate-limited upstream"),
    Failure("OpenRouter", 400, error("This endpoint's maximum context length is 32768 tokens. "
            "However, you requested about 40000 tokens.", code=400), PromptTooLong,
            "holds 32,768 tokens"),
    Failure("OpenRouter", 403, error("Your chosen model requires moderation and your input was "
            "flagged", code=403, metadata={"reasons": ["violence"]}), RequestRejected,
            "content filter"),
    Failure("Mistral", 401, {"message": "Unauthorized", "request_id": "r"}, KeyRefused,
            "refuses the API key"),
    Failure("Mistral", 429, {"object": "error", "message": "Requests rate limit exceeded",
            "type": "rate_limited", "code": "1300"}, ProviderBusy, "limits our rate"),
    Failure("Mistral", 400, {"object": "error", "message": "Invalid model: m",
            "type": "invalid_model", "code": "1500"}, RequestRejected, "Invalid model: m"),
    Failure("Mistral", 400, {"object": "error", "message": "Prompt contains 40000 tokens and 0 "
            "draft tokens, too large for model with 32768 maximum context length",
            "type": "invalid_request_prompt"}, PromptTooLong, "holds 32,768 tokens"),
    Failure("Groq", 413, error("Request too large for model `m` on tokens per minute (TPM): Limit "
            "6000, Requested 9000, please reduce your message size and try again.", type="tokens",
            code="rate_limit_exceeded"), PromptTooLong, "holds 6,000 tokens"),
    Failure("Groq", 429, error("Rate limit reached for model `m` on tokens per minute (TPM): Limit "
            "6000, Used 5034, Requested 1443. Please try again in 4.77s. Need more tokens? Upgrade "
            "at https://console.groq.com/settings/billing", type="tokens",
            code="rate_limit_exceeded"), ProviderBusy, "limits our rate"),
    Failure("OpenAI", 429, error("Request too large for m on tokens per min (TPM): Limit 30000, "
            "Requested 342389.", type="tokens", code="rate_limit_exceeded"), PromptTooLong,
            "holds 30,000 tokens"),
    Failure("LiteLLM", 429, error("Budget has been exceeded! Current cost: 10.51, Max budget: 10.0",
            type="budget_exceeded", code="429"), KeyRefused, "wants payment"),
    Failure("Groq", 498, error("Flex tier capacity exceeded.", type="capacity_exceeded"),
            ProviderBusy, "capacity exceeded"),
    Failure("DeepSeek", 401, error("Authentication Fails, Your api key is invalid",
            type="authentication_error", code="invalid_request_error"), KeyRefused,
            "refuses the API key"),
    Failure("DeepSeek", 402, error("Insufficient Balance", type="unknown_error",
            code="invalid_request_error"), KeyRefused, "wants payment"),
    Failure("vLLM", 400, {"object": "error", "message": "This model's maximum context length is "
            "8192 tokens. However, you requested 9000 tokens.", "type": "BadRequestError",
            "code": 400}, PromptTooLong, "holds 8,192 tokens"),
    Failure("llama.cpp", 503, error("Loading model", code=503, type="unavailable_error"),
            ProviderBusy, "Loading model"),
    Failure("llama.cpp", 400, error("the request exceeds the available context size", code=400,
            type="exceed_context_size_error", n_ctx=4096), PromptTooLong, "holds 4,096 tokens"),
    Failure("LM Studio", 400, {"error": "Trying to keep the first 5000 tokens when context the "
            "overflows. However, the model is loaded with context length of only 4096 tokens, "
            "which is not enough."}, PromptTooLong, "holds 4,096 tokens"),
    Failure("LM Studio", 400, {"error": "The model has crashed without additional information. "
            "(Exit code: null)"}, ProviderDown, "lost the model"),
    Failure("LM Studio", 400, {"error": "Model unloaded."}, ProviderDown, "Model unloaded"),
    Failure("LM Studio", 400, {"error": "No models loaded. Please load a model in the developer "
            "page."}, RequestRejected, "No models loaded"),
    Failure("LM Studio", 400, {"error": "Failed to load model. Error: insufficient system "
            "resources."}, RequestRejected, "cannot load the model"),
    Failure("TGI", 422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must "
            "be <= 4096. Given: 3900 `inputs` tokens and 1000 `max_new_tokens`",
            "error_type": "validation"}, PromptTooLong, "holds 4,096 tokens"),
    Failure("TGI", 424, {"error": "Request failed during generation: Server error: CUDA out of "
            "memory.", "error_type": "generation"}, RequestRejected, "cannot load the model"),
    Failure("Anthropic", 401, {"type": "error", **error("invalid x-api-key",
            type="authentication_error")}, KeyRefused, "refuses the API key"),
    Failure("Anthropic", 400, {"type": "error", **error("prompt is too long: 210000 tokens > "
            "200000 maximum", type="invalid_request_error")}, PromptTooLong,
            "holds 200,000 tokens"),
    Failure("Anthropic", 400, {"type": "error", **error("Your credit balance is too low to access "
            "the Anthropic API.", type="invalid_request_error")}, KeyRefused, "wants payment"),
    Failure("Anthropic", 404, {"type": "error", **error("model: m", type="not_found_error")},
            RequestRejected, "model: m"),
    Failure("Anthropic", 529, {"type": "error", **error("Overloaded", type="overloaded_error")},
            ProviderBusy, "overloaded"),
    Failure("Ollama", 404, {"error": "model 'm' not found"}, RequestRejected, "ollama pull"),
    Failure("Ollama", 500, {"error": "llama runner process has terminated: signal: killed"},
            ProviderDown, "process has terminated"),
    Failure("Ollama", 500, {"error": "model requires more system memory (18.2 GiB) than is "
            "available (7.1 GiB)"}, RequestRejected, "cannot load the model (500)"),
    Failure("a proxy", 400, error("AuthenticationError: Incorrect key", code="401"), KeyRefused,
            "refuses the API key"),
    Failure("a gateway", 400, error("模型服务调用失败", code=400, cause=json.dumps(
            error("The quota of project 7 is used up."))), RequestRejected,
            "The quota of project 7 is used up"),
    Failure("a firewall", 403, "<!DOCTYPE html><html><head><title>Just a moment...</title></head>",
            RequestRejected, "A web page “Just a moment...” answered in place of Workshop"),
    Failure("a proxy", 520, "<title>520: unknown error</title>", ProviderDown,
            "520: unknown error"),
    Failure("Ours", 400, {"error": True, "message": "It is away"}, RequestRejected,
            "Workshop rejects the request (400): It is away."),
    Failure("Ours", 404, {"error": 404, "message": "It is away"}, RequestRejected, "It is away."),
    Failure("Ours", 400, {"message": "It is away", "cause": "BadRequest"}, RequestRejected,
            "(400): It is away."),
    Failure("Ours", 422, {"error": {"message": "It is away", "input": "word " * 2000}},
            RequestRejected, "(422): It is away."),
]  # fmt: skip
OWN_PROTOCOL = {"Anthropic": "anthropic", "Ollama": "ollama"}


@pytest.mark.parametrize(
    "failure", FAILURES, ids=lambda row: f"{row.server} {row.status}: {row.words}"
)
async def test_a_failure_becomes_an_error_with_the_servers_reason(
    vendor: Vendor, request_: ModelRequest, failure: Failure
) -> None:
    page = failure.body if isinstance(failure.body, str) else json.dumps(failure.body)
    vendor.script = always(Reject(status=failure.status, body=page))
    own = OWN_PROTOCOL.get(failure.server)
    provider = build(own, "sk-test-key", vendor.url) if own else compatible(vendor)

    with pytest.raises(ProviderError) as caught:
        await asked_of(provider, request_)

    assert type(caught.value) is failure.kind, str(caught.value)
    assert failure.words in str(caught.value)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"type": "overloaded_error"}}, ProviderBusy),
        ({"error": {"type": "api_error"}}, ProviderDown),
        ({"error": {"type": "invalid_request_error"}}, RequestRejected),
        ({"code": "rate_limit_exceeded"}, ProviderBusy),
        ({"code": "server_error"}, ProviderDown),
        ({"code": 429}, ProviderBusy),
        ({"code": 502}, ProviderDown),
        ("text", ProviderDown),
        ({}, ProviderDown),
    ],
)
def test_the_code_decides_for_a_failure_within_a_reply(
    body: object, kind: type[ProviderError]
) -> None:
    assert type(translate("Vendor", ReplyFailed(body))) is kind


@pytest.mark.parametrize("amount", [None, True, "much", float("nan"), float("inf"), -1, []])
def test_an_invalid_cost_is_unknown(amount: object) -> None:
    assert money({"cost": amount}, "cost") is None


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Limit 7000. Please try again in 50.597142857s.", 50.6),  # Fabric 364: Groq
        ("Used 500370. Please try again in 1m47.5854s. Visit the console.", 107.6),
        ("Rate limit reached. Please try again in 6ms.", 0.0),
        ("Rate limit reached. Please try again in 24h.", 86_400),
    ],
)
async def test_a_wait_in_the_text_of_an_error_is_kept(
    vendor: Vendor, request_: ModelRequest, words: str, seconds: float
) -> None:
    vendor.script = always(Reject(status=429, message=words))

    with pytest.raises(ProviderBusy) as caught:
        await asked_of(compatible(vendor), request_)

    assert caught.value.retry_after == pytest.approx(seconds, abs=0.1)
    assert ("asks to wait 24 h" in str(caught.value)) == (seconds == 86_400)
