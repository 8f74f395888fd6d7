"""The offline engine at a model's pace: no faster than its posts, slow enough to be steered."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.paced_provider import PacedProvider
from bot.queue.rate_limits import Pace
from bot.testing import BotSpec, Team, debate_of, team_at_work
from core.clock import SystemClock
from core.events import fold
from core.llm.providers.offline_engine.checklist_replies import answer
from core.models import Act, Debate, Status
from core.request import ModelRequest, Part, PartKind
from core.testing import ScriptedProvider

QUESTION = "Kafka or PostgreSQL for our job queue? No job may be lost, and two people must run it."
#: A tenth of the time for turns and for posts: what counts is one against the other.
FASTER = 10
PACE = Pace(**{name: seconds / FASTER for name, seconds in vars(Pace()).items()})


@dataclass
class FastClock(SystemClock):
    """A clock on which seconds are shorter; it remembers who slept, and how many at once."""

    shorter: float = FASTER
    slept: list[float] = field(default_factory=list[float])
    asleep: int = 0
    most_asleep: int = 0

    async def sleep(self, seconds: float) -> None:
        """Sleep for a part of the time."""
        self.slept.append(seconds)
        self.asleep += 1
        self.most_asleep = max(self.most_asleep, self.asleep)
        await asyncio.sleep(seconds / self.shorter)
        self.asleep -= 1


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


def an_engine() -> ScriptedProvider:
    """The offline engine, remembering what it was asked."""
    return ScriptedProvider(answer, name="offline")


async def test_the_same_question_takes_as_long_each_time():
    clock = FastClock(shorter=10_000)
    engine = PacedProvider(an_engine(), clock)
    for text in ("A or B?", "A or B?", "C or D?"):
        await engine.complete(a_proposal_request(text))
    first, again, other = clock.slept
    assert first == again != other


async def first_round(team: Team, board: str, engine: ScriptedProvider) -> Sequence[str]:
    """Wait until people can read what every agent said in the first round; the second one stands.

    How fast the engine is against the posts is counted above: here a busy machine may hold up both.
    """
    await engine.until_asked(Act.REFINEMENT, times=3)
    engine.hold(Act.CRITIQUE)
    posts = await team.wait_for_posts(3, board)
    return [str(post["text"]) for post in posts]


async def debate_on(team: Team, board: str) -> Debate:
    return fold(await team.moot.store.events(debate_of(team.thread(board)[0])))


async def test_stop_on_the_first_round_leads_to_a_partial_decision():
    engine = an_engine()
    spec = BotSpec(provider=PacedProvider(engine, FastClock()), rounds=3, pace=PACE)
    async with team_at_work(spec=spec) as team:
        board = await team.debate(QUESTION)
        await first_round(team, board, engine)
        assert (await debate_on(team, board)).status is Status.RUNNING
        await team.click(board)
        engine.let_go()
        debate = await team.wait_for_end(board)
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.partial
    later = [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.round > 1
    ]
    # What was in hand is let finish: nobody comes to the end of a second round.
    assert not [
        contribution
        for contribution in later
        if contribution.call and contribution.turn.act is Act.REFINEMENT
    ]
    assert not [contribution for contribution in later if contribution.turn.round > 2]
