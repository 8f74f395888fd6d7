"""Reading channels and belonging to them."""

from slack_on_loopback.workspace import Workspace
from tests.bots import Client, error_of

METADATA = {"event_type": "x", "event_payload": {"key": "k"}}


async def test_a_private_channel_without_the_bot_does_not_exist(
    ws: Workspace, client: Client
) -> None:
    secret = ws.channel("security-review").id
    assert await error_of(client.conversations_info(channel=secret)) == "channel_not_found"
    await ws.channel_action("dana", "invite", channel="security-review", member="echo")
    assert (await client.conversations_info(channel=secret))["channel"]["is_private"]


async def test_members_come_page_by_page_999_at_once(ws: Workspace, client: Client) -> None:
    channel, members, cursor = ws.channel("general").id, list[str](), ""
    for _ in range(3):
        page = await client.conversations_members(channel=channel, limit=2, cursor=cursor)
        members += page["members"]
        cursor = page["response_metadata"]["next_cursor"]
    assert members == ws.channel("general").members
    assert cursor == ""
    whole = await client.conversations_members(channel=channel, limit=999)
    assert whole["members"] == members


async def test_history_is_newest_first_without_replies(ws: Workspace, client: Client) -> None:
    root = await ws.say("dana", "general", "one")
    await ws.say("alex", "general", "reply", thread_ts=root["ts"])
    await ws.say("dana", "general", "two")
    history = await client.conversations_history(channel=ws.channel("general").id)
    assert [message["text"] for message in history["messages"]] == ["two", "one"]
    assert not history["has_more"]


async def test_history_can_be_limited_in_time_and_number(ws: Workspace, client: Client) -> None:
    times = [(await ws.say("dana", "general", str(n)))["ts"] for n in range(4)]
    channel = ws.channel("general").id
    after = await client.conversations_history(channel=channel, oldest=times[1])
    assert [message["text"] for message in after["messages"]] == ["3", "2"]
    exact = await client.conversations_history(
        channel=channel, oldest=times[1], latest=times[1], inclusive=True, limit=1
    )
    assert [message["text"] for message in exact["messages"]] == ["1"]
    first = await client.conversations_history(channel=channel, limit=3)
    assert first["has_more"]
    cursor = first["response_metadata"]["next_cursor"]
    rest = await client.conversations_history(channel=channel, limit=3, cursor=cursor)
    assert [message["text"] for message in rest["messages"]] == ["0"]


async def test_metadata_is_shown_only_when_asked_for(ws: Workspace, client: Client) -> None:
    channel = ws.channel("general").id
    root = (await client.chat_postMessage(channel=channel, text="r", metadata=METADATA))["ts"]
    await client.chat_postMessage(channel=channel, text="a", thread_ts=root, metadata=METADATA)
    plain = await client.conversations_replies(channel=channel, ts=root)
    full = await client.conversations_replies(channel=channel, ts=root, include_all_metadata=True)
    assert ["metadata" in message for message in plain["messages"]] == [False, False]
    assert [message["metadata"] for message in full["messages"]] == [METADATA, METADATA]
    history = await client.conversations_history(channel=channel, include_all_metadata=True)
    assert history["messages"][0]["metadata"] == METADATA


async def test_replies_come_with_their_root_page_by_page(ws: Workspace, client: Client) -> None:
    root = (await ws.say("dana", "general", "root"))["ts"]
    for n in range(3):
        await ws.say("alex", "general", str(n), thread_ts=root)
    channel = ws.channel("general").id
    first = await client.conversations_replies(channel=channel, ts=root, limit=2)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await client.conversations_replies(channel=channel, ts=root, limit=2, cursor=cursor)
    texts = [message["text"] for message in [*first["messages"], *rest["messages"]]]
    assert texts == ["root", "0", "1", "2"]


async def test_channels_are_those_shared_with_the_bot(ws: Workspace, client: Client) -> None:
    everywhere = {"user": ws.user("dana").id, "types": "public_channel,private_channel"}
    for arguments in ({}, everywhere, {"limit": 999}):
        channels = (await client.users_conversations(**arguments))["channels"]
        assert {channel["name"] for channel in channels} == {"general", "architecture"}


async def test_who_is_deactivated_is_in_no_channel(ws: Workspace, client: Client) -> None:
    alex = ws.user("alex").id
    assert not (await client.users_info(user=alex))["user"]["deleted"]
    await ws.deactivate("alex")
    assert (await client.users_info(user=alex))["user"]["deleted"]
    members = await client.conversations_members(channel=ws.channel("general").id)
    assert alex not in members["members"]
