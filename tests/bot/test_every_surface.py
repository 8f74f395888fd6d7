"""What every surface says alike of one debate: how it stands, and what was decided before."""

from collections.abc import Mapping

from bot.mcp import results
from bot.views.board import board
from bot.views.lists import DebateRow, row_text
from core.debate.log import fold
from core.debate.people import Person
from core.debate.people_events import DebateWanted
from core.debate.state import Debate, Status
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.report import report
from tests.core.transcript.splits import skipped_log

DANA = Person(id="U1", name="Dana")


def surfaces(debate: Debate) -> Mapping[str, str]:
    """All that people and programs read of it, by surface."""
    return {
        "board": board(debate).text,
        "list": row_text(DebateRow(debate)),
        "status for a program": results.status(debate, "").model_dump_json(),
        "verdict for a program": results.verdict(debate, "").text,
        "terminal": decision_text(debate),
        "report": report(debate),
        "record": adr(debate),
    }


def test_the_verdict_before_a_wanted_debate_is_shown_while_there_is_no_other() -> None:
    before = fold(skipped_log())
    assert before.verdict
    decided = before.verdict.decision
    running = fold(skipped_log(DebateWanted(by=DANA)))
    failed = running.replace(status=Status.FAILED, failure="No model answers.")

    for debate in (running, failed):
        without = [name for name, text in surfaces(debate).items() if decided not in text]
        assert without == ["status for a program"], "it says how it stands, and what comes next"
        assert "before it was debated" in surfaces(debate)["board"].lower()
