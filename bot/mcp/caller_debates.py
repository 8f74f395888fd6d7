"""What the tools need of the place debates are held in: this machine, or a Slack workspace."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.mcp.arguments import StartArguments
from core.debate.evidence import SourceReference
from core.debate.log import RecordedEvent
from core.debate.people import Person
from core.debate.state import Debate
from core.ports import Clock
from core.use_cases.answer import AnswerQuestions
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.note import AddNote
from core.use_cases.recall import RecalledDecision
from core.use_cases.start import StartedDebate
from core.use_cases.steer import SteerDebate


@dataclass(frozen=True, kw_only=True)
class CallerActions:
    #: Begins a debate; raises `BadInput` where it cannot be held.
    start: Callable[[StartArguments], Awaitable[StartedDebate]]
    #: What a program names as sources of a debate, and what tells this state of them from others;
    #: raises `BadInput` where one may not be read.
    sources: Callable[[Debate, Sequence[str]], Awaitable[tuple[Sequence[SourceReference], str]]]
    answer: AnswerQuestions
    note: AddNote
    steer: SteerDebate
    decide: DecideOnVerdict


class CallerDebates(Protocol):
    """Debates as one caller sees and changes them. Every method may raise `StoreDown`."""

    @property
    def person(self) -> Person: ...

    @property
    def clock(self) -> Clock: ...

    async def actions(self) -> CallerActions:
        """Return what may be done; raises `BadInput` where nothing can be changed from here now."""
        ...

    async def log(self, debate_id: str, *, to_change: bool = False) -> Sequence[RecordedEvent]:
        """Return the events of a debate the caller may see, asked for anew with each call.

        Raises:
            BadInput: There is none, the same words whether it exists or not; or it is held
                somewhere else and cannot be changed from here.
        """
        ...

    async def has_grown(self, debate_id: str, after: int) -> bool: ...

    async def newest(self, limit: int, *, running_only: bool) -> Sequence[Debate]:
        """What cannot be read is left out."""
        ...

    async def recall(self, question: str) -> Sequence[RecalledDecision]:
        """The decisions that fit a question best, of what the caller may see.

        Raises:
            BadInput: The question is too long, or nobody says what the caller may see.
        """
        ...

    async def address(self, debate: Debate) -> str:
        """Where people find the debate; empty where there is no such place."""
        ...

    def origin(self, request: str) -> str:
        """The origin of what the caller does: the same on every delivery of a request."""
        ...
