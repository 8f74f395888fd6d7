"""Clarifying questions on the terminal; an empty line lets the assumption hold."""

import asyncio
import sys
import threading
from typing import TextIO

from bot.terminal.screen import Screen
from core.debate.questions import Clarification
from core.debate.state import Debate
from core.transcript.cited import link_citations
from core.transcript.words import name_of


class TerminalQuestions:
    """Asks the person at the terminal."""

    def __init__(self, screen: Screen, stream: TextIO | None = None) -> None:
        """Keep where to ask.

        Args:
            screen: Where questions are shown.
            stream: Where answers are typed; None: standard input.
        """
        self._screen = screen
        self._lines = _Lines(stream or sys.stdin)

    async def ask(self, debate: Debate, clarification: Clarification) -> str:
        """Put one question; return the answer; empty (no text, end of input): its assumption."""
        names = ", ".join(name_of(debate, agent) for agent in clarification.asked_by)
        self._screen.show("")
        self._screen.say(
            f"{clarification.number}. {link_citations(clarification.question, ())}  ({names})"
        )
        self._screen.say(f"   Enter alone: {clarification.assumption}")
        return (await self._lines.next()).strip()

    async def for_changes(self) -> str:
        """Ask for a changed text; nothing, or the end of the input, says that there is none."""
        self._screen.show("")
        self._screen.say("Have you changed the text? Name the file, or changes for git.")
        self._screen.say("   Enter alone: no")
        return (await self._lines.next()).strip()


class _Lines:
    """Lines as they are typed, read beside the event loop: whoever waits can still be cancelled.

    The thread is a daemon, so a program that ends does not wait for somebody to press Enter. There
    is one at a time, whoever it was started for: two would take each other's lines.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line: asyncio.Future[str] | None = None

    async def next(self) -> str:
        """Return the next line. What was typed while nobody waited was for nobody, and is gone."""
        if self._line is None or self._line.done():
            loop = asyncio.get_running_loop()
            line: asyncio.Future[str] = loop.create_future()

            def read() -> None:
                text = self._stream.readline()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(line.set_result, text)

            threading.Thread(target=read, name="terminal-input", daemon=True).start()
            self._line = line
        return await asyncio.shield(self._line)
