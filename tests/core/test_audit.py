"""The audit of the verdict: faults are corrected or shown, and invented faults are dropped."""

import json
from collections.abc import Callable, Mapping

import pytest

from core.debate.setup import Setup
from core.debate.turn import Act
from core.debate.verdict import AuditKind
from core.errors import RequestRejected
from core.estimate import estimate
from core.request import ModelRequest, PartKind
from core.rules.judging import auditor_of
from core.testing import ScriptedProvider, a_setup, a_verdict_reply, plausible_reply
from core.transcript.decision import decision_text
from core.transcript.explain import explain, explanation
from tests.core.bench import DEBATE, Bench

OTHER_VENDOR = "beta/small"
#: A fault in a verdict: its kind, the wrong words, the fields with them, and the fields of the
#: corrected verdict (None: the judge does not correct it).
Planted = tuple[AuditKind, str, Mapping[str, object], Mapping[str, object] | None]


def _met(words: str, status: str = "met") -> Mapping[str, object]:
    requirement = {"requirement": "It must keep every job", "words": words, "status": status}
    return {"requirements": [requirement]}


PLANTED: list[Planted] = [
    (AuditKind.SUM, "3 of 2 agents", {"reasons": ["3 of 2 agents want it."]}, {"reasons": ["So."]}),
    (AuditKind.SUM, "saves $500 a month", {"solution": "It saves $500 a month."}, None),
    (AuditKind.SUM, "two weeks and three", {"implementation": "two weeks and three: 4"}, {}),
    (AuditKind.QUOTE, "nobody may wait", {"reasons": ["It says nobody may wait."]}, {}),
    (AuditKind.QUOTE, '"no one waits"', {"reasons": ['It says "no one waits".']}, None),
    (AuditKind.DISSENT, "p1 is clear", {"dissent": ""}, {"dissent": "Security: it is one server."}),
    (AuditKind.DISSENT, "p2 is clear", {"dissent": "Nobody disagreed."}, None),
    (
        AuditKind.DISSENT,
        "held by Architect",
        {"dissent": "It is one server.", "dissent_by": "Architect"},
        {"dissent": "It is one server.", "dissent_by": "Security"},
    ),
    (AuditKind.REQUIREMENT, "a queue keeps jobs", _met("a queue keeps jobs"), _met("", "unknown")),
    (AuditKind.REQUIREMENT, "keep every job", _met("in memory"), None),
    # A requirement that is called met, but not in its row.
    (AuditKind.REQUIREMENT, "no job is lost", {"solution": "No job is lost."}, None),
    (AuditKind.REQUIREMENT, "no job can go", {"solution": "No job can go."}, {"solution": "So."}),
    # Words of a ballot: the fault stays as long as the judge repeats its verdict.
    (AuditKind.SUM, "the ballot of", {"solution": "All three voted for it."}, None),
]


def on_two_vendors(**changes: object) -> Setup:
    setup = a_setup(rounds=1)
    agents = [agent.model_copy(update={"model": "alpha/large"}) for agent in setup.agents[:-1]]
    agents.append(setup.agents[-1].model_copy(update={"model": OTHER_VENDOR}))
    judge = setup.judge.model_copy(update={"model": "alpha/large"})
    return setup.model_copy(update={"agents": tuple(agents), "judge": judge, **changes})


def a_script(planted: Planted) -> Callable[[ModelRequest], str]:
    kind, words, fields, mended = planted

    def script(request: ModelRequest) -> str:
        match request.act:
            case Act.AUDIT:
                assert request.model == OTHER_VENDOR
                true = {"kind": kind.value, "words": words.upper(), "why": "It is not so."}
                invented = {"kind": "sum", "words": "nine of nine servers", "why": "Nowhere."}
                return json.dumps({"faults": [true, invented]})
            case Act.SYNTHESIS:
                is_again = any(part.label == "What the audit found" for part in request.parts)
                assert is_again == ("wrote this verdict already" in request.parts[-1].text)
                verdict_fields = fields if not is_again or mended is None else mended
                return json.dumps(a_verdict_reply(**verdict_fields))
            case _:
                return plausible_reply(request)

    return script


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted[1])
async def test_a_fault_in_the_verdict_is_corrected_or_shown(planted: Planted) -> None:
    kind, words, _, mended = planted
    bench = Bench(provider=ScriptedProvider(a_script(planted)))
    debate = await bench.run(on_two_vendors())
    assert debate.audit
    assert debate.verdict
    assert [(fault.kind, fault.words.lower()) for fault in debate.audit.faults] == [
        (kind, words.lower())
    ]
    assert debate.audit.invented == 1, "words that stand nowhere are no fault"
    warnings = [warning for warning in debate.verdict.warnings if warning.startswith("Audit by")]
    assert bool(warnings) == (mended is None)
    assert not [warning for warning in warnings if '""' in warning or '“"' in warning]
    text = decision_text(debate)
    assert f"scripted/{OTHER_VENDOR}" in text
    assert (
        f"found 1 fault; the judge then changed the words of {'none' if mended is None else 1}."
        in text
    )
    assert debate.usage.attempts == len(bench.provider.requests)
    # First the draft, then its audit, then the final verdict. No turn waits for a later one.
    log = await bench.store.events(DEBATE)
    steps = [step for step in explain(log) if step.span.turn.act in {Act.SYNTHESIS, Act.AUDIT}]
    assert [step.span.turn.act for step in steps] == [Act.SYNTHESIS, Act.AUDIT, Act.SYNTHESIS]
    calls = [step.call for step in steps if step.call]
    assert len(calls) == len(steps)
    assert "What the audit found" in {part.label for part in calls[-1].sent}
    for step in steps:
        assert step.span.outcome
        assert all(need.seq < step.span.outcome.seq for need in step.span.needs)
    assert "Auditor: audit, round 1" in explanation(log)


async def test_a_verdict_is_written_once_if_the_audit_finds_no_fault_or_fails() -> None:
    def refusing(request: ModelRequest) -> str | RequestRejected:
        return RequestRejected("No.") if request.act is Act.AUDIT else plausible_reply(request)

    for script, text in ((plausible_reply, "found no fault"), (refusing, "could not")):
        bench = Bench(provider=ScriptedProvider(script))
        debate = await bench.run(on_two_vendors())
        assert debate.verdict
        assert len(bench.provider.requests_of(Act.SYNTHESIS)) == 1
        steps = [step.span.turn.act for step in explain(await bench.store.events(DEBATE))]
        assert steps[-2:] == [Act.SYNTHESIS, Act.AUDIT], "the verdict is the draft, written once"
        assert text in decision_text(debate)
        assert not debate.failures
        assert debate.usage.attempts == len(bench.provider.requests)


async def test_an_audit_needs_a_second_vendor_and_can_be_switched_off() -> None:
    bench = Bench()
    for setup in (a_setup(rounds=1), on_two_vendors(audit=False)):
        estimated = estimate(setup)
        assert Act.AUDIT not in {call.turn.act for call in estimated.planned}
    planned = [call for call in estimate(on_two_vendors()).planned if call.turn.act is Act.AUDIT]
    assert [call.model for call in planned] == [OTHER_VENDOR], "its cost is in the estimate"
    debate = await bench.run(on_two_vendors(audit=False))
    assert debate.verdict
    assert auditor_of(debate) is None
    assert not bench.provider.requests_of(Act.AUDIT)


async def test_the_auditor_reads_verdict_ballots_and_requirements() -> None:
    fields = {
        "dissent": "It is one server.",
        "dissent_by": "Security",
        "implementation": "1. Create the table.",
        "tradeoffs": ["Throughput for one system less."],
        "recommendations": ["Watch the queue."],
        "open_questions": ["How many jobs are there?"],
        "overturned_by": ["The server cannot be extended."],
    }
    bench = Bench(provider=ScriptedProvider(a_script((AuditKind.SUM, "none", fields, None))))
    await bench.run(on_two_vendors())
    (request,) = bench.provider.requests_of(Act.AUDIT)
    texts = {part.kind: part.text for part in request.parts}
    assert "You audit the verdict" in texts[PartKind.TASK]
    assert "You are the judge" not in texts[PartKind.TASK]
    # Each line has a label, so that "would overturn it" is not read as a claim.
    assert {
        "Decision: Use PostgreSQL.",
        "Dissent: It is one server. (held by Security)",
        "First steps: 1. Create the table.",
        "Given up: Throughput for one system less.",
        "Recommended besides: Watch the queue.",
        "Open question: How many jobs are there?",
        "Would overturn it, if it were so: The server cannot be extended.",
    } < set(texts[PartKind.OWN].splitlines())
    assert "It must keep every job" in texts[PartKind.QUESTION]
    assert "The ballot of" in texts[PartKind.TALLY]
