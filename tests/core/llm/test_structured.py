"""Structured answers: the form that is asked for, and what can be read from a reply."""

import pytest
from pydantic import BaseModel, Field

from core.errors import ReplyUnreadable
from core.llm.replies import answer_form, read_answer


class Outcome(BaseModel):
    note: str
    used: bool


class VerdictReply(BaseModel):
    """What a judge says."""

    decision: str = Field(description="One sentence.", min_length=1)
    tradeoffs: list[str] = Field(default_factory=list)
    outcomes: list[Outcome] = []
    confidence: int = Field(50, ge=0, le=100)
    dissent: str | None = None


def test_the_form_is_flat_strict_and_without_bounds() -> None:
    form = answer_form(VerdictReply)

    assert form.name == "verdict"
    outcome = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "used": {"type": "boolean"}},
        "required": ["note", "used"],
        "additionalProperties": False,
    }
    assert form.schema == {
        "type": "object",
        "description": "What a judge says.",
        "properties": {
            "decision": {"type": "string", "description": "One sentence."},
            "tradeoffs": {"type": "array", "items": {"type": "string"}},
            "outcomes": {"type": "array", "items": outcome},
            "confidence": {"type": "integer"},
            "dissent": {"type": "string"},
        },
        "required": ["decision", "tradeoffs", "outcomes", "confidence", "dissent"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("{" * 5000, "ends in the middle"),
        ('{"a":' * 5000, "ends in the middle"),
        ('{"a":' + "1" * 5000, "ends in the middle"),
        ('{"decision": "A"', "ends in the middle"),
        ('{"decision": "A", "confidence": "the merger"}', '"confidence" must be a whole number'),
        ('{"decision": "A", "confidence": 101}', '"confidence" must be 100 or less'),
    ],
)
def test_what_is_wrong_is_named_without_quoting_the_reply(reply: str, problem: str) -> None:
    with pytest.raises(ReplyUnreadable, match=problem) as caught:
        read_answer(reply, VerdictReply)

    assert "merger" not in str(caught.value), "nothing of the reply is quoted"
