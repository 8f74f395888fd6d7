"""A chart has every row, names in it are harmless, and what it lacks is said beforehand."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.terminal.charts import calibration_chart, check_chart
from core.calibration import Calibration, Case, Voice, calibration
from core.errors import BadInput
from core.models import OutcomeKind

NAME = '<script>&"$x$' + "x" * 80


def a_case(outcome: OutcomeKind | None, *voices: Voice) -> Case:
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


def twelve_cases() -> Calibration:
    voice = Voice(model=NAME, role="security", is_for=True)
    held = [a_case(OutcomeKind.HELD, voice)] * 8
    return calibration([*held, *[a_case(OutcomeKind.REVERSED)] * 4])


def texts(chart: bytes) -> Sequence[str]:
    return [element.text for element in ET.fromstring(chart).iter() if element.text]  # noqa: S314 - our own


def test_a_chart_has_every_row_and_takes_no_name_for_markup_or_a_formula() -> None:
    chart = calibration_chart(twelve_cases())
    assert chart is not None
    assert b"<script>" not in chart
    assert "8 of 12 (67%)" in texts(chart)
    assert texts(chart).count("8 of 8 (100%)") == 2
    assert any(NAME[:20] in text for text in texts(chart))
    assert calibration_chart(twelve_cases()) == chart


def test_without_outcomes_there_is_no_chart() -> None:
    assert calibration_chart(calibration([a_case(None)])) is None


@pytest.mark.parametrize(("form", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats_are_by_the_name_of_the_file(form: str, magic: bytes) -> None:
    chart = calibration_chart(twelve_cases(), form)
    assert chart is not None
    assert chart.startswith(magic)


def test_a_file_of_another_kind_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match=r"held\.docx cannot be written: .* \.svg, \.png, \.pdf"):
        check_chart(Path("held.docx"))
