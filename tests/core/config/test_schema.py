"""The published schema and the documents agree with the program's settings."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from core.acts.prompt import overridable
from core.config.load import FileDefaults, load, prompt_reader
from core.config.source import keys_of
from core.config.writing import json_schema
from core.debate.agents import PromptText, Summarization
from core.debate.rules import Clarifying, DebateRules, Termination, VoteRules
from core.settings import AllLimits, EvidenceLimits, SettingsFile

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "configuration.md").read_text(encoding="utf-8")


def all_keys(annotation: Any) -> set[str]:
    """Return every key that may stand somewhere under a type."""
    if annotation is PromptText:
        return set()
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = keys_of(annotation)
        return set(fields).union(*(all_keys(field.annotation) for field in fields.values()))
    return set[str]().union(*map(all_keys, get_args(annotation)))


def valid(values: dict[str, Any]) -> bool:
    return Draft202012Validator(json_schema()).is_valid(values)


def test_the_schema_for_editors_is_the_one_the_program_has() -> None:
    assert json.loads((DOCS / "config.schema.json").read_text(encoding="utf-8")) == json_schema()
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"debate": {"rounds": 2}}, True),
        ({"debate": {"roundz": 2}}, False),
        ({"limits": {"debate_cost": -1}}, False),
        ({"agents": [{"name": "Ann"}]}, False),
    ],
)
def test_the_schema_accepts_what_the_program_accepts(
    values: dict[str, Any],
    expected: bool,  # noqa: FBT001 - a table's column
) -> None:
    assert valid(values) is expected


def test_every_key_and_prompt_is_explained_in_the_guide() -> None:
    names = (*all_keys(SettingsFile), *overridable())
    assert [name for name in names if f"`{name}`" not in GUIDE] == []


def defaults(section: str) -> dict[str, str]:
    """Return the column of defaults in the guide's table of a section, by key."""
    head = re.search(rf"^(?:### )?`{section}`:?\n", GUIDE, re.MULTILINE)
    assert head
    table = re.search(r"\| Key \| Default \|.*?\n\n", GUIDE[head.end() :], re.DOTALL)
    assert table
    rows = re.findall(r"^\| `(\w+)` \| *([^|]*?) *\|", table.group(), re.MULTILINE)
    return {key: text.strip("`") for key, text in rows}


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("debate", DebateRules),
        ("termination", Termination),
        ("clarifications", Clarifying),
        ("summarization", Summarization),
        ("vote", VoteRules),
        ("limits", AllLimits),
        ("evidence", EvidenceLimits),
    ],
)
def test_the_guide_names_the_default_of_every_setting(section: str, model: type[BaseModel]) -> None:
    #: Not one value, or one that is said in words.
    in_words = {"in Slack `true`, in the terminal `false", "1 each", "built in", ""}
    texts = defaults(section)
    values = {key: field.get_default() for key, field in keys_of(model).items()}

    assert texts.keys() == values.keys()
    for key, text in texts.items():
        plain = json.dumps(values[key], default=str).strip('"').replace("null", "none")
        assert text in in_words or text == plain.removesuffix(".0"), key


def test_the_examples_in_the_guides_are_valid() -> None:
    # Those of playbooks are no settings; they have a test of their own.
    pages = [page for page in DOCS.glob("*.md") if page.name != "playbooks.md"]
    examples = [
        (page.name, part.split("```")[0])
        for page in pages
        for part in page.read_text(encoding="utf-8").split("```yaml\n")[1:]
    ]

    assert len(examples) >= 8
    for name, example in examples:
        load(example, name, FileDefaults(), prompt_reader(Path()))
        assert valid(yaml.safe_load(example)), name
