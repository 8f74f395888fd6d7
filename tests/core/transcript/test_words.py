"""Wording that all surfaces share."""

from dataclasses import replace

import pytest

from bot.mcp.results import verdict as verdict_for_programs
from bot.slack.mrkdwn.escape import literal
from bot.views.verdict import headline
from core.debate.turn import Act, Turn
from core.debate.verdict import Verdict
from core.testing import a_setup
from core.transcript.adr import adr, title_of
from core.transcript.cited import decision_line
from core.transcript.decision import decision_text
from core.transcript.few_words import shared_words, whole_sentences
from core.transcript.markdown import shown_as_is
from core.transcript.models_used import model_count_words
from core.transcript.report import report
from tests.bot.plays import a_debate


def test_points_of_view_are_counted_where_several_agents_share_one_model() -> None:
    agents = a_setup().agents

    assert model_count_words(agents) == "3 points of view, 1 model."
    assert not model_count_words(agents[:1])


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        ("Use **PostgreSQL** as the *job queue*.", "Use PostgreSQL as the job queue."),
        ("# Use PostgreSQL\n\nNot `Kafka`.", "Use PostgreSQL Not Kafka."),
        ("Set a < b and 2 * 3 * 4.", "Set a < b and 2 * 3 * 4."),
    ],
)
def test_a_decision_is_one_line_without_formatting_everywhere(decision: str, line: str) -> None:
    verdict = Verdict(decision=decision, solution="So.", confidence=None)
    debate = replace(a_debate(), verdict=verdict)

    assert decision_line(verdict) == line
    assert title_of(debate) == line.rstrip(".")
    shown = shown_as_is(line)
    assert f"**{shown}**" in report(debate)
    assert f"**{shown}**" in adr(debate)
    assert f"# {shown.rstrip('.')}\n" in adr(debate)
    assert shown in decision_text(debate).splitlines()
    assert verdict_for_programs(debate, "").decision == line
    assert f"*{literal(line)}*" in headline(debate, verdict).text


def test_a_text_is_never_cut_in_the_middle_of_a_sentence_where_whole_ones_are_asked_for() -> None:
    text = "It is there already. Nobody has to run a second system at night."

    assert whole_sentences(text, 20) == text
    assert whole_sentences(text, 8) == "It is there already. …"
    assert whole_sentences(text, 4) == ""
    assert shared_words(["One two three.", text], 9) == ["One two three.", "It is there already. …"]


@pytest.mark.parametrize(
    ("act", "number", "words"),
    [
        (Act.CRITIQUE, 2, "round 2"),
        (Act.QUESTIONS, 0, "before round 1"),
        # First answers are given in round 1, whether rounds are held or not.
        (Act.OPTIONS, 0, "after the first answers"),
        (Act.BALLOT, 0, "after the first answers"),
        (Act.AUDIT, 0, "after the first answers"),
        (Act.SHADOW, 0, "beside the debate"),
        (Act.FOLLOW_UP, 0, "after the verdict"),
    ],
)
def test_a_turn_of_no_round_is_said_to_come_when_it_does(act: Act, number: int, words: str) -> None:
    assert Turn(act=act, round=number, agent="judge").when == words
