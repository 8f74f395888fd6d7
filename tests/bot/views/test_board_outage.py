"""The board while models do not answer."""

from bot.views.board import board
from core.events import (
    DebateStarted,
    ModelCameBack,
    ModelWentAway,
    OutageBegan,
    TurnFailed,
    fold,
)
from core.models import SUMMARIZER, Act, Failure, Turn
from core.testing import a_setup, recorded

AWAY = ModelWentAway(agent="security", reason="Groq failed (500).", origin="1.1")


def test_the_board_says_who_waits_for_a_model_and_that_the_others_go_on() -> None:
    text = board(fold(recorded([DebateStarted(setup=a_setup()), AWAY]))).text

    assert "Debate running" in text
    assert "Security waits for a model: Groq failed (500). The others go on." in text


def test_the_board_says_that_the_debate_waits_for_all_of_them() -> None:
    began = OutageBegan(reason="Groq failed (500).", origin="1.2")
    text = board(fold(recorded([DebateStarted(setup=a_setup()), AWAY, began]))).text

    assert text.startswith("Debate waiting: no model answers")
    assert "The debate goes on when one answers." in text


def test_the_board_forgets_what_is_over() -> None:
    back = ModelCameBack(agent="security", origin="1.2")
    text = board(fold(recorded([DebateStarted(setup=a_setup()), AWAY, back]))).text

    assert "waits for a model" not in text


def test_the_board_says_what_is_read_in_the_place_of_a_summary_that_failed() -> None:
    turn = Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER)
    failed = TurnFailed(failure=Failure(turn=turn, reason="Groq failed (500)."))
    text = board(fold(recorded([DebateStarted(setup=a_setup()), failed]))).text

    assert "Groq failed (500). The full text is used." in text
