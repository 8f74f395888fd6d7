"""Real replies and refusals of servers with the APIs of OpenAI, Anthropic or Ollama.

Each row was reported by users of such a server, or in a public issue of the project in its id.
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
)
from core.llm.providers.factory import build, build_server
from core.ports import ModelProvider
from core.request import AnswerForm, ModelRequest
from core.settings import ModelServer
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor, always

TEXT = "Use PostgreSQL, because the team knows it."
THOUGHT = 'Maybe {"decision": "a draft"}? No.'
FORM = AnswerForm(name="ranking", schema={"type": "object", "properties": {"first": {}}})


DONE = b"data: [DONE]\n\n"


def chunk(delta: Mapping[str, Any] | None, end: str | None = None, **more: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end, **more}]}


def stream(*events: object) -> bytes:
    """A stream: of objects, or of lines as they stand."""
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    return "".join(f"{line}\n\n" for line in lines).encode() + DONE


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
IN_PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]},
    {"type": "text", "text": TEXT},
]
HARMONY = (
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant"
    f"<|channel|>final <|constrain|>json<|message|>{TEXT}<|return|>"
)
CALL = {"function": {"name": "a", "arguments": TEXT}}
READ = {
    "M1 thoughts before the text": stream(
        chunk({"content": f"<think>\n{THOUGHT}\n</think>\n\n{TEXT}"}), END
    ),
    "M1 thoughts that the model's template began": stream(
        chunk({"content": f"{THOUGHT}\n</think>\n{TEXT}"}), END
    ),
    "M4 parts": stream(chunk({"content": IN_PARTS}), END),
    "M8 another word for the end": stream(SAID, chunk({}, "eos_token")),
    "M8 capitals": stream(SAID, chunk({}, "STOP")),
    "M8 an unknown end": stream(SAID, chunk({}, "finished_somehow")),
    "M28 only thoughts": stream(chunk({"content": None, "reasoning_content": TEXT}), END),
    "M28 thoughts beside the text": stream(chunk({"content": TEXT, "reasoning": THOUGHT}), END),
    "a call of a tool and no text": stream(chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls")),
    "M30 in one piece": json.dumps(whole({"content": TEXT})).encode(),
    "M30 in one piece over several lines": json.dumps(whole({"content": TEXT}), indent=2).encode(),
    "M30 an object a line": "\n".join(json.dumps(line) for line in (SAID, END)).encode(),
    "M30 a mark before the stream": b"\xef\xbb\xbf\n\n" + stream(SAID, END),
    "no space after the field's name": stream(SAID, END).replace(b"data: ", b"data:"),
    "no end of the last line": stream(SAID, END).rstrip(),
    "M32 no JSON": stream("event: heartbeat\ndata: pong", SAID, END),
    "M32 other events": stream("event: ping\ndata: {}", ": hello", SAID, END),
    "a gateway forwards gpt-oss as it wrote": stream(chunk({"content": HARMONY}), END),
    "Gemma 4": stream(chunk({"content": f"<|channel>thought\n{THOUGHT}<channel|>{TEXT}"}), END),
    "Magistral": stream(chunk({"content": f"[THINK]{THOUGHT}[/THINK]{TEXT}"}), END),
    "Seed": stream(chunk({"content": f"<seed:think>{THOUGHT}</seed:think>{TEXT}"}), END),
    "tokens of a template at the end": stream(chunk({"content": f"{TEXT}<|im_end|>\n</s>"}), END),
    "opencode 43379: a stream that is done without a reason": stream(SAID),
    "ollama 4357: an empty reason": stream(SAID, chunk({}, "")),
    "no choices": stream({"choices": None}, {"choices": []}, SAID, END),
    "bagofwords 742: Azure sends a choice whose delta is null": stream(chunk(None), SAID, END),
    "opendot 94: a chunk without choices": stream({"object": "keepalive"}, SAID, END),
    "bifrost 5425: counts of tokens are null": stream(
        SAID, chunk({"content": ""}, "stop"), {"choices": [], "usage": NO_USAGE}
    ),
    "a whole reply inside a list": json.dumps([whole({"content": TEXT})]).encode(),
}


@pytest.mark.parametrize("body", READ.values(), ids=READ)
async def test_text_is_read_from_every_known_field(
    vendor: Vendor, request_: ModelRequest, body: bytes
) -> None:
    vendor.script = sent(body)

    assert await asked_of(compatible(vendor), request_) == TEXT


def half(end: str) -> bytes:
    return stream(chunk({"content": TEXT[:9]}), chunk({}, end))


def failing(message: str, code: str) -> bytes:
    return stream(SAID, {"error": {"message": message, "code": code}})


NO_REPLY: dict[str, tuple[bytes, type[ProviderError], str]] = {
    "M1 nothing but thoughts": (stream(chunk({"content": f"<think>{THOUGHT}"}), END),
        ReplyUnusable, "holds no text"),
    "thoughts of gpt-oss": (stream(chunk({"content": HARMONY.partition("<|start|>")[0]}), END),
        ReplyUnusable, "holds no text"),
    "cut off": (half("length"), ReplyCutOff, "cut off"),
    "cut off before the text": (stream(chunk({}, "length"), {"type": "ping"}),
        ReplyCutOff, "cut off"),
    "a filter": (half("content_filter"), ReplyUnusable, "refused"),
    "pi 1509: a filter called sensitive": (half("sensitive"), ReplyUnusable, "refused"),
    "ag2 1718: Gemini stops for a recitation": (half("content_filter: RECITATION"),
        ReplyUnusable, "refused"),
    "a refusal": (stream(chunk({"refusal": "I can't help with that."}), END),
        ReplyUnusable, "refused to answer: I can't help with that"),
    "no end": (stream(SAID).removesuffix(DONE), ProviderDown, "ended the reply early"),
    "vllm: an error outside the usual field": (stream({"object": "error", "message": "It stopped.",
        "type": "InternalServerError", "code": 500}), ProviderDown, r"\(500, Intern.*It stopped"),
    "qwen-code 8322: MiniMax sends 200": (json.dumps({"choices": None, "base_resp": {
        "status_code": 1008, "status_msg": "insufficient balance"}}).encode(),
        KeyRefused, "wants payment.*: insufficient balance"),
    "pydantic-ai 2844: half a reply ends with error": (half("error"), ProviderDown, "error"),
    "pi 1509: half a reply ends with abort": (half("abort"), ProviderDown, "abort"),
    "an error in a choice": (stream(chunk({}, "error", error={"code": 502, "message": "Gone"})),
        ProviderDown, r"failed \(502\): Gone"),
    "M27 a key as text": (failing("Incorrect API key provided", "401"),
        KeyRefused, r"refuses the API key.*\(401\): Incorrect API key"),
    "M27 a rate limit as text": (failing("too many requests", "429"),
        ProviderBusy, "too many requests"),
    "spring-ai 6908: 200 whose body is an error of 429": (
        json.dumps({"error": {"code": 429, "message": "Slow down."}}).encode(),
        ProviderBusy, r"limits our rate.*Slow down"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "words"), NO_REPLY.values(), ids=NO_REPLY)
async def test_an_invalid_reply_has_a_reason(  # noqa: PLR0917 - one case, one row
    vendor: Vendor, request_: ModelRequest, body: bytes, kind: type[ProviderError], words: str
) -> None:
    vendor.script = sent(body)

    with pytest.raises(kind, match=words) as caught:
        await asked_of(compatible(vendor), request_)

    assert type(caught.value) is kind


async def test_half_a_reply_in_one_piece_counts_as_begun(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = sent(json.dumps(whole({"content": TEXT}, "length")).encode())
    provider, began = compatible(vendor), list[bool]()

    with pytest.raises(ReplyCutOff):
        await provider.complete(request_, lambda: began.append(True))

    assert began == [True]
    await provider.close()


PAUSED = {
    "type": "message",
    "content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": TEXT}],
    "stop_reason": "pause_turn",
}
LOCAL = {
    "message": {"content": f"<think>{THOUGHT}</think>{TEXT}"},
    "done": True,
    "done_reason": "finished",
}


#: HarperFast/harper 1805: the whole reply is in the field of the thoughts.
IN_THOUGHTS = {"message": {"content": "", "thinking": TEXT}, "done": True, "done_reason": "stop"}


@pytest.mark.parametrize(
    ("name", "reply"), [("anthropic", PAUSED), ("ollama", LOCAL), ("ollama", IN_THOUGHTS)]
)
async def test_thoughts_and_unknown_finish_reasons_are_handled_in_all_apis(
    vendor: Vendor, request_: ModelRequest, name: str, reply: object
) -> None:
    vendor.script = sent(json.dumps(reply).encode())

    assert await asked_of(build(name, "sk-ant-test", vendor.url), request_) == TEXT


def lacking(field: str, refusal: Reject) -> Script:
    """A server that refuses requests with this field."""
    return lambda asked: refusal if field in asked.body else Say(text=TEXT)


def error_of(message: str, **more: object) -> Reject:
    return Reject(status=400, body=json.dumps({"error": {"message": message, **more}}))


def forbidden(*fields: Sequence[str]) -> Reject:
    message = "Extra inputs are not permitted"
    detail = [
        {"type": "extra_forbidden", "loc": ["body", *field], "msg": message} for field in fields
    ]
    body = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
    return Reject(status=422, body=json.dumps(body))


UNSUPPORTED = "Unsupported parameter: '{}' is not supported with this model."
UNVERIFIED = "Your organization must be verified to stream this model."
NOT_VERIFIED = error_of(UNVERIFIED, param="stream", code="unsupported_value")
#: The field, how it is refused, over which API, and what is sent in its place or still.
REFUSED_FIELDS = {
    "M5 the bound of a reply": ("max_tokens", error_of(UNSUPPORTED.format("max_tokens")),
        "chat", "max_completion_tokens"),
    "a temperature": ("temperature", error_of(UNSUPPORTED.format("temperature")),
        "chat", "max_tokens"),
    "a temperature of Responses": ("temperature",
        Reject(status=422, message="temperature: extra field"), "responses", "input"),
    "M20 no stream": ("stream", NOT_VERIFIED, "chat", "messages"),
    "M20 no stream of Responses": ("stream", NOT_VERIFIED, "responses", "input"),
    "anon-kode 53: Mistral refuses stream_options in a list of details": ("stream_options",
        forbidden(["stream_options", "include_usage"]), "chat", "max_tokens"),
    "openclaude 739: the cap of the reply in a list": ("max_tokens", forbidden(["max_tokens"]),
        "chat", "max_completion_tokens"),
    "tavern 1: Kimi takes one temperature": ("temperature",
        error_of("invalid temperature: only 1 is allowed for this model"), "chat", "max_tokens"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "refusal", "api", "instead"), REFUSED_FIELDS.values(), ids=REFUSED_FIELDS
)
async def test_a_refused_field_is_left_out_of_later_requests(  # noqa: PLR0917 - a row
    vendor: Vendor, request_: ModelRequest, field: str, refusal: Reject, api: str, instead: str
) -> None:
    vendor.script = lacking(field, refusal)
    provider = compatible(vendor, api)
    request = replace(request_, model="llama-4")

    replies = [(await provider.complete(request)).text for _ in range(2)]

    assert replies == [TEXT] * 2
    assert [field in request.body for request in vendor.asked] == [True, False, False]
    assert vendor.asked[-1].body[instead]
    await provider.close()


@pytest.mark.parametrize(
    "refusal",
    [
        "System role not supported",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "Conversation roles must alternate user/assistant/user/assistant/...",
    ],
)
async def test_a_model_without_system_message_gets_its_text_before_the_prompt(
    vendor: Vendor, request_: ModelRequest, refusal: str
) -> None:
    def script(asked: VendorRequest) -> Say | Reject:
        roles = [message["role"] for message in asked.body["messages"]]
        return Say(text=TEXT) if roles == ["user"] else error_of(refusal)

    vendor.script = script
    provider = compatible(vendor)

    replies = [(await provider.complete(request_)).text for _ in range(2)]

    assert replies == [TEXT] * 2
    assert len(vendor.asked) == 3
    assert vendor.asked[-1].body["messages"][0]["content"].startswith(request_.system)
    await provider.close()


async def test_without_a_vendor_for_all_fields_openrouter_may_ignore_some(
    vendor: Vendor, request_: ModelRequest
) -> None:
    no_vendor = "No endpoints found that can handle the requested parameters."
    vendor.script = lacking("provider", Reject(status=404, message=no_vendor))
    provider = build("openrouter", "sk-or-test", f"{vendor.url}/v1")

    assert await asked_of(provider, replace(request_, answer=FORM)) == TEXT
    assert "JSON Schema" in str(vendor.asked[-1].body["messages"])


@pytest.mark.parametrize(
    ("total", "tokens"), [(3100, 2100), (1100, 100), (0, 100)], ids=["apart", "within", "no total"]
)
async def test_reasoning_beside_the_completion_is_output_too(
    vendor: Vendor, request_: ModelRequest, total: int, tokens: int
) -> None:
    report = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": total}
    vendor.script = sent(stream(SAID, END, {"choices": [], "usage": report}))
    provider = compatible(vendor)

    assert (await provider.complete(request_)).usage.output_tokens == tokens
    await provider.close()


def unable(level: str, refusal: Reject, times: int = 99) -> Script:
    """A server that refuses this mode of structured answers for some times."""
    refusals = [refusal] * times

    def script(request: VendorRequest) -> Say | Reject:
        if level in json.dumps(request.body.get("response_format")) and refusals:
            return refusals.pop()
        return Say(text='{"first": "p1"}')

    return script


STATES = [{"error": {"message": "The specified schema has too many states for serving."}}]
PEG = Reject(status=500, message="not the expected peg-native format")
INVALID = Reject(status=400, code="json_validate_failed")
WEAKER = ["json_schema", "json_object", "json_object"]
REFUSED_FORMS = {
    "M18 a grammar": (
        unable("json_schema", Reject(status=400, message="failed to parse grammar")),
        WEAKER,
    ),
    "M18 too many states": (
        unable("json_schema", Reject(status=400, body=json.dumps(STATES))),
        WEAKER,
    ),
    "M39 llama.cpp": (unable("json_schema", PEG), WEAKER),
    "M7 once": (unable("json_schema", INVALID, times=1), ["json_schema"] * 3),
    "M7 again": (unable("json_", INVALID, times=3), ["json_schema"] * 2 + ["json_object"] * 3),
}


@pytest.mark.parametrize(("script", "asked_for"), REFUSED_FORMS.values(), ids=REFUSED_FORMS)
async def test_a_refused_schema_is_replaced_by_a_weaker_mode(
    vendor: Vendor, request_: ModelRequest, script: Script, asked_for: list[str]
) -> None:
    vendor.script = script
    provider = compatible(vendor)

    for _ in range(2):
        await provider.complete(replace(request_, answer=FORM))

    kinds = [request.body.get("response_format", {}).get("type") for request in vendor.asked]
    assert kinds == asked_for
    await provider.close()
