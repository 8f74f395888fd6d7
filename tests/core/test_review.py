"""Whole reviews: findings, the author's response, second look, vote and verdict."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from core.clock import SystemClock
from core.debate.contributions import Answer, Contribution, FindingStatus, Note
from core.debate.debate_events import ClarificationsClosed
from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.log import Event
from core.debate.message_events import ClarificationAnswered, NoteAdded
from core.debate.people import Person, Place, Stop
from core.debate.people_events import StopRequested
from core.debate.rules import When
from core.debate.state import Debate
from core.debate.turn import Act, turn_of
from core.debate.turn_events import ContributionMade
from core.errors import BadInput, ProviderError, RequestRejected
from core.evidence.diffs import with_hunks
from core.request import ModelRequest
from core.testing import (
    ScriptedProvider,
    a_finding_reply,
    a_setup,
    a_verdict_reply,
    plausible_reply,
)
from core.transcript.decision import decision_text
from core.transcript.explain import explanation
from core.transcript.report import report
from core.transcript.review_comment import task_list
from tests.core.bench import DEBATE, Bench

DANA = Person(id="U1", name="Dana")
PLAN = """# Move to one queue

We drop the old queue on Monday. Jobs that are in it are lost.

# Cost

It costs 40 euro a month, for ever."""
LOST = "Jobs that are in it are lost"
MENDED = PLAN.replace(LOST, "We drain it on Sunday")
LOSING = a_finding_reply(LOST, severity="blocker", wrong="Orders vanish.", mend="Drain it first.")
DEAR = a_finding_reply(
    "It costs 40 euro a month", severity="minor", wrong="Nobody asked for the money."
)
CAREFUL = json.dumps(
    a_verdict_reply(option="o2", decision="It goes once jobs are moved.")
    | {"solution": "Move them first."}
)
#: A reply, or the error in its place.
Reply = str | ProviderError


def a_file(name: str) -> SourceReference:
    return SourceReference(kind=SourceKind.FILE, title=name, fetch=name, by=DANA)


def a_review(*findings: dict[str, object], verdict: str = "o2") -> str:
    return json.dumps({"findings": findings, "summary": "It loses jobs.", "verdict": verdict})


def a_look(*looks: dict[str, str], new: Sequence[object] = (), verdict: str = "o1") -> str:
    return json.dumps({"looks": looks, "new": new, "summary": "Good.", "verdict": verdict})


def resolved(words: str = "") -> dict[str, str]:
    return {"finding": "f1", "why": "It drains now.", "status": "resolved", "words": words}


@dataclass
class ReviewRun:
    """A review with a log in memory. It is also the `SourceReader`."""

    #: Reviews by role; other roles find nothing.
    reviews: Mapping[str, Reply] = field(default_factory=lambda: {"architect": a_review(LOSING)})
    #: The reply of second looks; empty: a plausible one.
    look: str = ""
    judge: Reply = CAREFUL
    #: The plan, and changed texts, by file name.
    texts: Mapping[str, str] = field(default_factory=lambda: {"plan.md": PLAN})
    #: What the reader left out of each text.
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        provider = ScriptedProvider(self.reply)
        self.bench = Bench(provider, clock=SystemClock(), reader=self)

    def reply(self, request: ModelRequest) -> Reply:
        match request.act:
            case Act.REVIEW:
                return self.reviews.get(request.role) or a_review(verdict="o1")
            case Act.FINDINGS:
                return RequestRejected("no model for that")
            case Act.SECOND_LOOK if self.look:
                return self.look
            case Act.SYNTHESIS:
                return self.judge
            case _:
                return plausible_reply(request)

    async def read(self, reference: SourceReference, _place: Place) -> SourceText:
        if reference.fetch not in self.texts:
            raise BadInput("it has a password")
        text = self.texts[reference.fetch]
        return with_hunks(SourceText(text=text, sha256=text, warnings=self.warnings))

    async def run(self, *events: Event) -> Debate:
        """Start the review, add events, and run it until it waits or has ended."""
        changes = {"format": "review", "references": (a_file("plan.md"),), "when": When.SPLIT}
        await self.bench.start(a_setup(rounds=1).model_copy(update=changes))
        return await self.on(*events)

    async def on(self, *events: Event) -> Debate:
        """Add events of people and continue the review in a new engine."""
        for event in events:
            await self.bench.add(event)
        return await self.bench.engine.run(DEBATE)


def answered(text: str) -> Event:
    return ClarificationAnswered(answer=Answer(number=1, text=text, by=DANA))


def handed_in(name: str) -> Event:
    return NoteAdded(note=Note(id="n1", author=DANA, text="New.", references=(a_file(name),)))


async def test_the_verdict_counts_and_lists_open_findings_by_severity() -> None:
    promised = {"why": "Only promised.", "status": "not resolved"}
    new = [a_finding_reply("on Monday", severity="detail", wrong="Which Monday?")]
    looks = ({"finding": "f1", **promised}, {"finding": "f2", **promised})
    invented = a_finding_reply("All passwords are mailed in clear text", severity="blocker")
    review = ReviewRun(
        {"architect": a_review(LOSING, DEAR, invented)},
        a_look(*looks, new=new, verdict="o2"),
        warnings=("page 2: no text (a scan?)",),
    )
    await review.run()
    debate = await review.on(answered("We will look at it."))

    assert debate.verdict
    assert debate.verdict.decision == "Ready with changes: 1 blocker, 1 minor, 1 detail"
    findings = [(finding.number, finding.status.value) for finding in debate.verdict.findings]
    assert findings == [(1, "open"), (2, "open"), (3, "new")]
    assert debate.verdict.findings[0].why == "Only promised."
    assert debate.verdict.solution.startswith("It goes once jobs are moved.")
    text = debate.contributions["r1/review/architect"].text
    assert "Struck out, because the words they are about are not in the subject" in text
    assert '~~[e1: "All passwords are mailed in clear text"]~~ (not found in e1)' in text
    assert "1 finding struck out: not about words of the subject." in decision_text(debate)
    assert "Note: How plan.md was read: page 2: no text (a scan?)." in decision_text(debate)


async def test_a_changed_text_is_read_before_the_second_look_and_can_be_quoted() -> None:
    new = [a_finding_reply("We drain it on Sunday", source="e2", severity="minor")]
    texts = {"plan.md": PLAN, "plan-2.md": MENDED}
    review = ReviewRun(look=a_look(resolved(), new=new), texts=texts)
    await review.run()
    debate = await review.on(handed_in("plan-2.md"), answered(""))

    looks = review.bench.provider.requests_of(Act.SECOND_LOOK)
    assert all(any("drain it on" in part.text for part in request.parts) for request in looks)
    assert debate.verdict
    findings = [(it.citation.source, it.status.value) for it in debate.verdict.findings]
    assert findings == [("e1", "resolved"), ("e2", "new")]
    lines = (
        "- We drop the old queue on Monday. Jobs that are in it are lost.",
        "+ We drop the old queue on Monday. We drain it on Sunday.",
    )
    assert debate.verdict.findings[0].changed == lines
    assert f"Changed at finding 1:\n\n    {lines[0]}\n    {lines[1]}" in report(debate)
    assert f"  > `{lines[1]}`" in task_list(debate)
    assert "r1/second_look/architect" in explanation(await review.bench.store.events(DEBATE))


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Nobody is on call.", FindingStatus.ANSWERED),
        ("", FindingStatus.ANSWERED),
        ("All jobs are drained on Sunday", FindingStatus.RESOLVED),
    ],
)
async def test_a_finding_on_unchanged_words_is_resolved_only_by_a_quote_of_the_changed_text(
    words: str, status: FindingStatus
) -> None:
    texts = {"plan.md": PLAN, "plan-2.md": f"{PLAN}\n\nAll jobs are drained on Sunday."}
    review = ReviewRun(look=a_look(resolved(words)), texts=texts)
    await review.run()
    debate = await review.on(handed_in("plan-2.md"), answered(""))

    assert debate.verdict
    (finding,) = debate.verdict.findings
    assert finding.status is status
    assert finding.changed == ()
    is_quoted = finding.mended_by is not None and finding.mended_by.source == "e2"
    assert is_quoted is (status is FindingStatus.RESOLVED)


async def test_a_changed_text_counts_between_the_deadline_for_answers_and_the_vote() -> None:
    review = ReviewRun(texts={"plan.md": PLAN, "plan-2.md": MENDED})
    (key,) = (await review.run()).clarifications
    debate = await review.on(ClarificationsClosed(which=key), handed_in("plan-2.md"))

    assert debate.verdict
    assert [finding.status for finding in debate.verdict.findings] == [FindingStatus.RESOLVED]


async def test_equal_findings_of_two_agents_are_merged_without_a_model() -> None:
    both = {"architect": a_review(LOSING, DEAR), "security": a_review(LOSING)}
    debate = await ReviewRun(both).run()

    assert debate.findings
    assert [finding.raised_by for finding in debate.findings.items] == [
        ("architect", "security"),
        ("architect",),
    ]
    assert "No model could merge the findings" in debate.findings.warnings[0]


CLOSED = ClarificationsClosed(which="r1/clarification/engine")
READY = json.dumps(a_verdict_reply(option="o1", decision="It can go."))
AWAY = RequestRejected("not today")


@pytest.mark.parametrize(
    ("reviews", "judge", "event", "headline"),
    [
        ({"architect": a_review(LOSING)}, READY, CLOSED, ("o2", "Ready with changes: 1 blocker")),
        (
            {"architect": a_review(LOSING)},
            READY,
            StopRequested(stop=Stop(by=DANA)),
            ("", "Stopped before it was done: 1 blocker"),
        ),
        ({"architect": a_review(DEAR)}, AWAY, None, ("o1", "Ready: 1 minor")),
    ],
    ids=["a blocker is open", "stopped", "no judge"],
)
async def test_open_findings_limit_the_headline_whatever_the_judge_says(
    reviews: Mapping[str, Reply], judge: Reply, event: Event | None, headline: tuple[str, str]
) -> None:
    review = ReviewRun(reviews, judge=judge)
    debate = await review.run()
    debate = await review.on(event) if event else debate

    assert debate.verdict
    assert (debate.verdict.option, debate.verdict.decision) == headline
    is_lowered = any("ready with changes at most" in text for text in debate.verdict.warnings)
    assert is_lowered is (headline[0] == "o2")


async def test_the_review_of_one_agent_alone_has_no_verdict() -> None:
    review = ReviewRun({"security": AWAY, "simplicity": AWAY}, judge=READY)
    # It is recorded before the others fail: a turn that is running then would be cancelled.
    contribution = Contribution(turn=turn_of(Act.REVIEW, 1, "architect"), text="It can go.")
    debate = await review.run(ContributionMade(contribution=contribution))

    assert debate.verdict
    assert debate.verdict.option == ""
    assert debate.verdict.decision == "No verdict, as only one agent reviewed it"
