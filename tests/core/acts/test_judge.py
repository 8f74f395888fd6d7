"""Who judges when the judge's own model cannot be asked."""

import re
from collections.abc import Sequence

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.agents import Agent
from core.debate.debate_events import DebateStarted
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import VerdictSource
from core.engine import Engine
from core.errors import KeyRefused, ProviderError
from core.llm.call import ModelCalls
from core.request import ModelRequest
from core.rules.voting import best_texts
from core.store.memory import InMemoryStore
from core.testing import (
    RecordingSink,
    ScriptedProvider,
    a_setup,
    plausible_reply,
)
from tests.core.bench import DEBATE, Bench

WHY = "The key is not taken."


def refusing_to_judge(request: ModelRequest) -> str | ProviderError:
    return KeyRefused(WHY) if request.act is Act.SYNTHESIS else plausible_reply(request)


def on(agent: Agent, named: str) -> Agent:
    """The agent with the model of that name, as in `a/a1`."""
    provider, model = named.split("/")
    return agent.model_copy(update={"provider": provider, "model": model})


class House:
    """Providers `a` and `b`, of which some refuse to judge."""

    def __init__(self, refusing: Sequence[str]) -> None:
        scripts = {n: refusing_to_judge if n in refusing else plausible_reply for n in "ab"}
        self.providers = {n: ScriptedProvider(script, name=n) for n, script in scripts.items()}

    async def hold(self, *models: str, judge: str) -> Debate:
        """Hold a debate whose agents have these models (`a/a1`), and whose judge has that one."""
        setup = a_setup(rounds=1)
        agents = tuple(on(agent, model) for agent, model in zip(setup.agents, models, strict=True))
        changes = {"agents": agents, "judge": on(setup.judge, judge)}
        store, clock = InMemoryStore(), SystemClock()
        event = DebateStarted(setup=setup.model_copy(update=changes))
        await store.create(DEBATE, event, origin="trigger-1", at=clock.now())
        turns = Turns(ModelCalls(self.providers, clock))
        return await Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock).run(DEBATE)

    def judged(self) -> list[str]:
        """The models that were asked to judge."""
        return [r.model for p in self.providers.values() for r in p.requests_of(Act.SYNTHESIS)]


@pytest.mark.parametrize("models", [("a/a1", "a/a2", "b/b1"), ("b/b1", "b/b1", "a/a2")])
async def test_where_nobody_can_be_asked_each_model_was_tried_once(models: Sequence[str]) -> None:
    house = House(refusing="ab")
    debate = await house.hold(*models, judge="a/a1")

    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
    assert debate.verdict.warnings.count(f"The judge failed: {WHY}") == 1
    reason = next(words for words in debate.verdict.warnings if words.startswith("No judge gave"))
    assert re.search(
        r"the position of \w+, which is (the best text for the option that won the vote "
        r"\(\w+\)|level with \d+ others? in the vote)\.",
        reason,
    )
    assert sorted(house.judged()) == ["a1", "a2", "b1"]


async def test_a_judge_starts_from_one_text_where_one_won() -> None:
    bench = Bench()
    debate = await bench.run(a_setup(rounds=1))
    (request,) = bench.provider.requests_of(Act.SYNTHESIS)

    assert debate.tally
    assert len(best_texts(debate.tally)) == 1
    assert "Keep its text and amend it" in request.parts[-1].text
