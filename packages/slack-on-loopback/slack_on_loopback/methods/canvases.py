"""canvases.*, and a channel's own canvas.

Source: the reference of each method at https://docs.slack.dev/reference/methods?family=canvases
"""

from slack_on_loopback import access, canvases
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, as_object, child, objects, text_at
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.schema import problem
from slack_on_loopback.state import Canvas

#: Characters of Markdown that a canvas takes.
_MOST_CHARACTERS = 1_048_576
_MOST_NAMED = 20
_HEADINGS = {"h1": ("#",), "h2": ("##",), "h3": ("###",), "any_header": ("#", "##", "###")}


def create(runtime: Runtime, call: ApiCall) -> Json:
    """canvases.create: where a channel is named, a tab in it that its members may write in."""
    made = _content(call.args.structure("document_content"), "canvas_creation_failed")
    wanted = call.args.text("channel_id")
    channel = access.visible_channel(runtime, call.app, wanted) if wanted else None
    if channel:
        access.require_open(channel)
    found = canvases.create(runtime, call.app.bot_user, call.args.text("title"), made)
    if channel:
        canvases.share(runtime, found, channel, "write")
    return {"canvas_id": found.id}


def create_of_channel(runtime: Runtime, call: ApiCall) -> Json:
    """conversations.canvases.create: the one canvas that a channel has of its own."""
    channel = access.visible_channel(runtime, call.app, call.args.required("channel_id"))
    if any(one.own_channel == channel.id for one in runtime.state.canvases.values()):
        raise SlackRefusal("channel_canvas_already_exists")
    access.require_open(channel)
    made = _content(call.args.structure("document_content"), "channel_canvas_creation_failed")
    found = canvases.create(runtime, call.app.bot_user, call.args.text("title"), made)
    found.own_channel = channel.id
    canvases.share(runtime, found, channel, "write")
    return {"canvas_id": found.id}


def edit(runtime: Runtime, call: ApiCall) -> Json:
    """canvases.edit: one change at a call."""
    found = _existing(runtime, call)
    changes = objects(call.args.structure("changes"))
    if len(changes) != 1:
        words = "no more than 1 items allowed" if changes else "missing required field: changes"
        raise SlackRefusal("invalid_arguments", [problem("/changes", words)])
    if not canvases.may_write(runtime, found, call.app.bot_user):
        raise SlackRefusal("restricted_action")
    [change] = changes
    operation, section = text_at(change, "operation"), text_at(change, "section_id")
    if operation not in canvases.OPERATIONS:
        words = f"must be one of: {', '.join(canvases.OPERATIONS)}"
        raise SlackRefusal("invalid_arguments", [problem("/changes/0/operation", words)])
    if section and section not in {one.id for one in found.sections}:
        detail = f"Section {section} does not exist"
        raise SlackRefusal("canvas_editing_failed", detail=detail)
    if operation in canvases.NEED_SECTION and not section:
        words = "missing required field: section_id"
        raise SlackRefusal("invalid_arguments", [problem("/changes/0/section_id", words)])
    if operation == "rename":
        content = child(change, "title_content")
        canvases.rename(runtime, found, text_at(content, "markdown"))
        return {}
    markdown = ""
    if operation != "delete":
        markdown = _content(change.get("document_content"), "canvas_editing_failed")
        kept = len(found.markdown) if section or operation != "replace" else 0
        if kept + len(markdown) > _MOST_CHARACTERS:
            raise SlackRefusal("canvas_editing_failed", detail="The canvas would be too large")
    canvases.change(runtime, found, operation, section_id=section, markdown=markdown)
    return {}


def delete(runtime: Runtime, call: ApiCall) -> Json:
    """canvases.delete."""
    found = _own(runtime, call)
    canvases.delete(runtime, found)
    return {}


def set_access(runtime: Runtime, call: ApiCall) -> Json:
    """canvases.access.set: of the members of channels, or of people."""
    found, level = _own(runtime, call), call.args.required("access_level")
    channels, people = call.args.names("channel_ids"), call.args.names("user_ids")
    if bool(channels) == bool(people) or len(channels or people) > _MOST_NAMED:
        raise SlackRefusal("invalid_parameters")
    if level not in {"read", "write", "owner"} or (level == "owner" and channels):
        words = "must be one of: read, write" if channels else "must be one of: read, write, owner"
        raise SlackRefusal("invalid_arguments", [problem("/access_level", words)])
    shared = [access.visible_channel(runtime, call.app, one) for one in channels]
    if any(one.is_im for one in shared):
        raise SlackRefusal("channel_not_found")
    for channel in shared:
        canvases.share(runtime, found, channel, level)
    for person in [access.known_user(runtime, one) for one in people]:
        if level == "owner":
            found.owner = person.id
        else:
            found.people[person.id] = level
    runtime.changed()
    return {}


def look_up_sections(runtime: Runtime, call: ApiCall) -> Json:
    """canvases.sections.lookup."""
    found, criteria = _existing(runtime, call), as_object(call.args.structure("criteria")) or {}
    types = [str(one) for one in as_list(criteria.get("section_types")) or ()]
    text = text_at(criteria, "contains_text")
    if not (types or text) or not set(types) <= _HEADINGS.keys():
        words = "needs section_types (h1, h2, h3, any_header) or contains_text"
        raise SlackRefusal("invalid_arguments", [problem("/criteria", words)])
    marks = {mark for one in types for mark in _HEADINGS[one]}
    return {
        "sections": [
            {"id": one.id}
            for one in found.sections
            if (not marks or one.markdown.partition(" ")[0] in marks)
            and text.casefold() in one.markdown.casefold()
        ]
    }


def _content(given: object, code: str) -> str:
    """The Markdown of `document_content`; none where none is given."""
    content = as_object(given)
    if content is None:
        return ""
    if content.get("type") != "markdown" or not isinstance(content.get("markdown"), str):
        words = "must be an object of the type markdown"
        raise SlackRefusal("invalid_arguments", [problem("/document_content", words)])
    markdown = text_at(content, "markdown")
    if len(markdown) > _MOST_CHARACTERS:
        raise SlackRefusal(code, detail="The markdown is too long")
    return markdown


def _existing(runtime: Runtime, call: ApiCall) -> Canvas:
    found = runtime.state.canvases.get(call.args.required("canvas_id"))
    if found is None or not canvases.may_read(runtime, found, call.app.bot_user):
        raise SlackRefusal("canvas_not_found")
    return found


def _own(runtime: Runtime, call: ApiCall) -> Canvas:
    found = _existing(runtime, call)
    if found.owner != call.app.bot_user:
        raise SlackRefusal("restricted_action")
    return found


METHODS: Methods = {
    "canvases.create": Method(create, ("canvases:write",), tier=2),
    "canvases.edit": Method(edit, ("canvases:write",), tier=3),
    "canvases.delete": Method(delete, ("canvases:write",), tier=3),
    "canvases.access.set": Method(set_access, ("canvases:write",), tier=3),
    "canvases.sections.lookup": Method(look_up_sections, ("canvases:read",), tier=3),
    "conversations.canvases.create": Method(create_of_channel, ("canvases:write",), tier=2),
}
