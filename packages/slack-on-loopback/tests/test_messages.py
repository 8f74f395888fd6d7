"""Posting, editing, deleting, threads, pins, reactions, files."""

import warnings
from typing import Any

import aiohttp
import pytest

from slack_on_loopback.workspace import Workspace
from tests.bots import Client, error_of, manifest_of, text_section


@pytest.fixture
def general(ws: Workspace) -> str:
    return ws.channel("general").id


async def post(client: Client, channel: str, text: str = "hi", **more: Any) -> str:
    return (await client.chat_postMessage(channel=channel, text=text, **more))["ts"]


async def test_a_post_is_by_the_bot_and_may_name_its_channel(ws: Workspace, client: Client) -> None:
    ts = await post(client, "#general")
    message = ws.messages("general")[0]
    assert (message["ts"], message["user"]) == (ts, ws.app.bot_user)
    assert message["bot_id"] == ws.app.bot_id
    assert "subtype" not in message


async def test_a_custom_name_makes_a_bot_message(
    ws: Workspace, client: Client, general: str
) -> None:
    alert = {"title": "Disk full", "fallback": "Disk full on db7"}
    await post(client, general, "", username="Ann", icon_emoji=":eyes:", attachments=[alert])
    message = ws.messages("general")[0]
    assert message["subtype"] == "bot_message"
    assert message["username"] == "Ann"
    assert message["icons"] == {"emoji": ":eyes:"}
    assert "user" not in message
    assert message["attachments"] == [alert]


@pytest.mark.workspace(manifest=manifest_of(without={"chat:write.customize"}))
async def test_a_custom_name_needs_its_scope(client: Client, general: str) -> None:
    for name in ("username", "icon_emoji"):
        call = client.chat_postMessage(channel=general, text="x", **{name: "y"})
        assert await error_of(call) == "missing_scope"


@pytest.mark.workspace(manifest=manifest_of(scopes={"chat:write.public"}))
async def test_a_scope_opens_public_channels_for_posts_only(ws: Workspace, client: Client) -> None:
    channel = ws.channel("random").id
    ts = await post(client, channel)
    assert await error_of(client.pins_add(channel=channel, timestamp=ts)) == "not_in_channel"
    assert await error_of(client.conversations_history(channel=channel)) == "not_in_channel"


async def test_long_text_and_blocks_without_text_bring_warnings(
    ws: Workspace, client: Client, general: str
) -> None:
    answer = await client.chat_postMessage(channel=general, text="x" * 40_001)
    assert answer["warning"] == "message_truncated"
    assert len(ws.messages("general")[0]["text"]) == 40_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the SDK warns too
        answer = await client.chat_postMessage(channel=general, blocks=[text_section()])
    assert answer["warning"] == "missing_text"
    assert answer["response_metadata"]["warnings"] == ["missing_text"]


async def test_an_update_with_text_alone_takes_the_blocks_away(
    ws: Workspace, client: Client, general: str
) -> None:
    metadata = {"event_type": "x", "event_payload": {"key": "k"}}
    ts = await post(client, general, blocks=[text_section()], metadata=metadata)
    await client.chat_update(channel=general, ts=ts, text="new")
    message = ws.messages("general")[0]
    assert message["text"] == "new"
    assert "blocks" not in message
    assert message["edited"]["user"] == ws.app.bot_user
    assert message["metadata"] == metadata
    await client.chat_update(channel=general, ts=ts, text="new", metadata={})
    assert "metadata" not in ws.messages("general")[0]


async def test_an_update_with_blocks_shows_no_edited_mark(
    ws: Workspace, client: Client, general: str
) -> None:
    ts = await post(client, general, username="Ann")
    await client.chat_update(channel=general, ts=ts, text="new", blocks=[text_section("new")])
    message = ws.messages("general")[0]
    assert "edited" not in message
    assert message["username"] == "Ann"


async def test_a_reply_counts_at_its_root(ws: Workspace, client: Client, general: str) -> None:
    root = await post(client, general)
    reply = await post(client, general, "more", thread_ts=root)
    message = ws.messages("general")[0]
    assert (message["reply_count"], message["latest_reply"]) == (1, reply)
    assert [message["ts"] for message in ws.thread("general", root)] == [root, reply]
    assert len(ws.messages("general")) == 1


async def test_a_deleted_root_leaves_a_tombstone_and_a_deleted_reply_is_not_counted(
    ws: Workspace, client: Client, general: str
) -> None:
    root = await post(client, general)
    reply = await post(client, general, thread_ts=root)
    await client.chat_delete(channel=general, ts=reply)
    assert not {"reply_count", "thread_ts"} & ws.messages("general")[0].keys()
    await post(client, general, thread_ts=root)
    await client.chat_delete(channel=general, ts=root)
    assert ws.messages("general")[0]["subtype"] == "tombstone"
    pinned = await post(client, general)
    await client.pins_add(channel=general, timestamp=pinned)
    await client.chat_delete(channel=general, ts=pinned)
    assert ws.pins("general") == []


async def test_an_ephemeral_message_is_for_one_member(
    ws: Workspace, client: Client, general: str
) -> None:
    dana = ws.user("dana").id
    await client.chat_postEphemeral(channel=general, user=dana, text="psst")
    assert ws.ephemeral("dana", "general")[0]["text"] == "psst"
    assert ws.ephemeral("alex") == []
    assert ws.messages("general") == []
    await ws.channel_action("sam", "leave", channel="general")
    outside = client.chat_postEphemeral(channel=general, user=ws.user("sam").id, text="psst")
    assert await error_of(outside) == "user_not_in_channel"


async def test_a_permalink_opens_the_page(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    root = await ws.say("dana", "general", "one")
    reply = await ws.say("dana", "general", "two", thread_ts=root["ts"])
    other = await ws.say("dana", "general", "three")
    for message, place in ((reply, f"/{root['ts']}"), (other, f"?m={other['ts']}")):
        where = {"channel": message["channel"], "message_ts": message["ts"]}
        link = (await client.chat_getPermalink(**where))["permalink"]
        async with http.get(link, allow_redirects=False) as answer:
            assert answer.headers["Location"] == f"/#/{message['channel']}{place}"
    async with http.get(f"{ws.url}archives/{root['channel']}/p1000000") as answer:
        assert answer.status == 404


async def test_a_channel_has_room_for_100_pins(ws: Workspace, client: Client, general: str) -> None:
    ws.fill_pins("general")
    assert len(ws.pins("general")) == 100
    ts = await post(client, general)
    assert await error_of(client.pins_add(channel=general, timestamp=ts)) == "too_many_pins"


async def test_a_reaction_is_counted(ws: Workspace, client: Client, general: str) -> None:
    ts = (await ws.say("dana", "general", "note"))["ts"]
    await client.reactions_add(channel=general, timestamp=ts, name="eyes")
    assert ws.messages("general")[0]["reactions"] == [
        {"name": "eyes", "users": [ws.app.bot_user], "count": 1}
    ]


async def test_a_file_is_uploaded_in_three_steps(
    ws: Workspace, client: Client, http: aiohttp.ClientSession, general: str
) -> None:
    root = await post(client, general)
    await client.files_upload_v2(
        channel=general,
        thread_ts=root,
        filename="decision.md",
        content="# Decision\n",
        title="Decision",
        initial_comment="The report",
    )
    shared = ws.thread("general", root)[1]
    assert (shared["subtype"], shared["text"]) == ("file_share", "The report")
    file = shared["files"][0]
    assert (file["title"], file["size"]) == ("Decision", 11)
    assert file["preview"] == "# Decision\n"
    async with http.get(file["permalink"]) as answer:
        assert await answer.read() == b"# Decision\n"


async def test_a_file_is_uploaded_once_before_it_can_be_shared(
    ws: Workspace, client: Client, http: aiohttp.ClientSession, general: str
) -> None:
    begun = await client.files_getUploadURLExternal(filename="a.md", length=3)
    files = [{"id": begun["file_id"], "title": "a"}]
    share = client.files_completeUploadExternal(files=files, channel_id=general)
    assert await error_of(share) == "file_not_found"
    for status in (200, 404):
        async with http.post(begun["upload_url"], data=b"abc") as answer:
            assert answer.status == status
    assert ws.file(begun["file_id"]) == b"abc"
    ts = await post(client, general)
    await client.chat_update(channel=general, ts=ts, text="with it", file_ids=[begun["file_id"]])
    assert ws.messages("general")[0]["files"][0]["channels"] == [general]


async def test_an_app_reads_a_file_that_it_may_see_with_its_token(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    root = await ws.say("dana", "general", "look")
    shared = await ws.share_file("dana", "general", "a b.md", b"# a", thread_ts=root["ts"])
    hidden = await ws.share_file("dana", "security-review", "b.md", b"# b")
    (file,), (secret,) = shared["files"], hidden["files"]
    assert ws.thread("general", root["ts"])[1]["files"] == [file]
    assert (file["channels"], secret["groups"]) == ([shared["channel"]], [hidden["channel"]])
    assert (await client.files_info(file=file["id"]))["file"]["preview"] == "# a"
    assert await error_of(client.files_info(file=secret["id"])) == "file_not_found"

    async def get(url: str, token: str = ws.bot_token) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}"}
        async with http.get(url, headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.read() if answer.status == 200 else b""

    assert await get(file["url_private"]) == (200, b"# a")
    assert await get(file["url_private_download"]) == (200, b"# a")
    assert await get(file["url_private"], "xoxb-else") == (302, b"")
    assert await get(secret["url_private"]) == (302, b"")
    ws.app.scopes.remove("files:read")
    assert await get(file["url_private"]) == (302, b"")
