"""OpenAI and its like: which endpoint is asked, and what is sent to whom."""

from dataclasses import replace

import pytest

from core.errors import (
    KeyRefused,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ReplyUnusable,
    RequestRejected,
)
from core.llm.providers.chat import ChatReading
from core.llm.providers.errors import ReplyFailed, translate
from core.llm.providers.openai import MOONSHOT, OPENROUTER, OpenAIProvider
from core.llm.providers.responses import ResponsesReading
from core.request import AnswerForm, ModelRequest
from core.settings import StallLimits
from tests.vendors.script import Counts, Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor, always

RESPONSES, CHAT = "/v1/responses", "/v1/chat/completions"


def without_responses(refusal: Reject) -> Script:
    """A server that refuses Responses that way."""

    def script(request: VendorRequest) -> Say | Reject:
        return refusal if request.path == RESPONSES else Say()

    return script


def a_provider(vendor: Vendor) -> OpenAIProvider:
    return OpenAIProvider("sk-test", f"{vendor.url}/v1", stall=StallLimits(first_token=30))


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
async def test_an_address_without_responses_is_asked_by_chat_and_remembered(
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
        (Reject(status=403), KeyRefused),
        (Reject(status=429), ProviderBusy),
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


async def test_an_address_where_neither_is_found_is_asked_for_both_again(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = always(Reject(status=404))
    provider = a_provider(vendor)

    for _ in range(2):
        with pytest.raises(RequestRejected):
            await provider.complete(request_)

    assert paths(vendor) == [RESPONSES, CHAT] * 2
    await provider.close()


async def test_a_reasoning_model_gets_marks_effort_and_room_to_think_and_nothing_is_stored(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = a_provider(vendor)

    await provider.complete(request_)

    body = vendor.asked[0].body
    marks = ["prompt_cache_breakpoint" in part for part in body["input"][0]["content"]]
    assert marks == [True, True, True, False]
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert body["prompt_cache_key"] == "d1234567"
    assert body["store"] is False
    assert body["instructions"] == "You debate."
    assert body["reasoning"] == {"effort": "low"}
    assert body["max_output_tokens"] == 1000 + 4096
    assert "temperature" not in body
    await provider.close()


async def test_an_unknown_model_gets_nothing_it_may_not_know(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = without_responses(Reject(status=404))
    provider = a_provider(vendor)

    await provider.complete(replace(request_, model="llama-4"))

    body = vendor.asked[1].body
    assert set(body) == {
        "model",
        "messages",
        "max_tokens",
        "stream",
        "stream_options",
        "temperature",
    }
    assert body["temperature"] == 0.4
    assert isinstance(body["messages"][1]["content"], str)
    await provider.close()


async def test_what_is_shared_with_nobody_has_no_cache_key(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = without_responses(Reject(status=404))
    provider = a_provider(vendor)

    await provider.complete(replace(request_, model="gpt-4o", cache_key="", system=""))

    for request in vendor.asked:
        assert "prompt_cache_key" not in request.body
        assert "prompt_cache_options" not in request.body
    await provider.close()


async def test_a_model_that_samples_gets_its_temperature(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = a_provider(vendor)

    await provider.complete(replace(request_, model="gpt-4o", system=""))

    body = vendor.asked[0].body
    assert body["temperature"] == 0.4
    assert "instructions" not in body
    assert body["prompt_cache_key"] == "d1234567"
    assert "prompt_cache_options" not in body
    await provider.close()


FORM = AnswerForm(name="ballot", schema={"type": "object", "properties": {"ranking": {}}})


@pytest.mark.parametrize(
    "script",
    [always(Say()), without_responses(Reject(status=404))],
    ids=["responses", "chat"],
)
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


def responses_reading(*events: dict[str, object]) -> ResponsesReading:
    reading = ResponsesReading("OpenAI")
    for event in events:
        reading.take(event)
    return reading


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        ({"status": "failed", "error": {"code": "rate_limit_exceeded"}}, ProviderBusy),
        ({"status": "failed", "error": {"code": "server_error"}}, ProviderDown),
        ({"status": "failed", "error": None}, ProviderDown),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            ReplyUnusable,
        ),
        ({"status": "incomplete", "incomplete_details": None}, ReplyUnusable),
        ({"status": "cancelled"}, ProviderDown),
        (None, ProviderDown),
    ],
)
def test_a_response_that_is_not_completed_is_no_reply(
    response: dict[str, object] | None, kind: type[ProviderError]
) -> None:
    with pytest.raises(kind):
        responses_reading({"type": "response.failed", "response": response}).text()


def test_an_error_among_the_events_ends_the_reply() -> None:
    with pytest.raises(ReplyFailed) as told:
        responses_reading({"type": "error", "code": "rate_limit_exceeded"})
    with pytest.raises(ReplyFailed) as chatted:
        ChatReading("OpenAI").take({"error": {"code": "overloaded"}})

    errors = [translate("OpenAI", caught.value) for caught in (told, chatted)]
    assert [type(error) for error in errors] == [ProviderBusy] * 2


def test_a_compatible_server_may_send_the_text_only_in_pieces() -> None:
    reading = responses_reading(
        {"type": "response.output_text.delta", "delta": "Use "},
        {"type": "response.output_text.delta", "delta": "A."},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    )

    assert reading.text() == "Use A."


async def test_openrouter_is_asked_for_every_field_and_for_its_price(
    vendor: Vendor, request_: ModelRequest
) -> None:
    vendor.script = always(Say(cost=0.00123, counts=Counts()))
    provider = OpenAIProvider("sk-test", f"{vendor.url}/v1", dialect=OPENROUTER)

    reply = await provider.complete(replace(request_, model="anthropic/claude-sonnet-5.5"))

    body = vendor.asked[0].body
    assert paths(vendor) == [CHAT]
    assert body["provider"] == {"require_parameters": True}
    marks = ["cache_control" in part for part in body["messages"][1]["content"]]
    assert marks == [True, True, True, False]
    assert str(reply.usage.cost) == "0.00123"
    await provider.close()


async def test_moonshot_always_reasons_and_takes_no_temperature(
    vendor: Vendor, request_: ModelRequest
) -> None:
    provider = OpenAIProvider("sk-test", f"{vendor.url}/v1", dialect=MOONSHOT)

    await provider.complete(replace(request_, model="kimi-k3.1-pro"))

    body = vendor.asked[0].body
    assert paths(vendor) == [CHAT]
    assert body["reasoning_effort"] == "low"
    assert body["max_completion_tokens"] >= 16384
    assert "temperature" not in body
    await provider.close()


async def test_without_a_key_nothing_is_sent(vendor: Vendor, request_: ModelRequest) -> None:
    with pytest.raises(KeyRefused, match="No API key"):
        await OpenAIProvider("", f"{vendor.url}/v1").complete(request_)

    assert vendor.asked == []
