"""Marks every post of a debate that was written by hand as an example (pure)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.queue.rows import NewPost
from bot.views.message import context
from bot.views.words import EXAMPLE_NOTE, is_example
from core.models import Debate


def marked(debate: Debate, post: NewPost) -> NewPost:
    """Return the post, with the note that it is an example where the debate is one."""
    return replace(post, payload=marked_content(debate, post.payload))


def marked_content(debate: Debate, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is shown, with the note that it is an example where the debate is one.

    The note is in the blocks, for the eye, and in the text, for notifications and screen readers.
    """
    if not is_example(debate) or "text" not in content:
        return content
    payload: dict[str, Any] = dict(content)
    if EXAMPLE_NOTE not in payload["text"]:
        payload["text"] = f"{payload['text']}\n{EXAMPLE_NOTE}"
    blocks: list[Mapping[str, Any]] = payload.get("blocks", [])
    if blocks and EXAMPLE_NOTE not in str(blocks):
        payload["blocks"] = [*blocks, *map(dict, context(EXAMPLE_NOTE))]
    return payload
