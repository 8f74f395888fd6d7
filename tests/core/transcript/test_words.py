"""Wording that all surfaces share."""

import pytest

from core.events import DebateStarted, fold
from core.models import Act, Contribution, Debate, Turn
from core.testing import a_setup, recorded
from core.transcript.models_used import model_count_words
from core.transcript.words import letters_words


def a_debate() -> Debate:
    return fold(recorded([DebateStarted(setup=a_setup())]))


def said(text: str, act: Act = Act.DEBATE) -> Contribution:
    return Contribution(turn=Turn(act=act, round=1, agent="architect"), text=text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Position B forgets backups.", "B is Security."),
        (
            "**Position A** holds; so does **B's last position**.",
            "A is Architect, B is Security.",
        ),
        ("Positions A and C hold it.", "A is Architect, C is Simplicity."),
        ("Den Positionen A, B und C fehlt es.", "A is Architect, B is Security, C is Simplicity."),
        ("I reject A's and C’s critiques.", "A is Architect, C is Simplicity."),
        ("- B's critique was:", "B is Security."),
        ("Nach Position C ist das falsch.", "C is Simplicity."),
    ],
)
def test_letters_are_explained_where_a_text_uses_them(text: str, words: str) -> None:
    assert letters_words(a_debate(), [said(text)]) == words


def test_points_of_view_are_counted_where_several_agents_share_one_model() -> None:
    agents = a_setup().agents

    assert model_count_words(agents) == "3 points of view, 1 model."
    assert not model_count_words(agents[:1])
