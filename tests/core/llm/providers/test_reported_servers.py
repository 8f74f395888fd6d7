"""Replies and refusals that users of neighbouring projects reported in public issues.

Each id names the report and puts it into our own words; the row holds the input, rebuilt small, and
the right result.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.errors import (
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ReplyUnusable,
    RequestRejected,
)
from core.llm.providers.factory import build
from core.request import ModelRequest
from tests.core.llm.providers.test_odd_servers import (
    END,
    FORM,
    SAID,
    TEXT,
    asked_of,
    chunk,
    compatible,
    lacking,
    sent,
    stream,
    unable,
    whole,
)
from tests.vendors.script import Reject
from tests.vendors.server import Script, Vendor, always

NO_USAGE = {"prompt_tokens": None, "completion_tokens": None, "total_tokens": 0}


@pytest.mark.parametrize(
    "body",
    [
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
async def test_the_text_of_the_reply_is_read(
    vendor: Vendor, request_: ModelRequest, body: bytes
) -> None:
    vendor.script = sent(body)

    assert await asked_of(compatible(vendor), request_) == TEXT


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
        pytest.param(
            Reject(status=200, body=json.dumps({"error": {"code": 429, "message": "Slow down."}})),
            ProviderBusy, r"limits our rate.*Slow down",
            id="spring-ai 6908: 200 whose body is an error of 429",
        ),
        pytest.param(
            Reject(status=429, body=json.dumps({"error": UPSTREAM})), ProviderBusy,
            "temporarily rate-limited upstream",
            id="open-webui computer 293: the reason stands in metadata.raw",
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
async def test_a_failure_is_told_as_what_it_is(  # noqa: PLR0917 - one case, one row
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


@pytest.mark.parametrize(
    ("script", "without", "instead"),
    [
        pytest.param(lacking("stream_options", forbidden(["stream_options", "include_usage"])),
                     ["stream_options"], "max_tokens",
                     id="anon-kode 53: Mistral refuses stream_options in a list of details"),
        pytest.param(lacking("max_tokens", forbidden(["max_tokens"])), ["max_tokens"],
                     "max_completion_tokens", id="openclaude 739: the cap of the reply in a list"),
        pytest.param(
            lacking("temperature", error_body(
                "invalid temperature: only 1 is allowed for this model", 400,
                type="invalid_request_error")),
            ["temperature"], "max_tokens", id="tavern 1: Kimi takes one temperature, no param",
        ),
        pytest.param(
            lacking("temperature", error_body(
                "Unsupported value: 'temperature' does not support 0.4 with this model. Only the "
                "default (1) value is supported.", 400, param="temperature",
                code="unsupported_value")),
            ["temperature"], "max_tokens", id="cline 7224: only the default temperature",
        ),
    ],
)  # fmt: skip
async def test_a_field_that_is_refused_is_left_out(  # noqa: PLR0917 - one case, one row
    vendor: Vendor, request_: ModelRequest, script: Script, without: list[str], instead: str
) -> None:
    vendor.script = script
    provider = compatible(vendor)

    replies = [(await provider.complete(replace(request_, model="m"))).text for _ in range(2)]

    assert replies == [TEXT] * 2
    assert not {*without} & vendor.asked[-1].body.keys()
    assert instead in vendor.asked[-1].body
    assert len(vendor.asked) == 3
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
