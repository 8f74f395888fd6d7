"""Summaries and context strategies in whole debates with a scripted model."""

import pytest

from core.errors import ProviderError, RequestRejected
from core.metrics import summary_metrics
from core.models import (
    Act,
    ContextMethod,
    Debate,
    PromptText,
    Status,
    Summarization,
    SummaryKind,
    Termination,
)
from core.request import ModelRequest, PartKind
from core.testing import ScriptedProvider, a_setup, plausible_reply
from tests.core.bench import DEBATE, Bench

LONG = "We must keep 2000 jobs per second. " * 20


def script(request: ModelRequest) -> str:
    """Long positions, short summaries."""
    if request.act is Act.SUMMARY:
        return "In short: 2000 jobs."
    if request.act in {Act.PROPOSAL, Act.REFINEMENT, Act.STATEMENT, Act.CRITIQUE}:
        return f"**{request.role}** {LONG}"
    return plausible_reply(request)


async def held(
    method: ContextMethod,
    *,
    rounds: int = 4,
    form: str = "critique",
    provider: ScriptedProvider | None = None,
    **rules: object,
) -> tuple[Bench, Debate]:
    summarization = Summarization(method=method, threshold=1000).model_copy(update=rules)
    setup = a_setup(rounds=rounds).model_copy(
        update={
            "format": form,
            "summarization": summarization,
            "termination": Termination(threshold=2),
        }
    )
    bench = Bench(provider or ScriptedProvider(script))
    return bench, await bench.run(setup)


def parts_of(request: ModelRequest, kind: PartKind) -> list[str]:
    return [part.label for part in request.parts if part.kind is kind]


async def test_full_shows_an_agent_its_whole_own_history() -> None:
    bench, debate = await held(ContextMethod.FULL)

    assert not debate.summaries
    last = bench.provider.asked(Act.REFINEMENT)[-1]
    assert "Your earlier rounds" in parts_of(last, PartKind.OTHER)
    history = next(part.text for part in last.parts if part.label == "Your earlier rounds")
    assert "[Round 1, proposal, your own]" in history
    assert "[Round 1, critique of your proposal, " in history
    assert not any(name in history for name in ("Architect", "Security", "Simplicity"))


async def test_length_sums_up_each_agents_own_perspective_from_the_threshold_on() -> None:
    bench, debate = await held(ContextMethod.LENGTH)
    kinds = {summary.turn.key: summary.kind for summary in debate.summaries.values()}

    assert kinds["r2/summary/architect"] is SummaryKind.PERSPECTIVE
    assert len([k for k in kinds.values() if k is SummaryKind.PERSPECTIVE]) == 3 * 3
    for request in bench.provider.asked(Act.CRITIQUE)[6:]:
        assert "Your debate so far, in short" in parts_of(request, PartKind.SUMMARY)


async def test_a_summary_says_how_it_was_made() -> None:
    _, debate = await held(ContextMethod.LENGTH)
    summary = debate.summaries["r2/summary/architect"]

    assert summary.before_chars > 1000 > summary.after_chars == len(summary.text)
    assert summary.method == "length"
    assert summary.call
    assert (summary.call.provider, summary.call.usage.output_tokens) == ("scripted", 20)


async def test_below_the_threshold_nothing_is_summed_up() -> None:
    bench, debate = await held(ContextMethod.LENGTH, threshold=10**6)

    assert not debate.summaries
    assert "Your earlier rounds" in parts_of(bench.provider.asked(Act.CRITIQUE)[-1], PartKind.OTHER)


async def test_an_agents_own_rules_win_over_the_debates() -> None:
    never = Summarization(enabled=False)
    setup = a_setup(rounds=2)
    agents = (setup.agents[0].model_copy(update={"summarization": never}), *setup.agents[1:])
    rules = Summarization(method=ContextMethod.LENGTH, threshold=1000)
    debate = await Bench(ScriptedProvider(script)).run(
        setup.model_copy(update={"agents": agents, "summarization": rules})
    )

    assert "r2/summary/architect" not in debate.summaries
    assert "r2/summary/security" in debate.summaries


async def test_a_failed_perspective_summary_means_the_full_history() -> None:
    def failing(request: ModelRequest) -> str | ProviderError:
        return RequestRejected("No.") if request.act is Act.SUMMARY else script(request)

    bench, debate = await held(ContextMethod.LENGTH, provider=ScriptedProvider(failing), rounds=2)

    assert debate.status is Status.CONCLUDED
    assert "r2/summary/architect" in debate.failures
    assert "Your earlier rounds" in parts_of(bench.provider.asked(Act.CRITIQUE)[-1], PartKind.OTHER)


async def test_rounds_shows_the_last_round_in_full_and_older_ones_in_short() -> None:
    bench, _ = await held(ContextMethod.ROUNDS, form="panel", rounds=5)
    last = bench.provider.asked(Act.STATEMENT)[-1]

    assert parts_of(last, PartKind.SUMMARY) == [f"Round {n} in short" for n in (1, 2, 3)]
    assert "Round 4 in full" in parts_of(last, PartKind.OTHER)


async def test_the_first_rounds_summary_is_not_lost_and_nothing_waits_for_one() -> None:
    latency = 0.03
    bench, debate = await held(
        ContextMethod.ROUNDS,
        form="panel",
        rounds=7,
        provider=ScriptedProvider(script, latency=latency),
    )
    metrics = summary_metrics(await bench.store.events(DEBATE))

    assert [f"r{n}/summary/summarizer" in debate.summaries for n in range(1, 8)] == [
        *[True] * 6,
        False,
    ]
    assert (metrics.blocked, metrics.blocked_seconds) == (0, 0)
    assert metrics.generated == 6 + 1, "one per round but the last, and the judge's"
    assert metrics.ready_before_needed == 6
    assert metrics.compression > 0.8


async def test_a_prompt_stays_flat_with_rounds() -> None:
    bench, _ = await held(ContextMethod.ROUNDS, form="panel", rounds=7)
    sizes = [
        sum(len(part.text) for part in request.parts)
        for request in bench.provider.asked(Act.STATEMENT)
    ]

    assert max(sizes[9:]) < 1.1 * min(sizes[9:12])


async def test_after_ten_rounds_the_first_five_become_one_summary() -> None:
    bench, debate = await held(ContextMethod.ROUNDS, rounds=13)
    meta = debate.summaries["r5/summary/summarizer/meta"]

    assert meta.kind is SummaryKind.META
    last = bench.provider.asked(Act.REFINEMENT)[-1]
    labels = parts_of(last, PartKind.SUMMARY)
    assert labels[0] == "Rounds 1 to 5 in short"
    assert labels[1:] == [f"Round {n} in short" for n in range(6, 12)]


@pytest.mark.parametrize(
    ("number", "tokens"),
    [(1, 150), (2, 150), (3, 100), (4, 100), (5, 75), (6, 75)],
)
async def test_summaries_are_long_early_and_short_late(number: int, tokens: int) -> None:
    bench, _ = await held(ContextMethod.ROUNDS, form="panel", rounds=7)
    tasks = [request.parts[-1].text for request in bench.provider.asked(Act.SUMMARY)]

    assert f"At most {tokens} tokens" in tasks[number - 1]


@pytest.mark.parametrize(
    ("broken_calls", "method"),
    [(1, "brief"), (2, "last contributions")],
)
async def test_a_rounds_summary_falls_back_step_by_step(broken_calls: int, method: str) -> None:
    broken: list[ModelRequest] = []

    def failing(request: ModelRequest) -> str | ProviderError:
        if request.act is Act.SUMMARY and len(broken) < broken_calls:
            broken.append(request)
            return RequestRejected("No.")
        return script(request)

    _, debate = await held(
        ContextMethod.ROUNDS, form="panel", rounds=3, provider=ScriptedProvider(failing)
    )

    assert debate.summaries["r1/summary/summarizer"].method == method
    assert debate.status is Status.CONCLUDED


async def test_hierarchical_condenses_long_contributions_then_rounds_then_the_debate() -> None:
    bench, debate = await held(ContextMethod.HIERARCHICAL, form="panel", rounds=7, threshold=500)
    kinds = [summary.kind for summary in debate.summaries.values()]

    assert kinds.count(SummaryKind.CONTRIBUTION) == 3 * 6
    assert SummaryKind.ROUND in kinds
    assert "The debate up to round 5 in short" in parts_of(
        bench.provider.asked(Act.STATEMENT)[-1], PartKind.SUMMARY
    )


async def test_the_judges_summary_is_really_used_and_leaves_critiques_out() -> None:
    bench, debate = await held(ContextMethod.LENGTH)
    summary = next(s for s in debate.summaries.values() if s.kind is SummaryKind.JUDGE)
    asked = next(r for r in bench.provider.asked(Act.SUMMARY) if r.role == "judge")
    synthesis = bench.provider.asked(Act.SYNTHESIS)[0]

    assert "critique" not in next(p.text for p in asked.parts if p.label == "To be summed up")
    assert summary.text in [part.text for part in synthesis.parts]
    assert not parts_of(synthesis, PartKind.POSITION)


async def test_a_figure_that_a_summary_loses_is_put_back() -> None:
    def forgetful(request: ModelRequest) -> str:
        return "In short: many jobs." if request.act is Act.SUMMARY else script(request)

    setup = a_setup("Kafka or not? It must take 2000 jobs.", rounds=2)
    rules = Summarization(method=ContextMethod.LENGTH, threshold=1000)
    debate = await Bench(ScriptedProvider(forgetful)).run(
        setup.model_copy(update={"summarization": rules})
    )

    text = debate.summaries["r2/summary/architect"].text
    assert text == "Keep in mind: 2000 jobs. In short: many jobs."


async def test_a_summary_is_cut_visibly_at_its_bound() -> None:
    def wordy(request: ModelRequest) -> str:
        return "word " * 900 if request.act is Act.SUMMARY else script(request)

    _, debate = await held(
        ContextMethod.LENGTH, provider=ScriptedProvider(wordy), rounds=2, max_length=200
    )
    text = debate.summaries["r2/summary/architect"].text

    assert len(text) <= 200
    assert text.endswith("[…]")


async def test_a_custom_summary_prompt_is_used_and_named() -> None:
    own = PromptText(text="Sum up as a limerick, {{ length }}.", source="limerick.md")
    bench, debate = await held(ContextMethod.LENGTH, rounds=2, prompt=own)

    assert bench.provider.asked(Act.SUMMARY)[0].parts[-1].text.startswith("Sum up as a limerick")
    call = debate.summaries["r2/summary/architect"].call
    assert call
    assert call.prompt_source == "limerick.md"
