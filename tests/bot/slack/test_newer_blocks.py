"""What is shown where a workspace does not take a newer block."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bot.slack.mrkdwn.newer_blocks import is_newer, newer_in, read_all_button, without
from bot.views.board import board
from bot.views.fold import Fold, folded
from bot.views.progress import steps
from bot.views.vote import vote
from core.events import OptionsMerged, fold
from core.models import (
    SUMMARIZER,
    Act,
    Debate,
    Option,
    Options,
    OptionScore,
    QuestionKind,
    Score,
    Tally,
    Turn,
)
from core.testing import a_setup
from slack_on_loopback.rules import check_message_blocks
from tests.bot.plays import a_debate, play

Payload = Mapping[str, Any]
LONG = "Kafka, on machines of our own"
FOLD = Fold(title="All", parts=["*Proposal*\nUse it."], value="d1/r1/proposal/ann")


def blocks(payload: Payload, kind: str) -> Sequence[Mapping[str, Any]]:
    return [block for block in payload["blocks"] if block["type"] == kind]


def running(upto: int) -> Debate:
    return fold(play(a_setup(rounds=2))[:upto])


def voted(shares: Mapping[str, float]) -> tuple[Debate, Tally]:
    """A vote over options with these names, and how likely each is held the best."""
    turn = Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER)
    items = tuple(Option(id=f"o{n}", name=name) for n, name in enumerate(shares))
    merged = Options(turn=turn, question_kind=QuestionKind.CHOICE, items=items, stances={})
    tally = Tally(
        scores=(Score(position="architect", points=2, first_places=1, mean_confidence=None),),
        options=tuple(
            OptionScore(option=f"o{n}", first_choices=1.0, mean_probability=share)
            for n, share in enumerate(shares.values())
        ),
        winners=("architect",),
        controversial=False,
        voters=("architect", "simplicity"),
    )
    return a_debate(OptionsMerged(options=merged)), tally


def test_a_plan_becomes_its_title_and_a_bar():
    payload = board(running(7)).payload
    assert newer_in(payload) == {"plan"}
    older = without(payload, {"plan"})
    check_message_blocks(json.loads(json.dumps(older["blocks"])))
    (plan,) = blocks(payload, "plan")
    place = payload["blocks"].index(plan)
    assert older["blocks"][place]["text"]["text"] == (f"*{plan['title']}*\n`███░░░░░░░░░░░░░░░░░`")
    assert len(older["blocks"]) == len(payload["blocks"])


def test_a_fold_becomes_one_button_where_there_is_one_already():
    payload = {"blocks": [*folded(FOLD, []), read_all_button(FOLD.value)]}
    assert without(payload, {"container"})["blocks"] == [read_all_button(FOLD.value)]
    assert without(payload, {"plan"})["blocks"] == payload["blocks"]


def test_blocks_of_others_have_no_fallback():
    theirs = {"type": "container", "block_id": "mine"}
    assert not is_newer(theirs)
    assert newer_in({"text": "no blocks"}) == frozenset()


def test_the_steps_of_a_debate_are_pending_running_and_complete():
    log = play(a_setup(rounds=2))
    names = ["Round 1", "Round 2", "Vote", "Decision"]
    seen = list[list[str]]()
    for upto in range(1, len(log)):
        debate = fold(log[:upto])
        if debate.verdict:
            break
        assert [step.title for step in steps(debate)] == names
        states = [step.status for step in steps(debate)]
        if not seen or states != seen[-1]:
            seen.append(states)
    assert seen[0] == ["in_progress", "pending", "pending", "pending"]
    assert seen[-1] == ["complete", "complete", "complete", "in_progress"]
    # Nothing that is complete is taken up again.
    for earlier, later in pairwise(seen):
        for one, other in zip(earlier, later, strict=True):
            assert one != "complete" or other == "complete"


def test_a_chart_whose_names_do_not_fit_has_numbers_and_becomes_bars():
    debate, tally = voted({"PostgreSQL": 0.5, LONG: 0.3, f"{LONG}, too": 0.2})
    payload = vote(debate, tally).payload
    check_message_blocks(json.loads(json.dumps(payload["blocks"])))
    (chart,) = blocks(payload, "data_visualization")
    data = chart["chart"]["series"][0]["data"]
    assert [(one["label"], one["value"]) for one in data] == [
        ("1", 50),
        ("2", 30),
        ("3", 20),
    ]
    assert LONG in json.dumps(blocks(payload, "table"))  # whole beside it
    older = without(payload, newer_in(payload))
    check_message_blocks(json.loads(json.dumps(older["blocks"])))
    bars = older["blocks"][payload["blocks"].index(chart)]["text"]["text"]
    assert bars.split("\n")[1:-1] == [
        "1 ████████░░░░░░░░ 50%",
        "2 █████░░░░░░░░░░░ 30%",
        "3 ███░░░░░░░░░░░░░ 20%",
    ]


def test_nothing_is_drawn_where_nobody_gave_a_probability():
    payload = vote(*voted({"PostgreSQL": 0.0, "Kafka": 0.0})).payload
    assert newer_in(payload) == frozenset()
    assert blocks(payload, "table")
