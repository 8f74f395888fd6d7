"""Reading structured replies."""

import pytest

from core.llm.call import writable
from core.testing import a_verdict_reply
from core.turns.replies import (
    BallotReply,
    VerdictReply,
    abstains,
    ballot_fault,
    first_sentence,
    verdict_from,
    verdict_from_text,
)


def a_reply(**changes: object) -> VerdictReply:
    return VerdictReply.model_validate(a_verdict_reply(**changes))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("an emoji in halves: \ud83d\ude00.", "an emoji in halves: 😀."),
        ("one half \ud83d of it", "one half � of it"),
        ("the other half \ude00", "the other half �"),
        ("no\0thing", "nothing"),
        ("Grün, 😀 and 漢字", "Grün, 😀 and 漢字"),
    ],
)
def test_what_no_database_holds_is_left_out_of_replies(said: str, kept: str) -> None:
    assert writable(said) == kept


@pytest.mark.parametrize(("said", "kept"), [(130, 100), (-5, 0), (72, 72)])
def test_confidence_is_kept_between_0_and_100(said: int, kept: int) -> None:
    assert verdict_from(a_reply(confidence=said), {}).confidence == kept


def test_a_judge_may_give_no_confidence() -> None:
    assert verdict_from(a_reply(confidence=None), {}).confidence is None
    assert verdict_from(a_reply(confidence=None, unmet_requirements=["x"]), {}).confidence is None


@pytest.mark.parametrize(
    ("reasons", "is_abstention"), [(["No list helps."], True), ([], False), ([" "], False)]
)
def test_an_empty_ranking_with_a_reason_is_an_abstention(
    reasons: list[str],
    is_abstention: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    ballot = BallotReply(ranking=[], reasons=reasons, confidence=None, moved_by="")

    assert abstains(ballot) is is_abstention
    assert (ballot_fault(ballot, ["p1"]) == "") is is_abstention


def test_an_unmet_requirement_caps_the_confidence_at_40() -> None:
    reply = a_reply(confidence=90, unmet_requirements=["must keep every job", " "])
    verdict = verdict_from(reply, {})

    assert verdict.confidence == 40
    assert verdict.unmet_requirements == ("must keep every job",)


def test_every_note_is_answered_for_even_one_the_judge_passed_over() -> None:
    notes = [{"note": "n1", "used": True, "explanation": "by Security"}]
    outcomes = verdict_from(a_reply(notes=notes), {"n1": "e1", "n2": "e2"}).notes

    assert [(outcome.note, outcome.used) for outcome in outcomes] == [("e1", True), ("e2", False)]
    assert outcomes[1].explanation == "The judge did not mention it."


def test_an_invented_note_is_dropped() -> None:
    notes = [{"note": "n9", "used": True, "explanation": "?"}]

    assert verdict_from(a_reply(notes=notes), {}).notes == ()


def test_raw_text_becomes_a_half_believed_verdict_with_a_warning() -> None:
    verdict = verdict_from_text("\n## **Use files**\nThey are enough.")

    assert (verdict.decision, verdict.confidence) == ("Use files", 50)
    assert "raw text" in verdict.warnings[0]


def test_a_long_first_line_is_cut_visibly() -> None:
    assert first_sentence("x" * 500) == "x" * 299 + "…"
    assert first_sentence(" \n") == ""


@pytest.mark.parametrize(
    ("ranking", "reasons", "fault"),
    [
        (["p2", "p1"], ["a", "b"], ""),
        (["p1"], ["a"], "each of p1, p2 exactly once"),
        (["p1", "p1"], ["a", "b"], "each of p1, p2 exactly once"),
        (["p1", "p3"], ["a", "b"], "it holds p1, p3"),
        (["p1", "p2"], ["a"], "There must be 2 reasons"),
        (["p2", "p1"], ["a", " "], "there is none for p1"),
        (["p2", "p1"], ["", ""], "there is none for p2, p1"),
    ],
)
def test_a_ballot_is_a_permutation_with_a_reason_each(
    ranking: list[str], reasons: list[str], fault: str
) -> None:
    ballot = BallotReply(ranking=ranking, reasons=reasons, confidence=1, moved_by="")
    found = ballot_fault(ballot, ["p1", "p2"])

    assert fault in found
    assert bool(fault) == bool(found)


@pytest.mark.parametrize("said", ["85", "1.01", "-0.1", "NaN", "Infinity"])
def test_a_ballots_confidence_is_from_0_to_1(said: str) -> None:
    ballot = BallotReply(ranking=["p1"], reasons=["a"], confidence=float(said), moved_by="")

    assert '"confidence" must be from 0 to 1' in ballot_fault(ballot, ["p1"])


@pytest.mark.parametrize("said", [0.0, 0.5, 1.0])
def test_the_ends_of_the_range_are_confidences_too(said: float) -> None:
    ballot = BallotReply(ranking=["p1"], reasons=["a"], confidence=said, moved_by="")

    assert ballot_fault(ballot, ["p1"]) == ""
