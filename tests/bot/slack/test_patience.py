"""Slack is asked again after as long as it says, within bounds."""

import asyncio
from itertools import pairwise

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.evidence import patient_answer
from core.errors import BadInput


@pytest.mark.leaping
@pytest.mark.parametrize(("asked", "waited"), [("3", 3), ("500", 60)])
async def test_a_reading_waits_as_long_as_slack_asks_for_and_a_minute_at_most(
    asked: str, waited: int
) -> None:
    times = list[float]()

    async def call() -> AsyncSlackResponse:
        times.append(asyncio.get_running_loop().time())
        response = AsyncSlackResponse(
            client=AsyncWebClient(),
            http_verb="POST",
            api_url="https://slack.com/api/conversations.replies",
            req_args={},
            data={"ok": False, "error": "ratelimited"},
            headers={"Retry-After": asked},
            status_code=429,
        )
        raise SlackApiError("no", response)

    with pytest.raises(BadInput, match="Slack does not show it"):
        await patient_answer(call)

    gaps = [round(later - time) for time, later in pairwise(times)]
    assert gaps == [waited] * 3
