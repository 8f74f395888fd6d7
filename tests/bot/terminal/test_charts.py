"""A chart has every row, names in it are harmless, and what it lacks is said beforehand."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.terminal.calibrating import calibration_chart, check_chart
from core.calibration import AgentRecord, Case, calibration
from core.errors import BadInput
from core.models import OutcomeKind


def a_case(outcome: OutcomeKind | None, *voices: AgentRecord) -> Case:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    return Case(
        debate_id="d1",
        accepted_at=noon,
        asked=True,
        replaced=False,
        outcome=outcome,
        said_at=noon if outcome else None,
        confidence=70,
        was_skipped=False,
        alone_agrees=None,
        voices=voices,
    )


def test_without_outcomes_there_is_no_chart() -> None:
    assert calibration_chart(calibration([a_case(None)])) is None


def test_a_file_of_another_kind_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"held\.docx cannot be written: .* \.svg, \.png, \.pdf"):
        check_chart(Path("held.docx"))
