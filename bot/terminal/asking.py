"""Clarifying questions on the terminal; an empty line lets the assumption hold."""

import asyncio
import sys
import threading
from typing import TextIO

from bot.terminal.progress import Screen
from core.models import Answer, Clarification, Debate, Person
from core.redaction import redact
from core.transcript.words import name_of


class Asking:
    """Asks the person at the terminal."""

    def __init__(self, screen: Screen, person: Person, stream: TextIO | None = None) -> None:
        """Keep whom to ask, and where.

        Args:
            screen: Where questions are shown.
            person: Who answers.
            stream: Where answers are typed; None: standard input.
        """
        self._screen = screen
        self._person = person
        self._stream = stream or sys.stdin

    async def answer(self, debate: Debate, asked: Clarification) -> Answer:
        """Put one question; no text, or the end of the input, lets its assumption hold."""
        who = ", ".join(name_of(debate, agent) for agent in asked.asked_by)
        self._screen.show("")
        self._screen.say(f"{asked.number}. {asked.question}  ({who})")
        self._screen.say(f"   Enter alone: {asked.assumption}")
        typed = redact((await _next_line(self._stream)).strip())
        return Answer(number=asked.number, text=typed, by=self._person)


async def _next_line(stream: TextIO) -> str:
    """The next line, read beside the event loop: whoever waits for it can still be cancelled.

    The thread is a daemon, so a program that ends does not wait for somebody to press Enter.
    """
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def settle(text: str) -> None:
        if not line.done():
            line.set_result(text)

    def read() -> None:
        text = stream.readline()
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, text)

    threading.Thread(target=read, name="terminal-input", daemon=True).start()
    return await line
