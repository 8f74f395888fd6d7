"""A debate at the terminal: runs it, asks the person its questions, and handles Ctrl-C."""

import asyncio
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TextIO

from bot.terminal.screen import LineScreen
from bot.terminal.sources import revision_references
from core.debate.contributions import Clarification
from core.debate.people import Person
from core.debate.state import Debate, Status
from core.engine import Engine
from core.errors import BadInput, ModelsAway, MootError
from core.figures import when
from core.ports import Clock, DebateStore
from core.rules import schedule
from core.rules.formats.review import handing_in_words
from core.transcript.cited import link_citations
from core.transcript.words import name_of
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import UNBOUNDED
from core.use_cases.messages import AddNote, AnswerQuestions, PersonsReply
from core.use_cases.reply_parsing import GivenAnswer
from core.use_cases.steer import SteerDebate, sole_steward

#: Seconds between checks of a debate that waits for a time or for a model.
_POLL_INTERVAL = 1.0
#: Seconds to wait for models that have never answered in this debate, as their address may be
#: wrong. For other models the time limit of a turn applies.
_FIRST_CONTACT = 10.0


class DebateSession:
    def __init__(
        self,
        debate_id: str,
        *,
        engine: Engine,
        store: DebateStore,
        clock: Clock,
        screen: LineScreen,
        person: Person,
    ) -> None:
        self._debate_id = debate_id
        self._engine = engine
        self._clock, self._screen, self._person = clock, screen, person
        self._asking = TerminalQuestions(screen)
        self._facts = FactLog(store=store, clock=clock, wake=engine.wake)
        self._note = AddNote(facts=self._facts, bounds=UNBOUNDED)
        self._was_asked_for_changes = False
        self._answer = AnswerQuestions(facts=self._facts, note=self._note)
        self._steer = SteerDebate(
            facts=self._facts, note=self._note, stewards=sole_steward(person), mention=str
        )
        self._stopped = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None
        #: The error message if no model can be reached.
        self._outage = ""

    async def hold(self) -> Debate:
        """Run the debate to its end. Ctrl-C stops it; a second Ctrl-C or SIGTERM interrupts it.

        An interrupted debate can be resumed and then runs to its normal end.

        Raises:
            ModelsAway: The debate was interrupted because no model can be reached.
            MootError: The person interrupted it.
        """
        work = asyncio.create_task(self._run())
        watch = asyncio.create_task(self._interrupt_outage(work))

        def interrupt() -> None:
            """Stop the debate at the first Ctrl-C; cancel the work at the second."""
            if self._stopping is None:
                self._stopping = asyncio.create_task(self._stop())
            else:
                work.cancel()

        with _on_signals(interrupt, work.cancel):
            try:
                return await work
            except asyncio.CancelledError:
                await self._withdraw_stop()
                if self._outage:
                    raise ModelsAway(self._outage) from None
                raise MootError("Interrupted.") from None
            finally:
                watch.cancel()

    async def _withdraw_stop(self) -> None:
        """Withdraw the stop, so that a resumed debate runs to its normal end."""
        if self._stopping:
            await self._stopping
            with suppress(BadInput):  # it has ended meanwhile
                debate = await self._facts.debate(self._debate_id)
                await self._steer.withdraw_stop(debate, self._person)

    async def _interrupt_outage(self, work: asyncio.Task[Debate]) -> None:
        """Cancel the work when an outage of all models has lasted too long."""
        while True:
            await self._clock.sleep(_POLL_INTERVAL)
            debate = await self._facts.debate(self._debate_id)
            if debate.outage_at is None:
                continue
            seconds = (self._clock.now() - debate.outage_at).total_seconds()
            limit = debate.setup.limits.turn_seconds
            if seconds >= (limit if debate.calls else min(limit, _FIRST_CONTACT)):
                self._outage = f"No model can be reached. {debate.outage}"
                work.cancel()
                return

    async def _stop(self) -> None:
        with suppress(BadInput):  # it has ended meanwhile
            await self._steer.stop(await self._facts.debate(self._debate_id), self._person)
        self._stopped.set()

    async def _run(self) -> Debate:
        """Run the debate; whenever it waits, let the person act until the waiting is over."""
        while (debate := await self._engine.run(self._debate_id)).status is Status.RUNNING:
            due, seconds = schedule.due(debate), None
            default = "the findings stand" if debate.findings else "the assumptions hold"
            if due:
                self._screen.say(f"Answer until {when(due)}; then {default}.")
                seconds = max(0.0, (due - self._clock.now()).total_seconds())
            work = asyncio.create_task(self._serve_wait(debate))
            stop = asyncio.create_task(self._stopped.wait())
            first = asyncio.FIRST_COMPLETED
            try:
                finished, _ = await asyncio.wait({work, stop}, timeout=seconds, return_when=first)
                if work in finished:
                    work.result()
                elif not finished:
                    self._screen.say(f"The time to answer is over; {default}.")
            finally:
                work.cancel()
                stop.cancel()
        return debate

    async def _serve_wait(self, debate: Debate) -> None:
        """Do what the debate waits for: resume a pause, ask open questions, or wait."""
        clarifications = debate.open_clarifications
        if debate.paused_by:
            await self._steer.resume(debate, self._person)
        elif not clarifications:
            await self._clock.sleep(_POLL_INTERVAL)
        if clarifications and debate.findings and not self._was_asked_for_changes:
            await self._take_changes(debate)
        for clarification in clarifications:
            text = await self._asking.ask(debate, clarification)
            reply = PersonsReply(debate_id=debate.id, by=self._person, origin=_new_origin())
            await self._answer.form(reply, [GivenAnswer(clarification.number, text)])

    async def _take_changes(self, debate: Debate) -> None:
        """Ask whether the subject was changed, before the last answer closes the questions."""
        self._was_asked_for_changes = True
        while name := await self._asking.for_changes():
            try:
                await self._note.add(
                    debate.id,
                    note_id=_new_origin(),
                    author=self._person,
                    text=handing_in_words([name]),
                    references=revision_references(name, self._person),
                )
            except BadInput as refusal:
                self._screen.say(str(refusal))
            else:
                return


def _new_origin() -> str:
    return f"terminal/{secrets.token_hex(8)}"


@contextmanager
def _on_signals(
    on_interrupt: Callable[[], object], on_end: Callable[[], object]
) -> Generator[None]:
    loop, signals = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    with suppress(NotImplementedError, RuntimeError):  # not in the main thread
        for number, act in zip(signals, (on_interrupt, on_end), strict=True):
            loop.add_signal_handler(number, act)
    try:
        yield
    finally:
        with suppress(NotImplementedError, RuntimeError):
            for number in signals:
                loop.remove_signal_handler(number)


class TerminalQuestions:
    """Asks the person at the terminal.

    Lines are read in a thread, so that waiting for a line can be cancelled. The thread is a
    daemon, so the program can exit without a line. At most one thread reads at a time, as two
    would take each other's lines.
    """

    def __init__(self, screen: LineScreen, stream: TextIO | None = None) -> None:
        self._screen = screen
        self._stream = stream or sys.stdin
        self._line: asyncio.Future[str] | None = None

    async def ask(self, debate: Debate, clarification: Clarification) -> str:
        """Ask one question and return the answer. An empty answer accepts the assumption."""
        names = ", ".join(name_of(debate, agent) for agent in clarification.asked_by)
        question = link_citations(clarification.question, ())
        return await self._answer(
            f"{clarification.number}. {question}  ({names})", clarification.assumption
        )

    async def for_changes(self) -> str:
        words = "Have you changed the text? Name the file, or changes for git."
        return await self._answer(words, "no")

    async def _answer(self, question: str, default: str) -> str:
        """Ask, and return the next line. Lines typed before the question are discarded."""
        self._screen.show("")
        self._screen.say(question)
        self._screen.say(f"   Enter alone: {default}")
        if self._line is None or self._line.done():
            loop = asyncio.get_running_loop()
            line: asyncio.Future[str] = loop.create_future()

            def read() -> None:
                text = self._stream.readline()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(line.set_result, text)

            threading.Thread(target=read, name="terminal-input", daemon=True).start()
            self._line = line
        return (await asyncio.shield(self._line)).strip()
