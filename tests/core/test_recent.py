"""What is put in longest ago is forgotten."""

from core.recent import Recent


def test_an_entry_that_is_put_in_again_counts_as_new() -> None:
    recent = Recent[str, int](2)
    recent["a"], recent["b"] = 1, 2
    recent["a"] = 3
    recent["c"] = 4
    assert dict(recent) == {"a": 3, "c": 4}
