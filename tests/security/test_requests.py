"""Unsigned, outdated, repeated, broken and oversized requests."""

import json
import time
from collections.abc import AsyncGenerator, Generator
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import strategies as st

from bot.slack.connection.http import LARGEST_REQUEST
from bot.testing import Team
from core.debate.log import fold
from core.ports import DebateFilter
from tests.security.sending import (
    FORM,
    JSON,
    SENT,
    Log,
    a_command,
    encoded,
    example,
    fuzz,
    http_team,
    logged,
    post,
    send,
    signed,
)

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
#: It is in every text of the payloads, and must never be in a log.
MARK = "quokka"


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with http_team() as team:
        yield team


@pytest.fixture
def log() -> Generator[Log]:
    with logged() as lines:
        yield lines


async def debates(team: Team) -> int:
    return len(await team.moot.store.find(DebateFilter(limit=1000)))


FORGED = {
    "no signature": {"X-Slack-Signature": ""},
    "another secret": {"X-Slack-Signature": "v0=" + "0" * 64},
    "another version": {"X-Slack-Signature": "v1=" + "0" * 64},
    "letters beyond ASCII": {"X-Slack-Signature": "v0=é" + "0" * 63},
    "no timestamp": {"X-Slack-Request-Timestamp": ""},
    "words for a timestamp": {"X-Slack-Request-Timestamp": "soon"},
    "a fraction": {"X-Slack-Request-Timestamp": "1.5"},
    "a sign": {"X-Slack-Request-Timestamp": "-1"},
    "digits of another script": {"X-Slack-Request-Timestamp": "١٢٣"},
    "more digits than Python reads": {"X-Slack-Request-Timestamp": "9" * 5000},
    "another timestamp": {"X-Slack-Request-Timestamp": str(int(time.time()) - 1)},
}


@pytest.mark.parametrize("forgery", FORGED)
async def test_a_forged_request_is_refused(team: Team, forgery: str) -> None:
    body = urlencode(a_command(team, QUESTION))
    status, _ = await post(team, body, {**signed(team, body), **FORGED[forgery]})

    assert status == 401
    assert await debates(team) == 0


# A future time is seconds nearer when the request arrives on a busy machine.
@pytest.mark.parametrize("seconds", [-3600, -301, 360, 3600])
async def test_a_signature_is_good_for_five_minutes_only(team: Team, seconds: int) -> None:
    body = urlencode(a_command(team, QUESTION))
    headers = signed(team, body, at=time.time() + seconds)

    assert (await post(team, body, headers))[0] == 401
    assert await debates(team) == 0


async def test_a_changed_body_is_refused(team: Team) -> None:
    body = urlencode(a_command(team, QUESTION))

    assert (await post(team, body.replace("Kafka", "Mafka"), signed(team, body)))[0] == 401


async def test_a_replayed_command_starts_nothing_and_tells_nothing(team: Team) -> None:
    body = urlencode(a_command(team, QUESTION))
    headers = signed(team, body)
    first = await post(team, body, headers)
    again = await post(team, body, headers)

    assert "begins" in first[1]
    assert again == (200, "")
    assert await debates(team) == 1


async def test_a_replayed_click_has_one_effect(team: Team) -> None:
    board = await team.debate(QUESTION)
    await team.wait_for_end(board)
    [entry] = await team.moot.store.find(DebateFilter())
    click = a_click(team, "verdict_feedback", f"{entry.debate_id}/good")
    text, form = encoded("block_actions", click)
    headers = signed(team, text, form)
    counts = [await _events_after(team, entry.debate_id, text, headers) for _ in range(3)]

    assert counts[0] == counts[1] == counts[2]
    assert len(fold(await team.moot.store.events(entry.debate_id)).feedback) == 1


async def _events_after(team: Team, debate_id: str, text: str, headers: dict[str, str]) -> int:
    assert (await post(team, text, headers))[0] == 200
    return len(await team.moot.store.events(debate_id))


def a_click(team: Team, action: str, value: str) -> dict[str, Any]:
    body = example("block_actions")
    return body | {
        "team": {"id": team.workspace.state.team_id},
        "user": {"id": team.workspace.user("dana").id, "name": "dana"},
        "channel": {"id": team.workspace.channel(team.channel).id},
        "actions": [{"action_id": action, "block_id": "b", "type": "button", "value": value}],
        "response_url": "",
    }


async def test_a_request_that_is_too_big_is_refused_unread(team: Team) -> None:
    body = "x" * (LARGEST_REQUEST + 1)

    assert (await post(team, body, signed(team, body)))[0] == 413


broken_bodies = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(
        [
            b"",
            b"null",
            b"[]",
            b"1",
            b'"x"',
            b"{",
            b"payload=",
            b"payload=null",
            b"payload=[1]",
            b"payload={",
            b"payload=%7B%22type%22%3A",
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"a":' * 20_000,
            b"payload=" + b"[" * 50_000,
            b"1" * 5000,
        ]
    ),
)
content_types = st.sampled_from(
    [FORM, JSON, "text/plain; charset=nonsense", "multipart/form-data", "application/json; x", ""]
)


async def test_fuzzed_bodies_without_a_signature_are_refused(log: Log, team: Team) -> None:
    async def attempt(body: tuple[bytes, str]) -> None:
        status, _ = await post(team, body[0], {"Content-Type": body[1]})
        assert status in {401, 400}  # malformed, which is seen before anything else

    await fuzz(st.tuples(broken_bodies, content_types), attempt)
    log.check()


async def test_fuzzed_bodies_with_a_signature_are_refused_or_ignored(log: Log, team: Team) -> None:
    async def attempt(content: tuple[bytes, str]) -> None:
        body, form = content[0].decode("utf-8", "replace"), content[1]
        status, _ = await post(team, body, signed(team, body, form))
        assert status < 500

    await fuzz(st.tuples(broken_bodies, content_types), attempt)
    log.check()


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "U0ADA0001", "dabcdefg", "dabcdefg/1", "\x00", "\ud800", MARK * 50])
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value inside a payload."""
    steps: list[Any] = []
    if isinstance(value, dict):
        steps = list(value)  # pyright: ignore[reportUnknownArgumentType] - JSON
    elif isinstance(value, list):
        steps = list(range(len(value)))  # pyright: ignore[reportUnknownArgumentType] - JSON
    return [here, *(path for step in steps for path in paths(value[step], (*here, step)))]


def changed(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """Return the payload with one value replaced or removed."""
    if not path:
        return by
    copy: Any = value.copy()
    if len(path) == 1 and by is ...:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(value[path[0]], path[1:], by)
    return copy


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Any]:
    """A payload of Slack with up to three values missing or replaced."""
    name = draw(st.sampled_from(SENT))
    body: Any = example(name)
    for _ in range(draw(st.integers(1, 3))):
        body = changed(
            body, draw(st.sampled_from(paths(body)[1:] or [()])), draw(anything | st.just(...))
        )
        if not is_object(body):
            break
    return name, None if body is ... else body


def test_every_mutation_differs_from_what_slack_sends() -> None:
    body = example("block_actions")
    assert all(changed(body, path, ...) != body for path in paths(body)[1:])


async def test_fuzzed_payloads_of_slack_are_handled_refused_or_ignored(
    log: Log, team: Team
) -> None:
    async def attempt(payload: tuple[str, Any]) -> None:
        name, body = payload
        text, form = encoded(name, body)
        status, answer = await post(team, text, signed(team, text, form))
        assert status < 500, answer

    await fuzz(mutated(), attempt)
    log.check(MARK)


async def test_half_of_a_surrogate_pair_is_refused_as_malformed(team: Team) -> None:
    body = example("message_in_thread") | {"authorizations": [{"team_id": "T\ud800"}]}
    assert (await send(team, "message_in_thread", body))[0] == 400


async def test_what_nobody_listens_to_is_refused_without_being_logged(log: Log, team: Team) -> None:
    form = example("view_submission")
    form["view"] |= {"callback_id": "no_such_form", "private_metadata": MARK}
    form["view"]["state"] = {"values": {"q": {"q": {"type": "plain_text_input", "value": MARK}}}}

    assert (await send(team, "view_submission", form))[0] == 404
    log.check(MARK)
    assert "request not understood" in log.getvalue()


async def test_a_payload_without_what_it_needs_is_refused_without_being_logged(
    log: Log, team: Team
) -> None:
    body = a_command(team, MARK)
    del body["user_id"]

    assert (await send(team, "command", body))[0] == 400
    log.check(MARK)


async def test_the_headers_bolt_obeys_cannot_be_added_by_others(team: Team) -> None:
    body = urlencode(a_command(team, QUESTION))
    extra = {"X-Slack-Bolt-Lazy-Only": "1", "X-Slack-Bolt-Lazy-Function-Name": "debate"}
    status, answer = await post(team, body, signed(team, body) | extra)

    assert status == 200
    assert "begins" in answer


def test_the_examples_cover_every_kind_of_request() -> None:
    kinds = {json.dumps(example(name).get("type", "command")) for name in SENT}
    assert {"block_actions", "view_submission", "message_action", "command", "event_callback"} <= {
        json.loads(kind) for kind in kinds
    }
