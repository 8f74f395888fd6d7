"""What readers are asked, and which of their quotes count; replies are saved beside the log."""

import json
from decimal import Decimal
from pathlib import Path

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.agents import ModelChoice
from core.debate.debate_events import DebateStarted
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import Act
from core.engine import Engine
from core.llm.call import ModelCalls
from core.settings import Settings
from core.testing import InMemoryStore, ManualClock, RecordingSink, ScriptedProvider

from moot_bench.arms import Arm, ArmForm, setup_of
from moot_bench.recall import Readers, SavedReplies, stands_in
from moot_bench.tasks import read_tasks
from moot_bench.turns import BenchTurns

AUTHOR = ModelChoice(provider="scripted", model="ann/large")
READER = ModelChoice(provider="scripted", model="bob/small")
ARM = Arm(form=ArmForm.SOLO, models=(AUTHOR,))
ROW = {"id": "q1", "question": "Night shift?", "options": ["Yes", "No"], "answer": "No"}
(TASK,) = read_tasks(json.dumps({**ROW, "reasons": ["No staff", "Cost", "Time"]}))
TEXT = "**No.** We thought that nobody could run it at night."
QUOTES = {
    "found": [
        {"reason": 1, "quote": "nobody  could RUN it"},
        {"reason": 2, "quote": "it would have cost twice as much"},
        {"reason": 9, "quote": "nobody could run it"},
    ]
}


async def a_debate() -> Debate:
    """A debate in which the author has answered alone."""
    store, clock = InMemoryStore(), ManualClock()
    setup = setup_of(
        ARM, TASK, Settings(judge_model=AUTHOR), delimiter="d41d8c", asker=Person(id="dana")
    )
    await store.create("d1", DebateStarted(setup=setup), origin="o", at=clock.now())
    calls = ModelCalls({"scripted": ScriptedProvider(lambda _: TEXT)}, clock)
    turns = BenchTurns(Turns(calls), {"d1": TASK})
    return await Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock).run("d1")


def readers(reply: str, path: Path, *models: ModelChoice) -> tuple[Readers, ScriptedProvider]:
    provider = ScriptedProvider(lambda _: reply)
    calls = ModelCalls({"scripted": provider}, SystemClock())
    return Readers(calls=calls, models=models, saved=SavedReplies(path)), provider


async def test_a_reason_counts_only_where_its_quote_stands_in_the_text(tmp_path: Path) -> None:
    debates = {(ARM.name, TASK.id): await a_debate()}
    reading, provider = readers(json.dumps(QUOTES), tmp_path / "replies.jsonl", READER)

    recalls = await reading.read([ARM], [TASK], debates)

    assert [(row.arm, row.found, row.reasons) for row in recalls.rows] == [(ARM.name, 1, 3)]
    (request,) = provider.requests_of(Act.RECALL)
    assert "1. No staff\n2. Cost\n3. Time" in [part.text for part in request.parts]
    # Nothing is asked twice, in another process neither.
    again, silent = readers("", tmp_path / "replies.jsonl", READER)
    assert (await again.read([ARM], [TASK], debates)).rows == recalls.rows
    assert silent.requests_of(Act.RECALL) == []


async def test_a_model_does_not_read_what_its_maker_wrote(tmp_path: Path) -> None:
    reading, provider = readers(json.dumps(QUOTES), tmp_path / "replies.jsonl", AUTHOR)

    recalls = await reading.read([ARM], [TASK], {(ARM.name, TASK.id): await a_debate()})

    assert (recalls.rows, provider.requests_of(Act.RECALL)) == ([], [])
    assert recalls.notes == [f"No reader of another maker than the text's authors: {ARM.name}."]


def test_a_quote_of_a_word_or_two_shows_nothing() -> None:
    assert not stands_in("run it", "Nobody could run it.")
    assert not stands_in("", "Nobody could run it.")
    assert not stands_in("could not run it", "Nobody could run it.")


def test_saved_replies_are_read_again_and_calls_cut_off_are_booked(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    saved = SavedReplies(path)
    saved.begin("a", Decimal("0.5"))
    saved.end("a", 1, Decimal("0.1"))
    saved.begin("b", Decimal("0.5"))
    saved.fail("b", "It was refused.", Decimal("0.02"))
    saved.begin("c", Decimal("0.7"))
    assert saved.total_cost == Decimal("0.82")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"key": "d", "val')  # killed while it wrote

    again = SavedReplies(path)
    assert (again.get("a"), again.get("b"), again.get("c"), again.get("d")) == (1, None, None, None)
    assert again.total_cost == Decimal("0.82")
    again.begin("d", Decimal("0.5"))
    again.end("d", [True, False], Decimal("0.1"))

    assert SavedReplies(path).get("d") == [True, False]
    assert SavedReplies(path).total_cost == Decimal("0.92")
    # Asked again and answered: the worst case is no longer booked.
    again.end("c", 0, Decimal("0.1"))
    assert SavedReplies(path).total_cost == Decimal("0.32")
    assert SavedReplies(path).get("c") == 0
