"""Answers to commands and clicks: the acknowledgement's message and response_url posts.

Source: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from slack_on_loopback import posting
from slack_on_loopback.blocks import block_problems, with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy, objects, present, text_at
from slack_on_loopback.methods.chat import apply_changes, profile
from slack_on_loopback.rules import check_metadata, cut_text
from slack_on_loopback.runtime import Desk
from slack_on_loopback.triggers import ResponseUrl


def respond(desk: Desk, place: ResponseUrl, body: Json) -> None:
    """Do what an answer says: a new message, a replacement, or a deletion.

    Raises:
        SlackRefusal: no_text, invalid_blocks, message_not_found.
    """
    if body.get("delete_original"):
        _delete_original(desk, place)
        return
    content = _content(desk, body)
    if body.get("replace_original") and place.source_ts:
        _replace_original(desk, place, content)
    else:
        _post(desk, place, body, content)


def has_message(body: Json) -> bool:
    """Whether an acknowledgement carries a message."""
    return bool(body.get("text") or body.get("blocks") or body.get("attachments"))


def _content(desk: Desk, body: Json) -> Json:
    blocks = body.get("blocks")
    problems = block_problems(blocks, "message") if blocks else []
    if problems:
        raise SlackRefusal("invalid_blocks", problems)
    if not has_message(body):
        raise SlackRefusal("no_text")
    metadata = check_metadata(body["metadata"]) if body.get("metadata") else None
    return present(
        text=cut_text(text_at(body, "text"))[0],
        blocks=with_ids(objects(blocks), desk.world.new_id("b")) if blocks else None,
        attachments=objects(body.get("attachments")) or None,
        metadata=metadata,
    )


def _post(desk: Desk, place: ResponseUrl, body: Json, content: Json) -> None:
    app = desk.world.apps[place.app_id]
    channel = desk.world.channels[place.channel]
    message: Json = {
        "user": app.bot_user,
        "bot_id": app.bot_id,
        "app_id": app.id,
        "bot_profile": profile(desk, app),
        **content,
    }
    thread_ts = text_at(body, "thread_ts")
    if thread_ts:
        message["thread_ts"] = posting.thread_root(channel, thread_ts)["ts"]
    if body.get("response_type") == "in_channel":
        posting.place(desk, channel, message)
    else:
        posting.place_ephemeral(desk, channel, message, place.user)


def _replace_original(desk: Desk, place: ResponseUrl, content: Json) -> None:
    changes: Json = {"blocks": [], **content}
    if not place.source_ephemeral:
        channel = desk.world.channels[place.channel]
        source = posting.find(channel, place.source_ts)
        posting.change(desk, channel, source["ts"], lambda stored: apply_changes(stored, changes))
        return
    stored = _ephemeral(desk, place)
    apply_changes(stored, changes)
    desk.feed.tell_user(place.user, {"type": "message_changed", "message": copy(stored)})
    desk.changed()


def _delete_original(desk: Desk, place: ResponseUrl) -> None:
    if not place.source_ephemeral:
        channel = desk.world.channels[place.channel]
        posting.delete(desk, channel, posting.find(channel, place.source_ts)["ts"])
        return
    stored = _ephemeral(desk, place)
    desk.ephemeral.remove(stored)
    gone = {"type": "message_deleted", "channel": place.channel, "ts": stored["ts"]}
    desk.feed.tell_user(place.user, gone)
    desk.changed()


def _ephemeral(desk: Desk, place: ResponseUrl) -> Json:
    for message in desk.ephemeral:
        if message["ts"] == place.source_ts and message["viewer"] == place.user:
            return message
    raise SlackRefusal("message_not_found")
