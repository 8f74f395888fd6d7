"""Actions of people on messages and channels, for the page and for tests."""

from slack_on_loopback import channels, posting
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.rules import as_typed
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, StoredFile, User
from slack_on_loopback.stored_files import new_file, share_files

WORDS = {
    "channel_not_found": "There is no such channel.",
    "message_not_found": "This message is not there any more.",
    "thread_not_found": "This thread is not there any more.",
    "is_archived": "This channel is archived.",
    "not_in_channel": "You are not a member of this channel.",
    "messages_tab_read_only": "This app takes no direct messages.",
    "file_not_found": "This file did not arrive.",
    "user_not_found": "There is no such person.",
}


def for_people(refusal: SlackRefusal) -> PersonRefusal:
    """Return a refusal with a message for people."""
    return PersonRefusal(refusal.code, WORDS.get(refusal.code, refusal.code.replace("_", " ")))


def visible(runtime: Runtime, user: User, name: str) -> Channel:
    """Return a channel that a person may see."""
    channel = runtime.state.channel(name)
    if not channel.sees(user.id):
        raise SlackRefusal("channel_not_found")
    return channel


def joined_channel(runtime: Runtime, user: User, name: str) -> Channel:
    """Return a channel that a person may write in."""
    channel = visible(runtime, user, name)
    if user.id not in channel.members:
        raise SlackRefusal("not_in_channel")
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    app = runtime.app
    if channel.is_im and app.messages_read_only and app.bot_user in channel.members:
        raise SlackRefusal("messages_tab_read_only")
    return channel


def say(
    runtime: Runtime,
    user: User,
    channel: Channel,
    text: str,
    *,
    thread_ts: str = "",
    files: list[StoredFile] | None = None,
) -> Json:
    """Write a message or a reply, with or without files."""
    message: Json = {
        "user": user.id,
        "text": as_typed(text, runtime.state.names()),
        "team": user.home or runtime.state.team_id,
        "client_msg_id": runtime.state.new_id("M"),
    }
    if thread_ts:
        message["thread_ts"] = posting.thread_root(channel, thread_ts)["ts"]
    if files:
        shared = share_files(runtime, channel, files)
        message |= {"subtype": "file_share", "files": shared, "upload": True}
    return posting.post(runtime, channel, message)


def upload(runtime: Runtime, user: User, name: str, content: bytes) -> StoredFile:
    """Store a file of a person."""
    stored = new_file(runtime, name, user.id, len(content))
    stored.content, stored.uploaded = content, True
    return stored


def edit(runtime: Runtime, user: User, channel: Channel, ts: str, *, text: str) -> Json:
    """Edit the person's own message."""
    _check_own(user, channel, ts, "cant_update_message")
    typed = as_typed(text, runtime.state.names())

    def change(stored: Json) -> None:
        stored["text"] = typed
        stored["edited"] = {"user": user.id, "ts": runtime.new_ts()}

    return posting.change(runtime, channel, ts, change)


def delete(runtime: Runtime, user: User, channel: Channel, ts: str) -> None:
    """Delete the person's own message."""
    _check_own(user, channel, ts, "cant_delete_message")
    posting.delete(runtime, channel, ts)


def _check_own(user: User, channel: Channel, ts: str, refusal: str) -> None:
    if posting.find(channel, ts).get("user") != user.id:
        raise SlackRefusal(refusal)


def change_channel(runtime: Runtime, user: User, change: Json) -> Channel:
    """Create or archive a channel, join it, invite somebody …, as `Workspace.channel_action` says.

    Raises:
        SlackRefusal: the error code of Slack.
        PersonRefusal: unknown_action.
    """
    action = str(change.get("action", ""))
    if action == "create":
        name, private = str(change.get("name") or ""), bool(change.get("is_private"))
        return channels.create(runtime, name, user, private=private)
    channel = visible(runtime, user, str(change.get("channel", "")))
    if action in {"archive", "unarchive"}:
        archived = action == "archive"
        channels.set_archived(runtime, channel, user.id, archived=archived)
        return channel
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if action == "invite":
        member = runtime.state.user(str(change.get("member", "")))
        channels.join(runtime, channel, member, inviter=user.id)
    elif action == "kick":
        channels.leave(runtime, channel, runtime.state.user(str(change.get("member", ""))))
    elif action == "join":
        channels.join(runtime, channel, user)
    elif action == "leave":
        channels.leave(runtime, channel, user)
    else:
        raise PersonRefusal("unknown_action", f"Not something to do with a channel: {action}")
    return channel
