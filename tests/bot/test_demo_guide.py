"""What stands at the top of the demonstration's page, and what the page brings into view."""

from bot.demo_guide import own_line, playing_line
from bot.playback import Playback
from slack_on_loopback import GuideLine
from tests.bot.plays import a_debate

BOARD, VERDICT = ("C1", "1.0"), "2.0"


def test_who_opens_the_page_is_told_what_it_shows():
    line = playing_line(a_debate(), BOARD, Playback(), "")
    assert line.text.startswith(
        "Moot demo: a team asks in Slack, AI agents argue, the team decides"
    )
    assert "1 of 5: the agents ask" in line.text


def test_a_verdict_is_brought_into_view_when_it_is_posted():
    debate = a_debate()
    assert playing_line(debate, BOARD, Playback(), "").message == ""
    assert playing_line(debate, BOARD, Playback(), VERDICT).message == VERDICT


def test_the_board_of_ones_own_question_is_in_view_until_there_is_a_verdict():
    debate = a_debate()
    assert own_line(debate, "", GuideLine(text="", thread=BOARD)).message == BOARD[1]
    line = GuideLine(text="", thread=BOARD, message=VERDICT)
    assert own_line(debate, "", line).message == VERDICT
