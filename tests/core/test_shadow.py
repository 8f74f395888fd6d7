"""The single answer: one model answers alone, hidden until the verdict, without any delay."""

import json

import pytest

from bot.presenter.posts import posts_of
from bot.terminal.screen import event_lines, phase_line, status_line
from bot.views.board import board
from core.debate.agents import ModelChoice
from core.debate.log import fold
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import BACKGROUND_ACTS, SHADOW, Act
from core.debate.turn_events import ShadowAnswered, VerdictReached
from core.errors import RequestRejected
from core.ports import ModelRequest
from core.request import PartKind
from core.rules import shadow
from core.settings import Settings
from core.testing import ScriptedProvider, a_setup, plausible_reply
from core.transcript.decision import adr, decision_text, single_answer_words
from core.transcript.explain import explanation
from core.transcript.record import SEALED, record_json
from core.transcript.report import report
from core.use_cases.choices import Choices, with_choices
from tests.core.bench import DEBATE, Bench

#: A word in every text of the single answer and in no other text.
MARK = "zyxwv"
#: The reply leaves out risks, which are then empty.
ALONE = json.dumps(
    {
        "options": [f"PostgreSQL {MARK}"],
        "reasons": [f"We run it {MARK}."],
        "overturned_by": [f"A tenfold load {MARK}"],
        "decision": f"Take PostgreSQL {MARK}.",
        "solution": f"One table {MARK}.",
    }
)


def with_shadow(**changes: object) -> Setup:
    setup = a_setup(rounds=1)
    alone = setup.judge.model_copy(update={"id": SHADOW, "name": "One model alone"})
    return setup.model_copy(update={"shadow_agent": alone, **changes})


async def bench_and_debate(
    setup: Setup, alone: str | RequestRejected = ALONE
) -> tuple[Bench, Debate]:
    def answer(request: ModelRequest) -> str | RequestRejected:
        match request.act:
            case Act.SHADOW:
                return alone
            case Act.SHADOW_CHOICE:
                return json.dumps({"reason": f"It says so {MARK}.", "option": "o1"})
            case _:
                return plausible_reply(request)

    bench = Bench(ScriptedProvider(answer))
    return bench, await bench.run(setup)


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_no_prompt_of_the_debate_includes_the_single_answer(form: str) -> None:
    bench, debate = await bench_and_debate(with_shadow(format=form))

    assert debate.status is Status.CONCLUDED
    assert debate.shadow
    for request in bench.provider.requests:
        if request.act is not Act.SHADOW_CHOICE:
            sent = [request.system, *(f"{part.label} {part.text}" for part in request.parts)]
            assert MARK not in "".join(sent), request.act
    (own,) = bench.provider.requests_of(Act.SHADOW)
    assert {part.kind for part in own.parts} == {PartKind.QUESTION, PartKind.TASK}


async def test_the_single_answer_is_shown_only_after_the_verdict() -> None:
    bench, debate = await bench_and_debate(with_shadow())
    log = await bench.store.events(DEBATE)
    ends = next(entry.seq for entry in log if isinstance(entry.event, VerdictReached))
    came = next(entry.seq for entry in log if isinstance(entry.event, ShadowAnswered))
    assert came < ends

    for then, row in zip(bench.sink.debates, bench.sink.events, strict=True):
        so_far = log[: row.seq]
        texts = {
            "posts": str(posts_of(then, row)),
            "board": str(board(then).payload),
            "report": report(then),
            "decision": decision_text(then),
            "adr": adr(then),
            "record": record_json(so_far),
            "explain": explanation(so_far),
            "terminal": "\n".join(event_lines(then, row.event, verbose=True)),
            "live line": status_line(then, [shadow.ANSWER]) + phase_line(then, shadow.ANSWER),
        }
        leaking = [name for name, text in texts.items() if MARK in text]
        if row.seq < ends:
            assert not leaking, (row.event.kind, leaking)
            assert shadow.agrees(then) is None
            events = [entry["event"] for entry in json.loads(texts["record"])["events"]]
            placed = [event["choice"] for event in events if event["kind"] == "shadow_placed"]
            assert not any(choice["option"] for choice in placed)
    for text in (report(debate), decision_text(debate), record_json(log)):
        assert MARK in text
    before = record_json(log[:came])
    assert SEALED in before
    assert json.loads(before)["outcome"]["single_answer"] is None
    fold(log[:came])


async def test_a_failed_single_answer_does_not_change_the_debate() -> None:
    _, debate = await bench_and_debate(with_shadow(), RequestRejected("It was refused."))
    _, without = await bench_and_debate(a_setup(rounds=1))

    assert debate.status is Status.CONCLUDED
    assert not debate.failures
    assert debate.verdict
    assert without.verdict
    assert debate.verdict.warnings == without.verdict.warnings
    assert not debate.verdict.partial
    assert debate.verdict.confidence == without.verdict.confidence
    assert not single_answer_words(debate)
    assert "There is none to compare with. It was refused." in report(debate)
    assert "Turns that failed" not in report(debate)


async def test_the_debate_does_not_wait_for_the_single_answer() -> None:
    bench = Bench(grace=0.0)
    bench.provider.hold(Act.SHADOW)
    debate = await bench.run(with_shadow())

    assert bench.provider.requests_of(Act.SHADOW)
    assert debate.status is Status.CONCLUDED
    assert debate.shadow is None
    assert not debate.failures
    assert "after all else was done" in debate.shadow_fault
    assert {Act.SHADOW, Act.SHADOW_CHOICE} < BACKGROUND_ACTS


def test_a_channel_can_switch_the_single_answer() -> None:
    one = ModelChoice(provider="p", model="one")
    settings = Settings(agent_model=one, judge_model=one)
    for choice, expected in ((True, "always"), (False, "never"), (None, "mixed")):
        assert with_choices(settings, Choices(shadow=choice), ()).shadow == expected
