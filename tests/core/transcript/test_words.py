"""Wording that all surfaces share."""

import pytest

from core.events import DebateStarted, fold
from core.testing import a_setup, recorded
from core.transcript.words import letters_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Position B forgets backups.", "B is Security."),
        ("A and C hold PostgreSQL, B’s Kafka.", "A is Architect, B is Security, C is Simplicity."),
        ("Position A is right.", "A is Architect."),
        ("A queue in C++ or C#, a B-tree, plan D.", ""),
        ("I would take A.", ""),
        ("", ""),
    ],
)
def test_letters_are_explained_where_a_text_uses_them(text: str, words: str) -> None:
    debate = fold(recorded([DebateStarted(setup=a_setup())]))

    assert letters_words(debate, text) == words
