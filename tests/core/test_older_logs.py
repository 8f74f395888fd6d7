"""Logs that older versions wrote can be read, and add up to the same debates.

Each file under `tests/fixtures/logs/<version>/` is what `moot export ID --format json` of that
version printed. Before stored values change their form, export debates with the version as it was.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from pydantic import TypeAdapter

from core.events import Event, Recorded, event_from_json, event_to_json, fold
from core.models import Debate, Usage

LOGS = sorted((Path(__file__).parents[1] / "fixtures" / "logs").glob("*/*.json"))
DEBATE: TypeAdapter[Debate] = TypeAdapter(Debate)

#: What debates are no longer told by: likeness of words decides nothing since there are options.
GONE = "/setup/termination/threshold"
#: Events that no older version wrote.
NEWER = {
    "agents_cast",
    "answer_withdrawn",
    "cross_checked",
    "debate_wanted",
    "gate_passed",
    "model_came_back",
    "model_went_away",
    "option_edited",
    "options_merged",
    "outage_began",
    "outage_ended",
    "shadow_answered",
    "shadow_placed",
    "stop_withdrawn",
}

logs = pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")


def record(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def log(written: Mapping[str, Any]) -> list[Recorded]:
    return [
        Recorded(
            debate_id=written["debate_id"],
            seq=one["seq"],
            at=datetime.fromisoformat(one["at"]),
            event=event_from_json(json.dumps(one["event"])),
        )
        for one in written["events"]
    ]


def differing(old: object, new: object, path: str = "") -> list[str]:
    """Where a value of today does not say what the old one said; it may say more."""
    if isinstance(old, dict) and isinstance(new, dict):
        olds, news = cast("dict[str, object]", old), cast("dict[str, object]", new)
        return [
            line
            for key in olds
            for line in differing(olds[key], news.get(key, "missing"), f"{path}/{key}")
        ]
    if isinstance(old, list) and isinstance(new, list):
        pairs = list(zip(cast("list[object]", old), cast("list[object]", new), strict=False))
        found = [
            line
            for at, (one, other) in enumerate(pairs)
            for line in differing(one, other, f"{path}/{at}")
        ]
        same_length = len(cast("list[object]", old)) == len(cast("list[object]", new))
        return found if same_length else [*found, f"{path}: another length"]
    # Time after an end counts no more, since a debate can be wanted after it.
    is_gone = (new == "missing" and path.endswith(GONE)) or path == "/worked"
    return [] if old == new or is_gone else [f"{path}: {old!r} is now {new!r}"]


@logs
def test_an_older_log_adds_up_to_what_it_added_up_to(path: Path) -> None:
    written = record(path)

    debate = fold(log(written))

    was, now = dict(written["debate"]), DEBATE.dump_python(debate, mode="json")
    was.pop("worked_at")  # summaries, made beside the rounds, do not count since
    dropped = was.pop("dropped")  # calls given up are booked with all others since
    assert differing(was, now) == []
    without_call = sum((one.usage for one in debate.spent if not one.call), start=Usage())
    assert without_call.attempts >= dropped["attempts"]


@logs
def test_an_older_event_keeps_its_key_and_is_written_as_it_was(path: Path) -> None:
    written = record(path)

    for old, now in zip(written["events"], log(written), strict=True):
        assert now.event.key == old["key"]
        assert differing(old["event"], json.loads(event_to_json(now.event))) == []


def test_there_is_an_older_event_of_every_kind() -> None:
    union, *_ = get_args(Event)
    kinds = {model.model_fields["kind"].default for model in get_args(union)}
    found = {one["event"]["kind"] for path in LOGS for one in record(path)["events"]}

    assert kinds - NEWER <= found
