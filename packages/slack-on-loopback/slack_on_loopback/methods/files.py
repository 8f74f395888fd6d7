"""files.*: the upload in three steps.

Source: https://docs.slack.dev/messaging/working-with-files
"""

from slack_on_loopback import access, posting
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, objects, text_at
from slack_on_loopback.methods.chat import author
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.stored_files import (
    file_object,
    may_see,
    new_file,
    own_file,
    share_files,
)


def begin_upload(runtime: Runtime, call: ApiCall) -> Json:
    """files.getUploadURLExternal."""
    name, length = call.required("filename"), call.required("length")
    if not length.isdigit() or int(length) == 0:
        raise SlackRefusal("invalid_arguments", ["[ERROR] length must be a positive integer"])
    stored = new_file(runtime, name, runtime.app.bot_user, int(length))
    return {"upload_url": f"{runtime.base_url}/upload/{stored.id}", "file_id": stored.id}


def complete_upload(runtime: Runtime, call: ApiCall) -> Json:
    """files.completeUploadExternal: shares the files in a channel when one is named."""
    items = objects(call.structure("files"))
    if not items:
        raise SlackRefusal("invalid_arguments", ["[ERROR] missing required field: files"])
    files = [own_file(runtime, runtime.app.bot_user, text_at(item, "id")) for item in items]
    for stored, item in zip(files, items, strict=True):
        stored.title = text_at(item, "title") or stored.name
    if call.has("channel_id"):
        channel = access.joined_channel(runtime, call.required("channel_id"))
        access.require_open(channel)
        message = {
            **author(runtime, call),
            "text": call.text("initial_comment"),
            "subtype": "file_share",
            "upload": True,
        }
        if call.has("thread_ts"):
            message["thread_ts"] = posting.thread_root(channel, call.text("thread_ts"))["ts"]
        message["files"] = share_files(runtime, channel, files)
        posting.post(runtime, channel, message)
    return {"files": [file_object(runtime, stored) for stored in files]}


def file_info(runtime: Runtime, call: ApiCall) -> Json:
    stored = runtime.state.files.get(call.required("file"))
    if stored is None or not may_see(runtime, stored):
        raise SlackRefusal("file_not_found")
    return {"file": file_object(runtime, stored)}


METHODS: Methods = {
    "files.getUploadURLExternal": Method(begin_upload, ("files:write",), tier=4),
    "files.completeUploadExternal": Method(complete_upload, ("files:write",), tier=4),
    "files.info": Method(file_info, ("files:read",), tier=4),
}
