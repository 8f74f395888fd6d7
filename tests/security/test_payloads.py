"""Arbitrary JSON read as Slack's payloads gives a value or a refusal, and every property works."""

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.listeners import typed
from bot.listeners.context import FieldError
from bot.listeners.start import channel_of, checked_draft, checked_settings, draft_of, target_of
from bot.slack import payloads
from bot.slack.payloads import FormValues, Payload
from core.errors import BadInput
from tests.security.test_requests import anything, mutated

READERS = [
    kind
    for kind in vars(payloads).values()
    if isinstance(kind, type) and issubclass(kind, Payload) and kind is not Payload
]


def ask_everything(value: Payload) -> None:
    own = [kind for kind in type(value).__mro__ if kind.__module__ == payloads.__name__]
    for name, member in (item for kind in own for item in vars(kind).items()):
        if isinstance(member, property):
            getattr(value, name)
    if isinstance(value, FormValues):
        reads = (value.text_of, value.choice, value.choices, value.people, value.conversation)
        for field in ("question", "agents", "rounds", ""):
            assert [read(field) is not None for read in (*reads, value.date)]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
@given(st.data())
def test_anything_is_a_value_or_refused(reader: type[Payload], data: st.DataObject) -> None:
    fields = st.sampled_from(
        [str(info.validation_alias or name) for name, info in reader.model_fields.items()]
    )
    names = st.sampled_from(
        ["view", "event", "user", "team", "channel", "message", "actions", "id"]
    )
    body = data.draw(st.dictionaries(fields | names, anything, max_size=8) | anything)
    value = read_or_refused(reader, body)
    if value:
        ask_everything(value)


def read_or_refused(reader: type[Payload], body: object) -> Payload | None:
    try:
        return reader.model_validate(body)
    except ValidationError as refusal:
        words = str(refusal)
    assert "input_value" not in words  # it would be in the log
    return None


@given(mutated(), st.sampled_from(READERS))
def test_what_is_nearly_slacks_is_a_value_or_refused(
    payload: tuple[str, Any], reader: type[Payload]
) -> None:
    value = read_or_refused(reader, payload[1])
    if value:
        ask_everything(value)


def checked(form: FormValues) -> object:
    return checked_draft(form, 100, Decimal(2))


def checked_of_channel(form: FormValues) -> object:
    return checked_settings(form, None)


READS: list[Callable[[FormValues], object]] = [
    target_of,
    channel_of,
    draft_of,
    checked_of_channel,
    checked,
]
kept = st.sampled_from(["", "{}", "[]", "1", "null", "{", '{"debate": 1}', '{"channel": "C1"}'])
states = st.dictionaries(
    st.sampled_from(["question", "agents", "rounds", "wait", "cost_cap", "clarify", "stewards"]),
    anything,
    max_size=4,
)


@given(states, kept)
def test_any_form_is_read_or_refused_at_a_field(state: dict[str, Any], metadata: str) -> None:
    values = {name: {name: content} for name, content in state.items()}
    body = {"view": {"id": "V1", "private_metadata": metadata, "state": {"values": values}}}
    form = read_or_refused(FormValues, body)
    if not isinstance(form, FormValues):
        return
    for read in READS:
        with suppress(BadInput, FieldError):
            assert read(form) is not None


@given(st.text(max_size=80))
def test_whatever_is_typed_after_the_command_is_understood_as_something(text: str) -> None:
    assert typed.parse_typed(text) is not None
