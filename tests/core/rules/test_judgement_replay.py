"""The replay finds what was planted, and reads recorded answers."""

import json
from pathlib import Path

from bench.judgement_replay import judged, planted, read, report


def test_the_gate_debates_what_was_planted_as_split_and_nothing_else() -> None:
    items = planted(200)
    debated = {item.question for item in items if judged(item).is_debated}
    assert debated == {f"q{number}" for number in range(0, 200, 4)}


def test_who_was_planted_to_move_moves_to_the_right_side() -> None:
    outcomes = [judged(item) for item in planted(200)]
    assert sum(outcome.moved_right for outcome in outcomes) > 0
    assert sum(outcome.moved_wrong for outcome in outcomes) == 0


def test_split_first_answers_make_less_sure() -> None:
    outcomes = [judged(item) for item in planted(200)]
    agreed = [outcome.confidence for outcome in outcomes if not outcome.is_debated]
    split = [outcome.confidence for outcome in outcomes if outcome.is_debated]
    assert sum(agreed) / len(agreed) > sum(split) / len(split) + 10


def test_the_report_says_what_was_saved_and_kept() -> None:
    said = list(report(planted(200)))
    assert said[0] == "questions 200, debated 50 (25%)"
    assert "calls saved by the gate: 50%" in said
    assert "gain of the debate kept by the gate: 100%" in said


def test_recorded_answers_are_read_and_unfinished_ones_left_out(tmp_path: Path) -> None:
    lines = [
        {"question": "a", "model": m, "phase": p, "probability": 0.6, "answer": True}
        for m in ("x", "y")
        for p in ("first", "second")
    ]
    lines.append({"question": "open", "model": "x", "phase": "first", "probability": 0.5})
    file = tmp_path / "recorded.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")

    (item,) = read(file)
    assert (item.first, item.second, item.answer) == (
        {"x": 0.6, "y": 0.6},
        {"x": 0.6, "y": 0.6},
        True,
    )
