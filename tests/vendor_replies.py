"""Good replies of a `Vendor` for whole debates, in the form of each request."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from core.llm.providers.fields import dig
from core.testing import A_SHADOW_REPLY, a_verdict_reply
from tests.vendors.script import Say, VendorRequest

#: The words of a prompt before its schema.
_IN_WORDS = "with every field filled:\n"


def good_reply(request: VendorRequest) -> Say:
    """A good reply in the form of the request."""
    fields = _fields(request.body)
    if "ranking" in fields:
        return Say(text=json.dumps(_ballot(str(request.body))))
    if "stands_for" in fields:
        labels = _labels(str(request.body))
        merged = {"options": ["PostgreSQL"], "stands_for": [1] * len(labels), "kind": "choice"}
        return Say(text=json.dumps(merged))
    if "risks" in fields:
        return Say(text=json.dumps(A_SHADOW_REPLY))
    if "solution" in fields:
        return Say(text=json.dumps(a_verdict_reply()))
    if "agents" in fields:
        named = [
            {"reason": f"It needs {role}.", "role": role} for role in ("operations", "finance")
        ]
        return Say(text=json.dumps({"agents": named}))
    if "focus" in fields:
        going_on = {"decision": "go_on", "focus": "cost", "question": "", "assumption": ""}
        return Say(text=json.dumps(going_on))
    if "findings" in fields:
        return Say(text=json.dumps({"findings": [], "summary": "It is clear.", "verdict": "o1"}))
    return Say(text="**Use PostgreSQL.**\n\nIt keeps every job, and the team knows it.")


def _fields(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the schema in the request of any vendor."""
    places = (
        ("format",),
        ("output_config", "format", "schema"),
        ("text", "format", "schema"),
        ("response_format", "json_schema", "schema"),
    )
    matches = (dig(body, *place, "properties") for place in places)
    return next((fields for fields in matches if fields), _fields_in_words(body))


def _fields_in_words(value: object) -> Mapping[str, Any]:
    """The fields of the schema in a prompt, for vendors without strict schemas."""
    if isinstance(value, str):
        _, mark, schema = value.rpartition(_IN_WORDS)
        return json.loads(schema)["properties"] if mark else {}
    within: list[object] = []
    if isinstance(value, dict):
        within = list(cast("dict[str, object]", value).values())
    elif isinstance(value, list):
        within = cast("list[object]", value)
    nothing: Mapping[str, Any] = {}
    return next((fields for item in within if (fields := _fields_in_words(item))), nothing)


def _ballot(prompt: str) -> dict[str, object]:
    """A ballot that ranks the labels in the order of the prompt."""
    labels = _labels(prompt)
    reasons = [f"{label} is clear" for label in labels]
    options = sorted(set(re.findall(r"([ont]\d): ", prompt)))
    shares = [100 if option == "o1" else 0 for option in options]
    return {"reasons": reasons, "ranking": labels, "probabilities": shares, "moved_by": "none"}


def _labels(prompt: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'<<<\w+ OTHERS "(p\d+)"', prompt)))
