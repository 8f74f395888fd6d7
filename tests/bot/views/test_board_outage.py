"""The board while models do not answer."""

from bot.views.board import board
from core.debate.contributions import Failure
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import TurnFailed
from core.testing import a_setup, log_of


def test_the_board_says_what_is_read_in_the_place_of_a_summary_that_failed() -> None:
    turn = Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER)
    failed = TurnFailed(failure=Failure(turn=turn, reason="Groq failed (500)."))
    text = board(fold(log_of([DebateStarted(setup=a_setup()), failed]))).text

    assert "Groq failed (500). The full text is used." in text
