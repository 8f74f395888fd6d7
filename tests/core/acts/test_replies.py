"""Reading structured replies."""

import pytest

from core.acts.ballot import (
    BallotReply,
    ballot_fault,
)
from core.acts.compare import options_fault, options_reply
from core.acts.facilitate import FacilitationReply, facilitation_fault
from core.acts.replies import first_sentence, label_in
from core.acts.verdict_replies import (
    VerdictReply,
    verdict_from,
    verdict_reply,
)
from core.debate.debate_events import DebateStarted
from core.debate.gate import NextStep
from core.debate.log import fold
from core.testing import a_setup, a_verdict_reply, log_of

DEBATE = fold(log_of([DebateStarted(setup=a_setup())]))


def a_reply(**changes: object) -> VerdictReply:
    return VerdictReply.model_validate(a_verdict_reply(**changes))


def test_what_a_verdict_leaves_unmet_is_in_its_table() -> None:
    table = [
        {"requirement": "must keep every job", "words": "jobs may be lost", "status": "not met"},
        {"requirement": "must be cheap", "words": "", "status": "probably"},
        {"requirement": " ", "words": "", "status": "not met"},
    ]
    verdict = verdict_from(DEBATE, a_reply(requirements=table))

    assert verdict.unmet_requirements == ("must keep every job",)
    assert [requirement.status for requirement in verdict.requirements] == ["not met", "unknown"]


def test_an_invented_note_is_dropped() -> None:
    notes = [{"note": "n9", "used": True, "explanation": "?"}]

    assert verdict_from(DEBATE, a_reply(notes=notes)).notes == ()


def test_a_long_first_line_is_cut_visibly() -> None:
    assert first_sentence("x" * 500) == "x" * 299 + "…"
    assert first_sentence(" \n") == ""
    assert first_sentence("- **Take `SQS`.** It keeps jobs.") == "Take SQS. It keeps jobs."


@pytest.mark.parametrize(
    ("ranking", "reasons", "fault"),
    [
        (["p2", "p1"], ["a", "b"], ""),
        (["p1"], ["a"], "each of p1, p2 exactly once"),
        (["p1", "p1"], ["a", "b"], "each of p1, p2 exactly once"),
        (["p1", "p3"], ["a", "b"], "it holds p1, p3"),
        (["p1", "p2"], ["a"], "There must be 2 reasons"),
        (["p2", "p1"], ["a", " "], "there is none for p2"),
        (["p2", "p1"], ["", ""], "there is none for p1, p2"),
        (["p1"], ["a"], "p2 must be ranked too. There must be 2 reasons"),
    ],
)
def test_a_ballot_is_a_permutation_with_a_reason_each(
    ranking: list[str], reasons: list[str], fault: str
) -> None:
    ballot = BallotReply(ranking=ranking, reasons=reasons)
    problem = ballot_fault(ballot, ["p1", "p2"])

    assert fault in problem
    assert bool(fault) == bool(problem)


@pytest.mark.parametrize(
    ("shares", "fault"),
    [
        ([60.0, 40.0], ""),
        ([0.6, 0.4], ""),
        ([100.0, 0.0], ""),
        ([90.0], "must hold 2 numbers, for o1, o2; it holds 1"),
        ([], "must hold 2 numbers"),
        ([0.0, 0.0], "100 together"),
        ([120.0, -20.0], "from 0 to 100"),
        ([float("nan"), 1.0], "from 0 to 100"),
        ([float("inf"), 1.0], "from 0 to 100"),
    ],
)
def test_a_ballot_says_how_likely_each_option_is(shares: list[float], fault: str) -> None:
    ballot = BallotReply(ranking=["p1"], reasons=["a"], probabilities=shares)
    problem = ballot_fault(ballot, ["p1"], ["o1", "o2"])

    assert fault in problem
    assert bool(fault) == bool(problem)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"options": [], "stands_for": [0, 0]}, ""),
        ({"options": ["Kafka", " "]}, "needs a name"),
        ({"options": ["Kafka", "kafka"]}, "named once"),
        ({"options": list("abcdefg")}, "6 options at most"),
        ({"stands_for": [1]}, "must hold 2 numbers"),
        ({"stands_for": [1, 3]}, "from 1 to 2"),
        ({"stands_for": [1, 0]}, ""),
        ({"stands_for": [1], "kind": "?"}, '2 numbers: for p1, p2. "kind" must be'),
        ({"kind": "matter of taste"}, "choice, whether, design, estimate"),
        ({"kind": "whether", "options": ["Yes"], "stands_for": [1, 1]}, "not to do it"),
        ({"kind": "whether"}, ""),
    ],
)
def test_a_list_of_options_is_checked(changes: dict[str, object], fault: str) -> None:
    good = {"options": ["Kafka", "PostgreSQL"], "stands_for": [1, 2], "kind": "choice"}
    reply = options_reply(("p1", "p2")).model_validate(good | changes)
    problem = options_fault(reply, ("p1", "p2"))

    assert fault in problem
    assert bool(fault) == bool(problem)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("P2", "p2"),
        ('"p1"', "p1"),
        ("c1, because it showed the gap", "c1"),
        ("Critique C2", "c2"),
        ("[p2]", "p2"),
        ("", "none"),
        ("None of them", "none"),
        ("p12", "p12"),
        ("reasons", "reasons"),
    ],
)
def test_a_label_is_read_however_it_is_dressed(text: str, label: str) -> None:
    assert label_in(text, ("p1", "p2", "c1", "c2", "none")) == label


def test_a_step_that_the_task_closed_is_not_offered_in_a_repair() -> None:
    reply = FacilitationReply(focus="", question="", assumption="", decision="stop")
    assert facilitation_fault(reply, (NextStep.GO_ON, NextStep.ASK)) == (
        '"decision" must be one of go_on, ask, not "stop".'
    )


@pytest.mark.parametrize(("value", "percent"), [("72 %", 72), (0.72, 72), ("0.5", 50), ("", None)])
def test_a_judges_confidence_is_read_as_percent(value: object, percent: int | None) -> None:
    assert verdict_from(DEBATE, a_reply(confidence=value)).judge_confidence == percent


@pytest.mark.parametrize(
    ("said", "holder"),
    [("ann, mostly", "Ann"), ("none", "none"), ("", None), (None, None), (["Ann"], None)],
)
def test_a_dissent_whose_holder_is_not_said_is_nobodys(said: object, holder: str | None) -> None:
    form = verdict_reply((), agents=("Ann", "Bob"))

    assert form.model_validate(a_verdict_reply(dissent_by=said)).dissent_by == holder
