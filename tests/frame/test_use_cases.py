"""Only `core/use_cases` records facts of people and starts debates.

Others may name the events to read them (`case NoteAdded():`); they may not call them.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.frame.files import ROOT, modules, tree

#: Modules with events of people; `debate_events` has more that use cases record.
#: A debate also fails by itself (`DebateFailed`), which anybody may record.
OF_PEOPLE = ("core/debate/people_events.py", "core/debate/message_events.py")
PEOPLES_FACTS = {"DebateStarted", "ReminderDue", "OutcomeAsked"} | {
    node.name
    for file in OF_PEOPLE
    for node in tree(ROOT / file).body
    if isinstance(node, ast.ClassDef)
}
ALLOWED = {
    # A start that is not stored: it counts the turns of a planned debate.
    "core/estimate.py makes DebateStarted",
    # Outcomes of turns, and the failure of a debate.
    "core/engine.py appends to a log",
    "bot/running/debates.py appends to a log",
}


def breaches(source: ast.Module) -> Iterator[str]:
    for node in ast.walk(source):
        if not isinstance(node, ast.Call):
            continue
        keywords = {keyword.arg for keyword in node.keywords}
        match node.func:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in PEOPLES_FACTS:
                yield f"makes {name}"
            case ast.Attribute(attr="append") if "at" in keywords:
                yield "appends to a log"
            case ast.Attribute(attr="create") if {"origin", "at"} <= keywords:
                yield "begins a log"
            case _:
                pass


def test_only_use_cases_record_what_people_do() -> None:
    places = {
        f"{path.relative_to(ROOT).as_posix()} {breach}"
        for path in modules("core", "bot")
        if "use_cases" not in path.parts
        for breach in breaches(tree(path))
    }
    assert places == ALLOWED


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("NoteAdded(note=note)", ["makes NoteAdded"]),
        ("events.StopRequested(stop=stop)", ["makes StopRequested"]),
        ("await store.append(debate_id, event, at=now)", ["appends to a log"]),
        ("await store.create(new_id, event, origin=origin, at=now)", ["begins a log"]),
        ("match event:\n        case NoteAdded(note=note): found.append(note)", []),
    ],
)
def test_a_breach_is_found_and_reading_is_none(source: str, found: list[str]) -> None:
    assert list(breaches(ast.parse(f"async def do():\n    {source}"))) == found
