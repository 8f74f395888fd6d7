"""The choice of the judge, its prompt, and the rules for overruling the vote."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.views.verdict import headline
from core.acts.take import Turns
from core.acts.verdict import apply_vote, checked_ground
from core.clock import SystemClock
from core.debate.agents import Agent, ModelChoice
from core.debate.debate_events import DebateStarted
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.log import fold
from core.debate.people import Person
from core.debate.people_events import OptionEdited
from core.debate.rules import When
from core.debate.state import Debate, Status
from core.debate.turn import ENGINE, Act, Turn
from core.debate.turn_events import VerdictReached, VoteTallied
from core.debate.verdict import RequirementStatus, Verdict, VerdictSource
from core.debate.vote import OptionChange, OptionEdit, Score, Tally
from core.engine import Engine
from core.errors import KeyRefused, ProviderError
from core.llm.call import ModelCalls
from core.request import ModelRequest
from core.rules.judging import judge_of, was_overruled
from core.rules.voting import best_texts
from core.testing import (
    InMemoryStore,
    RecordingSink,
    ScriptedProvider,
    a_setup,
    a_verdict_reply,
    log_of,
    plausible_reply,
)
from core.transcript.decision import decision_text
from core.transcript.report import report
from tests.core.bench import DEBATE, Bench
from tests.core.test_audit import on_two_vendors
from tests.core.test_debated_options import AGREED, a_script
from tests.core.transcript.splits import split_log

WHY = "The key is not taken."
OPUS = ModelChoice(provider="anthropic", model="opus")
SOL = ModelChoice(provider="openai", model="sol")
BY_RESELLER = ModelChoice(provider="openrouter", model="openai/sol")


def refusing_to_judge(request: ModelRequest) -> str | ProviderError:
    return KeyRefused(WHY) if request.act is Act.SYNTHESIS else plausible_reply(request)


@pytest.mark.parametrize("models", [("a/a1", "a/a2", "b/b1"), ("b/b1", "b/b1", "a/a2")])
async def test_each_model_is_tried_once_before_the_winners_position_stands(
    models: Sequence[str],
) -> None:
    def on(agent: Agent, named: str) -> Agent:
        provider, model = named.split("/")
        return agent.model_copy(update={"provider": provider, "model": model})

    setup = a_setup(rounds=1)
    agents = tuple(on(agent, model) for agent, model in zip(setup.agents, models, strict=True))
    setup = setup.model_copy(update={"agents": agents, "judge": on(setup.judge, "a/a1")})
    providers = {name: ScriptedProvider(refusing_to_judge, name=name) for name in "ab"}
    store, clock = InMemoryStore(), SystemClock()
    await store.create(DEBATE, DebateStarted(setup=setup), origin="trigger-1", at=clock.now())
    turns = Turns(ModelCalls(providers, clock))
    engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
    debate = await engine.run(DEBATE)

    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
    assert debate.verdict.warnings.count(f"The judge failed: {WHY}") == 1
    assert debate.verdict.warnings[0].endswith(", which is ranked best.")
    asked = [r.model for p in providers.values() for r in p.requests_of(Act.SYNTHESIS)]
    assert sorted(asked) == ["a1", "a2", "b1"]


@pytest.mark.parametrize("act", [Act.CRITIQUE, Act.BALLOT, Act.SYNTHESIS])
async def test_a_restart_without_the_key_concludes_with_the_best_position(act: Act) -> None:
    bench = Bench()
    bench.provider.hold(act)
    running = asyncio.create_task(bench.run(a_setup(rounds=1)))
    await bench.provider.wait_until_asked(act)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    bench.provider = ScriptedProvider(name="another")
    debate = await bench.engine.run(DEBATE)

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
    gone = "The judge failed: The provider 'scripted' is not set up: is its key missing?"
    assert gone in debate.verdict.warnings
    assert not debate.has_failed(Act.SYNTHESIS)
    assert len(await bench.store.events(DEBATE)) < 40


async def test_the_judge_starts_from_the_winning_text() -> None:
    bench = Bench()
    debate = await bench.run(a_setup(rounds=1))
    (request,) = bench.provider.requests_of(Act.SYNTHESIS)

    assert debate.tally
    assert len(best_texts(debate.tally)) == 1
    assert "Keep its text and amend it" in request.parts[-1].text


def won_by(winners: tuple[str, ...] | None, judges: tuple[ModelChoice, ...]) -> Debate:
    """Architect and simplicity think with OPUS, security with SOL; None: nothing is counted."""
    setup = a_setup()
    agents = tuple(
        agent.model_copy(update=dict(model))
        for agent, model in zip(setup.agents, (OPUS, SOL, OPUS), strict=True)
    )
    judge = setup.judge.model_copy(update={**dict(OPUS), "fallbacks": (SOL, OPUS)})
    changes = {"agents": agents, "judge": judge, "judge_models": judges}
    debate = fold(log_of([DebateStarted(setup=setup.model_copy(update=changes))]))
    if winners is None:
        return debate
    scores = tuple(
        Score(position=winner, points=2, first_places=1, mean_confidence=None) for winner in winners
    )
    tally = Tally(scores=scores, winners=winners, controversial=False, voters=("security",))
    return fold(log_of([DebateStarted(setup=debate.setup), VoteTallied(tally=tally)]))


@pytest.mark.parametrize(
    ("winners", "judges", "model"),
    [
        (("architect",), (OPUS, SOL), SOL),
        (("architect", "security"), (OPUS, SOL), OPUS),  # both makers have won
        (("security",), (BY_RESELLER, OPUS), OPUS),  # the same maker at a reseller
        ((), (SOL, OPUS), OPUS),
        (None, (SOL, OPUS), OPUS),
        (("architect",), (), OPUS),  # people named the judge's model
    ],
)
def test_the_judge_is_of_a_maker_whose_agent_did_not_win(
    winners: tuple[str, ...] | None, judges: tuple[ModelChoice, ...], model: ModelChoice
) -> None:
    judge = judge_of(won_by(winners, judges))

    assert (judge.provider, judge.model) == (model.provider, model.model)
    assert judge.name == "Judge"
    if model == SOL:
        assert judge.fallbacks == (OPUS,), "it does not stand in for itself"


async def judged(option: str, ground: str, *, when: When = When.SPLIT) -> Debate:
    """A debate whose agents all vote for Kafka (o1), and whose judge takes this option.

    Its audit finds fault with it.
    """

    def script(request: ModelRequest) -> str:
        if request.act is Act.AUDIT:
            fault = {"kind": "sum", "words": "It fits", "why": "It does not."}
            return json.dumps({"faults": [fault]})
        if request.act is Act.SYNTHESIS:
            fields = {"decision": "Use PostgreSQL.", "solution": "It fits.", "option": option}
            return json.dumps(a_verdict_reply(**fields, overrules=ground))
        return a_script(AGREED)(request)

    return await Bench(ScriptedProvider(script)).run(on_two_vendors(when=when))


@pytest.mark.parametrize("ground", ["must keep EVERY job", '"It must keep every job"'])
async def test_a_judge_may_overrule_the_vote_for_a_requirement_of_the_team(ground: str) -> None:
    debate = await judged("o2", ground, when=When.ALWAYS)
    verdict = debate.verdict
    assert verdict
    assert (verdict.option, verdict.decision) == ("o2", "Use PostgreSQL.")
    assert verdict.overrule
    assert verdict.overrule.stands
    assert was_overruled(debate)
    left, doubt, *_ = verdict.warnings
    # The words are checked to be the team's. That they are broken is the judge's opinion.
    assert left.startswith('The judge overruled the vote for "Kafka": in its view this breaks')
    assert doubt.startswith("Audit by"), "that the vote was left stands above an audit's doubts"
    above = headline(debate, verdict).text.split("*Use PostgreSQL.*")[0]
    assert "The judge overruled the vote" in above
    text = report(debate)
    assert text.index("The judge overruled") < text.index("**Use PostgreSQL.**"), "above the answer"
    assert "Written by the judge." in text


def test_an_option_without_a_text_is_named_as_the_decision() -> None:
    edit = OptionEdit(change=OptionChange.ADD, name="SQS", by=Person(id="U1"), origin="3")
    before = [e.event for e in split_log() if not isinstance(e.event, VerdictReached)]
    tally = fold(split_log()).tally
    assert tally
    best = tally.options[0].model_copy(update={"option": "t2", "first_choices": 2.0})
    added = VoteTallied(tally=tally.model_copy(update={"options": (best, *tally.options)}))
    events = [added if event.key == added.key else event for event in before]
    debate = fold(log_of([*events, OptionEdited(edit=edit)]))
    own = Verdict(decision="Use Kafka.", option="t1", solution="It scales.", confidence=None)

    verdict = apply_vote(debate, own, "")
    assert (verdict.option, verdict.decision, verdict.solution) == ("t2", "SQS", "")
    text = decision_text(debate.replace(verdict=verdict))
    assert "the option that won the vote, for which no agent's text argues" in text


@pytest.mark.parametrize(
    ("option", "ground"),
    [
        ("o2", ""),
        ("none", "I like it better."),
        ("o2", "It must cost nothing at all."),
        ("o2", 'As [e1: "nobody said so"] shows.'),
    ],
)
async def test_without_a_valid_ground_the_vote_stands_and_the_judge_dissents(
    option: str, ground: str
) -> None:
    debate = await judged(option, ground)
    verdict = debate.verdict
    assert verdict
    assert verdict.option == "o1"
    assert verdict.decision.startswith("Kafka")
    assert verdict.dissent == "Use PostgreSQL. The team runs PostgreSQL already."
    assert verdict.sections[0].text == "It fits.", "nothing of the objection is lost"
    status = {requirement.status for requirement in verdict.requirements}
    assert status == {RequirementStatus.UNKNOWN}
    assert verdict.overrule
    assert not verdict.overrule.stands
    named = f"because of “{ground.rstrip('.')}”, which was not found as a requirement or a quote"
    assert (named if ground else "without a ground") in verdict.warnings[0]
    assert "the objection is the dissent" in verdict.warnings[0]
    assert was_overruled(debate) is False
    voters = {reason.split(": ")[0] for reason in verdict.reasons}
    assert voters
    assert voters <= {agent.name for agent in debate.setup.agents}
    for text in (report(debate), decision_text(debate)):
        assert "Written by the judge." not in text
        assert "the rest was written by the judge." in text


def test_the_words_of_a_ground_must_exist() -> None:
    reference = SourceReference(
        kind=SourceKind.TEXT, title="Load test", by=Person(id="U1"), fetch=""
    )
    source = Source(
        turn=Turn(act=Act.READING, round=0, agent=ENGINE, target="1"),
        reference=reference,
        text="The broker lost 12 jobs when the disk was full.",
    )
    debate = replace(fold(log_of([DebateStarted(setup=a_setup())])), sources=(source,))
    assert checked_ground(debate, 'See [e1: "lost 12 jobs"].') == ("lost 12 jobs", "e1")
    assert checked_ground(debate, 'See [e1: "lost 99 jobs"].') == ("", "")
    assert checked_ground(debate, "It must keep every job.") == ("It must keep every job.", "")
    assert checked_ground(debate, "every job") == ("", ""), "too few words to mean a requirement"
