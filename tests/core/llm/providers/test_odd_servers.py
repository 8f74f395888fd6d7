"""Replies and refusals as servers that speak like OpenAI, Anthropic or Ollama really send them.

Each row was reported by users of such a server, or in a public issue of a project that its id
names. What the server sends decides, not what it calls it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.errors import (
    KeyRefused,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ReplyCutOff,
    ReplyUnusable,
    RequestRejected,
)
from core.llm.providers.factory import build, build_server
from core.ports import ModelProvider
from core.request import AnswerForm, ModelRequest
from core.settings import ModelServer
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor, always

TEXT = "Use PostgreSQL, because the team knows it."
THOUGHT = 'Maybe {"decision": "a draft"}? No.'
FORM = AnswerForm(
    name="ranking",
    schema={
        "type": "object",
        "properties": {"first": {"type": "string"}},
        "required": ["first"],
        "additionalProperties": False,
    },
)


def chunk(delta: Mapping[str, Any], end: str | None = None, **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end, **more}]}


def stream(*events: object) -> bytes:
    """A stream: of objects, or of lines as they stand."""
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    return "".join(f"{line}\n\n" for line in (*lines, "data: [DONE]")).encode()


def whole(message: Mapping[str, Any], end: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": end}
    return {"object": "chat.completion", "model": "m", "choices": [choice]}


def sent(body: bytes) -> Script:
    """These bytes with status 200."""
    return always(Reject(status=200, body=body.decode()))


def compatible(vendor: Vendor, api: str = "chat") -> ModelProvider:
    fields = {"name": "workshop", "base_url": f"{vendor.url}/v1", "api": api}
    return build_server(ModelServer.model_validate(fields), "key-0123", words="Workshop")


async def asked_of(provider: ModelProvider, request: ModelRequest) -> str:
    try:
        return (await provider.complete(request)).text
    finally:
        await provider.close()


SAID = chunk({"content": TEXT})
END = chunk({}, "stop")
NO_USAGE = {"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            stream(chunk({"content": f"<think>\n{THOUGHT}\n</think>\n\n{TEXT}"}), END),
            id="M1 thoughts before the text",
        ),
        pytest.param(
            stream(chunk({"content": f"{THOUGHT}\n</think>\n{TEXT}"}), END),
            id="M1 thoughts that the model's template began",
        ),
        pytest.param(
            stream(
                chunk(
                    {
                        "content": [
                            {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
                            {"type": "text", "text": TEXT},
                        ]
                    }
                ),
                END,
            ),
            id="M4 parts",
        ),
        pytest.param(stream(SAID, chunk({}, "eos_token")), id="M8 another word for the end"),
        pytest.param(stream(SAID, chunk({}, "STOP")), id="M8 capitals"),
        pytest.param(stream(SAID, chunk({}, "finished_somehow")), id="M8 an unknown end"),
        pytest.param(
            stream(chunk({"content": None, "reasoning_content": TEXT}), END), id="M28 only thoughts"
        ),
        pytest.param(
            stream(chunk({"content": TEXT, "reasoning": THOUGHT}), END),
            id="M28 thoughts beside the text",
        ),
        pytest.param(
            stream(
                chunk({"tool_calls": [{"function": {"name": "a", "arguments": TEXT}}]}),
                chunk({}, "tool_calls"),
            ),
            id="a call of a tool and no text",
        ),
        pytest.param(json.dumps(whole({"content": TEXT})).encode(), id="M30 in one piece"),
        pytest.param(
            json.dumps(whole({"content": TEXT}), indent=2).encode(),
            id="M30 in one piece over several lines",
        ),
        pytest.param(
            "\n".join(json.dumps(line) for line in (SAID, END)).encode(), id="M30 an object a line"
        ),
        pytest.param(b"\xef\xbb\xbf\n\n" + stream(SAID, END), id="M30 a mark before the stream"),
        pytest.param(
            stream(SAID, END).replace(b"data: ", b"data:"), id="no space after the field's name"
        ),
        pytest.param(stream(SAID, END).rstrip(), id="no end of the last line"),
        pytest.param(stream("event: heartbeat\ndata: pong", SAID, END), id="M32 no JSON"),
        pytest.param(stream("event: ping\ndata: {}", ": hello", SAID, END), id="M32 other events"),
        pytest.param(stream({"choices": None}, {"choices": []}, SAID, END), id="no choices"),
        pytest.param(
            stream({"choices": [{"index": 0, "delta": None, "finish_reason": None}]}, SAID, END),
            id="bagofwords 742: Azure sends a choice whose delta is null",
        ),
        pytest.param(
            stream({"id": "k", "object": "keepalive"}, SAID, END),
            id="opendot 94: a chunk without choices",
        ),
        pytest.param(
            stream(SAID, chunk({}, "endturn")), id="ayai-gpt-nexus 2: the end is called endturn"
        ),
        pytest.param(
            stream(SAID, chunk({"content": ""}, "stop"), {"choices": [], "usage": NO_USAGE}),
            id="bifrost 5425: counts of tokens are null",
        ),
        pytest.param(
            json.dumps([whole({"content": TEXT})]).encode(), id="a whole reply inside a list"
        ),
    ],
)
async def test_text_is_read_wherever_it_stands(
    vendor: Vendor, request_: ModelRequest, body: bytes
) -> None:
    vendor.script = sent(body)

    assert await asked_of(compatible(vendor), request_) == TEXT


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        pytest.param(stream(chunk({"content": f"<think>{THOUGHT}"}), END), ReplyUnusable,
                     "holds no text", id="M1 nothing but thoughts"),
        pytest.param(stream(chunk({"content": TEXT[:9]}, "length")), ReplyCutOff, "cut off",
                     id="cut off"),
        pytest.param(stream(chunk({"content": TEXT[:9]}, "content_filter")), ReplyUnusable,
                     "refused", id="a filter"),
        pytest.param(stream(chunk({"refusal": "I can't help with that."}), END), ReplyUnusable,
                     "refused to answer: I can't help with that", id="a refusal"),
        pytest.param(stream(SAID), ProviderDown, "ended the reply early", id="no end"),
        pytest.param(stream(chunk({}, "error", error={"code": 502, "message": "Gone"})),
                     ProviderDown, r"failed \(502\): Gone", id="an error in a choice"),
        pytest.param(
            stream(SAID, {"error": {"message": "Incorrect API key provided", "code": "401"}}),
            KeyRefused, r"refuses the API key.*\(401\): Incorrect API key", id="M27 a key as text",
        ),
        pytest.param(stream(SAID, {"error": {"message": "too many requests", "code": "429"}}),
                     ProviderBusy, "too many requests", id="M27 a rate limit as text"),
    ],
)  # fmt: skip
async def test_what_is_no_reply_says_why(  # noqa: PLR0917 - one case, one row
    vendor: Vendor,
    request_: ModelRequest,
    body: bytes,
    kind: type[ProviderError],
    words: str,
) -> None:
    vendor.script = sent(body)

    with pytest.raises(kind, match=words):
        await asked_of(compatible(vendor), request_)


GEMINI_QUOTA = {
    "code": 429,
    "message": "You exceeded your current quota. limit: 0",
    "status": "RESOURCE_EXHAUSTED",
    "details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProject-FreeTier"}]}],
}
CHALLENGE = "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"

UPSTREAM = {
    "message": "Provider returned error",
    "code": 429,
    "metadata": {
        "raw": "m is temporarily rate-limited upstream. Please retry shortly.",
        "provider_name": "BaseTen",
    },
}
IN_A_TEXT = json.dumps(
    {
        "error": {
            "cause": json.dumps({"error": {"message": "The quota of project 7 is used up."}}),
            "code": 400,
            "message": "模型服务调用失败",
        }
    }
)


def error_body(message: str, status: int, **more: object) -> Reject:
    return Reject(status=status, body=json.dumps({"error": {"message": message, **more}}))


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        pytest.param(Reject(status=400, code="401", message="AuthenticationError: Incorrect key"),
                     KeyRefused, "refuses the API key", id="M23 a proxy"),
        pytest.param(Reject(status=403, body=CHALLENGE), RequestRejected,
                     "A web page “Just a moment...” answered in place of Workshop",
                     id="M25 a firewall"),
        pytest.param(Reject(status=401, body="<title>Log in</title>"), RequestRejected,
                     "a sign-in", id="M25 a sign-in"),
        pytest.param(Reject(status=520, body="<title>520: unknown error</title>"), ProviderDown,
                     "520: unknown error", id="a proxy whose server is away"),
        pytest.param(
            Reject(status=403, code="unsupported_country_region_territory",
                   message="Country, region, or territory not supported"),
            KeyRefused, "does not serve this country", id="M25 a region",
        ),
        pytest.param(Reject(status=429, body=json.dumps([{"error": GEMINI_QUOTA}])), KeyRefused,
                     "daily quota is used up; it is there again tomorrow", id="M38 a day's quota"),
        pytest.param(Reject(status=429, headers={"retry-after": "86400"}, message="Rate limit"),
                     ProviderBusy, "asks to wait 24 h", id="M40 a wait of a day"),
        pytest.param(
            Reject(status=200, body=json.dumps({"error": {"code": 429, "message": "Slow down."}})),
            ProviderBusy, r"limits our rate.*Slow down",
            id="spring-ai 6908: 200 whose body is an error of 429",
        ),
        pytest.param(
            Reject(status=200, body=stream(
                SAID, chunk({}, "error"), {"choices": [], "usage": NO_USAGE}).decode()),
            ProviderDown, "error", id="pydantic-ai 2844: half a reply ends with error",
        ),
        pytest.param(
            Reject(status=200, body=stream(SAID, chunk({}, "abort")).decode()), ProviderDown,
            "abort", id="pi 1509: half a reply ends with abort",
        ),
        pytest.param(
            Reject(status=200, body=stream(SAID, chunk({}, "network_error")).decode()),
            ProviderDown, "network_error", id="pi 1509: half a reply ends with network_error",
        ),
        pytest.param(
            Reject(status=200, body=stream(chunk({"content": "Use"}, "sensitive")).decode()),
            ReplyUnusable, "refused", id="pi 1509: a filter called sensitive",
        ),
        pytest.param(
            Reject(status=200, body=stream(
                chunk({"content": None}, "content_filter: RECITATION")).decode()),
            ReplyUnusable, "refused", id="ag2 1718: Gemini stops for a recitation",
        ),
        pytest.param(
            Reject(status=429, body=json.dumps({"error": UPSTREAM})), ProviderBusy,
            "temporarily rate-limited upstream",
            id="open-webui computer 293: the reason stands in metadata.raw",
        ),
        pytest.param(
            error_body('model "llama3" not found, try pulling it first', 404, type="api_error"),
            RequestRejected, "try pulling it first",
            id="QAnything 555: a model that was not pulled",
        ),
        pytest.param(
            error_body("The API deployment for this resource does not exist.", 404,
                       code="DeploymentNotFound"),
            RequestRejected, "DeploymentNotFound.*deployment for this resource does not exist",
            id="chatbox 646: Azure has no deployment of that name",
        ),
        pytest.param(
            Reject(status=400, body=IN_A_TEXT), RequestRejected,
            "The quota of project 7 is used up",
            id="llm_wiki 670: a gateway's error holds the real one as a text",
        ),
    ],
)  # fmt: skip
async def test_a_refusal_is_told_with_its_own_reason(  # noqa: PLR0917 - one case, one row
    vendor: Vendor,
    request_: ModelRequest,
    answer: Reject,
    kind: type[ProviderError],
    words: str,
) -> None:
    vendor.script = always(answer)

    with pytest.raises(ProviderError, match=words) as caught:
        await asked_of(compatible(vendor), request_)

    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        pytest.param("Limit 7000, Requested ~12903. Please try again in 50.597142857s.", 50.6,
                     id="Fabric 364: Groq names the wait in its words only"),
        pytest.param("Used 500370. Please try again in 1m47.5854s. Visit the console.", 107.6,
                     id="stockbot 46: Groq names minutes"),
        pytest.param("Rate limit reached. Please try again in 6ms.", 0.0,
                     id="OpenAI names milliseconds"),
    ],
)  # fmt: skip
async def test_the_wait_that_a_server_names_in_words_is_kept(
    vendor: Vendor, request_: ModelRequest, words: str, seconds: float
) -> None:
    vendor.script = always(error_body(words, 429, type="tokens", code="rate_limit_exceeded"))

    with pytest.raises(ProviderBusy) as caught:
        await asked_of(compatible(vendor), request_)

    assert caught.value.retry_after == pytest.approx(seconds, abs=0.1)


def lacking(field: str, refusal: Reject) -> Script:
    """A server that refuses what holds this field."""
    return lambda asked: refusal if field in asked.body else Say(text=TEXT)


def unable(level: str, refusal: Reject, times: int = 99) -> Script:
    """A server that refuses structured answers asked for in this way, at first."""
    refusals = [refusal] * times

    def script(request: VendorRequest) -> Say | Reject:
        if level in json.dumps(request.body.get("response_format")) and refusals:
            return refusals.pop()
        return Say(text='{"first": "p1"}')

    return script


def forbidden(*fields: Sequence[str]) -> Reject:
    detail = [
        {
            "type": "extra_forbidden",
            "loc": ["body", *field],
            "msg": "Extra inputs are not permitted",
        }
        for field in fields
    ]
    body = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
    return Reject(status=422, body=json.dumps(body))


UNSUPPORTED = "Unsupported parameter: '{}' is not supported with this model."
NOT_VERIFIED = Reject(
    status=400,
    body=json.dumps({"error": {
        "message": "Your organization must be verified to stream this model.",
        "param": "stream", "code": "unsupported_value"}}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("script", "api", "without", "instead"),
    [
        pytest.param(
            lacking("max_tokens", Reject(status=400, message=UNSUPPORTED.format("max_tokens"))),
            "chat", "max_tokens", "max_completion_tokens", id="M5 the bound of a reply",
        ),
        pytest.param(
            lacking("temperature", Reject(status=400, message=UNSUPPORTED.format("temperature"))),
            "chat", "temperature", "max_tokens", id="a temperature",
        ),
        pytest.param(
            lacking("temperature", Reject(status=422, message="temperature: extra field")),
            "responses", "temperature", "input", id="a temperature of Responses",
        ),
        pytest.param(lacking("stream", NOT_VERIFIED), "chat", "stream", "messages",
                     id="M20 no stream"),
        pytest.param(lacking("stream", NOT_VERIFIED), "responses", "stream", "input",
                     id="M20 no stream of Responses"),
        pytest.param(lacking("stream_options", forbidden(["stream_options", "include_usage"])),
                     "chat", "stream_options", "max_tokens",
                     id="anon-kode 53: Mistral refuses stream_options in a list of details"),
        pytest.param(lacking("max_tokens", forbidden(["max_tokens"])), "chat", "max_tokens",
                     "max_completion_tokens", id="openclaude 739: the cap of the reply in a list"),
        pytest.param(
            lacking("temperature", error_body(
                "invalid temperature: only 1 is allowed for this model", 400,
                type="invalid_request_error")),
            "chat", "temperature", "max_tokens", id="tavern 1: Kimi takes one temperature",
        ),
        pytest.param(
            lacking("temperature", error_body(
                "Unsupported value: 'temperature' does not support 0.4 with this model. Only the "
                "default (1) value is supported.", 400, param="temperature",
                code="unsupported_value")),
            "chat", "temperature", "max_tokens", id="cline 7224: only the default temperature",
        ),
    ],
)  # fmt: skip
async def test_a_refused_field_is_left_out_and_that_is_remembered(  # noqa: PLR0917 - a row
    vendor: Vendor, request_: ModelRequest, script: Script, api: str, without: str, instead: str
) -> None:
    vendor.script = script
    provider = compatible(vendor, api)
    request = replace(request_, model="llama-4")

    replies = [(await provider.complete(request)).text for _ in range(2)]

    assert replies == [TEXT] * 2
    assert [without in request.body for request in vendor.asked] == [True, False, False]
    assert instead in vendor.asked[-1].body
    await provider.close()


@pytest.mark.parametrize(
    ("script", "asked_for"),
    [
        pytest.param(
            unable("json_schema", Reject(status=400, message="failed to parse grammar")),
            ["json_schema", "json_object", "json_object"], id="M18 a grammar",
        ),
        pytest.param(
            unable("json_schema", Reject(status=400, body=json.dumps([{"error": {
                "message": "The specified schema has too many states for serving."}}]))),
            ["json_schema", "json_object", "json_object"], id="M18 too many states",
        ),
        pytest.param(
            unable("json_schema", Reject(status=500, message="not the expected peg-native format")),
            ["json_schema", "json_object", "json_object"], id="M39 llama.cpp",
        ),
        pytest.param(
            unable("json_schema", Reject(status=400, code="json_validate_failed"), times=1),
            ["json_schema", "json_schema", "json_schema"], id="M7 once",
        ),
        pytest.param(
            unable("json_", Reject(status=400, code="json_validate_failed"), times=3),
            ["json_schema", "json_schema", "json_object", "json_object", "json_object"],
            id="M7 again",
        ),
    ],
)  # fmt: skip
async def test_a_form_that_is_refused_is_asked_for_in_a_weaker_way(
    vendor: Vendor, request_: ModelRequest, script: Script, asked_for: list[str]
) -> None:
    vendor.script = script
    provider = compatible(vendor)

    for _ in range(2):
        await provider.complete(replace(request_, answer=FORM))

    kinds = [request.body.get("response_format", {}).get("type") for request in vendor.asked]
    assert kinds == asked_for
    await provider.close()


async def test_lm_studio_that_knows_no_json_object_is_asked_by_schema_or_in_words(
    vendor: Vendor, request_: ModelRequest
) -> None:
    """Reported to LM Studio's tracker (189, 169): the error is a text, not an object."""
    refusal = Reject(
        status=400, body=json.dumps({"error": "'response_format.type' must be 'json_schema'"})
    )
    vendor.script = unable("json_object", refusal)
    provider = compatible(vendor)

    reply = await provider.complete(replace(request_, answer=FORM))

    assert json.loads(reply.text) == {"first": "p1"}
    await provider.close()


async def test_an_overload_in_the_middle_of_a_message_of_anthropic_passes(
    vendor: Vendor, request_: ModelRequest
) -> None:
    """Reported to agent-os (2118): the event was passed over, and half a reply taken as whole."""
    vendor.script = sent(
        b'event: message_start\ndata: {"type": "message_start", "message": {"model": "m"}}\n\n'
        b'event: error\ndata: {"type": "error",'
        b' "error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n'
    )

    with pytest.raises(ProviderBusy, match="Overloaded"):
        await asked_of(build("anthropic", "sk-ant-test", vendor.url), request_)


MEMORY = "model requires more system memory (18.2 GiB) than is available (7.1 GiB)"
PAUSED = {
    "type": "message",
    "model": "m",
    "content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": TEXT}],
    "stop_reason": "pause_turn",
}


async def test_ollama_says_that_a_model_needs_more_memory(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = always(Reject(status=500, body=json.dumps({"error": MEMORY})))

    with pytest.raises(RequestRejected, match=r"cannot load the model \(500\): model requires.*18"):
        await asked_of(build("ollama", base_url=vendor.url), request_)


@pytest.mark.parametrize("name", ["anthropic", "ollama"])
async def test_thoughts_and_unknown_ends_are_told_from_text_everywhere(
    vendor: Vendor, request_: ModelRequest, name: str
) -> None:
    thinking = {"message": {"content": f"<think>{THOUGHT}</think>{TEXT}"}, "model": "m"}
    local = {**thinking, "done": True, "done_reason": "finished"}
    vendor.script = sent(json.dumps(PAUSED if name == "anthropic" else local).encode())

    assert await asked_of(build(name, "sk-ant-test", vendor.url), request_) == TEXT
