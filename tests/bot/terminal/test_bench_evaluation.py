"""Judgments are kept beside the bench's log, whatever a kill left in the file."""

from decimal import Decimal
from pathlib import Path

from bot.terminal.bench_evaluation import Kept


def test_what_was_said_is_there_again_and_what_was_cut_off_is_booked(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    kept = Kept(path)
    kept.begin("a", Decimal("0.5"))
    kept.end("a", 1, Decimal("0.1"))
    kept.begin("b", Decimal("0.5"))
    kept.fail("b", "It was refused.", Decimal("0.02"))
    kept.begin("c", Decimal("0.7"))
    assert kept.spent == Decimal("0.12")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"key": "d", "val')  # killed while it wrote

    again = Kept(path)
    assert (again.get("a"), again.get("b"), again.get("c"), again.get("d")) == (1, None, None, None)
    assert again.spent == Decimal("0.82")
    again.begin("d", Decimal("0.5"))
    again.end("d", [True, False], Decimal("0.1"))

    assert Kept(path).get("d") == [True, False]
    assert Kept(path).spent == Decimal("0.92")
    # Asked again and answered: the worst case is no longer booked.
    again.end("c", 0, Decimal("0.1"))
    assert Kept(path).spent == Decimal("0.32")
    assert Kept(path).get("c") == 0
