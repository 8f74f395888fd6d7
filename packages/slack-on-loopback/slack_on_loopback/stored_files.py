"""Files: upload, access, and Slack's file objects."""

import mimetypes
from collections.abc import Sequence
from urllib.parse import quote

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, StoredFile

_PREVIEW = 2000


def new_file(runtime: Runtime, name: str, user: str, length: int) -> StoredFile:
    """Return a new file that waits for its content."""
    unknown = "text/markdown" if name.endswith(".md") else "application/octet-stream"
    stored = StoredFile(
        id=runtime.state.new_id("F"),
        name=name,
        title=name,
        mimetype=mimetypes.guess_type(name)[0] or unknown,
        user=user,
        created=int(runtime.now()),
        length=length,
    )
    runtime.state.files[stored.id] = stored
    return stored


def file_object(runtime: Runtime, stored: StoredFile) -> Json:
    """Return Slack's file object."""
    name = quote(stored.name, safe="")
    private = f"{runtime.base_url}/files-pri/{stored.id}"
    places = {family: list[str]() for family in ("channels", "groups", "ims")}
    for channel_id in stored.channels:
        channel = runtime.state.channels[channel_id]
        family = "ims" if channel.is_im else "groups" if channel.is_private else "channels"
        places[family].append(channel_id)
    fields: Json = {
        "id": stored.id,
        "created": stored.created,
        "timestamp": stored.created,
        "name": stored.name,
        "title": stored.title,
        "mimetype": stored.mimetype,
        "filetype": stored.name.rsplit(".", 1)[-1] if "." in stored.name else "text",
        "user": stored.user,
        "size": stored.length,
        "mode": "hosted",
        "is_external": False,
        "is_public": bool(places["channels"]),
        "url_private": f"{private}/{name}",
        "url_private_download": f"{private}/download/{name}",
        "permalink": f"{runtime.base_url}/files/{stored.user}/{stored.id}/{name}",
        **places,
    }
    if stored.mimetype.startswith("text/") or stored.mimetype == "application/json":
        fields["preview"] = stored.content[:_PREVIEW].decode("utf-8", "replace")
    return fields


def own_file(runtime: Runtime, user: str, file_id: str) -> StoredFile:
    """Return a file that somebody has uploaded."""
    stored = runtime.state.files.get(file_id)
    if stored is None or stored.user != user or not stored.uploaded:
        raise SlackRefusal("file_not_found")
    return stored


def share_files(runtime: Runtime, channel: Channel, files: Sequence[StoredFile]) -> list[Json]:
    """Share files in a channel; return their objects for a message."""
    for stored in files:
        stored.channels.append(channel.id)
    return [file_object(runtime, stored) for stored in files]


def may_see(runtime: Runtime, stored: StoredFile) -> bool:
    """Whether the app may see a file: its own, or one shared in a channel that it can read."""
    bot_user = runtime.app.bot_user
    shared = (runtime.state.channels[channel] for channel in stored.channels)
    return stored.user == bot_user or any(channel.sees(bot_user) for channel in shared)
