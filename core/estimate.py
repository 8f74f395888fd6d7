"""Estimates what a debate will cost and how long it will take, without asking a model.

The real schedule and the real prompts, played twice without an early end: with replies of the usual
length, which is shown as "about", and at the worst, which is shown as "at most". At the worst every
reply is as long as it may be, every structured one is repaired once, every summary is tried twice
and comes too late to spare anybody the full text, and nothing is cached. What a vendor cuts off or
breaks off is asked again on top of that; the debate's cap bounds it all the same. Questions to
people are answered at once; notes that people will add are not foreseen. Where no model is set up,
the offline engine itself plays: it costs nothing, and what it will say is known.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from core.events import (
    ClarificationAnswered,
    DebateStarted,
    Event,
    Recorded,
    SummaryMade,
    apply,
)
from core.figures import counted, money, roughly
from core.llm.call import NO_TABLES, ModelCalls, Tables
from core.llm.prices import price, size_of
from core.llm.quoting import quote
from core.llm.sizes import Measure
from core.llm.structured import repair_parts
from core.models import (
    BESIDE,
    FACILITATOR,
    JUDGE,
    OFFLINE,
    SHADOW,
    SUMMARIZER,
    Act,
    Answer,
    Debate,
    Ending,
    Forecast,
    Place,
    Setup,
    SourceKind,
    SourceReference,
    SourceText,
    Turn,
    Undebatable,
    Usage,
    When,
)
from core.opening import largest
from core.ports import Clock, ModelProvider
from core.request import ModelReply, ModelRequest
from core.rules import schedule
from core.rules.formats.registry import format_of, formats_with
from core.rules.options import options_of
from core.turns.take import Turns
from core.usual_replies import SENTENCE, lengthened, longest_reply, usual_reply

#: Seconds until a reply begins, as vendors mostly take.
_FIRST_TOKEN = 1.5
#: Of the room reserved for hidden reasoning, so much is used.
_REASONING_USED = 0.25
#: No debate has so many waves of turns; a schedule that never ends would.
_MOST_WAVES = 1000
#: Sums of estimates may differ by so many tokens.
_ROUNDING = 4
#: A source has about so many characters, in paragraphs of so many sentences.
_SOURCE_CHARACTERS, _SENTENCES = 8000, 5
#: Characters of what a person answers at length.
_LONG_ANSWER = 1000
#: What is said of checklists that will decide nothing.
_UNDECIDED: Mapping[Undebatable | None, str] = {
    None: "",
    Undebatable.NO_MODEL: " No checklist takes a side on the question: the roles will say what "
    "they would ask, and nothing will be decided.",
    Undebatable.ALONE: " One agent alone is not voted on: nothing will be decided.",
}


class Cached(StrEnum):
    """What the vendor's cache will probably do with a part of a prompt."""

    READ = "read from the cache"
    WRITTEN = "written to the cache"
    #: Neither: it is paid in full.
    NOT = ""


class _Unread:
    """The `SourceReader` of a rehearsal: sources of a usual length, with nothing to say."""

    async def read(self, reference: SourceReference, _place: Place, /) -> SourceText:
        """A text of the usual length, another one for each source."""
        paragraph = " ".join([SENTENCE] * _SENTENCES)
        is_known = reference.kind is SourceKind.TEXT
        length = len(reference.fetch) if is_known else _SOURCE_CHARACTERS
        text = "\n\n".join([paragraph] * max(1, length // len(paragraph)))
        return SourceText(text=text, sha256=reference.fetch)


@dataclass(frozen=True)
class SizedPart:
    """A part of a prompt and what it takes."""

    label: str
    tokens: int
    cached: Cached


@dataclass(frozen=True, kw_only=True)
class Played:
    """One call as it would be made."""

    turn: Turn
    provider: str
    request: ModelRequest
    parts: Sequence[SizedPart]
    #: With what it will probably cost; None where the price is unknown.
    usage: Usage
    #: What the turn can cost, repairs and second tries included. Beyond the debate's cap: what this
    #: call can cost.
    at_most: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a debate will probably take."""

    #: US dollars; None where a model's price is unknown.
    cost: Decimal | None
    #: What the debate can cost in the worst case, or its cap where that is less.
    at_most: Decimal | None
    seconds: float
    #: Of models; the offline engine is none.
    calls: int
    usage: Usage
    #: US dollars if all agree at once and no round is held; None: all rounds are, or not known.
    cost_if_agreed: Decimal | None = None
    #: Why checklists alone will decide nothing; None: they may.
    undecided: Undebatable | None = None
    #: Every call, in the order they would be made.
    played: Sequence[Played] = ()

    @property
    def forecast(self) -> Forecast:
        """The estimate as it is kept with the debate, to compare it afterwards."""
        return Forecast(
            cost=self.cost,
            cost_if_agreed=self.cost_if_agreed,
            seconds=self.seconds,
            calls=self.calls,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
        )


async def rehearse(
    setup: Setup,
    clock: Clock,
    tables: Tables = NO_TABLES,
    *,
    by_rules: ModelProvider | None = None,
) -> Estimate:
    """Estimate a debate.

    Args:
        setup: The debate as it would start.
        clock: For the times in the log.
        tables: Settings' capabilities and prices.
        by_rules: The offline engine; None: it is taken for a model.
    """
    usual = await _played(setup, clock, _Stage(tables, clock, by_rules))
    dearest = setup if setup.casting is None else largest(setup)  # a model may choose more agents
    worst = await _played(dearest, clock, _Stage(tables, clock, by_rules, at_worst=True))
    formats = formats_with(filter(None, [setup.agenda]))
    if setup.when is not When.SPLIT or not formats[setup.format].COMPARES_DRAFTS:
        usual = replace(usual, cost_if_agreed=None)
    at_most, cap = worst.at_most, setup.limits.debate_cost
    by_turn = {one.turn.key: one.at_most for one in worst.played}
    played = [replace(one, at_most=by_turn.get(one.turn.key, one.at_most)) for one in usual.played]
    bounded = at_most if at_most is None or cap is None else min(at_most, cap)
    return replace(usual, at_most=bounded, played=played)


async def _played(setup: Setup, clock: Clock, stage: "_Stage") -> Estimate:
    """The whole debate on that stage: no cap stops it, and no round moves nobody."""
    everybody = (*(one.id for one in setup.agents), JUDGE, FACILITATOR, SUMMARIZER, SHADOW)
    names = {setup.agent(agent).provider for agent in everybody}
    names |= {one.provider for one in setup.judge_models}
    calls = ModelCalls({name: stage.provider(name) for name in names}, clock, tables=stage.tables)
    turns = Turns(calls, reader=_Unread())
    termination = setup.termination.model_copy(update={"ending": Ending.FIXED})
    limits = setup.limits.model_copy(update={"debate_cost": None})
    when = When.NEVER if setup.when is When.NEVER else When.ALWAYS
    changes = {"when": when, "termination": termination, "limits": limits}
    started = DebateStarted(setup=setup.model_copy(update=changes))
    debate = apply(None, Recorded(debate_id="drehearse", seq=1, at=clock.now(), event=started))
    seconds = 0.0
    for _ in range(_MOST_WAVES):
        stage.longest = 0.0
        events: list[Event] = []
        for turn in schedule.ready(debate):
            events.append(await stage.take(turns, debate, turn))
            await clock.sleep(0)  # others may want to run
        for event in events or stage.answers(debate):
            entry = Recorded(debate_id=debate.id, seq=debate.seq + 1, at=clock.now(), event=event)
            debate = apply(debate, entry)
        if not events and not debate.open_clarifications and not schedule.ready(debate):
            break
        seconds += stage.longest
        if stage.is_dear(setup.limits.debate_cost):
            break  # it cannot cost more than its cap: no more need be known
    return stage.estimate(debate, seconds)


class _Stage:
    """Stands in for all providers and adds up what their calls would cost."""

    def __init__(
        self,
        tables: Tables,
        clock: Clock,
        by_rules: ModelProvider | None,
        *,
        at_worst: bool = False,
    ) -> None:
        self.tables, self.clock = tables, clock
        self._by_rules = by_rules
        #: Whether everything that can be long or happen twice is and does.
        self.at_worst = at_worst
        self._prices = tables.prices
        self._measure = Measure(tables.models)
        self._warm: set[str] = set()
        self._worst: Decimal | None = Decimal(0)
        self._turn: Turn | None = None
        self._played: list[Played] = []
        #: Seconds the longest call took since this was last set to 0.
        self.longest = 0.0

    def provider(self, name: str) -> "_Player":
        """The provider of that name."""
        return _Player(name, self)

    async def take(self, turns: Turns, debate: Debate, turn: Turn) -> Event:
        """Take one turn, knowing which one its calls belong to."""
        self._turn = turn
        event = await turns.take(debate, turn)
        if self.at_worst and isinstance(event, SummaryMade):
            # Too late for everybody: what stands in for it is as long as the full text.
            whole = lengthened(SENTENCE, event.summary.before_chars)
            return SummaryMade(summary=event.summary.model_copy(update={"text": whole}))
        return event

    def is_dear(self, cap: Decimal | None) -> bool:
        """Whether the worst case has passed the cap."""
        return self.at_worst and cap is not None and self._worst is not None and self._worst > cap

    def answers(self, debate: Debate) -> Sequence[Event]:
        """What people answer to the questions that are open."""
        said = lengthened(SENTENCE, _LONG_ANSWER if self.at_worst else len(SENTENCE))
        return [
            ClarificationAnswered(
                answer=Answer(number=item.number, text=said, by=debate.setup.asked_by)
            )
            for item in debate.open_clarifications
        ]

    async def play(self, name: str, request: ModelRequest) -> ModelReply:
        """One call: a reply of the usual length, and what it would have cost."""
        if self._turn is None:
            raise RuntimeError("a call without a turn")
        if self._by_rules and self._by_rules.name == name:
            return await self._play_by_rules(self._by_rules, request, self._turn)
        if self.at_worst:
            return self._play_worst(name, request, self._turn)
        text = usual_reply(request)
        usage = self._usage(name, request, text)
        limits = self._measure.capability(name, request.model)
        if request.act not in BESIDE:  # nothing waits for it
            self.longest = max(self.longest, _FIRST_TOKEN + usage.output_tokens / limits.speed)
        now = self.clock.now()
        worst = self._measure.worst(name, request, self._prices, at=now)
        listed = price(name, request.model, usage, self._prices, at=now)
        self._played.append(
            Played(
                turn=self._turn,
                provider=name,
                request=request,
                parts=self._sized(name, request, usage),
                usage=usage.model_copy(update={"cost": Decimal(0) if limits.local else listed}),
                at_most=worst,
            )
        )
        return ModelReply(text=text, usage=usage, model=request.model)

    def _sized(self, name: str, request: ModelRequest, usage: Usage) -> Sequence[SizedPart]:
        """The parts of a prompt, with what each takes."""
        # The cache holds the beginning of a prompt, never a piece of its middle.
        texts = [("System", request.system)]
        texts += [(part.label, quote(part, request.delimiter)) for part in request.parts]
        parts: list[SizedPart] = []
        so_far = 0
        for label, quoted in texts:
            size = size_of(quoted)
            so_far += size + len("\n\n")
            upto = self._measure.tokens_of(name, request.model, so_far)
            tokens = self._measure.tokens_of(name, request.model, size)
            cached = Cached.NOT
            if upto <= usage.cached_tokens + _ROUNDING:
                cached = Cached.READ
            elif upto <= usage.cached_tokens + usage.written_tokens + _ROUNDING:
                cached = Cached.WRITTEN
            parts.append(SizedPart(label, tokens, cached))
        return parts

    async def _play_by_rules(
        self, provider: ModelProvider, request: ModelRequest, turn: Turn
    ) -> ModelReply:
        """What the offline engine answers: no model is asked."""
        reply = await provider.complete(request)
        played = Played(
            turn=turn,
            provider=provider.name,
            request=request,
            parts=self._sized(provider.name, request, reply.usage),
            usage=reply.usage,
            at_most=Decimal(0),
        )
        self._played.append(played)
        return reply

    def _play_worst(self, name: str, request: ModelRequest, turn: Turn) -> ModelReply:
        """One call as expensive as it can be: its longest reply, its repair or second try."""
        text = longest_reply(request)
        tried = [request]
        if request.answer:
            tried.append(replace(request, parts=(*request.parts, *repair_parts(text, SENTENCE))))
        elif request.act is Act.SUMMARY:
            tried.append(request)
        costs = [self._measure.worst(name, one, self._prices, at=self.clock.now()) for one in tried]
        known = [cost for cost in costs if cost is not None]
        worst = sum(known, start=Decimal(0)) if len(known) == len(costs) else None
        both = worst is not None and self._worst is not None
        self._worst = (self._worst or Decimal(0)) + (worst or Decimal(0)) if both else None
        usage = Usage(attempts=len(tried))
        played = Played(
            turn=turn, provider=name, request=request, parts=(), usage=usage, at_most=worst
        )
        self._played.append(played)
        return ModelReply(text=text, usage=usage, model=request.model)

    def estimate(self, debate: Debate, seconds: float) -> Estimate:
        """The estimate of the whole debate."""
        usage, opening = debate.usage, format_of(debate).PHASES[0]
        # First answers, options, blind ballots, verdict.
        agreed = [
            one.usage
            for one in self._played
            if one.turn.round == 0
            or (one.turn.round == 1 and one.turn.act is opening)
            or one.turn.act is Act.SYNTHESIS
        ]
        undecided = None
        is_compared = format_of(debate).COMPARES_DRAFTS
        if is_compared and debate.verdict and debate.verdict.is_undecided:
            if len(debate.setup.agents) == 1:
                undecided = Undebatable.ALONE
            elif not options_of(debate).items:  # else the vote is tied
                undecided = Undebatable.NO_MODEL
        return Estimate(
            cost=usage.cost,
            cost_if_agreed=sum(agreed, start=Usage()).cost,
            at_most=self._worst if self.at_worst else None,
            seconds=seconds,
            calls=sum(one.provider != OFFLINE for one in self._played),
            usage=usage,
            undecided=undecided,
            played=tuple(self._played),
        )

    def _usage(self, name: str, request: ModelRequest, text: str) -> Usage:
        """Tokens of one call, what is cached and what is written among them."""
        beginnings = self._measure.beginnings(name, request)
        cached = max((size for key, size in beginnings.items() if key in self._warm), default=0)
        written = max(beginnings.values(), default=0) - cached
        self._warm.update(beginnings)
        limits = self._measure.capability(name, request.model)
        thought = int(limits.reasoning_tokens.get(request.effort, 0) * _REASONING_USED)
        return Usage(
            input_tokens=self._measure.prompt_tokens(name, request),
            output_tokens=self._measure.tokens(name, request.model, text) + thought,
            cached_tokens=cached,
            written_tokens=written,
            reasoning_tokens=thought,
            cost=None,
            attempts=1,
        )


class _Player:
    """One provider of the rehearsal."""

    def __init__(self, name: str, stage: _Stage) -> None:
        self.name = name
        self._stage = stage

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Answer at once."""
        on_first_token()
        return await self._stage.play(self.name, request)

    async def close(self) -> None:
        """Nothing to free."""


def estimate_words(estimate: Estimate) -> str:
    """What a debate will probably take."""
    if not estimate.calls:
        return f"Estimated: no model call, no cost.{_UNDECIDED[estimate.undecided]}"
    time = f"about {roughly(estimate.seconds)}"
    calls = counted(estimate.calls, "model call")
    if estimate.cost is None:
        return f"Estimated: {time}, {calls}, cost n/a (a price is unknown)."
    if not estimate.cost:
        return f"Estimated: {time}, {calls}, no cost."
    most = f", at most {money(estimate.at_most)}" if estimate.at_most else ""
    return f"Estimated: {time}, {calls}, about {money(estimate.cost)}{most}."
