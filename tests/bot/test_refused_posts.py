"""What takes the place of a post that Slack refuses for good comes to an end."""

from collections.abc import Sequence
from dataclasses import fields

import pytest

from bot.listeners.place_gone import line_about
from bot.queue.rows import NewPost, PostRow, PostState
from bot.slack.ids import board_key
from bot.slack.outcomes import Rejection

DEBATE = "dabc2345"
LOCKED = Rejection(words="The thread is locked.", code="restricted_action_thread_locked")


def refused(post: NewPost, state: PostState = PostState.SENDING) -> PostRow:
    """The post as a row of the queue that Slack has refused; what is *sent* is an edit."""
    values = {field.name: getattr(post, field.name) for field in fields(NewPost)}
    return PostRow(
        **values,
        id=1,
        state=state,
        owner=None,
        attempted_at=None,
        attempts=1,
        ts=None,
        error=LOCKED.words,
    )


def chain_of(post: NewPost) -> Sequence[str]:
    """Keys of what follows a post where everything is refused, 20 at most."""
    keys: list[str] = []
    following: NewPost | None = post
    while following and len(keys) < 20:
        keys.append(following.key)
        following = line_about(refused(following), DEBATE, LOCKED)
    return keys


@pytest.mark.parametrize(
    ("method", "key", "payload", "keys"),
    [
        ("post", "turn", {"text": "a", "blocks": []}, ["turn", "turn/refused"]),
        ("post", "asked", {"text": "a", "thread_ts": "1.2"}, ["asked"]),
        ("upload", "report", {"text": "a"}, ["report", "report/refused"]),
        ("react", "eyes", {"name": "eyes"}, ["eyes"]),
    ],
)
def test_where_slack_refuses_everything_no_more_than_a_line_is_tried(
    method: str, key: str, payload: dict[str, object], keys: Sequence[str]
) -> None:
    assert chain_of(a_post(method, key, payload)) == [f"{DEBATE}/{key}" for key in keys]


@pytest.mark.parametrize(
    ("method", "key", "line"),
    [
        ("post", "board", "board/refused"),
        ("post", "headline", None),
        ("pin", "board/pin", "board/pin/refused"),
        ("session", "session", None),
    ],
)
def test_of_edits_only_those_of_the_board_and_its_pin_are_told_of(
    method: str, key: str, line: str | None
) -> None:
    notice = line_about(refused(a_post(method, key, {}), PostState.SENT), DEBATE, LOCKED)
    assert (notice and notice.key) == (line and f"{DEBATE}/{line}")


def a_post(method: str, key: str, payload: dict[str, object]) -> NewPost:
    return NewPost(
        key=f"{DEBATE}/{key}",
        workspace="T1",
        channel="C1",
        method=method,
        payload=payload,
        debate_id=DEBATE,
        thread_key=board_key(DEBATE),
    )
