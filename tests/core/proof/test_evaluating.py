"""What evaluators are shown and asked, and what of their answers counts."""

import json

import pytest

from core.clock import SystemClock
from core.errors import ReplyUnreadable
from core.llm.call import ModelCalls
from core.models import Act, ModelChoice
from core.proof.evaluating import find_reasons, judged, prefer, stands_in
from core.proof.pairs import Pair
from core.request import PartKind
from core.settings import agent_for
from core.testing import ScriptedProvider

EVALUATOR = agent_for("sceptic", ModelChoice(provider="scripted", model="scripted-1"))
PAIR = Pair(id="q1", question="Kafka or a table?", ours="Take the table.", theirs="Take Kafka.")
DELIMITER = "d41d8cd9"


def calls(reply: str) -> tuple[ModelCalls, ScriptedProvider]:
    provider = ScriptedProvider(lambda _: reply)
    return ModelCalls({"scripted": provider}, SystemClock()), provider


async def side(better: str, *, swapped: bool) -> int:
    asking, _ = calls(json.dumps({"reason": "It fits.", "better": better}))
    found = await prefer(asking, EVALUATOR, PAIR, swapped=swapped, delimiter=DELIMITER)
    return found.side


async def test_both_orders_are_shown_and_nothing_tells_whose_is_whose() -> None:
    for swapped, texts in ((False, ["Take the table.", "Take Kafka."]),
                           (True, ["Take Kafka.", "Take the table."])):  # fmt: skip
        asking, provider = calls(json.dumps({"reason": "It fits.", "better": "Y."}))
        found = await prefer(asking, EVALUATOR, PAIR, swapped=swapped, delimiter=DELIMITER)
        (request,) = provider.asked(Act.PAIR)
        shown = [part for part in request.parts if part.kind is PartKind.CANDIDATE]
        assert [(part.label, part.text) for part in shown] == list(zip("xy", texts, strict=True))
        assert found.side == -1


async def test_what_holds_in_both_orders_counts() -> None:
    ours = judged("e", PAIR, await side("x", swapped=False), await side("y", swapped=True))
    order = judged("e", PAIR, await side("x", swapped=False), await side("x", swapped=True))
    neither = judged("e", PAIR, *[await side("neither", swapped=one) for one in (False, True)])
    assert [(one.score, one.is_flipped) for one in (ours, order, neither)] == [
        (1, False),
        (0, True),
        (0, False),
    ]


async def test_a_judgment_that_names_neither_text_is_none() -> None:
    with pytest.raises(ReplyUnreadable):
        await side("the former", swapped=False)


async def test_a_reason_is_found_only_where_its_quote_stands_in_the_text() -> None:
    reply = {
        "found": [
            {"reason": 1, "quote": "nobody  could RUN it"},
            {"reason": 2, "quote": "it would have cost twice as much"},
            {"reason": 9, "quote": "nobody could run it"},
        ]
    }
    asking, _ = calls(json.dumps(reply))
    found, _ = await find_reasons(
        asking,
        EVALUATOR,
        reasons=["No staff", "Cost", "Time"],
        text="We thought that nobody could run it at night.",
        delimiter=DELIMITER,
    )
    assert found == [True, False, False]


def test_a_quote_of_a_word_or_two_shows_nothing() -> None:
    assert not stands_in("run it", "Nobody could run it.")
    assert not stands_in("", "Nobody could run it.")
    assert not stands_in("could not run it", "Nobody could run it.")
