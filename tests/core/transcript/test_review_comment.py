"""The findings of a review for a pull request: complete, short enough, and harmless."""

import re
from dataclasses import replace
from html import unescape

import pytest

from core.debate.agents import OFFLINE
from core.debate.contributions import FindingStatus, ReviewFinding, Severity
from core.debate.debate_events import DebateStarted
from core.debate.evidence import Citation, CitationStatus, SourceKind, SourceReference
from core.debate.log import fold
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn_events import VerdictReached
from core.debate.verdict import Verdict
from core.errors import BadInput
from core.testing import a_setup, log_of
from core.transcript.review_comment import as_code, in_text, task_list

DANA = Person(id="U1", name="Dana")
HOSTILE = (
    "@team look at #123 and GH-7, octo/cat#9, <img src=x onerror=alert(1)> <!-- x -->\n"
    "```\n- [ ] **ready** [click](javascript:alert(1)) ![x](https://e.test/x.png) | ~~no~~ `a``b`"
)


def a_finding(number: int, **changes: object) -> ReviewFinding:
    cited = Citation(
        source="e1", words="jobs are lost", status=CitationStatus.VERIFIED, place="work.py:42"
    )
    finding = ReviewFinding(
        number=number,
        severity=Severity.BLOCKER,
        citation=cited,
        wrong="Orders vanish.",
        raised_by=("architect",),
    )
    return finding.model_copy(update=changes)


def a_review(*findings: ReviewFinding, form: str = "review") -> Debate:
    reference = SourceReference(kind=SourceKind.FILE, title="plan.md", fetch="f", by=DANA)
    setup = a_setup(rounds=1).model_copy(update={"format": form, "references": (reference,)})
    verdict = Verdict(
        decision="Ready with changes: 1 blocker",
        reasons=("It loses jobs.",),
        solution="Drain it.",
        confidence=None,
        findings=findings,
    )
    return fold(log_of([DebateStarted(setup=setup), VerdictReached(verdict=verdict)]))


def test_without_a_model_the_comment_does_not_say_that_there_are_no_findings() -> None:
    debate = a_review()
    offline = {"provider": OFFLINE, "model": "offline-checklists"}
    agents = tuple(agent.model_copy(update=offline) for agent in debate.setup.agents)
    judge = debate.setup.judge.model_copy(update=offline)
    setup = debate.setup.model_copy(update={"agents": agents, "judge": judge})

    assert "No findings." in task_list(debate)
    text = task_list(replace(debate, setup=setup))
    assert "No findings." not in text
    assert "Written by AI agents" not in text
    assert "No AI model was asked, so nothing was looked for" in text
    with pytest.raises(BadInput, match="is no review"):
        task_list(a_review(form="critique"))


def test_hostile_text_is_inert_in_a_comment() -> None:
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


def test_quotes_are_shown_without_the_marks_of_their_check() -> None:
    text = 'It says [e1: "jobs are lost"], not ~~[e1: "all is well"]~~ (not found in e1).'
    result = "It says “jobs are lost” (e1), not “all is well” (not found in e1)."
    assert in_text(text) == result
    for words, code in (("a `b` c", "``a `b` c``"), ("`b`", "`` `b` ``"), ("x\n\ny", "`x y`")):
        assert as_code(words) == code


def test_many_findings_fit_a_comment_and_the_rest_is_counted() -> None:
    mended = a_finding(1, status=FindingStatus.RESOLVED)
    text = task_list(a_review(mended, *(a_finding(n, wrong="long " * 400) for n in range(2, 150))))
    assert text.index("- [x]") > text.rindex("- [ ]"), "what is open comes first"
    assert len(text) < 65_536
    assert re.search(r"\d+ more findings: see the report\.", text)


@pytest.mark.parametrize("text", ["$x^2$", "It costs $5 or $$y$$", "$`z`$", ":tada: and :+1:"])
def test_text_makes_no_formula_and_no_emoji_on_github(text: str) -> None:
    result = in_text(text)
    assert "$" not in result
    assert not re.search(r":[\w+-]+:", result)
    assert unescape(result).replace("\u2060", "").replace("\\", "") == text
