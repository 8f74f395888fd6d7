"""Estimates cost and time of a debate from its planned turns.

The least assumes short replies, a warm cache and the earliest end that the rules allow; the most
assumes long replies, hidden reasoning and an empty cache. Retries after errors, and messages of
people while the debate runs, are not included.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, partial
from typing import NamedTuple

from core.acts.act import ACTS
from core.capabilities import capability
from core.debate.agents import OFFLINE
from core.debate.debate_events import DebateStarted
from core.debate.evidence import SourceKind
from core.debate.log import RecordedEvent, apply
from core.debate.rules import Ending, When
from core.debate.setup import Forecast, Setup
from core.debate.state import Debate, roster
from core.debate.turn import BACKGROUND_ACTS, ENGINE, JUDGE, SUMMARIZER, Act, Turn
from core.figures import money, quantity, roughly
from core.llm.budget import firm_cap
from core.llm.call import NO_TABLES, Tables
from core.llm.prices import price, size_of, tokens_of, worst_cost
from core.opening import largest
from core.rules import casting, shadow
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.history.material import round_turn, stage_turn
from core.rules.history.strategies import shown_summaries
from core.rules.judging import auditor_of
from core.rules.steps import Format
from core.usage import Usage

#: Typical characters of the instructions in a prompt, of a text in it, and of a source.
_FRAME, _TEXT, _SOURCE = 3200, 2100, 8000
_CHARS_PER_WORD = 6
#: Texts of earlier rounds, or of summaries, in a prompt of a later round.
_HISTORY = 1.5


class _ActSize(NamedTuple):
    #: Words of a reply, if they are not those of the act; 0: those of the act.
    words: int = 0
    #: Texts in a prompt: per agent of the debate, and independent of the number of agents.
    texts_by_agent: float = 0.0
    texts: float = 0.0


_USUAL_SIZE = _ActSize(texts_by_agent=0.9)
_SIZES: Mapping[Act, _ActSize] = {
    Act.QUESTIONS: _ActSize(120),
    Act.CLARIFICATION: _ActSize(20, 0.9),
    Act.CRITIQUE: _ActSize(texts=1.0),
    Act.REFINEMENT: _ActSize(texts_by_agent=1.2),
    Act.ADJUST: _ActSize(texts_by_agent=1.4),
    Act.FACILITATION: _ActSize(50, 0.9),
    Act.REVIEW: _ActSize(200, 0.9),
    Act.FINDINGS: _ActSize(30, 0.9),
    Act.SECOND_LOOK: _ActSize(150, texts=1.0),
    Act.SUMMARY: _ActSize(350, 1.8),
    Act.OPTIONS: _ActSize(50, 1.0),
    Act.BALLOT: _ActSize(80, 1.4),
    Act.SYNTHESIS: _ActSize(900, 2.4),
    Act.AUDIT: _ActSize(120, texts=3.0),
    Act.CASTING: _ActSize(80),
    Act.SHADOW: _ActSize(500),
    Act.SHADOW_CHOICE: _ActSize(40, texts=1.0),
}
#: An arbitrary start: no estimate depends on it.
_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
#: Seconds until a reply begins.
_FIRST_TOKEN = 1.5


@dataclass(frozen=True)
class _Case:
    length: float
    #: Share of a prompt that is read from the vendor's cache.
    cached: float
    #: Share of the room for hidden reasoning that is used.
    reasoning: float


_LEAST, _USUAL, _MOST = _Case(0.6, 0.6, 0.0), _Case(1.0, 0.3, 0.25), _Case(1.4, 0.0, 0.5)


@dataclass(frozen=True)
class PlannedCall:
    turn: Turn
    provider: str
    model: str
    least: Usage
    usual: Usage
    most: Usage


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The estimated cost and time of a debate. Costs in US dollars; None: a price is unknown."""

    #: Every model call, if all rounds are held.
    planned: Sequence[PlannedCall] = ()
    #: Usage if the debate ends as early as its rules allow.
    least: Usage
    usage: Usage
    most: Usage
    #: Number of calls, and seconds: the least, the usual, the most.
    calls: tuple[int, int, int]
    seconds: tuple[float, float, float]
    #: The usual cost if the first answers agree and no round is held; None: never so, or unknown.
    cost_if_agreed: Decimal | None = None
    cap: Decimal | None = None
    is_alone: bool = False

    @property
    def cost(self) -> Decimal | None:
        """The usual cost if all rounds are held."""
        return self.usage.cost

    @property
    def cost_range(self) -> tuple[Decimal, Decimal] | None:
        """The least and the most cost, within the debate's cap; None if a price is unknown."""
        if self.least.cost is None or self.most.cost is None:
            return None
        cap = self.most.cost if self.cap is None else self.cap
        return min(self.least.cost, cap), min(self.most.cost, cap)

    @property
    def forecast(self) -> Forecast:
        return Forecast(
            cost=self.cost,
            cost_if_agreed=self.cost_if_agreed,
            seconds=self.seconds[1],
            calls=self.calls[1],
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
        )


def estimate(setup: Setup, tables: Tables = NO_TABLES) -> Estimate:
    debate = initial_debate(setup)
    form = format_of(debate)
    rounds, fewest = _rounds(setup, form)
    sizes = _Sizes(setup, tables)
    usual = sizes.calls(planned_turns(debate, rounds))
    early = sizes.calls(planned_turns(debate, fewest, beside=False))
    largest_calls = usual
    if setup.casting is not None:  # a model may choose more agents
        most_agents = largest(setup)
        largest_calls = _Sizes(most_agents, tables).calls(
            planned_turns(initial_debate(most_agents), rounds)
        )
    cost_if_agreed = None
    if setup.when is When.SPLIT and form.compares_drafts:
        drafts = sizes.calls(planned_turns(debate, 0, beside=False))
        cost_if_agreed = _total(call.usual for call in drafts).cost
    chains = [form.longest_chain(number) if number else 1 for number in (fewest, rounds)]
    return Estimate(
        planned=usual,
        least=_total(call.least for call in early),
        usage=_total(call.usual for call in usual),
        most=_total(call.most for call in largest_calls),
        calls=(len(early), len(usual), len(largest_calls)),
        seconds=(
            sizes.seconds([(call, call.least) for call in early], chains[0], form),
            sizes.seconds([(call, call.usual) for call in usual], chains[1], form),
            sizes.seconds([(call, call.most) for call in usual], chains[1], form),
        ),
        cost_if_agreed=cost_if_agreed,
        cap=setup.limits.debate_cost,
        is_alone=_is_alone(setup, form),
    )


def estimate_words(estimated: Estimate) -> str:
    if not estimated.planned:
        alone_words = " One agent alone is not voted on: nothing will be decided."
        return f"Estimated: no model call, no cost.{alone_words if estimated.is_alone else ''}"
    fewest, _, most = estimated.calls
    calls = quantity(most, "model call")
    if fewest != most:
        calls = f"{fewest} to {calls}"
    time = _between(roughly(estimated.seconds[0]), roughly(estimated.seconds[2]))
    bounds = estimated.cost_range
    if bounds is None:
        cost = "cost n/a (a price is unknown)"
    else:
        cost = _between(*map(money, bounds)) if any(bounds) else "no cost"
    return f"Estimated: {time}, {calls}, {cost}."


def cap_words(setup: Setup, estimated: Estimate) -> str:
    """Explain what the debate's cap guarantees; empty without a cap or if nothing costs money."""
    cap = setup.limits.debate_cost
    bounds = estimated.cost_range
    if cap is None or not estimated.planned or (bounds is not None and not any(bounds)):
        return ""
    if firm_cap(setup, estimated.cost) is None:
        reason = "calls whose price is unknown do not count towards it"
        return f"It can cost more than its cap, {money(cap)}: {reason}."
    unpriced_words = ", and asks no model whose price is unknown" if estimated.cost is None else ""
    return f"It stops before it costs more than its cap, {money(cap)}{unpriced_words}."


def planned_turns(debate: Debate, rounds: int, *, beside: bool = True) -> Sequence[Turn]:
    """Return the turns with a model call if this many rounds are held; 0: first answers only.

    `beside`: include all rounds of questions, and the summaries made in the background.
    """
    setup, form = debate.setup, format_of(debate)
    agents, format_turns = roster(debate), [*_own_turns(debate, rounds)]
    turns = [*_turns_held_once(setup), *format_turns]
    if beside:
        turns += _summaries(debate, rounds, format_turns)
    if setup.clarifying.enabled:
        for number in range(1, (setup.clarifying.rounds if beside else 1) + 1):
            turns += _asked(Act.QUESTIONS, 0, agents, str(number))
            turns += _asked(Act.CLARIFICATION, 0, [SUMMARIZER], str(number))
    is_compared = form.compares_drafts and len(agents) > 1
    is_blind = is_compared and setup.blind_ballot
    if is_compared and setup.format != review.NAME:
        turns += _asked(Act.OPTIONS, 0, [SUMMARIZER])
    if is_blind:
        turns += _asked(Act.BALLOT, 0, agents)
    if not _is_alone(setup, form) and (rounds or not is_blind):
        turns += _asked(Act.BALLOT, max(1, rounds), agents)
    turns += _asked(Act.SYNTHESIS, rounds, [JUDGE])
    return turns + _asked(Act.AUDIT, rounds, [JUDGE] if auditor_of(debate) else [])


def _turns_held_once(setup: Setup) -> Iterator[Turn]:
    if setup.casting is not None:
        yield casting.TURN
    if setup.shadow_agent is not None:
        yield from (shadow.ANSWER, shadow.CHOICE)
    if setup.format == review.NAME:
        yield review.MERGING


def _asked(act: Act, number: int, agents: Sequence[str], target: str | None = None) -> list[Turn]:
    return [Turn(act=act, round=number, agent=agent, target=target) for agent in agents]


def _own_turns(debate: Debate, rounds: int) -> Iterator[Turn]:
    """Yield the turns of the format's phases; for 0 rounds the first answers."""
    form = format_of(debate)
    first = form.phases[0]
    for number in range(1, max(1, rounds) + 1):
        # Later rounds of such a format begin with the previous positions, without a model call.
        is_carried = number > 1 and first is not form.stance_act
        for turn in form.planned_turns(debate, number):
            is_first = turn.act is first
            if (is_first and not is_carried) or (not is_first and rounds):
                yield turn


def _summaries(debate: Debate, rounds: int, own: Sequence[Turn]) -> Collection[Turn]:
    """Return summaries for the board, and for the prompts of later rounds."""
    form, everybody, turns = format_of(debate), roster(debate), list[Turn]()
    if debate.setup.summarization.enabled and len(everybody) > 1:
        turns += map(stage_turn, form.stages if rounds else form.stages[:1])
        if form.most_rounds > 1 and (rounds or not form.stages):
            turns += map(round_turn, range(1, max(1, rounds) + 1))
    summaries = (summary for turn in own for summary in shown_summaries(debate, turn))
    # A last round after the second one uses the agent's summary of the round before.
    turns += (turn for turn in summaries if turn.agent in everybody and turn.round < max(3, rounds))
    return dict.fromkeys(turns)


def _rounds(setup: Setup, form: Format) -> tuple[int, int]:
    """Return the most and the fewest rounds."""
    if setup.when is When.NEVER or _is_alone(setup, form):
        return 0, 0
    rounds = min(setup.rounds, form.most_rounds)
    if form.ends_itself or (setup.when is When.SPLIT and form.compares_drafts):
        return rounds, 0
    return rounds, rounds if setup.termination.ending is Ending.FIXED else min(1, rounds)


class _Sizes:
    def __init__(self, setup: Setup, tables: Tables) -> None:
        debate = initial_debate(setup)
        self._setup, self._tables, self._auditor = setup, tables, auditor_of(debate)
        self._first = format_of(debate).phases[0]
        source_sizes = [
            len(source.fetch) if source.kind is SourceKind.TEXT else _SOURCE
            for source in setup.references
        ]
        self._shared = _FRAME + size_of(setup.question) + size_of(setup.context)
        self._shared += min(setup.evidence_characters, sum(source_sizes))
        # Many calls have the same arguments.
        self._usage = cache(self._usage_of_kind)
        self._capability = cache(partial(capability, overrides=tables.models))

    def calls(self, turns: Sequence[Turn]) -> Sequence[PlannedCall]:
        """Return a call for each turn, except turns of the offline engine."""
        calls = list[PlannedCall]()
        for turn in turns:
            agent = self._setup.agent(turn.agent) if turn.agent != ENGINE else None
            if turn.act is Act.AUDIT:
                agent = self._auditor or agent
            if agent is None or agent.provider == OFFLINE:
                continue
            least, usual, most = (
                self._usage(turn.act, agent.provider, agent.model, case, is_later=turn.round > 1)
                for case in (_LEAST, _USUAL, _MOST)
            )
            calls.append(PlannedCall(turn, agent.provider, agent.model, least, usual, most))
        return calls

    def seconds(
        self, calls: Sequence[tuple[PlannedCall, Usage]], chain: int, form: Format
    ) -> float:
        """Return the seconds for these calls. `chain`: calls of the format that run in sequence."""
        times, other_acts = list[float](), set[Act]()
        for call, usage in calls:
            if call.turn.act not in BACKGROUND_ACTS:
                speed = self._capability(call.provider, call.model).speed
                times.append(_FIRST_TOKEN + usage.output_tokens / speed)
                other_acts.add(call.turn.act)
        other_acts -= {*form.phases, Act.FACILITATION}
        return sum(times) / len(times) * (chain + len(other_acts)) if times else 0.0

    def _usage_of_kind(
        self, act: Act, provider: str, model: str, case: _Case, *, is_later: bool
    ) -> Usage:
        limits, spec, size = self._capability(provider, model), ACTS[act], _SIZES.get(act)
        size = size or _USUAL_SIZE
        texts = size.texts + size.texts_by_agent * len(self._setup.agents)
        if act is self._first:
            texts = 0.0
        if is_later and spec.sees_history:
            texts += _HISTORY
        tokens_in = tokens_of(int(self._shared + texts * _TEXT * case.length), limits.token_factor)
        words = (size.words or spec.words or 100) * _CHARS_PER_WORD * case.length
        reasoning_tokens = int(limits.reasoning_tokens.get(spec.effort, 0) * case.reasoning)
        usage = Usage(
            input_tokens=tokens_in,
            output_tokens=tokens_of(int(words), limits.token_factor) + reasoning_tokens,
            cached_tokens=0 if limits.cache == "none" else int(tokens_in * case.cached),
            reasoning_tokens=reasoning_tokens,
            attempts=1,
        )
        prices = self._tables.prices
        if limits.local:
            cost: Decimal | None = Decimal(0)
        elif case is _MOST:
            cost = worst_cost(provider, model, (tokens_in, usage.output_tokens), prices)
        else:
            cost = price(provider, model, usage, prices)
        return replace(usage, cost=cost)


def initial_debate(setup: Setup) -> Debate:
    """Return the debate right after its start. Writes nothing."""
    event = DebateStarted(setup=setup)
    return apply(None, RecordedEvent(debate_id="destimat", seq=1, at=_ANY_TIME, event=event))


def _is_alone(setup: Setup, form: Format) -> bool:
    """Whether there is only one agent, so that there is no vote."""
    return len(setup.agents) == 1 and form.compares_drafts


def _total(usages: Iterator[Usage]) -> Usage:
    return sum(usages, start=Usage())


def _between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"
