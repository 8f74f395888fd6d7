"""Wording that all surfaces share."""

from core.testing import a_setup
from core.transcript.models_used import model_count_words


def test_points_of_view_are_counted_where_several_agents_share_one_model() -> None:
    agents = a_setup().agents

    assert model_count_words(agents) == "3 points of view, 1 model."
    assert not model_count_words(agents[:1])
