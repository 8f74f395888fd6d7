"""A line at the top of every page, in which whoever runs the workspace says what to look at."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from slack_on_loopback.json_values import Json


@dataclass(frozen=True, kw_only=True)
class GuideButton:
    """A button of the line.

    Attributes:
        label: what it says.
        shows: the message it goes to, as `channel` and `ts`, with the focus on the message's
            primary button, if it has one; None: it stays.
        types: what it writes into the channel's box; empty: nothing.
        name: what `Guide.pressed` gets when it is pressed; empty: nothing.
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
    """What the line says.

    Attributes:
        text: plain words.
        thread: a thread that pages on its channel open beside it, as `channel` and `ts`.
        message: ts of a message that they bring into view beside the thread; empty: none.
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
    """The line as it stands, and the buttons that people pressed."""

    line: GuideLine | None = None
    pressed: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])

    def event(self) -> Json:
        """Return what the page draws."""
        return {"type": "guide", "guide": self.line.as_json() if self.line else None}

    def press(self, name: str) -> bool:
        """Note that a button was pressed; False if the line has none of this name."""
        names = {button.name for button in self.line.buttons} if self.line else set[str]()
        if not name or name not in names:
            return False
        self.pressed.put_nowait(name)
        return True
