"""The offline engine at a model's pace."""

from dataclasses import dataclass, field

from bot.paced_provider import PacedProvider
from core.clock import SystemClock
from core.debate.turn import Act
from core.llm.providers.offline_engine.checklist_replies import answer
from core.request import ModelRequest, Part, PartKind
from core.testing import ScriptedProvider


@dataclass
class NotingClock(SystemClock):
    """A clock on which nobody sleeps; it remembers for how long they wanted to."""

    slept: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        """Note it."""
        self.slept.append(seconds)


def a_proposal_request(text: str) -> ModelRequest:
    part = Part(label="Question", text=text, kind=PartKind.QUESTION)
    return ModelRequest(
        model="offline-checklists",
        act=Act.PROPOSAL,
        role="architect",
        system="Propose.",
        parts=(part,),
        delimiter="d",
    )


async def test_the_same_question_takes_as_long_each_time():
    clock = NotingClock()
    engine = PacedProvider(ScriptedProvider(answer, name="offline"), clock)
    for text in ("A or B?", "A or B?", "C or D?"):
        await engine.complete(a_proposal_request(text))
    first, again, other = clock.slept
    assert first == again != other
