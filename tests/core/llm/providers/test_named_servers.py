"""Servers that speak like OpenAI: what is sent to them, and what they may lack."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from core.errors import RequestRejected
from core.llm.providers.factory import build_server
from core.ports import ModelProvider
from core.request import AnswerForm, ModelRequest
from core.settings import ModelServer
from tests.vendors.script import Reject, Say, VendorRequest
from tests.vendors.server import Vendor, always

OPENAIS_OWN = (
    "store",
    "prompt_cache",
    "service_tier",
    "safety_identifier",
    "reasoning",
    "metadata",
    "verbosity",
)
FORM = AnswerForm(
    name="Ranking",
    schema={
        "type": "object",
        "properties": {"first": {"type": "string", "enum": ["p1", "p2"]}},
        "required": ["first"],
        "additionalProperties": False,
    },
)


def a_server(vendor: Vendor, api: str = "chat") -> ModelProvider:
    fields = {"name": "groq", "base_url": f"{vendor.url}/v1", "api": api}
    return build_server(ModelServer.model_validate(fields), "gsk-test", CACHING)


#: Even what settings say of a model's cache does not make OpenAI's fields welcome.
CACHING = ({"provider": "groq", "cache": "explicit"},)


@pytest.mark.parametrize("api", ["chat/completions", "responses"])
async def test_nothing_of_openais_own_is_sent_to_others(
    vendor: Vendor, request_: ModelRequest, monkeypatch: pytest.MonkeyPatch, api: str
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ours")
    asking = replace(request_, user="somebody", answer=FORM)

    await a_server(vendor, api.split("/", maxsplit=1)[0]).complete(asking)

    (request,) = vendor.asked
    assert request.path == f"/v1/{api}"
    assert request.headers["authorization"] == "Bearer gsk-test"
    assert not [name for name in request.headers if name.startswith("openai-")]
    body = json.dumps(request.body)
    assert not [field for field in OPENAIS_OWN if field in body]
    assert '"enum": ["p1", "p2"]' in body
    assert '"strict": true' in body


def without(*fields: str) -> Callable[[VendorRequest], Say | Reject]:
    """A server that lacks these fields, or values of them."""

    def script(request: VendorRequest) -> Say | Reject:
        sent = json.dumps(request.body)
        absent = [field for field in fields if f'"{field}"' in sent]
        if absent:
            words = "response_format" if absent[0].startswith("json") else absent[0]
            return Reject(status=400, message=f"This {words} is unavailable now: {absent[0]}")
        return Say()

    return script


@pytest.mark.parametrize(
    ("absent", "tries"),
    [
        (("json_schema",), 2),
        (("json_schema", "json_object"), 3),
        (("stream_options",), 2),
        (("json_schema", "stream_options"), 3),
    ],
)
async def test_a_server_is_asked_without_what_it_lacks_and_that_is_remembered(
    vendor: Vendor, request_: ModelRequest, absent: tuple[str, ...], tries: int
) -> None:
    vendor.script = without(*absent)
    server = a_server(vendor)
    asking = replace(request_, answer=FORM)

    await server.complete(asking)
    await server.complete(asking)

    assert len(vendor.asked) == tries + 1
    if "json_schema" in absent:
        assert "p1" in json.dumps(vendor.asked[-1].body["messages"]), "the schema is in the prompt"


async def test_a_server_said_to_have_responses_that_has_none_is_asked_by_chat(
    vendor: Vendor, request_: ModelRequest
) -> None:
    def script(request: VendorRequest) -> Say | Reject:
        has_none = request.path == "/v1/responses"
        return Reject(status=404, message="Not Found") if has_none else Say()

    vendor.script = script
    server = a_server(vendor, "responses")

    await server.complete(request_)
    await server.complete(request_)

    paths = [request.path for request in vendor.asked]
    assert paths == ["/v1/responses", *["/v1/chat/completions"] * 2]


async def test_any_other_rejection_is_one(vendor: Vendor, request_: ModelRequest) -> None:
    vendor.script = always(Reject(status=400, message="The model groq/none does not exist."))

    with pytest.raises(RequestRejected):
        await a_server(vendor).complete(request_)

    assert len(vendor.asked) == 1
