"""Only `core/use_cases` records what people do: nothing else makes those events or starts debates.

Others may name the events to read them (`case NoteAdded():`); they may not call them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from core.debate.log import Event
from tests.frame.files import ROOT, modules, tree

#: What only people cause. A debate also fails by itself (`DebateFailed`), which anybody may record.
PEOPLES_FACTS = {
    "DebateStarted",
    "ClarificationAnswered",
    "AnswerWithdrawn",
    "NoteAdded",
    "NoteChanged",
    "NoteWithdrawn",
    "StopRequested",
    "StopWithdrawn",
    "VoteCalled",
    "DebatePaused",
    "DebateResumed",
    "OptionEdited",
    "BallotsRevealed",
    "DebateWanted",
    "PeopleBallotCast",
    "DecisionRecorded",
    "ReminderDue",
    "OutcomeAsked",
    "OutcomeGiven",
    "FeedbackGiven",
    "FollowUpAsked",
    "DebateContinued",
}
#: What debates bring about by themselves.
DEBATES_FACTS = {
    *("AgentsCast", "SourceRead", "QuestionsAsked", "ClarificationsOpened", "ClarificationsClosed"),
    *("ContributionMade", "FacilitatorDecided", "FindingsMerged", "OptionsMerged", "GatePassed"),
    *("SummaryMade", "ShadowAnswered", "ShadowPlaced", "BallotCast", "BallotAbstained"),
    *(
        "VoteTallied",
        "VerdictReached",
        "CrossChecked",
        "VerdictDrafted",
        "Audited",
        "Withheld",
        "FollowUpAnswered",
        "TurnFailed",
    ),
    *("CallsDropped", "ModelWentAway", "ModelCameBack", "OutageBegan", "OutageEnded"),
    *("TimeRanOut", "DebateConcluded", "DebateFailed"),
}
#: Makes a start that is written nowhere: it counts the turns of a debate that is not held.
ESTIMATE = "core/estimate.py makes DebateStarted"
#: Write what happens by itself: outcomes of turns, and that a debate cannot go on.
ENGINES = {"core/engine.py", "bot/running/debates.py"}


def breaches(source: ast.Module) -> Iterator[str]:
    """Yield what a module does that only use cases may."""
    for node in ast.walk(source):
        if not isinstance(node, ast.Call):
            continue
        keywords = {keyword.arg for keyword in node.keywords}
        match node.func:
            case ast.Name(id=name) if name in PEOPLES_FACTS:
                yield f"makes {name}"
            case ast.Attribute(attr=name) if name in PEOPLES_FACTS:
                yield f"makes {name}"
            case ast.Attribute(attr="append") if "at" in keywords:
                yield "appends to a log"
            case ast.Attribute(attr="create") if {"origin", "at"} <= keywords:
                yield "begins a log"
            case _:
                pass


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_of_every_event_it_is_said_who_causes_it() -> None:
    kinds, _ = get_args(Event)  # and by which field they are told apart
    unsaid = {kind.__name__ for kind in get_args(kinds)} - PEOPLES_FACTS - DEBATES_FACTS
    assert unsaid == set(), "Say in PEOPLES_FACTS or DEBATES_FACTS who causes it."


def test_only_use_cases_record_what_people_do() -> None:
    places = {
        f"{name(path)} {breach}"
        for path in modules("core", "bot")
        if "use_cases" not in path.parts
        for breach in breaches(tree(path))
    }
    allowed = {ESTIMATE, *(f"{path} appends to a log" for path in ENGINES)}
    assert places - allowed == set()
    assert places & allowed == allowed  # what is allowed for nothing is not allowed


@pytest.mark.parametrize(
    "source",
    [
        "NoteAdded(note=note)",
        "events.StopRequested(stop=stop)",
        "await store.append(debate_id, event, at=now)",
        "await self.store.create(new_id, event, origin=origin, at=now)",
    ],
)
def test_a_breach_is_found(source: str) -> None:
    inside = ast.parse(f"async def do():\n    {source}")
    assert len(list(breaches(inside))) == 1


def test_reading_an_event_is_no_breach() -> None:
    source = "match event:\n    case NoteAdded(note=note):\n        found.append(note)"
    assert list(breaches(ast.parse(source))) == []
