"""files.*: the upload in three steps.

Source: https://docs.slack.dev/messaging/working-with-files
"""

import mimetypes
from urllib.parse import quote

from slack_on_loopback import access, posting
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, objects, text_at
from slack_on_loopback.methods.chat import author
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import StoredFile

_PREVIEW = 2000


def begin_upload(runtime: Runtime, call: ApiCall) -> Json:
    """files.getUploadURLExternal."""
    name = call.args.required("filename")
    length = call.args.required("length")
    if not length.isdigit() or int(length) == 0:
        raise SlackRefusal("invalid_arguments", ["[ERROR] length must be a positive integer"])
    stored = new_file(runtime, name, call.app.bot_user, int(length))
    return {"upload_url": f"{runtime.base_url}/upload/{stored.id}", "file_id": stored.id}


def complete_upload(runtime: Runtime, call: ApiCall) -> Json:
    """files.completeUploadExternal: shares the files in a channel when one is named."""
    wanted = objects(call.args.structure("files"))
    if not wanted:
        raise SlackRefusal("invalid_arguments", ["[ERROR] missing required field: files"])
    found = [_uploaded(runtime, call, item) for item in wanted]
    channel_name = call.args.text("channel_id") or call.args.text("channels")
    if channel_name:
        _share(runtime, call, found, channel_name)
    return {"files": [file_object(runtime, stored) for stored in found]}


def file_info(runtime: Runtime, call: ApiCall) -> Json:
    """files.info."""
    stored = runtime.state.files.get(call.args.required("file"))
    if stored is None or not may_see(runtime, call.app.bot_user, stored):
        raise SlackRefusal("file_not_found")
    return {"file": file_object(runtime, stored)}


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
    shown: Json = {
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
        shown["preview"] = stored.content[:_PREVIEW].decode("utf-8", "replace")
    return shown


def _uploaded(runtime: Runtime, call: ApiCall, item: Json) -> StoredFile:
    stored = runtime.state.files.get(text_at(item, "id"))
    if stored is None or stored.user != call.app.bot_user or not stored.uploaded:
        raise SlackRefusal("file_not_found")
    stored.title = text_at(item, "title") or stored.name
    return stored


def _share(runtime: Runtime, call: ApiCall, found: list[StoredFile], channel_name: str) -> None:
    channel = access.postable_channel(runtime, call.app, channel_name)
    access.require_member(call.app, channel)
    message: Json = {**author(runtime, call), "text": call.args.text("initial_comment")}
    message["subtype"] = "file_share"
    if call.args.has("thread_ts"):
        message["thread_ts"] = posting.thread_root(channel, call.args.text("thread_ts"))["ts"]
    for stored in found:
        stored.channels.append(channel.id)
    message["files"] = [file_object(runtime, stored) for stored in found]
    message["upload"] = True
    posting.post(runtime, channel, message)


def may_see(runtime: Runtime, bot_user: str, stored: StoredFile) -> bool:
    """Return whether an app may see a file: its own, or one shared where its bot sees messages."""
    shared = (runtime.state.channels[channel] for channel in stored.channels)
    return stored.user == bot_user or any(channel.sees(bot_user) for channel in shared)


METHODS: Methods = {
    "files.getUploadURLExternal": Method(begin_upload, ("files:write",), tier=4),
    "files.completeUploadExternal": Method(complete_upload, ("files:write",), tier=4),
    "files.info": Method(file_info, ("files:read",), tier=4),
}
