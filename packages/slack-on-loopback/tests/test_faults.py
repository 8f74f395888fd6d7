"""Rates and what goes wrong on purpose."""

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from slack_on_loopback.faults import Faults
from slack_on_loopback.rates import SlackPace
from slack_on_loopback.workspace import Workspace
from tests.bots import Client, error_of, refused, slack_client


class StandingClock:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def at_slacks_pace(**changes: Any) -> pytest.MarkDecorator:
    """A workspace at Slack's real pace, on a clock that stands still."""
    return pytest.mark.workspace(pace=SlackPace(**changes), clock=StandingClock())


def clock_of(ws: Workspace) -> StandingClock:
    clock = ws.runtime.config.clock
    assert isinstance(clock, StandingClock)
    return clock


@at_slacks_pace()
async def test_posts_to_a_channel_are_one_a_second_after_a_burst(
    ws: Workspace, client: Client
) -> None:
    general, other = ws.channel("general").id, ws.channel("architecture").id
    for n in range(4):
        await client.chat_postMessage(channel=general, text=str(n))
    answer = await refused(client.chat_postMessage(channel=general, text="too fast"))
    assert (answer.status_code, answer["error"]) == (429, "ratelimited")
    assert answer.headers["Retry-After"] == "1"
    await client.chat_postMessage(channel=other, text="another channel")
    clock_of(ws).now += 1
    await client.chat_postMessage(channel=general, text="in time")
    texts = [message["text"] for message in ws.messages("general")]
    assert texts == ["0", "1", "2", "3", "in time"]


@at_slacks_pace()
async def test_a_tier_is_counted_per_method(ws: Workspace, client: Client) -> None:
    general = ws.channel("general").id
    pin = {"channel": general, "timestamp": (await ws.say("dana", "general", "x"))["ts"]}
    for _ in range(20):
        assert await error_of(client.pins_remove(**pin)) == "no_pin"
    answer = await refused(client.pins_remove(**pin))
    assert answer.headers["Retry-After"] == "3"
    await client.pins_add(**pin)
    clock_of(ws).now += 3
    await client.pins_remove(**pin)


@at_slacks_pace(page=15, history_tier=1)
async def test_a_newer_app_reads_15_messages_a_minute(ws: Workspace, client: Client) -> None:
    general = ws.channel("general").id
    root = (await ws.say("dana", "general", "root"))["ts"]
    for n in range(20):
        await ws.say("dana", "general", str(n))
        await ws.say("dana", "general", str(n), root)
    read = await client.conversations_history(channel=general, limit=100)
    assert (len(read["messages"]), read["has_more"]) == (15, True)
    replies = await client.conversations_replies(channel=general, ts=root)
    assert len(replies["messages"]) == 15
    answer = await refused(client.conversations_history(channel=general))
    assert answer.headers["Retry-After"] == "60"
    clock_of(ws).now += 60
    await client.conversations_history(channel=general)


async def test_an_answer_can_be_lost_after_the_post_was_taken(
    ws: Workspace, client: Client
) -> None:
    ws.faults.drop_after("chat.postMessage")
    # A refused call does not use the switch up.
    assert await error_of(client.chat_postMessage(channel="C404", text="x")) == "channel_not_found"
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await client.chat_postMessage(channel=ws.channel("general").id, text="once")
    assert [message["text"] for message in ws.messages("general")] == ["once"]
    await client.chat_postMessage(channel=ws.channel("general").id, text="two")
    assert len(ws.messages("general")) == 2


async def test_a_call_can_fail_in_other_ways(ws: Workspace, client: Client) -> None:
    general = ws.channel("general").id

    async def post(text: str) -> Any:
        return await client.chat_postMessage(channel=general, text=text)

    ws.faults.drop_before("chat.postMessage")
    with pytest.raises(aiohttp.ServerDisconnectedError):
        await post("lost")
    ws.faults.server_error("chat.postMessage", status=502)
    with pytest.raises(SlackApiError) as caught:
        await post("an error page is no JSON")
    assert caught.value.response.status_code == 502
    ws.faults.rate_limit("chat.postMessage", seconds=7)
    answer = await refused(post("too fast"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    ws.faults.refuse("chat.postMessage", "restricted_action", times=1, containing="no")
    await post("yes")
    assert await error_of(post("no")) == "restricted_action"
    await post("no")
    assert [message["text"] for message in ws.messages("general")] == ["yes", "no"]


async def test_a_late_answer_outlasts_the_clients_patience(ws: Workspace) -> None:
    # Without a session of its own: the SDK ignores `timeout` for a session it is given.
    client = slack_client(ws.bot_token, base_url=ws.api_url, timeout=1, retry_handlers=[])
    ws.faults.delay("chat.postMessage", 60)
    with pytest.raises(asyncio.TimeoutError):
        await client.chat_postMessage(channel=ws.channel("general").id, text="late")
    await ws.wait_for(lambda: ws.messages("general"))
    assert [message["text"] for message in ws.messages("general")] == ["late"]


async def test_a_workspace_can_lack_a_type_of_blocks(ws: Workspace, client: Client) -> None:
    section: dict[str, object] = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}
    title = {"type": "plain_text", "text": "x"}
    fold: dict[str, object] = {"type": "container", "title": title, "child_blocks": [section]}
    blocks = [section, fold]
    general = ws.channel("general").id
    ws.faults.refuse_blocks("container")
    answer = await refused(client.chat_postMessage(channel=general, text="x", blocks=blocks))
    assert answer["error"] == "invalid_blocks"
    await client.chat_postMessage(channel=general, text="x", blocks=blocks[:1])
    ws.faults.clear()
    await client.chat_postMessage(channel=general, text="x", blocks=blocks)


def test_chance_can_be_repeated() -> None:
    def hits(seed: int) -> list[bool]:
        faults = Faults(seed)
        faults.drop_after("chat.postMessage", times=None, probability=0.3)
        return [faults.take("drop_after", "chat.postMessage") is not None for _ in range(100)]

    assert hits(1) == hits(1)
    assert hits(1) != hits(2)
    assert 15 < sum(hits(1)) < 45


async def test_a_thread_can_be_locked_and_is_not_when_all_is_cleared(
    ws: Workspace, client: Client
) -> None:
    general = ws.channel("general").id
    root = (await client.chat_postMessage(channel=general, text="root"))["ts"]
    other = (await client.chat_postMessage(channel=general, text="other"))["ts"]
    ws.faults.lock_thread(root)
    reply = client.chat_postMessage(channel=general, text="x", thread_ts=root)
    assert await error_of(reply) == "restricted_action_thread_locked"
    await client.chat_postMessage(channel=general, text="x", thread_ts=other)
    ws.faults.clear()
    await client.chat_postMessage(channel=general, text="x", thread_ts=root)


async def test_a_reply_to_a_deleted_message_can_go_into_the_channel(
    ws: Workspace, client: Client
) -> None:
    general = ws.channel("general").id
    root = (await client.chat_postMessage(channel=general, text="root"))["ts"]
    await client.chat_delete(channel=general, ts=root)
    reply = {"channel": general, "text": "lost", "thread_ts": root}
    assert await error_of(client.chat_postMessage(**reply)) == "thread_not_found"
    ws.faults.lost_replies_in_channel = True
    await client.chat_postMessage(**reply)
    (message,) = ws.messages("general")
    assert (message["text"], "thread_ts" in message) == ("lost", False)
