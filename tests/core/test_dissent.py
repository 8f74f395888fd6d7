"""Whose the dissent is, in all that people read of a verdict."""

import json
from dataclasses import replace

import pytest

from bot.views.verdict import short_text
from core.debate.state import Debate
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider, a_verdict_reply
from core.transcript.decision import adr, decision_text
from core.transcript.report import report
from tests.core.bench import Bench
from tests.core.test_debated_options import AGREED, STUCK, Minds, a_gated_setup, a_script

OBJECTION = "One server can fail."
NOBODY_AGAINST = "No ballot that counts is against the verdict."


def texts_of(debate: Debate) -> list[str]:
    """All that people read of its verdict."""
    assert debate.verdict
    return [report(debate), adr(debate), decision_text(debate), short_text(debate, debate.verdict)]


async def judged(minds: Minds, dissent: str = OBJECTION, by: str = "") -> Debate:
    """Agents of these minds, and a judge that takes Kafka and says whose the dissent is."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            said = {"dissent_by": by} if by else {}
            return json.dumps(a_verdict_reply(dissent=dissent, **said))
        return a_script(minds)(request)

    return await Bench(ScriptedProvider(script)).run(a_gated_setup())


@pytest.mark.parametrize(
    ("minds", "by", "title", "against"),
    [
        (AGREED, "none", "The judge's own objection", NOBODY_AGAINST),
        (AGREED, "Simplicity", "Dissent of Simplicity", NOBODY_AGAINST),
        # Who held several options level is against none.
        ({**AGREED, "simplicity": (50, 50)}, "none", "The judge's own objection", NOBODY_AGAINST),
        (STUCK, "Security", "Dissent of Security", ""),
        (
            STUCK,
            "Simplicity",
            "Dissent of Simplicity",
            'Simplicity voted for "Kafka" all the same.',
        ),
        (STUCK, "", "Dissent", ""),
    ],
)
async def test_a_verdict_says_whose_its_dissent_is(
    minds: Minds, by: str, title: str, against: str
) -> None:
    for text in texts_of(await judged(minds, by=by)):
        assert title in text
        assert OBJECTION in text
        for words in (NOBODY_AGAINST, "all the same."):
            assert (words in text) == (words in against and bool(against)), text


async def test_a_name_that_the_title_has_does_not_stand_before_the_dissent_again() -> None:
    dissent = f"Security: {OBJECTION}"
    debate = await judged(STUCK, dissent, by="Security")
    assert debate.verdict
    assert debate.verdict.dissent == dissent
    for text in texts_of(debate):
        assert OBJECTION in text
        assert dissent not in text


@pytest.mark.parametrize(
    ("by", "dissent", "is_named"),
    # Without words of a dissent there is nobody whose it is.
    [("none", OBJECTION, True), ("Security", OBJECTION, False), ("Security", "", True)],
)
async def test_in_few_words_it_says_who_voted_against_it_unless_the_dissent_is_an_agents(
    by: str, dissent: str, *, is_named: bool
) -> None:
    debate = await judged(STUCK, dissent, by=by)
    assert debate.verdict
    opponents = "Security voted against the verdict." in short_text(debate, debate.verdict)
    assert opponents is is_named


async def test_who_has_no_ballot_that_counts_is_not_said_to_have_voted_for_it() -> None:
    debate = await judged(AGREED, by="Simplicity")
    assert debate.tally
    voters = tuple(voter for voter in debate.tally.voters if voter != "simplicity")
    tally = debate.tally.model_copy(update={"voters": voters})
    for text in texts_of(replace(debate, tally=tally)):
        assert NOBODY_AGAINST in text
        assert "Simplicity voted for" not in text
        assert "2 of 2 agents with a ballot that counts" in text
