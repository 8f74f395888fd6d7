"""chat.*: posting, editing, deleting.

Source: https://docs.slack.dev/reference/methods/chat.postMessage
"""

from slack_on_loopback import access, channels, posting, rules, stored_files
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.blocks import with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, copy, objects, present, without
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.schema import problem
from slack_on_loopback.state import App, Channel, is_reply

_CUSTOM = ("username", "icon_emoji", "icon_url")


def post_message(runtime: Runtime, call: ApiCall) -> Json:
    """chat.postMessage."""
    channel = _target(runtime, call)
    message = draft(runtime, call)
    _fit_thread(runtime, channel, call, message)
    runtime.charge(call.app.id, f"post:{channel.id}", runtime.config.pace.posting())
    stored = posting.post(runtime, channel, {**author(runtime, call), **message})
    fields = without(stored, ("channel",))
    return {"channel": channel.id, "ts": stored["ts"], "message": fields}


def post_ephemeral(runtime: Runtime, call: ApiCall) -> Json:
    """chat.postEphemeral."""
    channel = access.postable_channel(runtime, call.app, call.args.required("channel"))
    viewer = access.known_user(runtime, call.args.required("user"))
    if viewer.id not in channel.members:
        raise SlackRefusal("user_not_in_channel")
    message = {**author(runtime, call), **draft(runtime, call)}
    if call.args.has("thread_ts"):
        message["thread_ts"] = posting.thread_root(channel, call.args.text("thread_ts"))["ts"]
    stored = posting.post_ephemeral(runtime, channel, message, viewer.id)
    return {"message_ts": stored["ts"]}


def update(runtime: Runtime, call: ApiCall) -> Json:
    """chat.update."""
    channel, message = _own(runtime, call, "cant_update_message")
    access.require_open(channel)
    changes = _changes(runtime, call)
    _check_rich_text(message, changes)
    if call.args.has("file_ids"):
        bot, file_ids = call.app.bot_user, call.args.names("file_ids")
        own = [stored_files.own_file(runtime, bot, file_id) for file_id in file_ids]
        changes["files"] = stored_files.share_files(runtime, channel, own)

    def edit(stored: Json) -> None:
        apply_changes(stored, changes)
        if "blocks" not in stored:
            stored["edited"] = {
                "user": call.app.bot_user,
                "ts": runtime.state.new_ts(runtime.now()),
            }

    stored = posting.change(runtime, channel, message["ts"], edit)
    text = stored.get("text", "")
    fields = without(stored, ("channel",))
    return {"channel": channel.id, "ts": stored["ts"], "text": text, "message": fields}


def delete(runtime: Runtime, call: ApiCall) -> Json:
    """chat.delete."""
    channel, message = _own(runtime, call, "cant_delete_message")
    posting.delete(runtime, channel, message["ts"])
    return {"channel": channel.id, "ts": message["ts"]}


def permalink(runtime: Runtime, call: ApiCall) -> Json:
    """chat.getPermalink; the link opens this workspace's page."""
    channel = access.visible_channel(runtime, call.app, call.args.required("channel"))
    message = posting.find(channel, call.args.required("message_ts"))
    link = f"{runtime.base_url}/archives/{channel.id}/p{message['ts'].replace('.', '')}"
    if is_reply(message):
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def draft(runtime: Runtime, call: ApiCall) -> Json:
    """Return the content of a new message: text, blocks, attachments, metadata.

    Raises:
        SlackRefusal: no_text, invalid_blocks, msg_blocks_too_long, invalid_metadata_….
    """
    args = call.args
    if args.has("markdown_text") and (args.has("text") or args.has("blocks")):
        raise SlackRefusal("markdown_text_conflict")
    text, was_cut = rules.cut_text(args.text("markdown_text") or args.text("text"))
    if was_cut:
        call.warnings.append("message_truncated")
    blocks = _blocks(runtime, call)
    attachments = _attachments(call)
    if not (text.strip() or blocks or attachments):
        raise SlackRefusal("no_text")
    metadata = rules.check_metadata(args.structure("metadata")) if args.has("metadata") else None
    named = with_ids(blocks, runtime.state.new_id("b")) if blocks else None
    return present(text=text, blocks=named, attachments=attachments or None, metadata=metadata)


def author(runtime: Runtime, call: ApiCall) -> Json:
    """Return who a message of an app is by; a custom name or icon needs chat:write.customize."""
    app, args = call.app, call.args
    base = {"bot_id": app.bot_id, "app_id": app.id, "team": runtime.state.team_id}
    if not any(args.text(name) for name in _CUSTOM):
        return {**base, "user": app.bot_user, "bot_profile": profile(runtime, app)}
    access.need_scope(app, "chat:write.customize")
    icons = present(emoji=args.text("icon_emoji") or None, image_48=args.text("icon_url") or None)
    name = args.text("username") or runtime.state.users[app.bot_user].real_name
    return {
        **base,
        "subtype": "bot_message",
        "username": name,
        **({"icons": icons} if icons else {}),
    }


def profile(runtime: Runtime, app: App) -> Json:
    """Return the `bot_profile` of an app's messages."""
    return {
        "id": app.bot_id,
        "app_id": app.id,
        "user_id": app.bot_user,
        "name": app.name,
        "deleted": app.revoked,
        "team_id": runtime.state.team_id,
    }


def apply_changes(stored: Json, changes: Json) -> None:
    """Edit a message as chat.update does: text alone takes the blocks away."""
    stored["text"] = changes["text"]
    for key in ("blocks", "attachments", "metadata", "files"):
        if key not in changes:
            continue
        if changes[key]:
            stored[key] = copy({key: changes[key]})[key]
        else:
            stored.pop(key, None)


def _changes(runtime: Runtime, call: ApiCall) -> Json:
    args = call.args
    if not any(args.has(name) for name in ("text", "markdown_text", "blocks", "attachments")):
        raise SlackRefusal("no_text")
    text = args.text("markdown_text") or args.text("text")
    if len(text) > rules.UPDATE_TEXT:
        raise SlackRefusal("msg_too_long")
    changes: Json = {"text": text, "blocks": with_ids(_blocks(runtime, call), "u")}
    if args.has("attachments"):
        changes["attachments"] = _attachments(call)
    if args.has("metadata"):
        changes["metadata"] = rules.check_metadata(args.structure("metadata"))
    if not (text.strip() or changes["blocks"] or changes.get("attachments")):
        raise SlackRefusal("no_text")
    return changes


def _blocks(runtime: Runtime, call: ApiCall) -> list[Json]:
    if not call.args.has("blocks"):
        return []
    blocks = rules.check_message_blocks(call.args.structure("blocks"))
    refused = runtime.faults.refused_blocks
    if faults := [
        problem(f"/blocks/{place}", f"unsupported type: {block['type']}")
        for place, block in enumerate(blocks)
        if block["type"] in refused
    ]:
        named = runtime.faults.names_refused_blocks
        raise SlackRefusal("invalid_blocks", faults if named else [])
    if blocks and not (call.args.text("text") or call.args.text("markdown_text")):
        call.warnings.append("missing_text")
    return blocks


def _attachments(call: ApiCall) -> list[Json]:
    if not call.args.has("attachments"):
        return []
    items = as_list(call.args.structure("attachments"))
    if items is None:
        raise SlackRefusal("invalid_attachments")
    for attachment in objects(items):
        if "blocks" in attachment:
            rules.check_message_blocks(attachment["blocks"])
    return objects(items)


def _target(runtime: Runtime, call: ApiCall) -> Channel:
    name = call.args.required("channel")
    if name.startswith("U") and name in runtime.state.users:
        bot = runtime.state.users[call.app.bot_user]
        name = channels.direct(runtime, bot, runtime.state.users[name]).id
    if name not in runtime.state.channels:
        name = runtime.state.channel(name).id  # chat.postMessage alone takes names
    return access.postable_channel(runtime, call.app, name)


def _fit_thread(runtime: Runtime, channel: Channel, call: ApiCall, message: Json) -> None:
    ts, faults = call.args.text("thread_ts"), runtime.faults
    if ts in faults.locked_threads:
        raise SlackRefusal("restricted_action_thread_locked")
    if not ts or (faults.lost_replies_in_channel and ts not in channel.messages):
        return
    message["thread_ts"] = posting.thread_root(channel, ts)["ts"]
    if call.args.flag("reply_broadcast"):
        message["subtype"] = "thread_broadcast"


def _check_rich_text(stored: Json, changes: Json) -> None:
    """A message of rich text must stay one."""
    before, after = objects(stored.get("blocks")), objects(changes["blocks"])
    if after and _is_rich(before) and not _is_rich(after):
        raise SlackRefusal("block_mismatch")


def _is_rich(blocks: list[Json]) -> bool:
    return any(block.get("type") == "rich_text" for block in blocks)


def _own(runtime: Runtime, call: ApiCall, refusal: str) -> tuple[Channel, Json]:
    channel = access.visible_channel(runtime, call.app, call.args.required("channel"))
    message = posting.find(channel, call.args.required("ts"))
    if message.get("app_id") != call.app.id or message.get("subtype") == "tombstone":
        raise SlackRefusal(refusal)
    return channel, message


METHODS: Methods = {
    "chat.postMessage": Method(post_message, ("chat:write",), tier=None),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",), tier=4),
    "chat.update": Method(update, ("chat:write",), tier=3),
    "chat.delete": Method(delete, ("chat:write",), tier=3),
    "chat.getPermalink": Method(permalink, tier=None),
}
