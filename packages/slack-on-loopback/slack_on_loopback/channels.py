"""Channels: members, creation, archiving."""

from slack_on_loopback import events, posting
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, present
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
        partner = next((member for member in channel.members if member != viewer), viewer)
        return {**base, "user": partner, "is_user_deleted": False, "priority": 0}
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
    }


def page_channels(runtime: Runtime, viewer: str) -> list[Json]:
    """Return the channels a viewer may see, as the page shows them."""
    return [
        {
            "id": channel.id,
            "name": channel.name,
            "is_private": channel.is_private,
            "is_im": channel.is_im,
            "is_archived": channel.is_archived,
            "is_member": viewer in channel.members,
            "members": list(channel.members),
            "topic": channel.topic,
        }
        for channel in runtime.state.channels.values()
        if channel.sees(viewer)
    ]


def join(runtime: Runtime, channel: Channel, user: User, inviter: str | None = None) -> None:
    """Make a user a member, unless they are one."""
    if user.id in channel.members:
        return
    channel.members.append(user.id)
    text = f"<@{user.id}> has joined the channel"
    notice = present(subtype="channel_join", user=user.id, text=text, inviter=inviter)
    posting.post(runtime, channel, notice)
    joined = present(
        type="member_joined_channel",
        user=user.id,
        channel=channel.id,
        channel_type="G" if channel.is_private else "C",
        team=runtime.state.team_id,
        inviter=inviter,
        event_ts=runtime.new_ts(),
    )
    events.emit(runtime, joined, channel)
    tell_channels(runtime)


def leave(runtime: Runtime, channel: Channel, user: User) -> None:
    """End a membership, if there is one."""
    if user.id not in channel.members:
        return
    channel.members.remove(user.id)
    text = f"<@{user.id}> has left the channel"
    posting.post(runtime, channel, {"subtype": "channel_leave", "user": user.id, "text": text})
    tell_channels(runtime)


def create(runtime: Runtime, name: str, creator: User, *, private: bool) -> Channel:
    check_channel_name(name)
    if any(channel.name == name for channel in runtime.state.channels.values()):
        raise SlackRefusal("name_taken")
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


def set_archived(runtime: Runtime, channel: Channel, user: str, *, archived: bool) -> None:
    """Archive a channel, or bring it back."""
    if channel.is_archived == archived:
        raise SlackRefusal("already_archived" if archived else "not_archived")
    channel.is_archived = archived
    tell_channels(runtime)
    family = "group" if channel.is_private else "channel"
    kind = f"{family}_archive" if archived else f"{family}_unarchive"
    event = {"type": kind, "channel": channel.id, "user": user, "event_ts": runtime.new_ts()}
    events.emit(runtime, event, channel)


def direct(runtime: Runtime, user: User, partner: User) -> Channel:
    """Return the direct conversation of two users; create it if necessary."""
    for channel in runtime.state.channels.values():
        if channel.is_im and set(channel.members) == {user.id, partner.id}:
            return channel
    channel = Channel(
        id=runtime.state.new_id("D"),
        name=f"{user.name}-{partner.name}",
        is_im=True,
        is_private=True,
        creator=user.id,
        created=int(runtime.now()),
        members=[user.id, partner.id],
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
