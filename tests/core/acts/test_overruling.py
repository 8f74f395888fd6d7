"""A judge leaves the option that the vote chose only on a ground that is there."""

import json
from dataclasses import replace

import pytest

from bot.views.verdict import headline
from core.acts.overruling import checked_ground
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.rules import When
from core.debate.state import Debate
from core.debate.turn import ENGINE, Act, Turn
from core.debate.verdict import RequirementStatus
from core.request import ModelRequest
from core.rules.voting import was_overruled
from core.testing import ScriptedProvider, a_setup, a_verdict_reply
from core.transcript.decision import decision_text
from core.transcript.report import report
from tests.core.bench import Bench
from tests.core.test_audit import on_two_vendors
from tests.core.test_debated_options import AGREED, a_script

DANA = Person(id="U1", name="Dana")
IN_DOUBT = "the objection is the dissent"


async def judged(option: str, ground: str, *, when: When = When.SPLIT) -> Debate:
    """A debate whose agents all vote for Kafka (o1), and whose judge takes this option."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            fields = {"decision": "Use PostgreSQL.", "solution": "It fits.", "option": option}
            return json.dumps(a_verdict_reply(**fields, overrules=ground))
        return a_script(AGREED)(request)

    setup = a_setup(rounds=1).model_copy(update={"when": when})
    return await Bench(ScriptedProvider(script)).run(setup)


@pytest.mark.parametrize(
    "ground", ["It must keep every job.", "must keep EVERY job", '"It must keep every job"']
)
async def test_a_judge_overrules_for_a_requirement_in_the_teams_words(ground: str) -> None:
    debate = await judged("o2", ground)
    verdict = debate.verdict
    assert verdict
    assert (verdict.option, verdict.decision) == ("o2", "Use PostgreSQL.")
    assert verdict.overrule
    assert verdict.overrule.stands
    assert was_overruled(debate)
    warning = verdict.warnings[0]
    # That these words are the team's is checked; that they are broken is the judge's opinion.
    assert warning.startswith('The judge overruled the vote for "Kafka": it holds that this breaks')
    text = report(debate)
    assert text.index("The judge overruled") < text.index("**Use PostgreSQL.**"), "above the answer"


@pytest.mark.parametrize("option", ["o2", "none"])
@pytest.mark.parametrize(
    "ground",
    ["", "I like it better.", "It must cost nothing at all.", 'As [e1: "nobody said so"] shows.'],
)
async def test_without_a_ground_that_is_there_the_vote_stands_and_the_judge_dissents(
    option: str, ground: str
) -> None:
    debate = await judged(option, ground)
    verdict = debate.verdict
    assert verdict
    assert verdict.option == "o1"
    assert verdict.decision.startswith("Kafka")
    assert verdict.dissent == "Use PostgreSQL. The team runs PostgreSQL already."
    assert verdict.sections[0].text == "It fits.", "nothing of the objection is lost"
    assert {requirement.status for requirement in verdict.requirements} == {
        RequirementStatus.UNKNOWN
    }
    assert verdict.overrule
    assert not verdict.overrule.stands
    assert IN_DOUBT in verdict.warnings[0]
    named = f"because of “{ground.rstrip('.')}”, which was found nowhere"
    assert (named if ground else "without a ground") in verdict.warnings[0]
    assert was_overruled(debate) is False


async def test_people_read_whose_words_a_verdict_has_where_the_judge_could_not_leave_the_vote() -> (
    None
):
    debate = await judged("o2", "I like it better.")
    assert debate.verdict
    assert debate.verdict.reasons
    assert all(
        reason.split(": ")[0] in {agent.name for agent in debate.setup.agents}
        for reason in debate.verdict.reasons
    )
    for text in (report(debate), decision_text(debate)):
        assert "Written by the judge." not in text
        assert "the rest was written by the judge." in text
    assert "Written by the judge." in report(await judged("o2", "It must keep every job."))


async def test_that_the_vote_was_left_stands_above_an_audits_doubts() -> None:
    def script(request: ModelRequest) -> str:
        match request.act:
            case Act.AUDIT:
                fault = {"kind": "sum", "words": "It fits", "why": "It does not."}
                return json.dumps({"faults": [fault]})
            case Act.SYNTHESIS:
                fields = {"decision": "Use PostgreSQL.", "solution": "It fits.", "option": "o2"}
                return json.dumps(a_verdict_reply(**fields, overrules="It must keep every job."))
            case _:
                return a_script(AGREED)(request)

    debate = await Bench(ScriptedProvider(script)).run(on_two_vendors(when=When.ALWAYS))
    assert debate.verdict
    left, doubt, *_ = debate.verdict.warnings
    assert left.startswith("The judge overruled the vote")
    assert doubt.startswith("Audit by")
    above = headline(debate, debate.verdict).text.split("*Use PostgreSQL.*")[0]
    assert "The judge overruled the vote" in above


async def test_words_of_a_quote_or_requirement_are_looked_up() -> None:
    debate = await judged("o1", "")
    reference = SourceReference(
        kind=SourceKind.TEXT, title="Load test", by=DANA, fetch="", address=""
    )
    source = Source(
        turn=Turn(act=Act.READING, round=0, agent=ENGINE, target="1"),
        reference=reference,
        text="The broker lost 12 jobs when the disk was full.",
    )
    debate = replace(debate, sources=(source,))
    assert checked_ground(debate, 'See [e1: "lost 12 jobs"].') == ("lost 12 jobs", "e1")
    assert checked_ground(debate, 'See [e1: "lost 99 jobs"].') == ("", "")
    assert checked_ground(debate, "It must keep every job.") == ("It must keep every job.", "")
    assert checked_ground(debate, "every job") == ("", ""), "too few words to mean a requirement"
