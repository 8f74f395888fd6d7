"""The author of the dissent, in all texts of a verdict."""

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
    """All texts of the verdict that people read."""
    assert debate.verdict
    return [report(debate), adr(debate), decision_text(debate), short_text(debate, debate.verdict)]


async def judged(minds: Minds, dissent: str = OBJECTION, by: str = "") -> Debate:
    """A debate of these agents whose judge chooses Kafka and names the author of the dissent."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            author = {"dissent_by": by} if by else {}
            return json.dumps(a_verdict_reply(dissent=dissent, **author))
        return a_script(minds)(request)

    return await Bench(ScriptedProvider(script)).run(a_gated_setup())


@pytest.mark.parametrize(
    ("minds", "by", "title", "against"),
    [
        (AGREED, "none", "The judge's own objection", NOBODY_AGAINST),
        (AGREED, "Simplicity", "Dissent of Simplicity", NOBODY_AGAINST),
        # An agent with level options is not against the verdict.
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
async def test_a_verdict_names_the_author_of_its_dissent(
    minds: Minds, by: str, title: str, against: str
) -> None:
    for text in texts_of(await judged(minds, by=by)):
        assert title in text
        assert OBJECTION in text
        for words in (NOBODY_AGAINST, "all the same."):
            assert (words in text) == (words in against and bool(against)), text


async def test_the_name_in_the_title_is_not_repeated_before_the_dissent() -> None:
    dissent = f"Security: {OBJECTION}"
    debate = await judged(STUCK, dissent, by="Security")
    assert debate.verdict
    assert debate.verdict.dissent == dissent
    for text in texts_of(debate):
        assert OBJECTION in text
        assert dissent not in text


@pytest.mark.parametrize(
    ("by", "dissent", "is_named"),
    # An empty dissent has no author.
    [("none", OBJECTION, True), ("Security", OBJECTION, False), ("Security", "", True)],
)
async def test_the_short_text_names_opponents_unless_an_agent_is_the_author_of_the_dissent(
    by: str, dissent: str, *, is_named: bool
) -> None:
    debate = await judged(STUCK, dissent, by=by)
    assert debate.verdict
    opponents = "Security voted against the verdict." in short_text(debate, debate.verdict)
    assert opponents is is_named


async def test_an_agent_without_a_counted_ballot_is_not_called_a_supporter() -> None:
    debate = await judged(AGREED, by="Simplicity")
    assert debate.tally
    voters = tuple(voter for voter in debate.tally.voters if voter != "simplicity")
    tally = debate.tally.model_copy(update={"voters": voters})
    for text in texts_of(replace(debate, tally=tally)):
        assert NOBODY_AGAINST in text
        assert "Simplicity voted for" not in text
        assert "2 of 2 agents with a ballot that counts" in text
