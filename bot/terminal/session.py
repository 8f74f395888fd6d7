"""One debate and the person who watches it: questions to answer, and Ctrl-C."""

import asyncio
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TextIO

from bot.terminal.screen import LineScreen
from bot.terminal.sources import handed_in
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
from core.use_cases.steer import SteerDebate, only_steward

#: Seconds between looks at a debate that waits for a time or for a model, not for us.
_LOOK_AGAIN = 1.0
#: Seconds for which models that never answered in this debate are waited for: their address may
#: be wrong. Others are waited for as long as a turn may take.
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
            facts=self._facts, note=self._note, stewards=only_steward(person), mention=str
        )
        self._stopped = asyncio.Event()
        self._stopping: asyncio.Task[None] | None = None
        #: Why the debate is left: no model can be reached.
        self._nobody_answers = ""

    async def hold(self) -> Debate:
        """Advance the debate to its end; Ctrl-C stops it, a second one or SIGTERM leaves it.

        A debate that is left can be taken up again and goes on to its normal end.

        Raises:
            ModelsAway: No model can be reached; it was left.
            MootError: It was interrupted; it was left.
        """
        work = asyncio.create_task(self._until_ended())
        watch = asyncio.create_task(self._leave_where_nobody_answers(work))

        def interrupt() -> None:
            """Wind the debate up at the first Ctrl-C; drop everything at the second."""
            if self._stopping is None:
                self._stopping = asyncio.create_task(self._stop())
            else:
                work.cancel()

        with _on_signals(interrupt, work.cancel):
            try:
                return await work
            except asyncio.CancelledError:
                await self._take_stop_back()
                if self._nobody_answers:
                    raise ModelsAway(self._nobody_answers) from None
                raise MootError("Interrupted.") from None
            finally:
                watch.cancel()

    async def _take_stop_back(self) -> None:
        """Have the debate that is left held as it was meant, by whoever takes it up."""
        if self._stopping:
            await self._stopping
            with suppress(BadInput):  # it has ended meanwhile
                debate = await self._facts.debate(self._debate_id)
                await self._steer.withdraw_stop(debate, self._person)

    async def _leave_where_nobody_answers(self, work: asyncio.Task[Debate]) -> None:
        """Leave the debate when it has waited for models for longer than anybody watches."""
        while True:
            await self._clock.sleep(_LOOK_AGAIN)
            debate = await self._facts.debate(self._debate_id)
            if debate.outage_at is None:
                continue
            waited = (self._clock.now() - debate.outage_at).total_seconds()
            turn = debate.setup.limits.turn_seconds
            if waited >= (turn if debate.calls else min(turn, _FIRST_CONTACT)):
                self._nobody_answers = f"No model can be reached. {debate.outage}"
                work.cancel()
                return

    async def _stop(self) -> None:
        with suppress(BadInput):  # it has ended meanwhile
            await self._steer.stop(await self._facts.debate(self._debate_id), self._person)
        self._stopped.set()

    async def _until_ended(self) -> Debate:
        """Run the debate; what it waits for from this person is done until it is of no use."""
        while (debate := await self._engine.run(self._debate_id)).status is Status.RUNNING:
            due, seconds = schedule.due(debate), None
            # What becomes of the questions that nobody answers.
            otherwise = "the findings stand" if debate.findings else "the assumptions hold"
            if due:
                self._screen.say(f"Answer until {when(due)}; then {otherwise}.")
                seconds = max(0.0, (due - self._clock.now()).total_seconds())
            work = asyncio.create_task(self._take_up(debate))
            stopped = asyncio.create_task(self._stopped.wait())
            first = asyncio.FIRST_COMPLETED
            try:
                done, _ = await asyncio.wait({work, stopped}, timeout=seconds, return_when=first)
                if work in done:
                    work.result()
                elif not done:
                    self._screen.say(f"The time to answer is over; {otherwise}.")
            finally:
                work.cancel()
                stopped.cancel()
        return debate

    async def _take_up(self, debate: Debate) -> None:
        waiting = debate.open_clarifications
        if debate.paused_by:
            await self._steer.resume(debate, self._person)
        elif not waiting:
            await self._clock.sleep(_LOOK_AGAIN)
        if waiting and debate.findings and not self._was_asked_for_changes:
            await self._take_changes(debate)
        for clarification in waiting:
            text = await self._asking.ask(debate, clarification)
            reply = PersonsReply(debate_id=debate.id, by=self._person, origin=_new_origin())
            await self._answer.form(reply, [GivenAnswer(clarification.number, text)])

    async def _take_changes(self, debate: Debate) -> None:
        """Ask whether the subject was changed, before the last answer closes the questions."""
        self._was_asked_for_changes = True
        while named := await self._asking.for_changes():
            try:
                await self._note.add(
                    debate.id,
                    note_id=_new_origin(),
                    author=self._person,
                    text=handing_in_words([named]),
                    references=handed_in(named, self._person),
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
    with suppress(NotImplementedError, RuntimeError):  # no signals beside the main thread
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

    Lines are read beside the event loop: whoever waits for one can still be cancelled. The thread
    is a daemon, so a program that ends does not wait for somebody to press Enter. There is one at a
    time, whoever it was started for: two would take each other's lines.
    """

    def __init__(self, screen: LineScreen, stream: TextIO | None = None) -> None:
        self._screen = screen
        self._stream = stream or sys.stdin
        self._line: asyncio.Future[str] | None = None

    async def ask(self, debate: Debate, clarification: Clarification) -> str:
        """Put one question; return the answer; empty (no text, end of input): its assumption."""
        names = ", ".join(name_of(debate, agent) for agent in clarification.asked_by)
        question = link_citations(clarification.question, ())
        return await self._answer(
            f"{clarification.number}. {question}  ({names})", clarification.assumption
        )

    async def for_changes(self) -> str:
        words = "Have you changed the text? Name the file, or changes for git."
        return await self._answer(words, "no")

    async def _answer(self, question: str, otherwise: str) -> str:
        """The next line. What was typed while nobody waited was for nobody, and is gone."""
        self._screen.show("")
        self._screen.say(question)
        self._screen.say(f"   Enter alone: {otherwise}")
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
