"""A verdict beside a single answer: what both sides show, and evaluators planted with a bias."""

import json
from collections.abc import Callable, Sequence

import pytest

from core.clock import SystemClock
from core.debate.agents import Agent
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, fold
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.turn_events import ShadowAnswered, VerdictReached
from core.debate.verdict import ShadowAnswer
from core.errors import BadInput, KeyRefused, ProviderError
from core.llm.call import ModelCalls
from core.request import ModelRequest, PartKind
from core.rules import shadow
from core.settings import ModelChoice, agent_for
from core.testing import ScriptedProvider, log_of
from core.transcript.comparison import (
    CALLS,
    Comparison,
    Side,
    compare,
    compared_texts,
    comparison_json,
    comparison_markdown,
    finding_words,
)
from core.transcript.evaluation import Criterion, criteria_of
from tests.core.transcript.test_transcript import a_log

ALONE = ShadowAnswer(
    turn=shadow.ANSWER,
    decision="Keep `job_queue_v2`.",
    solution="Run:\n\n```sql\nselect * from job_queue_v2 -- _all_ of it\n```",
    reasons=("It __works__ [e1: “10 a day”].", "Nobody asked for more."),
    risks=("One ~table~ may lock.",),
    overturned_by=("A thousand *jobs* a second.",),
)


def a_debate(format_name: str = "critique", alone: ShadowAnswer | None = ALONE) -> Debate:
    events: list[Event] = []
    for item in a_log():
        event = item.event
        if isinstance(event, DebateStarted):
            choice = ModelChoice(provider="lab", model="lab-1")
            changes = {"shadow_agent": agent_for("generalist", choice), "format": format_name}
            event = DebateStarted(setup=event.setup.model_copy(update=changes))
        if isinstance(event, VerdictReached) and alone:
            events.append(ShadowAnswered(shadow=alone))
        events.append(event)
    return fold(log_of(events))


#: Says which of two texts it likes better: 0, 1, or None for neither.
Taste = Callable[[str, str], int | None]


def replying(taste: Taste, criteria: Sequence[Criterion]) -> Callable[[ModelRequest], str]:
    def reply(request: ModelRequest) -> str:
        first, second = (p.text for p in request.parts if p.kind is PartKind.CANDIDATE)
        better = {0: "p1", 1: "p2", None: "neither"}[taste(first, second)]
        choices = [{"criterion": c, "reason": "So it is.", "better": better} for c in criteria]
        return json.dumps({"choices": choices})

    return reply


def evaluators(*makers: str) -> Sequence[Agent]:
    return [
        agent_for("sceptic", ModelChoice(provider=maker, model=f"{maker}-1")) for maker in makers
    ]


async def compared(
    tastes: dict[str, Taste], debate: Debate | None = None
) -> tuple[Comparison, dict[str, ScriptedProvider]]:
    debate = debate or a_debate()
    providers = {
        name: ScriptedProvider(replying(taste, criteria_of(debate)), name=name)
        for name, taste in tastes.items()
    }
    calls = ModelCalls(dict(providers), SystemClock())
    return await compare(calls, debate, evaluators(*tastes)), providers


def first(_one: str, _other: str) -> int:
    return 0


def longer(text: str, other: str) -> int:
    return 0 if len(text) > len(other) else 1


def likes(words: str) -> Taste:
    """Likes the text with these words; of two with them, or without, neither."""

    def taste(text: str, other: str) -> int | None:
        return None if (words in text) == (words in other) else int(words in other)

    return taste


async def test_who_likes_what_stands_first_shows_no_difference() -> None:
    result, _ = await compared({"ann": first, "bob": first})
    assert {side for preferences in result.counting for side in preferences.sides.values()} == {
        Side.NEITHER
    }
    assert finding_words(result).startswith("No difference is shown")


async def test_who_likes_the_longer_text_does_not_count() -> None:
    result, _ = await compared({"ann": longer, "bob": longer})
    assert finding_words(result) == "No difference is shown: no evaluator counts."
    assert "length alone decides" in comparison_markdown(result)
    result, _ = await compared({"ann": longer, "bob": likes("job_queue_v2")})
    assert "takes evaluators of two makers" in finding_words(result)


async def test_who_made_one_of_the_texts_is_not_even_asked() -> None:
    result, providers = await compared({"lab": likes("job_queue_v2"), "scripted": longer})
    assert finding_words(result).startswith("No difference is shown")
    assert not [request for provider in providers.values() for request in provider.requests]
    assert "lab made one of the texts." in comparison_markdown(result)


async def test_evaluators_of_two_makers_that_agree_in_either_order_show_a_difference() -> None:
    result, providers = await compared({"ann": likes("job_queue_v2"), "bob": likes("job_queue_v2")})
    assert finding_words(result) == "All 2 evaluators prefer the single answer, in either order."
    text = comparison_markdown(result)
    assert "| Security | single | single | debate 0, single 2 |" in text
    assert json.loads(comparison_json(result))["finding"] == finding_words(result)
    assert len(providers["ann"].requests) == CALLS
    assert result.usage.attempts == 2 * CALLS


async def test_where_all_are_of_one_maker_that_is_said_above_and_nothing_is_counted_together() -> (
    None
):
    result, _ = await compared({"ann": likes("job_queue_v2")})
    text = comparison_markdown(result)
    assert text.index("one maker's taste") < text.index("| Better by")
    assert "Together" not in text
    assert "takes evaluators of two makers" in text


async def test_who_cannot_be_asked_is_told_and_paid_for() -> None:
    def refused(_request: ModelRequest) -> ProviderError:
        return KeyRefused("The key is refused.")

    calls = ModelCalls({"ann": ScriptedProvider(refused, name="ann")}, SystemClock())
    result = await compare(calls, a_debate(), evaluators("ann"))
    assert "The key is refused." in comparison_markdown(result)
    assert not result.counting


async def test_both_texts_are_shown_word_for_word_with_reasons_risks_and_overturners() -> None:
    """What is stripped of one side only would decide for the other."""
    debate = a_debate()
    verdict = debate.verdict
    assert verdict
    result, providers = await compared({"ann": first}, debate)
    request = providers["ann"].requests[0]
    debates, alone = (p.text for p in request.parts if p.kind is PartKind.CANDIDATE)
    texts = {Side.DEBATE: debates, Side.SINGLE: alone}
    assert result.lengths == {side: len(text.split()) for side, text in texts.items()}
    for words in (
        *(verdict.decision, verdict.solution, verdict.implementation, *verdict.reasons),
        *(*verdict.tradeoffs, *verdict.overturned_by, *verdict.recommendations),
    ):
        assert words.strip() in debates
    # No vote, no dissent, no name tells which of them a debate wrote.
    assert verdict.dissent
    assert verdict.dissent not in debates
    for words in (
        *(ALONE.decision, ALONE.solution, *ALONE.reasons),
        *(*ALONE.risks, *ALONE.overturned_by),
    ):
        assert words in alone
    # What people said is before evaluators, so that the texts can be checked by it.
    assert "```10``` a day" in "\n".join(part.text for part in request.parts)


async def test_reviews_are_compared_by_faults_found_and_false_alarms() -> None:
    result, providers = await compared({"ann": first}, a_debate("review"))
    assert Criterion.FAULTS_FOUND in result.counting[0].sides
    assert Criterion.SECURITY not in result.counting[0].sides
    task = providers["ann"].requests_of(Act.COMPARISON)[0].parts[-1].text
    assert '"false_alarms"' in task


def test_without_a_single_answer_people_read_how_to_get_one() -> None:
    with pytest.raises(BadInput, match="--shadow"):
        compared_texts(a_debate(alone=None))
