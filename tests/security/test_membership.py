"""Membership is cached; a removed person loses access soon after."""

import time

import pytest

from bot.testing import team_at_work
from core.debate.people import Place

#: Seconds that membership is cached, as documented.
BELIEVED = 15


async def test_membership_is_believed_for_15_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with team_at_work() as team:
        space, access = team.workspace, team.moot.context.directories
        await space.channel_action("dana", "create", name="board-room", members=["dana"])
        for member in ("moot", "sam"):
            await space.channel_action("dana", "invite", channel="board-room", member=member)
        room = space.channel("board-room").id
        place = Place(surface="slack", workspace=space.state.team_id, channel=room)
        sam = space.user("sam").id
        assert await access.may_see(sam, place)

        await space.channel_action("dana", "kick", channel="board-room", member="sam")
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: now() + BELIEVED)

        assert not await access.may_see(sam, place)
