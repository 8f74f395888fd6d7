"""What one person sends faster than anybody can type is answered at once, and not looked at."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.slack.connection.bursts import AtOnce, Bursts

Body = Mapping[str, Any]


def event(user: str = "U1", kind: str = "message", **fields: Any) -> Body:
    return {"team_id": "T1", "event": {"type": kind, "user": user, **fields}}


def edit(user: str = "U1") -> Body:
    return event("", subtype="message_changed", message={"user": user})


def command(user: str = "U1") -> Body:
    return {"team_id": "T1", "user_id": user, "command": "/debate", "text": "?"}


def click(user: str = "U1") -> Body:
    return {"type": "block_actions", "team": {"id": "T1"}, "user": {"id": user}}


@dataclass
class Notices:
    """Whom somebody told, by a clock that tests set."""

    now: float = 1000.0
    told: list[Body] = field(default_factory=list[Body])

    async def tell(self, body: Body) -> None:
        self.told.append(body)
        if len(self.told) == 1:
            raise RuntimeError("Slack is away")


@pytest.mark.parametrize(
    ("make", "most", "status", "text"),
    [
        (event, AtOnce().events, 200, ""),
        (edit, AtOnce().events, 200, ""),
        (command, AtOnce().commands, 200, "Type it again"),
        (click, AtOnce().clicks, 429, ""),
    ],
)
async def test_each_person_sends_so_much_at_once_and_then_one_a_second(
    make: Any, most: int, status: int, text: str
) -> None:
    notices = Notices()
    bursts = Bursts(notices.tell, AtOnce(), now=lambda: notices.now)

    assert [bursts.refusal(make()) for _ in range(most)] == [None] * most
    refused = bursts.refusal(make())
    assert refused
    assert (refused.status, text in refused.body) == (status, True)
    # Somebody else, the same person elsewhere, and what people did not send are not held up.
    for other in (make("U2"), {**make(), "team_id": "T2", "team": {"id": "T2"}}):
        assert bursts.refusal(other) is None
    for number in range(most + 1):
        assert bursts.refusal(event(kind="member_joined_channel", number=number)) is None
        assert bursts.refusal({"team_id": "T1", "event": {"type": "app_uninstalled"}}) is None
        assert bursts.refusal(event(subtype="message_deleted")) is None
    notices.now += 3
    answers = [bursts.refusal(make()) for _ in range(5)]
    assert [answer is None for answer in answers] == [True, True, True, False, False]
    await bursts.close()


async def test_who_is_left_out_is_told_once_in_a_while_though_telling_fails_once() -> None:
    notices = Notices()
    bursts = Bursts(notices.tell, AtOnce(), now=lambda: notices.now)
    for seconds in (0, 9.9, 0.2):
        notices.now += seconds
        for _ in range(AtOnce().events * 2):
            bursts.refusal(event())
        await asyncio.sleep(0)
    assert len(notices.told) == 2
    bursts.refusal(event(thread_ts="1.2"))  # in another thread nobody has told them
    await asyncio.sleep(0)
    assert len(notices.told) == 3
    await bursts.close()
