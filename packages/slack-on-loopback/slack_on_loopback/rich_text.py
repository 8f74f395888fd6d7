"""The rich_text block and its elements: shapes and limits (pure)."""

from collections.abc import Iterator
from typing import Any

from slack_on_loopback.checks import (
    Check,
    anything,
    choice,
    flag,
    many,
    shape,
    string,
    tagged,
    whole,
)
from slack_on_loopback.elements import IDENTIFIER, URL

_STYLE = shape(
    {},
    dict.fromkeys(
        (
            "bold",
            "italic",
            "strike",
            "code",
            "underline",
            "highlight",
            "client_highlight",
            "unlink",
        ),
        flag,
    ),
)


def _leaf(name: str, **fields: Check) -> Check:
    optional = {"style": _STYLE, "unsafe": flag, "text": string(40_000, 0), "skin_tone": anything}
    kept = {key: check for key, check in optional.items() if key not in fields}
    return shape({"type": choice(name), **fields}, kept)


_LEAVES: dict[str, Check] = {
    "text": _leaf("text", text=string(40_000)),
    "link": _leaf("link", url=URL),
    "emoji": shape(
        {"type": choice("emoji"), "name": string(100)},
        {"unicode": string(100), "skin_tone": anything, "style": _STYLE, "url": URL},
    ),
    "user": _leaf("user", user_id=IDENTIFIER),
    "team": _leaf("team", team_id=IDENTIFIER),
    "channel": _leaf("channel", channel_id=IDENTIFIER),
    "usergroup": _leaf("usergroup", usergroup_id=IDENTIFIER),
    "broadcast": _leaf("broadcast", range=choice("here", "channel", "everyone")),
    "color": _leaf("color", value=string(20)),
    "date": shape(
        {"type": choice("date"), "timestamp": anything},
        {"format": string(255), "url": URL, "fallback": string(255), "style": _STYLE},
    ),
}
_INLINE = many(tagged(_LEAVES, "rich text element"), 1000, 0)
_SECTION = shape({"type": choice("rich_text_section"), "elements": _INLINE})


def _list_items(value: Any, path: str) -> Iterator[str]:
    yield from tagged({"rich_text_section": _SECTION}, "rich_text_list element")(value, path)


_PARTS: dict[str, Check] = {
    "rich_text_section": _SECTION,
    "rich_text_quote": shape(
        {"type": choice("rich_text_quote"), "elements": _INLINE}, {"border": whole(0, 1)}
    ),
    "rich_text_preformatted": shape(
        {"type": choice("rich_text_preformatted"), "elements": _INLINE},
        {"border": whole(0, 1), "language": string(50)},
    ),
    "rich_text_list": shape(
        {
            "type": choice("rich_text_list"),
            "style": choice("bullet", "ordered"),
            "elements": many(_list_items, 1000),
        },
        {"indent": whole(0, 8), "offset": whole(0, 100_000), "border": whole(0, 1)},
    ),
}
RICH_TEXT = shape(
    {
        "type": choice("rich_text"),
        "elements": many(tagged(_PARTS, "rich_text element"), 1000, 0),
    },
    {"block_id": IDENTIFIER},
)
