"""Server-sent events read as plain JSON, however they are cut and whatever they hold."""

import json
import time
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ReplyUnusable
from core.llm.providers.openai_chat import ChatReading
from core.llm.providers.streams import give_up, read_events

EVENTS = [{"type": "ping", "n": 1}, {"type": "délta", "text": "a\n\r🦆"}, {"type": "end"}]


def fails_never(_name: str, _found: Any) -> Exception | None:
    return None


async def cut(body: bytes, places: Sequence[int]) -> AsyncGenerator[bytes]:
    """The body in pieces."""
    ends = sorted({0, len(body), *(place % (len(body) + 1) for place in places)})
    for first, last in pairwise(ends):
        yield body[first:last]


async def read(body: bytes, places: Sequence[int] = (), fails: Any = fails_never) -> list[Any]:
    return [event async for event in read_events(cut(body, places), fails=fails)]


@given(st.lists(st.integers(min_value=0), max_size=30), st.sampled_from(["\n", "\r\n", "\r"]))
async def test_events_are_the_same_wherever_they_are_cut(places: list[int], end: str) -> None:
    said = [
        ': a comment\n\nevent: ping\ndata: {"type": "ping", "n": 1}\n\n',
        'data:{"type": "délta",\ndata: "text": "a\\n\\r🦆"}\nid: 7\n\n',
        'data: {"type": "end"}\n\ndata: [DONE]\n\ndata: not read\n\n',
    ]
    body = "".join(said).replace("\n", end).encode()

    assert await read(body, places) == EVENTS


async def test_an_event_that_is_not_ended_was_not_sent() -> None:
    assert await read(b'data: {"n": 1}\n\ndata: {"n": 2}\n') == [{"n": 1}]


@pytest.mark.parametrize("body", [b"data: {no\n\n", b'data: "\xff\xfe"\n\n'])
async def test_what_is_no_json_or_no_text_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        await read(body)


async def test_a_failure_is_told_by_the_name_of_its_event() -> None:
    def fails(name: str, found: Any) -> Exception | None:
        return LookupError(found["why"]) if name == "error" else None

    body = b'event: ok\ndata: {}\n\nevent: error\ndata: {"why": "busy"}\n\n'
    with pytest.raises(LookupError, match="busy"):
        await read(body, fails=fails)


async def seconds_to_read(length: int) -> float:
    """Seconds of CPU for one line in small pieces, the best of three."""
    event = {"text": "a" * length}
    body = f"data: {json.dumps(event)}\n\n".encode()
    taken: list[float] = []
    for _ in range(3):
        began = time.process_time()
        assert await read(body, range(0, len(body), 512)) == [event]
        taken.append(time.process_time() - began)
    return min(taken)


async def test_a_line_in_small_pieces_takes_no_longer_than_it_is_long() -> None:
    # Eight times the length takes 64 times as long where all of it is searched with each piece.
    assert await seconds_to_read(2_400_000) < 24 * await seconds_to_read(300_000)


@pytest.mark.parametrize("again", [b"a", b"data: a\n", b"data:\n"])
async def test_an_event_that_does_not_end_is_a_reply_far_too_long(again: bytes) -> None:
    taken = 0

    async def pieces() -> AsyncGenerator[bytes]:
        nonlocal taken
        while taken < 200_000_000:
            piece = again * (100_000 // len(again))
            taken += len(piece)
            yield piece

    with pytest.raises(ValueError, match="does not end") as caught:
        _ = [event async for event in read_events(pieces(), fails=fails_never)]
    with pytest.raises(ReplyUnusable, match=r"cut off after 4 MB\."):
        give_up(ChatReading("Acme"), caught.value)

    assert taken < 5_000_000
