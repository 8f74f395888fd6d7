"""What every surface says alike of one debate: how it stands, and what was decided before."""

from collections.abc import Mapping

import pytest

from bot.mcp import results
from bot.views.board import board
from bot.views.lists import DebateRow, row_text
from core.events import DebateWanted, StopRequested, fold
from core.models import Debate, Person, Status, Stop, Verdict
from core.rules.ending import state_words
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.report import report
from tests.core.rules.formats.told import a_format_setup, of_all, said, told
from tests.core.transcript.splits import skipped_log

DANA = Person(id="U1", name="Dana")


def surfaces(debate: Debate) -> Mapping[str, str]:
    """All that people and programs read of it, by surface."""
    return {
        "board": board(debate).text,
        "list": row_text(DebateRow(debate)),
        "status for a program": results.status(debate, "")[1],
        "verdict for a program": results.verdict(debate, "")[1],
        "terminal": decision_text(debate),
        "report": report(debate),
        "record": adr(debate),
    }


def test_the_verdict_before_a_wanted_debate_is_shown_while_there_is_no_other() -> None:
    before = fold(skipped_log())
    assert before.verdict
    decided = before.verdict.decision
    running = fold(skipped_log(DebateWanted(by=DANA)))
    failed = running.replaced(status=Status.FAILED, failure="No model answers.")

    for debate in (running, failed):
        without = [name for name, text in surfaces(debate).items() if decided not in text]
        assert without == ["status for a program"], "it says how it stands, and what comes next"
        assert "before it was debated" in surfaces(debate)["board"].lower()


@pytest.mark.parametrize("form", ["critique", "review"])
def test_a_stopped_debate_is_stopped_on_every_surface(form: str) -> None:
    act = "review" if form == "review" else "proposal"
    verdict = Verdict(decision="Not done.", solution="", confidence=None, partial=True)
    stopped = StopRequested(stop=Stop(by=DANA))
    running = told(a_format_setup(form), *said(*of_all(f"r1/{act}/*")), stopped)
    debate = running.replaced(verdict=verdict, status=Status.CONCLUDED)
    shown = surfaces(debate)

    assert state_words(debate) == "stopped, with a partial verdict"
    for surface in ("board", "list", "status for a program", "report"):
        assert state_words(debate) in shown[surface]
    assert results.status(debate, "")[0].state == "stopped"
    for surface in ("terminal", "report", "record", "verdict for a program"):
        assert "Dana stopped the debate." in shown[surface], surface
