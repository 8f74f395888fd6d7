"""Reading replies: structured ones, and the short form that ends a speech."""

import pytest

from core.acts.ballot import BallotReply, ballot_fault
from core.acts.compare import options_fault, options_reply
from core.acts.replies import first_sentence, label_in
from core.acts.reviewing import LookReply
from core.acts.speak import (
    ANSWER_MAX_CHARS,
    MOST_POINTS,
    POINT_MAX_CHARS,
    ShortForm,
    read_short_form,
)
from core.acts.verdict import VerdictReply, verdict_from, verdict_reply
from core.debate.contributions import RaisedKind
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import (
    ScriptedProvider,
    a_setup,
    a_verdict_reply,
    log_of,
    plausible_reply,
)
from core.transcript.record import record_json
from tests.core.bench import Bench

DEBATE = fold(log_of([DebateStarted(setup=a_setup())]))


def a_reply(**changes: object) -> VerdictReply:
    return VerdictReply.model_validate(a_verdict_reply(**changes))


def test_a_verdict_drops_empty_requirements_and_invented_notes() -> None:
    table = [
        {"requirement": "must keep every job", "words": "jobs may be lost", "status": "not met"},
        {"requirement": "must be cheap", "words": "", "status": "probably"},
        {"requirement": " ", "words": "", "status": "not met"},
    ]
    invented = [{"note": "n9", "used": True, "explanation": "?"}]
    verdict = verdict_from(DEBATE, a_reply(requirements=table, notes=invented))

    assert verdict.unmet_requirements == ("must keep every job",)
    assert [requirement.status for requirement in verdict.requirements] == ["not met", "unknown"]
    assert verdict.notes == ()


def test_a_long_first_line_is_cut_visibly() -> None:
    assert first_sentence("x" * 500) == "x" * 299 + "…"
    assert first_sentence(" \n") == ""
    assert first_sentence("- **Take `SQS`.** It keeps jobs.") == "Take SQS. It keeps jobs."


@pytest.mark.parametrize(
    ("ballot", "fault"),
    [
        ({"ranking": ["p2", "p1"], "reasons": ["a", "b"]}, ""),
        ({"ranking": ["p1"], "reasons": ["a"]}, "p2 must be ranked too. There must be 2 reasons"),
        ({"ranking": ["p1", "p1"], "reasons": ["a", "b"]}, "each of p1, p2 exactly once"),
        ({"ranking": ["p1", "p3"], "reasons": ["a", "b"]}, "it holds p1, p3"),
        ({"ranking": ["p2", "p1"], "reasons": ["a", " "]}, "there is none for p2"),
        ({"probabilities": [0.6, 0.4]}, ""),
        ({"probabilities": [100.0, 0.0]}, ""),
        ({"probabilities": [90.0]}, "must hold 2 numbers, for o1, o2; it holds 1"),
        ({"probabilities": [0.0, 0.0]}, "100 together"),
        ({"probabilities": [120.0, -20.0]}, "from 0 to 100"),
        ({"probabilities": [float("nan"), 1.0]}, "from 0 to 100"),
        ({"probabilities": [float("inf"), 1.0]}, "from 0 to 100"),
    ],
)
def test_a_ballot_is_a_permutation_with_a_reason_and_shares(
    ballot: dict[str, object], fault: str
) -> None:
    good = {"ranking": ["p1", "p2"], "reasons": ["a", "b"], "probabilities": [60.0, 40.0]}
    problem = ballot_fault(BallotReply.model_validate(good | ballot), ["p1", "p2"], ["o1", "o2"])

    assert fault in problem
    assert bool(fault) == bool(problem)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"options": [], "stands_for": [0, 0]}, ""),
        ({"options": ["Kafka", " "]}, "needs a name"),
        ({"options": ["Kafka", "kafka"]}, "named once"),
        ({"options": list("abcdefg")}, "6 options at most"),
        ({"stands_for": [1, 3]}, "from 1 to 2"),
        ({"stands_for": [1], "kind": "?"}, '2 numbers: for p1, p2. "kind" must be'),
        ({"kind": "whether", "options": ["Yes"], "stands_for": [1, 1]}, "not to do it"),
        ({"kind": "whether"}, ""),
    ],
)
def test_a_list_of_options_is_checked(changes: dict[str, object], fault: str) -> None:
    good = {"options": ["Kafka", "PostgreSQL"], "stands_for": [1, 2], "kind": "choice"}
    problem = options_fault(
        options_reply(("p1", "p2")).model_validate(good | changes), ("p1", "p2")
    )

    assert fault in problem
    assert bool(fault) == bool(problem)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("P2", "p2"),
        ("c1, because it showed the gap", "c1"),
        ("Critique C2", "c2"),
        ("", "none"),
        ("None of them", "none"),
        ("p12", "p12"),
        ("reasons", "reasons"),
    ],
)
def test_a_label_is_read_from_a_longer_text(text: str, label: str) -> None:
    assert label_in(text, ("p1", "p2", "c1", "c2", "none")) == label


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Not_met", "not met"),
        ('"met", because the offer says so', "met"),
        ("Not met: nobody keeps them", "not met"),
        ("unmet", "not met"),
        ("fulfilled", "met"),
        ("met (in part)", "unknown"),
        ("met, but not always", "unknown"),
        (None, "unknown"),
    ],
)
def test_a_requirements_status_is_read_if_a_reason_follows(said: object, status: str) -> None:
    row = {"requirement": "must keep every job", "words": "", "status": said}

    assert verdict_from(DEBATE, a_reply(requirements=[row])).requirements[0].status == status


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Resolved. Clause 3 is gone", "resolved"),
        ("fixed", "resolved"),
        ("answered as the author says", "answered"),
        ("not resolved", "open"),
        ("answered in part", "open"),
    ],
)
def test_a_findings_status_is_read_if_a_reason_follows(said: str, status: str) -> None:
    assert LookReply(finding="f1", status=said).status == status


@pytest.mark.parametrize(
    ("value", "percent"),
    [
        ("72 %", 72),
        (0.72, 72),
        ("0.5", 50),
        ("", None),
        ("high", None),
        ("8/10", None),
        (140, None),
    ],
)
def test_a_judges_confidence_is_read_as_percent(value: object, percent: int | None) -> None:
    assert verdict_from(DEBATE, a_reply(confidence=value)).judge_confidence == percent


@pytest.mark.parametrize(
    ("said", "holder"), [("ann, mostly", "Ann"), ("none", "none"), ("", None), (["Ann"], None)]
)
def test_a_dissent_without_a_name_has_no_holder(said: object, holder: str | None) -> None:
    form = verdict_reply((), agents=("Ann", "Bob"))

    assert form.model_validate(a_verdict_reply(dissent_by=said)).dissent_by == holder


_TEXT = "**Use PostgreSQL.**\n\n- It is there.\n\n```sql\nselect 1;\n```"
_SHORT = "In short: Use PostgreSQL.\n- Nothing new to run.\n- One commit for job and order."
_POINTS = ("Nothing new to run.", "One commit for job and order.")
_FORM = ShortForm(text=_TEXT, answer="Use PostgreSQL.", points=_POINTS)


@pytest.mark.parametrize(
    "end",
    [
        f"{_SHORT}\n\n",
        "**In short:** Use PostgreSQL.\n\n* Nothing new to run.\n* One commit for job and order.",
        "# In short: **Use PostgreSQL.**\n1. Nothing new to run.\n2) One commit for job and order.",
        "_in short_: Use PostgreSQL.\r\n• Nothing new to run.\r\n• One commit for job and order.",
    ],
)
def test_the_short_form_is_read_with_any_markdown_marks(end: str) -> None:
    assert read_short_form(f"{_TEXT}\n\n{end}") == _FORM


@pytest.mark.parametrize(
    "text",
    [
        "",
        _TEXT,
        _SHORT,  # nothing but a short form is the text
        f"{_SHORT}\n\nAnd one more thing.",
        f"{_TEXT}\n\nIn short: **\n- Nothing new to run.",
        f"{_TEXT}\n\nIn short, use PostgreSQL.",
        f"{_TEXT}\n\nIn short: Use it.\n" + "- A point.\n" * 40,
    ],
)
def test_a_reply_without_a_short_form_is_all_text(text: str) -> None:
    assert read_short_form(text) == ShortForm(text=text)


def test_long_answers_and_points_are_cut_after_a_word() -> None:
    points = "\n".join(f"- {'point ' * 60}" for _ in range(MOST_POINTS + 2))
    short = read_short_form(f"{_TEXT}\nIn short: {'word ' * 100}\n{points}")

    assert short.answer.endswith("word…")
    assert len(short.answer) <= ANSWER_MAX_CHARS
    assert len(short.points) == MOST_POINTS
    assert all(point.endswith("point…") and len(point) <= POINT_MAX_CHARS for point in short.points)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("**In short:** Use `asyncpg`", "Use `asyncpg`"),
        ("**In short: Use `asyncpg`**", "Use `asyncpg`"),
        ("In short: **Two** steps: *this* and **that**", "**Two** steps: *this* and **that**"),
        ("In short: ***Use it.***", "Use it."),
    ],
)
def test_marks_within_an_answer_stay_in_pairs(line: str, answer: str) -> None:
    assert read_short_form(f"{_TEXT}\n{line}").answer == answer


@pytest.mark.parametrize(
    ("line", "raised"),
    [
        ("Risk: It fails.", ((RaisedKind.RISK, "It fails."),)),
        ("- **Idea:** Ask them.", ((RaisedKind.IDEA, "Ask them."),)),
        ("* fact : In May (e1).", ((RaisedKind.FACT, "In May (e1)."),)),
        ("Risk:", ()),
        ("Risky: It fails.", ()),
        ("In time we risk: much.", ()),
    ],
)
def test_lines_with_risks_ideas_and_facts_are_read(
    line: str, raised: tuple[tuple[RaisedKind, str], ...]
) -> None:
    end = f"It is there.\n\nIn short: PostgreSQL.\n- A point.\n{line}"
    assert read_short_form(end).raised == raised


async def test_characters_that_cannot_be_stored_are_removed_from_replies() -> None:
    def script(request: ModelRequest) -> str:
        odd = "Use\0 it \ud800now."
        return odd if request.act is Act.PROPOSAL else plausible_reply(request)

    bench = Bench(ScriptedProvider(script))
    debate = await bench.run(a_setup(rounds=1))

    proposals = [m.text for m in debate.contributions.values() if m.turn.act is Act.PROPOSAL]
    assert set(proposals) == {"Use it \ufffdnow."}
    assert "Use it \ufffdnow." in record_json(await bench.store.events(debate.id))
