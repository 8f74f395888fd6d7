"""What the Web API refuses, and with which error: a table over one workspace."""

from typing import Any

from slack_on_loopback.workspace import Workspace
from tests.bots import Client, actions, button, error_of

LOST = "1.000000"
POSTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"markdown_text": "b"}, "invalid_arguments"),
    ({"attachments": "no"}, "invalid_attachments"),
    ({"blocks": "{"}, "invalid_blocks_format"),
    ({"blocks": [{"type": "nothing"}]}, "invalid_blocks"),
    ({"metadata": "text"}, "invalid_metadata_format"),
    ({"thread_ts": LOST}, "thread_not_found"),
    ({"thread_ts": "REPLY"}, "cannot_reply_to_message"),
)
EDITS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"ts": "OWN"}, "no_text"),
    ({"ts": "OWN", "text": " "}, "no_text"),
    ({"ts": "OWN", "blocks": []}, "no_text"),
    ({"ts": "OWN", "text": "x" * 4001}, "msg_too_long"),
    ({"ts": "DANAS", "text": "x"}, "cant_update_message"),
    ({"ts": LOST, "text": "x"}, "message_not_found"),
)
#: Method, arguments, error. Names of channels, people and messages stand for their ids.
TABLE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("chat.sing", {}, "unknown_method"),
    ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
    ("chat.postMessage", {"channel": "GENERAL", "text": " "}, "no_text"),
    ("chat.postMessage", {"channel": "RANDOM", "text": "x"}, "not_in_channel"),
    ("chat.postMessage", {"channel": "SECRET", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "C404", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "ARCHIVED", "text": "x"}, "is_archived"),
    *(
        ("chat.postMessage", {"channel": "GENERAL", "text": "x", **more}, error)
        for more, error in POSTS
    ),
    *(("chat.update", {"channel": "GENERAL", **edit}, error) for edit, error in EDITS),
    ("chat.delete", {"channel": "GENERAL", "ts": "DANAS"}, "cant_delete_message"),
    ("pins.add", {"channel": "GENERAL", "timestamp": "OWN"}, "already_pinned"),
    ("pins.add", {"channel": "GENERAL", "timestamp": LOST}, "message_not_found"),
    ("pins.add", {"channel": "GENERAL"}, "no_item_specified"),
    ("pins.remove", {"channel": "GENERAL", "timestamp": "DANAS"}, "no_pin"),
    (
        "reactions.add",
        {"channel": "GENERAL", "timestamp": "OWN", "name": "eyes"},
        "already_reacted",
    ),
    (
        "reactions.add",
        {"channel": "GENERAL", "timestamp": "OWN", "name": "no_such_emoji"},
        "invalid_name",
    ),
    *(
        ("files.getUploadURLExternal", {"filename": "a", "length": length}, "invalid_arguments")
        for length in ("0", "-1", "many")
    ),
    ("conversations.info", {"channel": "general"}, "channel_not_found"),
    ("conversations.info", {"channel": "SECRET"}, "channel_not_found"),
    ("conversations.history", {"channel": "SECRET"}, "channel_not_found"),
    ("conversations.history", {"channel": "GENERAL", "oldest": "x"}, "invalid_ts_oldest"),
    ("conversations.history", {"channel": "GENERAL", "latest": "x"}, "invalid_ts_latest"),
    ("conversations.replies", {"channel": "GENERAL", "ts": LOST}, "thread_not_found"),
    ("users.conversations", {"types": "planets"}, "invalid_types"),
    *(
        ("conversations.members", {"channel": "GENERAL", "cursor": cursor}, "invalid_cursor")
        for cursor in ("nonsense", "bmV4dDp4", "!!")
    ),
    *(
        ("conversations.members", {"channel": "GENERAL", "limit": limit}, "invalid_limit")
        for limit in ("0", "x", "1000", "1001")
    ),
    ("users.conversations", {"limit": "1000"}, "invalid_limit"),
    ("views.open", {"trigger_id": "1", "view": "{"}, "invalid_arguments"),
    ("users.info", {"user": "dana"}, "user_not_found"),
    ("users.info", {"user": "U404"}, "user_not_found"),
    ("apps.connections.open", {}, "not_allowed_token_type"),
)


async def test_a_call_that_slack_refuses_has_slacks_error(ws: Workspace, client: Client) -> None:
    general = ws.channel("general").id

    async def post(**more: Any) -> str:
        return (await client.chat_postMessage(channel=general, text="x", **more))["ts"]

    own = await post(blocks=[actions(button())])
    names = {
        "GENERAL": general,
        "RANDOM": ws.channel("random").id,
        "SECRET": ws.channel("security-review").id,
        "ARCHIVED": ws.channel("architecture").id,
        "OWN": own,
        "REPLY": await post(thread_ts=own),
        "DANAS": (await ws.say("dana", "general", "mine"))["ts"],
    }
    await client.pins_add(channel=general, timestamp=own)
    await client.reactions_add(channel=general, timestamp=own, name="eyes")
    ws.archive("architecture")
    before = ws.messages("general")
    for method, arguments, error in TABLE:
        filled = {
            key: names.get(value, value) if isinstance(value, str) else value
            for key, value in arguments.items()
        }
        way = "json" if method.startswith(("chat", "pins", "react")) else "params"
        call = client.api_call(method, **{way: filled})
        assert await error_of(call) == error, (method, arguments)
    assert ws.messages("general") == before
