"""Several tests together: corrected, no less."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.statistics import holm


def test_holm_keeps_what_is_really_there() -> None:
    p_values = holm({"better": 0.001, "same": 0.6, "perhaps": 0.03})
    assert p_values == {"better": 0.003, "same": 0.6, "perhaps": 0.06}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_makes_a_p_value_smaller_nor_changes_their_order(p: dict[str, float]) -> None:
    corrected = holm(p)
    assert list(corrected) == list(p)
    assert all(p[name] <= corrected[name] <= 1 for name in p)
    ranked = sorted(p, key=lambda name: p[name])
    assert all(corrected[current] <= corrected[next_one] for current, next_one in pairwise(ranked))
