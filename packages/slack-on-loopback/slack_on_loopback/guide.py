"""A line of text and buttons at the top of every page, set by the program."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from slack_on_loopback.json_values import Json


@dataclass(frozen=True, kw_only=True)
class GuideButton:
    """A button of the line.

    Attributes:
        label: its text.
        shows: the message it scrolls to, as `channel` and `ts`, with the focus on the message's
            primary button, if it has one; None: no scrolling.
        types: text it writes into the channel's composer; empty: none.
        name: value for `Guide.pressed` when it is pressed; empty: none.
    """

    label: str
    shows: tuple[str, str] | None = None
    types: str = ""
    name: str = ""

    def as_json(self) -> Json:
        """Return it as the page gets it."""
        shows = self.shows and f"#/{self.shows[0]}?m={self.shows[1]}&button"
        return {"label": self.label, "shows": shows or "", "types": self.types, "name": self.name}


@dataclass(frozen=True, kw_only=True)
class GuideLine:
    """The line's text and target.

    Attributes:
        text: plain text.
        thread: a thread that pages on its channel open, as `channel` and `ts`.
        message: ts of a message that they scroll to beside the thread; empty: none.
    """

    text: str
    thread: tuple[str, str] | None = None
    message: str = ""
    buttons: Sequence[GuideButton] = ()

    def as_json(self) -> Json:
        """Return it as the page gets it."""
        return {
            "text": self.text,
            "thread": list(self.thread or ()),
            "message": self.message,
            "buttons": [button.as_json() for button in self.buttons],
        }


@dataclass(slots=True)
class Guide:
    """The current line, and the pressed buttons."""

    line: GuideLine | None = None
    pressed: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])

    def event(self) -> Json:
        return {"type": "guide", "guide": self.line.as_json() if self.line else None}

    def press(self, name: str) -> bool:
        """Record a pressed button; return False if the line has no such button."""
        names = {button.name for button in self.line.buttons} if self.line else set[str]()
        if not name or name not in names:
            return False
        self.pressed.put_nowait(name)
        return True
