"""docs/playbooks.md tells every key, and its example can be used."""

import re
from pathlib import Path

import pytest

from core.config.playbooks import built_in, read_playbook
from core.debate.playbook import (
    Playbook,
    PlaybookCriterion,
    StandingQuestion,
    VerdictPart,
    WantedEvidence,
)
from core.settings import Settings

DOC = (Path(__file__).parents[3] / "docs" / "playbooks.md").read_text(encoding="utf-8")
PARTS = {
    "": Playbook,
    "questions[].": StandingQuestion,
    "criteria[].": PlaybookCriterion,
    "evidence[].": WantedEvidence,
    "verdict[].": VerdictPart,
}


def test_the_example_can_be_used() -> None:
    match = re.search(r"```yaml\n(.+?)```", DOC, re.DOTALL)
    assert match

    playbook = read_playbook(match[1], "our-tools.yaml", Settings())

    assert playbook.criteria[1].must
    assert set(playbook.model_fields_set) == set(Playbook.model_fields) - {"when"}


@pytest.mark.parametrize("name", built_in())
def test_each_built_in_one_is_told(name: str) -> None:
    assert f"- **`{name}`**: " in DOC


def test_the_table_of_keys_is_what_the_model_says() -> None:
    rows = [
        f"| `{prefix}{name}` | {field.description} |"
        for prefix, model in PARTS.items()
        for name, field in model.model_fields.items()
    ]

    assert DOC.partition("| Key | What it says |\n| --- | --- |\n")[2].splitlines() == rows
