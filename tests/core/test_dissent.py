"""Whose the dissent is, and that a judge stays with the vote however well the loser writes."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.views.verdict import short_text
from core.acts.follow_up import record_of
from core.debate.rules import When
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act
from core.request import ModelRequest, PartKind
from core.testing import ScriptedProvider, a_verdict_reply
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.report import report
from tests.core.bench import Bench
from tests.core.test_debated_options import AGREED, STUCK, Minds, a_gated_setup, a_script

OBJECTION = "One server can fail."
LEVEL: Minds = {"architect": (90, 90), "security": (20, 20), "simplicity": (50, 50)}


def texts_of(debate: Debate) -> list[str]:
    """All that people read of its verdict."""
    assert debate.verdict
    return [report(debate), adr(debate), decision_text(debate), short_text(debate, debate.verdict)]


def judged(minds: Minds, **fields: object) -> Callable[[ModelRequest], str]:
    """Agents of these minds, and a judge that takes Kafka and says whose the dissent is."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            return json.dumps(a_verdict_reply(dissent=OBJECTION, **fields))
        return a_script(minds)(request)

    return script


@pytest.mark.parametrize(
    ("minds", "by", "title", "against"),
    [
        (AGREED, "none", "The judge's own objection", "No agent voted against the verdict."),
        (AGREED, "Simplicity", "Dissent of Simplicity", "No agent voted against the verdict."),
        (STUCK, "Security", "Dissent of Security", ""),
        (
            STUCK,
            "Simplicity",
            "Dissent of Simplicity",
            'Simplicity voted for "Kafka" all the same.',
        ),
        (LEVEL, "Simplicity", "Dissent of Simplicity", "Simplicity held several options level."),
        (STUCK, "none", "The judge's own objection", ""),
        (STUCK, "", "Dissent", ""),
    ],
)
async def test_a_verdict_says_whose_its_dissent_is(
    minds: Minds, by: str, title: str, against: str
) -> None:
    said = {"dissent_by": by} if by else {}
    debate = await Bench(ScriptedProvider(judged(minds, **said))).run(a_gated_setup())

    for text in texts_of(debate):
        assert title in text
        assert OBJECTION in text
        for words in ("No agent voted against the verdict.", "all the same.", "level."):
            assert (words in text) == (words in against and bool(against)), text


async def test_a_name_that_the_title_has_does_not_stand_before_the_dissent_again() -> None:
    dissent = f"Security: {OBJECTION}"
    script = judged(STUCK, dissent_by="Security")

    def named(request: ModelRequest) -> str:
        if request.act is not Act.SYNTHESIS:
            return script(request)
        return json.dumps(a_verdict_reply(dissent=dissent, dissent_by="Security"))

    debate = await Bench(ScriptedProvider(named)).run(a_gated_setup())
    assert debate.verdict
    assert debate.verdict.dissent == dissent
    for text in texts_of(debate):
        assert OBJECTION in text
        assert dissent not in text


@pytest.mark.parametrize(("by", "named"), [("none", True), ("Security", False)])
@pytest.mark.parametrize("dissent", [OBJECTION, ""])
async def test_in_few_words_it_says_who_voted_against_it_unless_the_dissent_is_an_agents(
    by: str, dissent: str, *, named: bool
) -> None:
    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            return json.dumps(a_verdict_reply(dissent=dissent, dissent_by=by))
        return a_script(STUCK)(request)

    debate = await Bench(ScriptedProvider(script)).run(a_gated_setup())
    assert debate.verdict
    opponents = "Security voted against the verdict." in short_text(debate, debate.verdict)
    # Without words of a dissent there is nobody whose it is.
    assert opponents is (named or not dissent)


async def test_who_has_no_ballot_that_counts_is_not_said_to_have_voted_for_it() -> None:
    debate = await Bench(ScriptedProvider(judged(AGREED, dissent_by="Simplicity"))).run(
        a_gated_setup()
    )
    assert debate.tally
    voters = tuple(voter for voter in debate.tally.voters if voter != "simplicity")
    tally = debate.tally.model_copy(update={"voters": voters})
    for text in texts_of(replace(debate, tally=tally)):
        assert "No agent voted against" not in text
        assert "Simplicity has no ballot that counts; none that counts is against the" in text
        assert "2 of 2 agents with a ballot that counts" in text


async def test_it_says_that_nobody_voted_against_it_where_there_is_no_dissent() -> None:
    script = judged(AGREED, dissent_by="none")

    def silent(request: ModelRequest) -> str:
        if request.act is not Act.SYNTHESIS:
            return script(request)
        return json.dumps(a_verdict_reply(dissent=""))

    setup = a_gated_setup().model_copy(update={"when": When.ALWAYS})
    debate = await Bench(ScriptedProvider(silent)).run(setup)
    assert debate.verdict
    assert not debate.verdict.dissent_by
    assert all("No agent voted against the verdict." in text for text in texts_of(debate))


async def test_the_dissents_own_words_have_room_before_that_nobody_voted_against_it() -> None:
    dissent = (
        "Sign only if the price is fixed until the end of 2028; nothing in the offer promises it, "
        "so stay."
    )
    reasons = [f"{number} words {'and more ' * 10}words." for number in ("Many", "More", "Most")]
    fields = {"dissent": dissent, "dissent_by": "Simplicity", "reasons": reasons}

    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            return json.dumps(a_verdict_reply(**fields))
        return a_script(AGREED)(request)

    debate = await Bench(ScriptedProvider(script)).run(a_gated_setup())
    assert debate.verdict
    assert dissent in short_text(debate, debate.verdict)


#: The architect stands alone for Kafka, writes most and is surest; the others are in doubt.
ELOQUENT: Minds = {"architect": (99, 99), "security": (40, 40), "simplicity": (40, 40)}


async def test_a_judge_whom_the_longest_text_wins_over_does_not_overturn_the_vote() -> None:
    praise = " ".join(f"Without any doubt, reason {n} of 200 is Kafka's." for n in range(1, 201))

    def swayed(request: ModelRequest) -> str:
        """The loser writes two hundred reasons; the judge takes what the longest text is for."""
        if request.act in {Act.PROPOSAL, Act.REFINEMENT} and request.role == "architect":
            ending = "\n\nStance: o1 99 %, o2 1 %" if request.act is Act.REFINEMENT else ""
            return f"**Kafka.** {praise}{ending}"
        if request.act is Act.SYNTHESIS:
            positions = [part.text for part in request.parts if part.kind is PartKind.POSITION]
            taken = "o1" if "Kafka" in max(positions, key=len) else "o2"
            fields = {"decision": "Use Kafka.", "solution": "It is eloquent.", "option": taken}
            return json.dumps(a_verdict_reply(**fields, overrules="It is better argued."))
        return a_script(ELOQUENT)(request)

    debate = await Bench(ScriptedProvider(swayed)).run(a_gated_setup(rounds=1))
    verdict = debate.verdict
    assert verdict
    assert verdict.option == "o2"
    assert "Kafka" not in verdict.decision
    assert verdict.dissent.startswith("Use Kafka.")
    assert verdict.dissent_by == JUDGE
    assert "Dissent, held by Judge: Use Kafka." in record_of(debate)["r1"].text
    # How sure it is rests on the ballots: 60, 60 and 1 %.
    assert verdict.confidence is not None
    assert verdict.confidence < 50
    for text in texts_of(debate):
        assert "The judge would have decided" in text
        assert "The judge's own objection" in text
