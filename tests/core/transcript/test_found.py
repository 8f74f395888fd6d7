"""The findings of a review for a pull request: complete, short enough, and harmless."""

import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape

import pytest

from core.errors import BadInput
from core.events import DebateStarted, VerdictReached, fold
from core.models import (
    OFFLINE,
    Citation,
    CitationStatus,
    Debate,
    FindingStatus,
    Note,
    Person,
    ReviewFinding,
    Severity,
    Source,
    SourceKind,
    SourceReference,
    Status,
    Verdict,
)
from core.rules.sources import reading_turn
from core.rules.subject import role_of
from core.testing import a_setup, recorded
from core.transcript.adr import adr
from core.transcript.found import as_code, in_text, task_list
from core.transcript.report import report

DANA = Person(id="U1", name="Dana")
HOSTILE = (
    "@team look at #123 and GH-7, octo/cat#9, <img src=x onerror=alert(1)> <!-- x -->\n"
    "```\n- [ ] **ready** [click](javascript:alert(1)) ![x](https://e.test/x.png) | ~~no~~ `a``b`"
)


def a_finding(number: int, **changes: object) -> ReviewFinding:
    cited = Citation(
        source="e1", words="jobs are lost", status=CitationStatus.VERIFIED, place="work.py:42"
    )
    found = ReviewFinding(
        number=number,
        severity=Severity.BLOCKER,
        citation=cited,
        wrong="Orders vanish.",
        raised_by=("architect",),
    )
    return found.model_copy(update=changes)


def a_review(*found: ReviewFinding, form: str = "review") -> Debate:
    given = SourceReference(kind=SourceKind.FILE, title="plan.md", fetch="f", by=DANA)
    setup = a_setup(rounds=1).model_copy(update={"format": form, "references": (given,)})
    verdict = Verdict(
        decision="Ready with changes: 1 blocker",
        reasons=("It loses jobs.",),
        solution="Drain it.",
        confidence=None,
        findings=found,
    )
    return fold(recorded([DebateStarted(setup=setup), VerdictReached(verdict=verdict)]))


def test_each_open_finding_is_a_task_with_its_place_and_words() -> None:
    mended = {"status": FindingStatus.RESOLVED, "why": "It is drained."}
    text = task_list(a_review(a_finding(1, mend="Drain it."), a_finding(2, **mended)))
    assert text == (
        "### Review: Ready with changes: 1 blocker\n\n"
        "Of plan.md.\n\n"
        "- It loses jobs.\n\n"
        "- [ ] **blocker** `work.py:42`: Orders vanish. *To mend it*: Drain it.\n"
        "  > `jobs are lost`\n"
        "- [x] **blocker** `work.py:42`: Orders vanish. *resolved*: It is drained.\n"
        "  > `jobs are lost`\n\n"
        "Written by AI agents, who can be wrong: check what matters. Moot review `dabc2345`.\n"
    )


def test_where_no_model_was_asked_nobody_reads_that_nothing_is_wrong() -> None:
    found = a_review()
    offline = {"provider": OFFLINE, "model": "offline-checklists"}
    agents = tuple(agent.model_copy(update=offline) for agent in found.setup.agents)
    judge = found.setup.judge.model_copy(update=offline)
    setup = found.setup.model_copy(update={"agents": agents, "judge": judge})

    assert "No findings." in task_list(found)
    text = task_list(replace(found, setup=setup))
    assert "No findings." not in text
    assert "Written by AI agents" not in text
    assert "No AI model was asked, so nothing was looked for" in text


def test_hostile_words_mention_nobody_and_are_no_markup() -> None:
    cited = a_finding(1).citation.model_copy(update={"words": HOSTILE, "place": HOSTILE})
    text = task_list(a_review(a_finding(1, wrong=HOSTILE, mend=HOSTILE, citation=cited)))
    task, quote = (line for line in text.splitlines() if HOSTILE[:5] in line.replace("\u2060", ""))
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", task)
    for active in ("@team", "#123", "GH-7", "cat#9", "<img", "<!--", "https://", "!["):
        assert active not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert text.count("- [ ]") - text.count("\\- [ ]") >= 1
    assert quote.startswith("  > ```")
    assert "\n```" not in text


@pytest.mark.parametrize(
    ("words", "code"),
    [("a `b` c", "``a `b` c``"), ("`b`", "`` `b` ``"), ("", "` `"), ("x\n\ny", "`x y`")],
)
def test_words_stand_in_code_that_they_cannot_close(words: str, code: str) -> None:
    assert as_code(words) == code


def test_quotes_read_as_quotes_without_the_marks_of_their_check() -> None:
    said = 'It says [e1: "jobs are lost"], not ~~[e1: "all is well"]~~ (not found in e1).'
    shown = "It says “jobs are lost” (e1), not “all is well” (not found in e1)."
    assert in_text(said) == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Use 2.5 GB (or more): it's fine.", "Use 2.5 GB (or more): it's fine."),
        ("job_queue_v2 has _no_ index", "job_queue_v2 has \\_no\\_ index"),
        ("Call `job_queue.clear()` at `a|b`, not `", "Call `job_queue.clear()` at `a|b`, not \\`"),
        ("``a `b` c`` and <x>", "``a `b` c`` and &lt;x&gt;"),
        ("long " * 130, "long " * 120 + "…"),
    ],
)
def test_plain_words_and_code_stay_as_they_are(said: str, shown: str) -> None:
    assert in_text(said) == shown


def test_a_comment_names_files_and_says_where_nobody_reviewed_anything() -> None:
    given = SourceReference(kind=SourceKind.FILE, title="docs/plan.md", fetch="f", by=DANA)
    read = Source(turn=reading_turn(1), reference=given, text="jobs are lost")
    cited = a_finding(1).citation.model_copy(update={"place": "line 3"})
    one = a_finding(1, citation=cited, wrong='It says [e1: "jobs are lost"].')
    text = task_list(replace(a_review(one), sources=(read,)))
    assert "**blocker** `docs/plan.md, line 3`: It says “jobs are lost” (docs/plan.md)." in text
    nothing = replace(a_review(), verdict=None, status=Status.FAILED)
    assert "### Review: no verdict\n" in task_list(nothing)
    assert "Nobody has reviewed it." in task_list(nothing)


def test_of_several_texts_the_newest_is_the_changed_one() -> None:
    given = SourceReference(kind=SourceKind.FILE, title="plan.md", fetch="f", by=DANA)
    anew = [given.model_copy(update={"fetch": str(number)}) for number in (2, 3)]
    review = a_review(a_finding(1))
    read = [
        Source(turn=reading_turn(number), reference=reference, text="x")
        for number, reference in enumerate((given, *anew), start=1)
    ]
    notes = [
        Note(id=f"n{number}", author=DANA, text="Changed.", references=(reference,))
        for number, reference in enumerate(anew, start=1)
    ]
    debate = replace(review, sources=tuple(read), all_notes=tuple(notes))
    assert [role_of(debate, source) for source in read] == [
        "the subject",
        "a changed text, replaced by e3",
        "the changed text",
    ]
    for text in (report(debate), adr(debate)):
        assert "plan.md (the changed text)" in text
    other = replace(debate, setup=debate.setup.model_copy(update={"format": "critique"}))
    assert not any(role_of(other, source) for source in read)


def test_many_findings_fit_a_comment_and_the_rest_is_counted() -> None:
    text = task_list(a_review(*(a_finding(n, wrong="long " * 400) for n in range(1, 150))))
    assert len(text) < 65_536
    assert re.search(r"\d+ more findings: see the report\.", text)


def test_only_a_review_can_be_written_so() -> None:
    with pytest.raises(BadInput, match="is no review"):
        task_list(a_review(form="critique"))


@pytest.mark.parametrize("write", [report, adr])
def test_reports_and_records_list_every_finding(write: Callable[[Debate], str]) -> None:
    text = write(a_review(a_finding(1, wrong="Orders | vanish."), a_finding(2)))
    assert "Findings" in text
    assert "| 1 | blocker | “jobs are lost” (work.py:42) | Orders \\| vanish. |" in text


@pytest.mark.parametrize("text", ["$x^2$", "It costs $5 or $$y$$", "$`z`$", ":tada: and :+1:"])
def test_github_makes_no_formula_and_no_emoji_of_foreign_words(text: str) -> None:
    shown = in_text(text)
    assert "$" not in shown
    assert not re.search(r":[\w+-]+:", shown)
    assert unescape(shown).replace("\u2060", "").replace("\\", "") == text
