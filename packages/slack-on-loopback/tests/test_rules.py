"""Text, metadata, names and rates."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy
from slack_on_loopback.rates import Rate, draw, full
from slack_on_loopback.rules import as_typed, check_channel_name, check_metadata, mentions


def test_empty_metadata_means_none() -> None:
    assert check_metadata({}) is None


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ("text", "invalid_metadata_format"),
        ({"event_type": "x"}, "invalid_metadata_format"),
        ({"event_payload": {}}, "invalid_metadata_format"),
        ({"event_type": "", "event_payload": {}}, "invalid_metadata_format"),
        ({"event_type": "x", "event_payload": {"a": {"b": {"c": 1}}}}, "invalid_metadata_schema"),
        ({"event_type": "x", "event_payload": {"a": [[1]]}}, "invalid_metadata_schema"),
        ({"event_type": "x", "event_payload": {"a": None}}, "invalid_metadata_schema"),
    ],
)
def test_other_metadata_is_refused(metadata: Any, error: str) -> None:
    with pytest.raises(SlackRefusal, match=error):
        check_metadata(metadata)


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("A < B & C", "A &lt; B &amp; C"),
        ("ask @dana now", "ask <@U1> now"),
        ("ask @Dana.", "ask <@U1>."),
        ("mail dana@dana", "mail dana@dana"),
        ("see #general", "see <#C1|general>"),
        ("<@U1> & <https://a.b|c>", "<@U1> &amp; <https://a.b|c>"),
        ("nobody @else", "nobody @else"),
    ],
)
def test_typed_text_becomes_what_slack_sends(typed: str, sent: str) -> None:
    assert as_typed(typed, {"@dana": "<@U1>", "#general": "<#C1|general>"}) == sent


@given(st.text(alphabet="ab<>&@# \n", max_size=60))
def test_typed_text_never_brings_a_bare_bracket_along(typed: str) -> None:
    sent = as_typed(typed, {})
    assert "<" not in re.sub("<[@#][^<>]+>", "", sent)


@pytest.mark.parametrize("text", ["hi <@U1>", "<@U1|echo>: go"])
def test_a_mention_is_found(text: str) -> None:
    assert mentions(text, "U1")
    assert not mentions(text, "U11")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "invalid_name_required"),
        ("Big", "invalid_name_specials"),
        ("a b", "invalid_name_specials"),
        ("-a", "invalid_name_specials"),
        ("x" * 81, "invalid_name_maxlength"),
    ],
)
def test_bad_channel_names_are_refused(name: str, error: str) -> None:
    with pytest.raises(SlackRefusal, match=error):
        check_channel_name(name)


def test_a_bucket_gives_its_burst_then_its_rate() -> None:
    rate = Rate(burst=2, per_second=0.5)
    bucket = full(rate, 0.0)
    waits: list[int] = []
    for now in (0.0, 0.0, 0.0, 1.0, 2.0):
        bucket, wait = draw(bucket, rate, now)
        waits.append(wait)
    assert waits == [0, 0, 2, 1, 0]


@given(st.lists(st.floats(0, 5), min_size=1, max_size=200))
def test_no_more_calls_pass_than_burst_and_time_allow(gaps: list[float]) -> None:
    rate, now, passed = Rate(3, 1.0), 0.0, 0
    bucket = full(rate, now)
    for gap in gaps:
        now += gap
        bucket, wait = draw(bucket, rate, now)
        passed += wait == 0
    assert passed <= 3 + now + 1e-6


def test_a_copy_is_equal_and_shares_nothing_that_can_change() -> None:
    value: Json = {"blocks": [{"elements": [{"value": None}]}], "n": [1, [2.5, True]]}
    copied = copy(value)
    assert copied == value
    copied["blocks"][0]["elements"][0]["value"] = "changed"
    copied["n"][1].append(3)
    assert value == {"blocks": [{"elements": [{"value": None}]}], "n": [1, [2.5, True]]}
