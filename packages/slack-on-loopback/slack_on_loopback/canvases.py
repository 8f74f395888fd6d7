"""Canvases: documents of sections, who may read and write them, and in which tabs they are."""

import re
from collections.abc import Sequence
from typing import Final

from slack_on_loopback.channels import tell_channels
from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Canvas, CanvasSection, Channel

NEED_SECTION: Final = ("insert_after", "insert_before", "delete")
OPERATIONS: Final = (*NEED_SECTION, "insert_at_start", "insert_at_end", "replace", "rename")
_UNTITLED = "Untitled"
_BETWEEN = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"#{1,3} ")


def create(runtime: Runtime, owner: str, title: str, markdown: str) -> Canvas:
    """Make a canvas that only its owner may see."""
    made = Canvas(
        id=runtime.state.new_id("F"),
        title=title or _UNTITLED,
        owner=owner,
        created=int(runtime.now()),
    )
    made.sections = _sections(runtime, markdown)
    runtime.state.canvases[made.id] = made
    runtime.changed()
    return made


def share(runtime: Runtime, canvas: Canvas, channel: Channel, level: str) -> None:
    """Let the members of a channel read it, or write in it as well."""
    canvas.channels[channel.id] = level
    tell_channels(runtime)


def rename(runtime: Runtime, canvas: Canvas, title: str) -> None:
    """Give it another title."""
    canvas.title = title or _UNTITLED
    tell_channels(runtime)


def change(
    runtime: Runtime, canvas: Canvas, operation: str, *, section_id: str, markdown: str
) -> None:
    """Apply one of `OPERATIONS`; without a section `replace` is about the whole document."""
    new, here = _sections(runtime, markdown), canvas.sections
    at = next((i for i, one in enumerate(here) if one.id == section_id), 0)
    match operation:
        case "insert_at_start":
            canvas.sections = [*new, *here]
        case "insert_at_end":
            canvas.sections = [*here, *new]
        case "insert_before":
            canvas.sections = [*here[:at], *new, *here[at:]]
        case "insert_after":
            canvas.sections = [*here[: at + 1], *new, *here[at + 1 :]]
        case "delete":
            canvas.sections = [*here[:at], *here[at + 1 :]]
        case _:
            canvas.sections = [*here[:at], *new, *here[at + 1 :]] if section_id else new
    tell_channels(runtime)


def delete(runtime: Runtime, canvas: Canvas) -> None:
    """Delete it for good."""
    del runtime.state.canvases[canvas.id]
    tell_channels(runtime)


def may_read(runtime: Runtime, canvas: Canvas, user: str) -> bool:
    """Whether somebody may see it."""
    shared = (runtime.state.channels[channel] for channel in canvas.channels)
    return user == canvas.owner or user in canvas.people or any(one.sees(user) for one in shared)


def may_write(runtime: Runtime, canvas: Canvas, user: str) -> bool:
    """Whether somebody may change what is in it."""
    writing = [channel for channel, level in canvas.channels.items() if level == "write"]
    return (
        user == canvas.owner
        or canvas.people.get(user) == "write"
        or any(user in runtime.state.channels[channel].members for channel in writing)
    )


def tabs(runtime: Runtime, channel: Channel) -> Sequence[Canvas]:
    """The canvases that are tabs of a channel, oldest first."""
    return [one for one in runtime.state.canvases.values() if channel.id in one.channels]


def properties(runtime: Runtime, channel: Channel) -> Json:
    """What a conversation object says of its canvases; empty where there are none."""
    there = tabs(runtime, channel)
    found: Json = {
        "tabs": [
            {
                "id": f"Ct{one.id[1:]}",
                "label": one.title,
                "type": "canvas",
                "data": {"file_id": one.id, "shared_ts": ""},
            }
            for one in there
        ]
    }
    for one in there:
        if one.own_channel == channel.id:
            found["canvas"] = {"file_id": one.id, "is_empty": not one.sections}
    return {"properties": found} if there else {}


def file_object(runtime: Runtime, canvas: Canvas) -> Json:
    """Return what `files.info` says of a canvas."""
    return {
        "id": canvas.id,
        "created": canvas.created,
        "timestamp": canvas.created,
        "name": canvas.title,
        "title": canvas.title,
        "mimetype": "application/vnd.slack-docs",
        "filetype": "quip",
        "mode": "quip",
        "user": canvas.owner,
        "size": len(canvas.markdown.encode()),
        "is_external": False,
        "permalink": f"{runtime.base_url}/docs/{runtime.state.team_id}/{canvas.id}",
        "channels": list(canvas.channels),
    }


def _sections(runtime: Runtime, markdown: str) -> list[CanvasSection]:
    parts = list[str]()
    for block in _BETWEEN.split(markdown.strip()):
        lines = block.split("\n")
        while lines and _HEADING.match(lines[0]):
            parts.append(lines.pop(0))
        if rest := "\n".join(lines).strip("\n"):
            parts.append(rest)
    made = (part for part in parts if part.strip())
    return [CanvasSection(id=f"temp:C:{runtime.state.new_id('')}", markdown=one) for one in made]
