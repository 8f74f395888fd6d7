"""Answers to commands and clicks: the acknowledgement's message and response_url posts.

Source: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from slack_on_loopback import posting
from slack_on_loopback.blocks import block_problems, with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy, objects, present, text_at
from slack_on_loopback.methods.chat import apply_changes, profile
from slack_on_loopback.rules import check_metadata, cut_text
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.triggers import ResponseUrl


def respond(runtime: Runtime, url: ResponseUrl, body: Json) -> None:
    """Do what an answer says: a new message, a replacement, or a deletion.

    Raises:
        SlackRefusal: no_text, invalid_blocks, message_not_found.
    """
    if body.get("delete_original"):
        _delete_original(runtime, url)
        return
    content = _content(runtime, body)
    if body.get("replace_original") and url.source_ts:
        _replace_original(runtime, url, content)
    else:
        _post(runtime, url, body, content)


def has_message(body: Json) -> bool:
    """Whether an acknowledgement carries a message."""
    return bool(body.get("text") or body.get("blocks") or body.get("attachments"))


def _content(runtime: Runtime, body: Json) -> Json:
    blocks = body.get("blocks")
    problems = block_problems(blocks, "message") if blocks else []
    if problems:
        raise SlackRefusal("invalid_blocks", problems)
    if not has_message(body):
        raise SlackRefusal("no_text")
    metadata = check_metadata(body["metadata"]) if body.get("metadata") else None
    return present(
        text=cut_text(text_at(body, "text"))[0],
        blocks=with_ids(objects(blocks), runtime.state.new_id("b")) if blocks else None,
        attachments=objects(body.get("attachments")) or None,
        metadata=metadata,
    )


def _post(runtime: Runtime, url: ResponseUrl, body: Json, content: Json) -> None:
    app = runtime.state.apps[url.app_id]
    channel = runtime.state.channels[url.channel]
    message: Json = {
        "user": app.bot_user,
        "bot_id": app.bot_id,
        "app_id": app.id,
        "bot_profile": profile(runtime, app),
        **content,
    }
    thread_ts = text_at(body, "thread_ts")
    if thread_ts:
        message["thread_ts"] = posting.thread_root(channel, thread_ts)["ts"]
    if body.get("response_type") == "in_channel":
        posting.post(runtime, channel, message)
    else:
        posting.post_ephemeral(runtime, channel, message, url.user)


def _replace_original(runtime: Runtime, url: ResponseUrl, content: Json) -> None:
    changes: Json = {"blocks": [], **content}
    if not url.source_ephemeral:
        channel = runtime.state.channels[url.channel]
        source = posting.find(channel, url.source_ts)
        posting.change(
            runtime, channel, source["ts"], lambda stored: apply_changes(stored, changes)
        )
        return
    stored = _ephemeral(runtime, url)
    apply_changes(stored, changes)
    runtime.feed.tell_user(url.user, {"type": "message_changed", "message": copy(stored)})
    runtime.notify_change()


def _delete_original(runtime: Runtime, url: ResponseUrl) -> None:
    if not url.source_ephemeral:
        channel = runtime.state.channels[url.channel]
        posting.delete(runtime, channel, posting.find(channel, url.source_ts)["ts"])
        return
    stored = _ephemeral(runtime, url)
    runtime.ephemeral.remove(stored)
    event = {"type": "message_deleted", "channel": url.channel, "ts": stored["ts"]}
    runtime.feed.tell_user(url.user, event)
    runtime.notify_change()


def _ephemeral(runtime: Runtime, url: ResponseUrl) -> Json:
    for message in runtime.ephemeral:
        if message["ts"] == url.source_ts and message["viewer"] == url.user:
            return message
    raise SlackRefusal("message_not_found")
