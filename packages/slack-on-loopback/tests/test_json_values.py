"""Copies of JSON values: nobody who has one can change what it was made of."""

from slack_on_loopback.json_values import Json, copy


def original() -> Json:
    return {"text": "x", "blocks": [{"elements": [{"value": None}]}], "n": [1, [2.5, True]]}


def test_a_copy_is_equal_and_shares_nothing_that_can_change() -> None:
    value = original()
    copied = copy(value)
    assert copied == value
    copied["blocks"][0]["elements"][0]["value"] = "changed"
    copied["n"][1].append(3)
    copied["more"] = 1
    assert value == original()
