"""Channels: who is in them, and what happens to them; the same for apps and people."""

from slack_on_loopback import events, posting
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.rules import check_channel_name
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, User


def channel_object(channel: Channel, viewer: str) -> Json:
    """Return Slack's conversation object as one member of the workspace sees it."""
    base: Json = {
        "id": channel.id,
        "created": channel.created,
        "is_archived": channel.is_archived,
        "is_im": channel.is_im,
        "is_org_shared": False,
    }
    if channel.is_im:
        other = next((member for member in channel.members if member != viewer), viewer)
        return {**base, "user": other, "is_user_deleted": False, "priority": 0}
    return {
        **base,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not channel.is_private,
        "is_group": channel.is_private,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_general": channel.name == "general",
        "is_shared": False,
        "is_ext_shared": False,
        "is_member": viewer in channel.members,
        "creator": channel.creator,
        "topic": {"value": channel.topic, "creator": channel.creator, "last_set": channel.created},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "num_members": len(channel.members),
    }


def page_channel(channel: Channel, viewer: str) -> Json:
    """Return a channel as the page shows it."""
    return {
        "id": channel.id,
        "name": channel.name,
        "is_private": channel.is_private,
        "is_im": channel.is_im,
        "is_archived": channel.is_archived,
        "is_member": viewer in channel.members,
        "members": list(channel.members),
        "topic": channel.topic,
    }


def page_channels(runtime: Runtime, viewer: str) -> list[Json]:
    """Return the channels a viewer may see, as the page shows them."""
    return [
        page_channel(channel, viewer)
        for channel in runtime.state.channels.values()
        if channel.sees(viewer)
    ]


def join(runtime: Runtime, channel: Channel, user: User, inviter: str | None = None) -> bool:
    """Make a user a member; False when they were one already."""
    if user.id in channel.members:
        return False
    channel.members.append(user.id)
    notice: Json = {"subtype": "channel_join", "user": user.id}
    notice["text"] = f"<@{user.id}> has joined the channel"
    if inviter:
        notice["inviter"] = inviter
    posting.post(runtime, channel, notice)
    _membership(runtime, channel, "member_joined_channel", user, inviter=inviter)
    return True


def leave(runtime: Runtime, channel: Channel, user: User) -> bool:
    """End a membership; False when there was none."""
    if user.id not in channel.members:
        return False
    channel.members.remove(user.id)
    posting.post(
        runtime,
        channel,
        {"subtype": "channel_leave", "user": user.id, "text": f"<@{user.id}> has left the channel"},
    )
    _membership(runtime, channel, "member_left_channel", user)
    return True


def create(runtime: Runtime, name: str, creator: User, *, private: bool) -> Channel:
    """Create a channel with its creator in it.

    Raises:
        SlackRefusal: name_taken, invalid_name_….
    """
    _check_free(runtime, check_channel_name(name))
    channel = Channel(
        id=runtime.state.new_id("C"),
        name=name,
        is_private=private,
        creator=creator.id,
        created=int(runtime.now()),
        members=[creator.id],
    )
    runtime.state.channels[channel.id] = channel
    tell_channels(runtime)
    return channel


def rename(runtime: Runtime, channel: Channel, name: str) -> None:
    """Rename a channel.

    Raises:
        SlackRefusal: name_taken, invalid_name_….
    """
    _check_free(runtime, check_channel_name(name))
    channel.name = name
    tell_channels(runtime)
    kind = "group_rename" if channel.is_private else "channel_rename"
    renamed = {"id": channel.id, "name": name, "created": channel.created}
    events.emit(runtime, _stamped(runtime, {"type": kind, "channel": renamed}), channel)


def archive(runtime: Runtime, channel: Channel, user: str) -> None:
    """Archive a channel.

    Raises:
        SlackRefusal: already_archived, cant_archive_general.
    """
    if channel.is_archived:
        raise SlackRefusal("already_archived")
    if channel.name == "general":
        raise SlackRefusal("cant_archive_general")
    channel.is_archived = True
    _turned(runtime, channel, "archive", user)


def unarchive(runtime: Runtime, channel: Channel, user: str) -> None:
    """Bring a channel back.

    Raises:
        SlackRefusal: not_archived.
    """
    if not channel.is_archived:
        raise SlackRefusal("not_archived")
    channel.is_archived = False
    _turned(runtime, channel, "unarchive", user)


def direct(runtime: Runtime, user: User, other: User) -> Channel:
    """Return the direct conversation of two users, made when it is missing."""
    for channel in runtime.state.channels.values():
        if channel.is_im and set(channel.members) == {user.id, other.id}:
            return channel
    channel = Channel(
        id=runtime.state.new_id("D"),
        name=f"{user.name}-{other.name}",
        is_im=True,
        is_private=True,
        creator=user.id,
        created=int(runtime.now()),
        members=[user.id, other.id],
    )
    runtime.state.channels[channel.id] = channel
    tell_channels(runtime)
    return channel


def tell_channels(runtime: Runtime) -> None:
    """Send every page its list of channels."""
    runtime.feed.tell_each(
        lambda viewer: {"type": "channels", "channels": page_channels(runtime, viewer)}
    )
    runtime.notify_change()


def _check_free(runtime: Runtime, name: str) -> None:
    if any(channel.name == name for channel in runtime.state.channels.values()):
        raise SlackRefusal("name_taken")


def _membership(
    runtime: Runtime, channel: Channel, kind: str, user: User, *, inviter: str | None = None
) -> None:
    event: Json = {
        "type": kind,
        "user": user.id,
        "channel": channel.id,
        "channel_type": "G" if channel.is_private else "C",
        "team": runtime.state.team_id,
    }
    if inviter:
        event["inviter"] = inviter
    events.emit(runtime, _stamped(runtime, event), channel)
    tell_channels(runtime)


def _turned(runtime: Runtime, channel: Channel, verb: str, user: str) -> None:
    tell_channels(runtime)
    kind = f"group_{verb}" if channel.is_private else f"channel_{verb}"
    event = {"type": kind, "channel": channel.id, "user": user}
    events.emit(runtime, _stamped(runtime, event), channel)


def _stamped(runtime: Runtime, event: Json) -> Json:
    return {**event, "event_ts": runtime.state.new_ts(runtime.now())}
