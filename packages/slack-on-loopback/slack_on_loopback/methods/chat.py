"""chat.*: posting, editing, deleting.

Source: https://docs.slack.dev/reference/methods/chat.postMessage
"""

from slack_on_loopback import access, channels, posting, rules, stored_files
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.blocks import with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, copy, present, without
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.schema import problem
from slack_on_loopback.state import Channel, is_reply


def post_message(runtime: Runtime, call: ApiCall) -> Json:
    """chat.postMessage."""
    channel = _target(runtime, call)
    message = _draft(runtime, call)
    thread_ts, faults = call.text("thread_ts"), runtime.faults
    if thread_ts in faults.locked_threads:
        raise SlackRefusal("restricted_action_thread_locked")
    is_lost = thread_ts not in channel.messages and faults.lost_replies_in_channel
    if thread_ts and not is_lost:
        message["thread_ts"] = posting.thread_root(channel, thread_ts)["ts"]
        if call.flag("reply_broadcast"):
            message["subtype"] = "thread_broadcast"
    runtime.charge(f"post:{channel.id}", runtime.config.pace.posting())
    stored = posting.post(runtime, channel, message)
    return {"channel": channel.id, "ts": stored["ts"], "message": without(stored, ("channel",))}


def post_ephemeral(runtime: Runtime, call: ApiCall) -> Json:
    """chat.postEphemeral."""
    channel = access.postable_channel(runtime, call.required("channel"))
    viewer = access.known_user(runtime, call.required("user"))
    if viewer.id not in channel.members:
        raise SlackRefusal("user_not_in_channel")
    message = _draft(runtime, call)
    if call.has("thread_ts"):
        message["thread_ts"] = posting.thread_root(channel, call.text("thread_ts"))["ts"]
    return {"message_ts": posting.post_ephemeral(runtime, channel, message, viewer.id)["ts"]}


def update(runtime: Runtime, call: ApiCall) -> Json:
    channel, message = _own(runtime, call, "cant_update_message")
    access.require_open(channel)
    text = call.text("text")
    if len(text) > rules.UPDATE_TEXT:
        raise SlackRefusal("msg_too_long")
    changes: Json = {"text": text, "blocks": with_ids(_blocks(runtime, call), "u")}
    if call.has("metadata"):
        changes["metadata"] = rules.check_metadata(call.structure("metadata"))
    if not (text.strip() or changes["blocks"]):
        raise SlackRefusal("no_text")
    if call.has("file_ids"):
        own = [
            stored_files.own_file(runtime, runtime.app.bot_user, file_id)
            for file_id in call.names("file_ids")
        ]
        changes["files"] = stored_files.share_files(runtime, channel, own)

    def edit(stored: Json) -> None:
        apply_changes(stored, changes)
        if "blocks" not in stored:
            stored["edited"] = {"user": runtime.app.bot_user, "ts": runtime.new_ts()}

    stored = posting.change(runtime, channel, message["ts"], edit)
    fields = without(stored, ("channel",))
    return {"channel": channel.id, "ts": stored["ts"], "text": text, "message": fields}


def delete(runtime: Runtime, call: ApiCall) -> Json:
    channel, message = _own(runtime, call, "cant_delete_message")
    posting.delete(runtime, channel, message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


def permalink(runtime: Runtime, call: ApiCall) -> Json:
    """chat.getPermalink; the link opens this workspace's page."""
    channel = access.visible_channel(runtime, call.required("channel"))
    message = posting.find(channel, call.required("message_ts"))
    link = f"{runtime.base_url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"
    if is_reply(message):
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def by_app(runtime: Runtime) -> Json:
    """Return the fields that mark a message as the app's."""
    app = runtime.app
    profile = {
        "id": app.bot_id,
        "app_id": app.id,
        "user_id": app.bot_user,
        "name": app.name,
        "deleted": app.revoked,
        "team_id": runtime.state.team_id,
    }
    return {"user": app.bot_user, "bot_id": app.bot_id, "app_id": app.id, "bot_profile": profile}


def apply_changes(stored: Json, changes: Json) -> None:
    """Edit a message as chat.update does: text without blocks removes the blocks."""
    for key, value in copy(changes).items():
        if value or key == "text":
            stored[key] = value
        else:
            stored.pop(key, None)


def _draft(runtime: Runtime, call: ApiCall) -> Json:
    """Return a new message: author, text, blocks, attachments, metadata."""
    text, was_cut = rules.cut_text(call.text("text"))
    if was_cut:
        call.warnings.append("message_truncated")
    blocks = _blocks(runtime, call)
    attachments = as_list(call.structure("attachments"))
    if call.has("attachments") and attachments is None:
        raise SlackRefusal("invalid_attachments")
    if not (text.strip() or blocks or attachments):
        raise SlackRefusal("no_text")
    metadata = rules.check_metadata(call.structure("metadata")) if call.has("metadata") else None
    named = with_ids(blocks, runtime.state.new_id("b")) if blocks else None
    content = present(text=text, blocks=named, attachments=attachments, metadata=metadata)
    return {**author(runtime, call), **content}


def author(runtime: Runtime, call: ApiCall) -> Json:
    """Return the author fields; a custom name or icon needs chat:write.customize."""
    base = {**by_app(runtime), "team": runtime.state.team_id}
    icon, name = call.text("icon_emoji"), call.text("username")
    if not (icon or name):
        return base
    access.need_scope(runtime.app, "chat:write.customize")
    return {
        **without(base, ("user", "bot_profile")),
        "subtype": "bot_message",
        "username": name or runtime.state.users[runtime.app.bot_user].real_name,
        **({"icons": {"emoji": icon}} if icon else {}),
    }


def _blocks(runtime: Runtime, call: ApiCall) -> list[Json]:
    if not call.has("blocks"):
        return []
    blocks = rules.check_message_blocks(call.structure("blocks"))
    if unknown := [
        problem(f"/blocks/{place}", f"unsupported type: {block['type']}")
        for place, block in enumerate(blocks)
        if block["type"] in runtime.faults.refused_blocks
    ]:
        named = runtime.faults.names_refused_blocks
        raise SlackRefusal("invalid_blocks", unknown if named else [])
    if blocks and not call.text("text"):
        call.warnings.append("missing_text")
    return blocks


def _target(runtime: Runtime, call: ApiCall) -> Channel:
    name, state = call.required("channel"), runtime.state
    if name.startswith("U") and name in state.users:
        name = channels.direct(runtime, state.users[runtime.app.bot_user], state.users[name]).id
    if name not in state.channels:
        name = state.channel(name).id  # only chat.postMessage accepts names
    return access.postable_channel(runtime, name)


def _own(runtime: Runtime, call: ApiCall, refusal: str) -> tuple[Channel, Json]:
    channel = access.visible_channel(runtime, call.required("channel"))
    message = posting.find(channel, call.required("ts"))
    if message.get("app_id") != runtime.app.id or message.get("subtype") == "tombstone":
        raise SlackRefusal(refusal)
    return channel, message


METHODS: Methods = {
    "chat.postMessage": Method(post_message, ("chat:write",), tier=None),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",), tier=4),
    "chat.update": Method(update, ("chat:write",), tier=3),
    "chat.delete": Method(delete, ("chat:write",), tier=3),
    "chat.getPermalink": Method(permalink, tier=None),
}
