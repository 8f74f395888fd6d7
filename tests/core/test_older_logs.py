"""Logs of older versions can be read and give the same debates.

Each file under `tests/fixtures/logs/<version>/` is what `moot export ID --format json` of that
version printed. Before stored values change their form, export debates with the version as it was.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import TypeAdapter

from core.acts.take import Turns
from core.capabilities import Price
from core.clock import SystemClock
from core.debate.contributions import Answer
from core.debate.log import RecordedEvent, event_from_json, event_to_json, fold
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.turn_events import TurnFailed
from core.engine import Engine
from core.llm.call import ModelCalls, Tables
from core.request import ModelRequest
from core.testing import InMemoryStore, RecordingSink, ScriptedProvider, plausible_reply
from core.usage import Usage

LOGS = sorted((Path(__file__).parents[1] / "fixtures" / "logs").glob("*/*.json"))
DEBATE: TypeAdapter[Debate] = TypeAdapter(Debate)

#: Fields that no longer exist: texts are no longer compared by their words, and a verdict no
#: longer has a list that pairs reasons with quotes.
GONE = ("/setup/termination/threshold", "/verdict/evidence")
#: Attributes of `Debate` that have another name now.
RENAMED = {"closed": "closed_cards", "spent": "expenses", "worked": "work_seconds"}
ANSWERS = TypeAdapter(Mapping[int, Answer])


def record(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def log(values: Mapping[str, Any]) -> list[RecordedEvent]:
    return [
        RecordedEvent(
            debate_id=values["debate_id"],
            seq=event["seq"],
            at=datetime.fromisoformat(event["at"]),
            event=event_from_json(json.dumps(event["event"])),
        )
        for event in values["events"]
    ]


def differing(old: object, new: object, path: str = "") -> list[str]:
    """The paths at which the new value differs from the old one; it may have more fields."""
    if isinstance(old, dict) and isinstance(new, dict):
        olds, news = cast("dict[str, object]", old), cast("dict[str, object]", new)
        return [
            line
            for key in olds
            for line in differing(olds[key], news.get(key, "missing"), f"{path}/{key}")
        ]
    if isinstance(old, list) and isinstance(new, list):
        pairs = list(zip(cast("list[object]", old), cast("list[object]", new), strict=False))
        lines = [
            line
            for index, (old_item, new_item) in enumerate(pairs)
            for line in differing(old_item, new_item, f"{path}/{index}")
        ]
        same_length = len(cast("list[object]", old)) == len(cast("list[object]", new))
        return lines if same_length else [*lines, f"{path}: another length"]
    # Time after the end no longer counts, because a debate can be continued after it.
    is_gone = (new == "missing" and path.endswith(GONE)) or path == "/work_seconds"
    return [] if old == new or is_gone else [f"{path}: {old!r} is now {new!r}"]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_older_log_gives_the_same_debate_and_is_written_unchanged(path: Path) -> None:
    values = record(path)
    entries = log(values)
    debate = fold(entries)

    was, now = dict(values["debate"]), DEBATE.dump_python(debate, mode="json")
    was = {RENAMED.get(key, key): value for key, value in was.items()}
    was.pop("worked_at")  # now without the times of summaries
    was.pop("_known", None)  # a cache
    now["answers"] = ANSWERS.dump_python(debate.answers, mode="json")
    now["notes"] = now["all_notes"]  # empty notes are no longer removed
    dropped = was.pop("dropped")  # cancelled calls are now among all other expenses
    assert differing(was, now) == []
    without_call = (expense.usage for expense in debate.expenses if not expense.call)
    assert sum(without_call, start=Usage()).attempts >= dropped["attempts"]
    for old, entry in zip(values["events"], entries, strict=True):
        assert entry.event.key == old["key"]
        written = event_to_json(entry.event)
        assert differing(old["event"], json.loads(written)) == []
        assert "estimated_attempts" not in written


#: The number of events before an upgrade: 1, and every sixth after it.
CUTS = [
    pytest.param(path, cut, id=f"{path.stem}-{cut}")
    for path in LOGS
    if path.stem in {"council", "critique", "panel"}
    for cut in range(1, len(record(path)["events"]), 6)
]


MODELS = ("scripted-1", "scripted-2")


def asking_nothing(request: ModelRequest) -> str:
    """A plausible reply without questions to people."""
    return '{"questions": []}' if request.act is Act.QUESTIONS else plausible_reply(request)


@pytest.mark.parametrize(("path", "cut"), CUTS)
async def test_a_debate_that_an_older_version_began_is_continued_to_its_end(
    path: Path, cut: int
) -> None:
    """As after an upgrade in the middle of a debate."""
    old, store = log(record(path))[:cut], InMemoryStore()
    prices = {model: Price(input=Decimal(0), output=Decimal(0)) for model in MODELS}
    calls = ModelCalls(
        {"scripted": ScriptedProvider(asking_nothing)}, SystemClock(), tables=Tables(prices=prices)
    )
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=SystemClock())
    # Long enough ago that the time for answers is over, and within all other limits.
    then, started = SystemClock().now() - timedelta(minutes=10), old[0].event
    await store.create(old[0].debate_id, started, origin="older", at=then)
    for entry in old[1:]:
        await store.append(entry.debate_id, entry.event, at=then)

    debate = await engine.run(old[0].debate_id)

    entries = await store.events(debate.id)
    assert debate.status is Status.CONCLUDED, debate.failure
    assert debate.verdict
    assert [entry.event for entry in entries[:cut]] == [entry.event for entry in old]
    failures = [entry.event for entry in entries[cut:] if isinstance(entry.event, TurnFailed)]
    assert failures == []
