"""A message as views build it, and the blocks they are built of, within Slack's limits (pure)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.slack.blocks import Block, verbatim
from bot.slack.limits import CONTEXT_ELEMENTS, HEADER_TEXT, SECTION_TEXT
from bot.slack.mrkdwn import bare, mrkdwn, split
from bot.views.words import icon, title
from core.debate.agents import Agent

#: Characters of text in one post. Screen readers read the top-level text, so it carries all of
#: it, and Slack advises at most 4,000 there.
PAGE_LIMIT = 3500
#: Posts that one text becomes at most: it takes a second to send each.
MOST_PAGES = 20
_CONTEXT_LIMIT, _USERNAME_LIMIT = 1500, 80


@dataclass(frozen=True, kw_only=True)
class MessageView:
    """What is shown: blocks for the eye, text for notifications and screen readers."""

    text: str
    blocks: Sequence[Block]
    #: Shown instead of the app's name and picture.
    speaker: Agent | None = None

    @property
    def payload(self) -> dict[str, Any]:
        payload = {"text": self.text, "blocks": [dict(block) for block in self.blocks]}
        if self.speaker is None:
            return payload
        name = bare(title(self.speaker), _USERNAME_LIMIT)
        return {**payload, "username": name, "icon_emoji": icon(self.speaker)}


def header(words: str) -> Block:
    """A large line; words of ours only."""
    return {"text": {"text": words[:HEADER_TEXT], "type": "plain_text"}, "type": "header"}


def sections(text: str) -> list[Block]:
    """Safe mrkdwn as sections, shown in full: no "see more"."""
    return [
        {"expand": True, "text": verbatim(piece), "type": "section"}
        for piece in split(text, SECTION_TEXT)
    ]


def context(*lines: str) -> list[Block]:
    """Safe mrkdwn in small print; no block where nothing is said."""
    pieces = split("\n".join(filter(None, lines)), _CONTEXT_LIMIT)[:CONTEXT_ELEMENTS]
    if not pieces:
        return []
    return [{"elements": [verbatim(piece) for piece in pieces], "type": "context"}]


def notice(text: str) -> MessageView:
    """A message of one safe mrkdwn text."""
    return MessageView(text=text, blocks=sections(text))


def pages(text: str) -> list[str]:
    """A model's Markdown as safe mrkdwn, a post's worth in each piece."""
    return in_pages(mrkdwn(text))


def in_pages(text: str) -> list[str]:
    """Safe mrkdwn in pieces of one post; pieces above `MOST_PAGES` are only counted."""
    pieces = split(text, PAGE_LIMIT)
    if len(pieces) <= MOST_PAGES:
        return pieces
    rest = len(pieces) - MOST_PAGES + 1
    return [*pieces[: MOST_PAGES - 1], f"_… {rest} more posts are left out; the report has them._"]


def item_list(items: Iterable[str], limit: int, joint: str = "\n") -> str:
    """Return as many items as fit into the limit, and say how many do not."""
    fitting, size = list[str](), 0
    whole = list(items)
    for item in whole:
        size += len(item) + len(joint)
        if size > limit:
            return joint.join([*fitting, f"… and {len(whole) - len(fitting)} more"])
        fitting.append(item)
    return joint.join(fitting)
