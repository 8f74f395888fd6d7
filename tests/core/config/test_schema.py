"""The published schema and the documents say what the program takes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from core.config.entries import FileEntry, json_schema
from core.config.keys import model_in
from core.config.parse import Known, check
from core.turns.prompts import overrides

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "configuration.md").read_text(encoding="utf-8")


def keys_of(model: type[BaseModel]) -> set[str]:
    keys = set(model.model_fields)
    for field in model.model_fields.values():
        inner = model_in(field.annotation)
        keys |= keys_of(inner) if inner else set()
    return keys


def valid(values: dict[str, Any]) -> bool:
    return Draft202012Validator(json_schema()).is_valid(values)


def test_the_schema_for_editors_is_the_one_the_program_has() -> None:
    assert json.loads((DOCS / "config.schema.json").read_text(encoding="utf-8")) == json_schema()


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"debate": {"rounds": 2}}, True),
        ({"debate": {"roundz": 2}}, False),
        ({"limits": {"debate_cost": 0.5}}, True),
        ({"limits": {"debate_cost": -1}}, False),
        ({"agents": [{"name": "Ann"}]}, False),
    ],
)
def test_the_schema_accepts_what_the_program_accepts(
    values: dict[str, Any],
    expected: bool,  # noqa: FBT001 - a table's column
) -> None:
    assert valid(values) is expected


@pytest.mark.parametrize("key", sorted(keys_of(FileEntry)))
def test_every_key_is_explained_in_the_guide(key: str) -> None:
    assert f"`{key}`" in GUIDE


@pytest.mark.parametrize("name", overrides.NAMES)
def test_every_prompt_that_can_be_overridden_is_in_the_guide(name: str) -> None:
    assert f"`{name}`" in GUIDE


def test_the_examples_in_the_guide_are_valid() -> None:
    examples = [part.split("```")[0] for part in GUIDE.split("```yaml\n")[1:]]

    assert len(examples) >= 2
    for example in examples:
        check(example, "example.yaml", Known())
        assert valid(yaml.safe_load(example))


def test_no_debate_may_end_early_before_two_rounds() -> None:
    assert valid({"debate": {"termination": {"min_rounds": 2}}})
    assert not valid({"debate": {"termination": {"min_rounds": 1}}})
