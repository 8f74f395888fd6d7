"""The example in docs/hooks.md runs and receives every event it describes."""

import runpy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from core.debate.log import Event

GUIDE = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text(encoding="utf-8")


async def test_the_example_hears_a_whole_debate_beginnings_before_ends(tmp_path: Path) -> None:
    example = tmp_path / "narrator.py"
    example.write_text(GUIDE.split("```python\n")[1].split("```")[0], encoding="utf-8")
    main: Callable[[], Awaitable[Any]] = runpy.run_path(str(example))["main"]
    lines: list[str] = (await main()).lines

    assert lines[0] == "round start: 1 of 1"
    assert "phase start: critique, 6 turns" in lines
    for number, moment in [
        (3, "agent start: r1/proposal/"),
        (3, "agent done: r1/proposal/"),
        (6, "agent start: r1/critique/"),
        (6, "contribution: r1/critique/"),
        (3, "agent done: r1/refinement/"),
        (1, "synthesis start"),
        (1, "synthesis done: confidence "),
    ]:
        assert sum(line.startswith(moment) for line in lines) == number, moment
    done = [line.removeprefix("agent done: ") for line in lines if line.startswith("agent done")]
    assert len(done) == 12
    for turn in done:
        assert lines.index(f"agent start: {turn}") < lines.index(f"agent done: {turn}")


def test_every_event_is_in_the_guide() -> None:
    kinds = list(Event.kinds)
    assert [kind for kind in kinds if f"`{kind}`" not in GUIDE] == []
