"""What people do with messages and channels; the same rules hold for the page and for tests."""

from slack_on_loopback import channels, events, posting
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.rules import as_typed
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel, StoredFile, User
from slack_on_loopback.stored_files import file_object, new_file

WORDS = {
    "channel_not_found": "There is no such channel.",
    "message_not_found": "This message is not there any more.",
    "thread_not_found": "This thread is not there any more.",
    "is_archived": "This channel is archived.",
    "not_in_channel": "You are not a member of this channel.",
    "messages_tab_read_only": "This app takes no direct messages.",
    "already_pinned": "This message is pinned already.",
    "too_many_pins": "This channel has 100 pins, which is the limit.",
    "already_reacted": "You reacted with this already.",
    "name_taken": "There is a channel of this name already.",
    "invalid_name_specials": "Channel names have small letters, digits, - and _ only.",
    "file_not_found": "This file did not arrive.",
    "user_not_found": "There is no such person.",
    "cant_archive_general": "The general channel cannot be archived.",
}


def for_people(refused: SlackRefusal) -> PersonRefusal:
    """Return a refusal with words for people."""
    return PersonRefusal(refused.code, WORDS.get(refused.code, refused.code.replace("_", " ")))


def visible(runtime: Runtime, user: User, name: str) -> Channel:
    """Return a channel that a person may see.

    Raises:
        SlackRefusal: channel_not_found.
    """
    channel = runtime.state.channel(name)
    if not channel.sees(user.id):
        raise SlackRefusal("channel_not_found")
    return channel


def joined_channel(runtime: Runtime, user: User, name: str) -> Channel:
    """Return a channel that a person may write in.

    Raises:
        SlackRefusal: channel_not_found, not_in_channel, is_archived, messages_tab_read_only.
    """
    channel = visible(runtime, user, name)
    if user.id not in channel.members:
        raise SlackRefusal("not_in_channel")
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if channel.is_im and any(
        _takes_no_messages(app, channel) for app in runtime.state.apps.values()
    ):
        raise SlackRefusal("messages_tab_read_only")
    return channel


def _takes_no_messages(app: App, channel: Channel) -> bool:
    return app.bot_user in channel.members and (app.messages_read_only or not app.messages_tab)


def say(runtime: Runtime, user: User, channel: Channel, text: str, *, thread_ts: str = "") -> Json:
    """Write a message, or a reply."""
    message: Json = {
        "user": user.id,
        "text": as_typed(text, runtime.state.names()),
        "team": user.home or runtime.state.team_id,
        "client_msg_id": runtime.state.new_id("M"),
    }
    if thread_ts:
        message["thread_ts"] = posting.thread_root(channel, thread_ts)["ts"]
    return posting.post(runtime, channel, message)


def attach(
    runtime: Runtime,
    user: User,
    channel: Channel,
    files: list[StoredFile],
    *,
    text: str,
    thread_ts: str = "",
) -> Json:
    """Share files in a channel or in a thread."""
    root = posting.thread_root(channel, thread_ts)["ts"] if thread_ts else ""
    for stored in files:
        stored.channels.append(channel.id)
    message: Json = {
        "subtype": "file_share",
        "user": user.id,
        "text": as_typed(text, runtime.state.names()),
        "files": [file_object(runtime, stored) for stored in files],
        "upload": True,
    }
    if root:
        message["thread_ts"] = root
    shared = posting.post(runtime, channel, message)
    for stored in files:
        events.emit_file(runtime, channel, stored, user.id)
    return shared


def upload(runtime: Runtime, user: User, name: str, content: bytes) -> StoredFile:
    """Store a file of a person."""
    stored = new_file(runtime, name, user.id, len(content))
    stored.content, stored.uploaded = content, True
    return stored


def uploaded_file(runtime: Runtime, user: User, file_id: str) -> StoredFile:
    """Return a file that a person has uploaded.

    Raises:
        SlackRefusal: file_not_found.
    """
    stored = runtime.state.files.get(file_id)
    if stored is None or stored.user != user.id:
        raise SlackRefusal("file_not_found")
    return stored


def edit(runtime: Runtime, user: User, channel: Channel, ts: str, *, text: str) -> Json:
    """Change one's own message.

    Raises:
        SlackRefusal: message_not_found, cant_update_message.
    """
    _own(user, channel, ts, "cant_update_message")
    typed = as_typed(text, runtime.state.names())

    def change(stored: Json) -> None:
        stored["text"] = typed
        stored["edited"] = {"user": user.id, "ts": runtime.state.new_ts(runtime.now())}

    return posting.change(runtime, channel, ts, change)


def delete(runtime: Runtime, user: User, channel: Channel, ts: str) -> None:
    """Delete one's own message.

    Raises:
        SlackRefusal: message_not_found, cant_delete_message.
    """
    _own(user, channel, ts, "cant_delete_message")
    posting.delete(runtime, channel, ts)


def change_channel(runtime: Runtime, user: User, change: Json) -> Channel:
    """Create, rename, archive, join … a channel, as `/page/api/channels` asks.

    Raises:
        SlackRefusal: what Slack would say.
        PersonRefusal: unknown_action.
    """
    action, name = str(change.get("action", "")), str(change.get("name") or "")
    if action == "create":
        return channels.create(runtime, name, user, private=bool(change.get("is_private")))
    channel = visible(runtime, user, str(change.get("channel", "")))
    if action in {"invite", "kick"}:
        member = runtime.state.user(str(change.get("member", "")))
        _membership(runtime, channel, member, by=user, action=action)
    elif action in {"join", "leave"}:
        _membership(runtime, channel, user, by=user, action=action)
    elif action == "rename":
        channels.rename(runtime, channel, name)
    elif action == "archive":
        channels.archive(runtime, channel, user.id)
    elif action == "unarchive":
        channels.unarchive(runtime, channel, user.id)
    else:
        raise PersonRefusal("unknown_action", f"Not something to do with a channel: {action}")
    return channel


def _membership(runtime: Runtime, channel: Channel, member: User, *, by: User, action: str) -> None:
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if action == "join" and channel.is_private:
        raise SlackRefusal("channel_not_found")
    if action == "invite":
        channels.join(runtime, channel, member, inviter=by.id)
    elif action == "join":
        channels.join(runtime, channel, member)
    else:
        channels.leave(runtime, channel, member)


def _own(user: User, channel: Channel, ts: str, refusal: str) -> None:
    if posting.find(channel, ts).get("user") != user.id:
        raise SlackRefusal(refusal)
