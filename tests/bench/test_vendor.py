"""The bench's vendor sends replies at the given pace."""

import pytest

from bench.vendor import due_times
from tests.vendors.frames import frames
from tests.vendors.script import Say


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses", "/v1/chat/completions"])
@pytest.mark.parametrize("tokens", [1, 4])
def test_the_first_token_comes_after_the_silence_however_short_the_reply(
    path: str, tokens: int
) -> None:
    pieces = frames(path, Say(text="word" * tokens, pieces=tokens), "any")
    due = due_times(pieces, 2.0, 10.0)

    text = [time for time, piece in zip(due, pieces, strict=True) if b'"word"' in piece]
    assert len(text) >= tokens
    assert text[0] == 2.0
    assert due == sorted(due)
    assert due[0] == 2.0
    assert due[-1] == 10.0
