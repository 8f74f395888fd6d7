"""Playbooks: what their files say, what is wrong with one and on which line."""

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
from core.debate.playbook import Playbook
from core.errors import BadInput, ConfigurationBroken
from core.opening import DebateRequest, open_debate
from core.rules.formats.registry import FORMATS
from core.settings import ROLES, Settings

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
def test_each_asks_people_compares_wants_evidence_and_adds_to_the_verdict(name: str) -> None:
    playbook = built_in()[name]

    assert set(playbook.agents) <= ROLES.keys()
    assert playbook.format in FORMATS
    assert playbook.questions
    assert playbook.criteria
    assert playbook.evidence
    assert playbook.verdict


@pytest.mark.parametrize("name", built_in())
def test_what_comes_with_moot_would_be_taken_from_a_team_as_well(name: str) -> None:
    assert read_playbook(built_in_text(name), name, Settings()) == built_in()[name]


def test_a_proposal_is_reviewed_and_its_verdict_is_not_asked_for_twice() -> None:
    playbook = built_in()["rfc-review"]

    assert (playbook.format, playbook.rounds) == ("review", None)
    assert "text" in playbook.evidence[0].kinds
    titles = " ".join(part.title for part in playbook.verdict).casefold()
    assert not any(word in titles for word in ("recommendation", "changes", "findings"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title: Tool choice\n", "", "tool.yaml: title is missing."),
        ("rounds: 3", "rouns: 3", 'line 6: rouns is no key of a playbook. Did you mean "rounds"?'),
        ("    must: true", "    weight: 2", "line 14: criteria[0].weight is no key of a playbook."),
        ("format: panel", "format: duel", 'line 5: format: there is no format "duel".'),
        ("rounds: 3", "rounds: 9", "line 6: rounds: a panel has 7 at most."),
        ("rounds: 3", "rounds: three", "line 6: rounds must be a whole number"),
        ("when: always", "when: often", "line 7: when must be 'split', 'always' or 'never'."),
        ("simplicity,", "wizard,", 'line 4: agents[0]: there is no agent or role "wizard".'),
        ("[simplicity, operations]", "[simplicity]", "line 4: agents: one agent alone"),
        (
            "[file, thread, text]",
            "[rumour]",
            "line 17: evidence[0].kinds[0] must be 'file', 'link'",
        ),
        ("Which tool a squad takes.", "|\n  Two\n  lines", "line 3: description must be on one"),
        ("name: tool-choice", "name: Tool Choice", "line 1: name must fit the pattern"),
        ("    assumption: The squad alone.\n", "", "line 9: questions[0].assumption is missing."),
        ("title: Tool choice", "title: 12", "line 2: title must be text."),
        ("title: Tool choice", "title: [", "line 4: expected ',' or ']'"),
        (
            "    must: true\n",
            "    must: true\n  - {name: ease, meaning: Again.}\n",
            'line 15: criteria[1].name: "ease" is here already.',
        ),
        ("simplicity,", "operations,", 'line 4: agents[1]: "operations" is here already.'),
        ("rounds: 3", "title: Twice", "line 6: title is here a second time; first on line 2."),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_key(old: str, new: str, words: str) -> None:
    with pytest.raises(ConfigurationBroken) as broken:
        read_playbook(WHOLE.replace(old, new, 1), "tool.yaml", SETTINGS)

    assert words in str(broken.value)
    assert all(line.startswith("tool.yaml") for line in str(broken.value).splitlines())


def test_a_broken_one_is_named_and_left_out_and_the_others_are_there(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "a.yaml").write_text(WHOLE)
    (folder / "b.yaml").write_text(WHOLE)
    (folder / "c.yaml").write_text("title: x")
    (folder / "d.yaml").write_bytes(b"\xff\xfe")
    (folder / "e.yaml").write_text("# " + "x" * 50_000)

    playbooks = find_playbooks(tmp_path, SETTINGS)

    assert playbooks.playbooks.keys() == {"tool-choice", *built_in()}
    assert [fault.removeprefix(f"{folder}/") for fault in playbooks.faults] == [
        'b.yaml: a.yaml has the name "tool-choice" already.',
        "c.yaml: name is missing.",
        "c.yaml: description is missing.",
        "d.yaml is not UTF-8 text.",
        "e.yaml is too large: a playbook has 50,000 characters at most.",
    ]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("vendor-choise", 'Did you mean "vendor-choice"?'), ("x", "Playbooks: architecture-decision")],
)
def test_an_unknown_playbook_is_refused_with_those_there_are(name: str, hint: str) -> None:
    with pytest.raises(BadInput, match=f'There is no playbook "{name}"') as refused:
        open_debate(replace(WISH, playbook=name), SETTINGS, delimiter="ab")

    assert hint in str(refused.value)


def test_a_log_keeps_a_playbook_with_keys_nobody_knows_yet() -> None:
    newer = {"name": "x", "title": "X", "description": "Y", "of-tomorrow": 1}

    assert Playbook.model_validate(newer).title == "X"
