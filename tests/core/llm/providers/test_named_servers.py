"""Servers that speak like OpenAI: what is sent to them, and what they may lack."""

import json
from dataclasses import replace

import pytest

from core.llm.providers.factory import build_server
from core.ports import ModelProvider
from core.request import AnswerForm, ModelRequest
from core.settings import ModelServer
from tests.vendors.server import Vendor

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

    provider = a_server(vendor, api.split("/", maxsplit=1)[0])
    await provider.complete(asking)
    await provider.close()

    (request,) = vendor.asked
    assert request.path == f"/v1/{api}"
    assert request.headers["authorization"] == "Bearer gsk-test"
    assert not [name for name in request.headers if name.startswith("openai-")]
    body = json.dumps(request.body)
    assert not [field for field in OPENAIS_OWN if field in body]
    assert '"enum": ["p1", "p2"]' in body
    assert '"strict": true' in body
