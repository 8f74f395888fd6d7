"""What takes the place of a post that Slack refuses for good comes to an end."""

from collections.abc import Sequence
from dataclasses import fields

import pytest

from bot.listeners.place_gone import in_place_of
from bot.slack.ids import board_key
from bot.slack.outbox.outcomes import Rejected
from bot.store.posts import NewPost, PostRow, PostState

DEBATE = "dabc2345"
LOCKED = Rejected(words="The thread is locked.", code="restricted_action_thread_locked")


def refused(post: NewPost) -> PostRow:
    """The post as a row of the queue that Slack has refused."""
    values = {field.name: getattr(post, field.name) for field in fields(NewPost)}
    return PostRow(
        **values,
        id=1,
        state=PostState.FAILED,
        process_token=None,
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
        following = in_place_of(refused(following), DEBATE, LOCKED)
    return keys


@pytest.mark.parametrize(
    ("method", "payload", "keys"),
    [
        ("post", {"text": "a", "blocks": []}, ["turn", "turn/bare", "turn/bare/refused"]),
        ("post", {"text": "a"}, ["turn", "turn/refused"]),
        ("post", {"text": "a", "thread_ts": "1.2", "blocks": []}, ["turn", "turn/bare"]),
        ("update", {"text": "a", "target_key": board_key(DEBATE)}, ["turn", "board/refused"]),
        ("react", {"name": "eyes"}, ["turn"]),
    ],
)
def test_where_slack_refuses_everything_no_more_than_a_line_is_tried(
    method: str, payload: dict[str, object], keys: Sequence[str]
) -> None:
    post = NewPost(
        key=f"{DEBATE}/turn",
        workspace="T1",
        channel="C1",
        method=method,
        payload=payload,
        debate_id=DEBATE,
        thread_key=board_key(DEBATE),
    )
    assert chain_of(post) == [f"{DEBATE}/{key}" for key in keys]
