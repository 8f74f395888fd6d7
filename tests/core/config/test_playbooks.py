"""Playbooks: their values, and errors with file, line and key."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.config.playbooks import (
    FOLDER,
    built_in,
    built_in_text,
    find_playbooks,
    read_playbook,
)
from core.debate.people import Person, Place
from core.debate.rules import (
    Playbook,
    PlaybookCriterion,
    StandingQuestion,
    VerdictPart,
    WantedEvidence,
)
from core.errors import BadInput, ConfigurationBroken
from core.opening import DebateRequest, open_debate
from core.settings import ROLES, Settings

GUIDE = (Path(__file__).parents[3] / "docs" / "playbooks.md").read_text(encoding="utf-8")
SETTINGS = Settings(playbooks=built_in())
WISH = DebateRequest(
    question="Which CRM should we take, Alpha or Beta?",
    asked_by=Person(id="U1"),
    place=Place(surface="slack"),
)
WHOLE = """\
name: tool-choice
title: Tool choice
description: Which tool a squad takes.
agents: [simplicity, operations]
format: panel
rounds: 3
when: always
questions:
  - question: Who will use it?
    assumption: The squad alone.
criteria:
  - name: Ease
    meaning: How soon a newcomer can use it.
    must: true
evidence:
  - name: a trial
    kinds: [file, thread, text]
    words: [trial]
verdict:
  - title: Who decides next
    asks: A name and a date.
"""


@pytest.mark.parametrize("name", built_in())
def test_each_built_in_playbook_can_be_used_and_is_in_the_guide(name: str) -> None:
    playbook = read_playbook(built_in_text(name), name, Settings())

    assert playbook == built_in()[name]
    assert set(playbook.agents) <= ROLES.keys()
    assert playbook.questions
    assert playbook.criteria
    assert playbook.evidence
    assert playbook.verdict
    assert f"- **`{name}`**: " in GUIDE


FAULTS = [
    ("title: Tool choice\n", "", "tool.yaml: title is missing."),
    ("    must: true", "    weight: 2", "line 14: criteria[0].weight is no key of a playbook."),
    ("format: panel", "format: duel", 'line 5: format: there is no format "duel".'),
    ("rounds: 3", "rounds: 9", "line 6: rounds: the format panel has 7 at most."),
    ("simplicity,", "wizard,", 'line 4: agents[0]: there is no agent or role "wizard".'),
    ("[simplicity, operations]", "[simplicity]", "line 4: agents: a debate needs two agents"),
    ("Which tool a squad takes.", "|\n  Two\n  lines", "line 3: description must be on one"),
    ("name: tool-choice", "name: Tool Choice", "line 1: name must fit the pattern"),
    ("    must: true\n", "    must: true\n  - {name: ease, meaning: Again.}\n",
     'line 15: criteria[1].name: "ease" is listed twice.'),
    ("simplicity,", "operations,", 'line 4: agents[1]: "operations" is listed twice.'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), FAULTS)
def test_an_error_in_a_playbook_names_file_line_and_key(old: str, new: str, words: str) -> None:
    with pytest.raises(ConfigurationBroken) as broken:
        read_playbook(WHOLE.replace(old, new, 1), "tool.yaml", SETTINGS)

    assert words in str(broken.value)
    assert all(line.startswith("tool.yaml") for line in str(broken.value).splitlines())


def test_a_broken_one_is_named_and_left_out_and_the_others_are_there(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "a.yaml").write_text(WHOLE)
    (folder / "b.yaml").write_text(WHOLE)
    (folder / "f.yaml").write_text(WHOLE.replace("tool-choice", "rfc-review"))
    (folder / "c.yaml").write_text("title: x")
    (folder / "d.yaml").write_bytes(b"\xff\xfe")

    playbooks = find_playbooks(tmp_path, SETTINGS)

    assert playbooks.playbooks.keys() == {"tool-choice", *built_in()}
    assert playbooks.playbooks["rfc-review"].title == "Tool choice", "in the built-in one's place"
    assert [fault.removeprefix(f"{folder}/") for fault in playbooks.faults] == [
        'b.yaml: a.yaml has the name "tool-choice" already.',
        "c.yaml: name is missing.",
        "c.yaml: description is missing.",
        "d.yaml is not UTF-8 text.",
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("vendor-choise", 'Did you mean "vendor-choice"?'), ("x", "There are: architecture-decision")],
)
def test_an_unknown_playbook_is_refused_with_those_there_are(name: str, hint: str) -> None:
    with pytest.raises(BadInput, match=f'There is no playbook "{name}"') as refused:
        open_debate(replace(WISH, playbook=name), SETTINGS, delimiter="ab")

    assert hint in str(refused.value)


def test_the_example_of_the_guide_can_be_used_and_has_every_key() -> None:
    match = re.search(r"```yaml\n(.+?)```", GUIDE, re.DOTALL)
    assert match

    playbook = read_playbook(match[1], "our-tools.yaml", Settings())

    assert playbook.criteria[1].must
    assert set(playbook.model_fields_set) == set(Playbook.model_fields) - {"when"}


def test_the_guides_table_says_of_keys_what_the_model_says() -> None:
    parts = {
        "": Playbook,
        "questions[].": StandingQuestion,
        "criteria[].": PlaybookCriterion,
        "evidence[].": WantedEvidence,
        "verdict[].": VerdictPart,
    }
    rows = {
        f"| `{prefix}{name}` | {field.description} |"
        for prefix, model in parts.items()
        for name, field in model.model_fields.items()
    }

    told = GUIDE.partition("| What it says |\n| --- | --- |\n")[2].splitlines()
    assert told
    assert rows.issuperset(told)
