"""Estimates what a debate will cost and how long it will take, without asking a model.

The real schedule and the real prompts, with replies that have the usual length and nothing to say.
People are not waited for. Only as good as its assumptions; it is shown as "about".
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from core.events import DebateStarted, Event, Recorded, apply
from core.llm.call import NO_TABLES, ModelCalls, Tables
from core.llm.prices import price
from core.llm.prompt_text import prompt_text
from core.llm.quoting import quote
from core.llm.sizes import Measure
from core.models import (
    FACILITATOR,
    JUDGE,
    SUMMARIZER,
    Act,
    Clarifying,
    Debate,
    Ending,
    Forecast,
    NextStep,
    Place,
    Setup,
    SourceReference,
    SourceText,
    Turn,
    Usage,
)
from core.ports import Clock
from core.request import ModelReply, ModelRequest, PartKind
from core.rules import schedule
from core.turns.acts import ACTS
from core.turns.take import Turns

#: Seconds until a reply begins, as vendors mostly take.
_FIRST_TOKEN = 1.5
#: Of the room reserved for hidden reasoning, so much is used.
_REASONING_USED = 0.25
_CHARS_PER_WORD = 6.0
#: No debate has so many waves of turns; a schedule that never ends would.
_MOST_WAVES = 1000
#: Sums of estimates may differ by so many tokens.
_ROUNDING = 4
#: A source has about so many characters, in paragraphs of so many sentences.
_SOURCE_CHARACTERS, _SENTENCES = 8000, 5
_SENTENCE = "The reasons, the risks and the cost of each step are set out one by one."
#: A structured reply's list has so many items.
_ITEMS = 3


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
        paragraph = " ".join([_SENTENCE] * _SENTENCES)
        text = "\n\n".join([paragraph] * (_SOURCE_CHARACTERS // len(paragraph)))
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
    at_most: Decimal | None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a debate will probably take."""

    #: US dollars; None where a model's price is unknown.
    cost: Decimal | None
    #: What the same calls would cost in the worst case: nothing cached, every reserve used.
    at_most: Decimal | None
    seconds: float
    calls: int
    usage: Usage
    #: Every call, in the order they would be made.
    played: Sequence[Played] = ()

    @property
    def forecast(self) -> Forecast:
        """The estimate as it is kept with the debate, to compare it afterwards."""
        return Forecast(
            cost=self.cost,
            seconds=self.seconds,
            calls=self.calls,
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
        )


async def rehearse(setup: Setup, clock: Clock, tables: Tables = NO_TABLES) -> Estimate:
    """Estimate a debate.

    Args:
        setup: The debate as it would start.
        clock: For the times in the log.
        tables: Settings' capabilities and prices.
    """
    stage = _Stage(tables)
    everybody = (*(agent.id for agent in setup.agents), JUDGE, FACILITATOR, SUMMARIZER)
    names = {setup.agent(agent).provider for agent in everybody}
    calls = ModelCalls({name: stage.provider(name) for name in names}, clock, tables=tables)
    turns = Turns(calls, reader=_Unread())
    # The debate at its start: nobody is asked, no cap stops it, all rounds are held.
    termination = setup.termination.model_copy(update={"ending": Ending.FIXED})
    limits = setup.limits.model_copy(update={"debate_cost": None})
    changes = {"clarifying": Clarifying(), "termination": termination, "limits": limits}
    started = DebateStarted(setup=setup.model_copy(update=changes))
    debate = apply(None, Recorded(debate_id="drehearse", seq=1, at=clock.now(), event=started))
    seconds = 0.0
    for _ in range(_MOST_WAVES):
        wave = schedule.ready(debate)
        if not wave:
            break
        stage.longest = 0.0
        for event in [await stage.take(turns, debate, turn) for turn in wave]:
            entry = Recorded(debate_id=debate.id, seq=debate.seq + 1, at=clock.now(), event=event)
            debate = apply(debate, entry)
        seconds += stage.longest
        await clock.sleep(0)  # others may want to run
    return stage.estimate(debate, seconds)


class _Stage:
    """Stands in for all providers and adds up what their calls would cost."""

    def __init__(self, tables: Tables) -> None:
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
        return await turns.take(debate, turn)

    async def play(self, name: str, request: ModelRequest) -> ModelReply:
        """One call: a reply of the usual length, and what it would have cost."""
        text = usual_reply(request)
        usage = self._usage(name, request, text)
        limits = self._measure.capability(name, request.model)
        self.longest = max(self.longest, _FIRST_TOKEN + usage.output_tokens / limits.speed)
        worst = self._measure.worst(name, request, self._prices)
        known = worst is not None and self._worst is not None
        self._worst = (self._worst or Decimal(0)) + (worst or Decimal(0)) if known else None
        if self._turn is None:
            raise RuntimeError("a call without a turn")
        local = self._measure.capability(name, request.model).local
        cost = Decimal(0) if local else price(name, request.model, usage, self._prices)
        # The cache holds the beginning of a prompt, never a piece of its middle.
        texts = [("System", request.system)]
        texts += [(part.label, quote(part, request.delimiter)) for part in request.parts]
        parts: list[SizedPart] = []
        so_far = ""
        for label, quoted in texts:
            so_far += f"{quoted}\n\n"
            upto = self._measure.tokens(name, request.model, so_far)
            tokens = self._measure.tokens(name, request.model, quoted)
            cached = Cached.NOT
            if upto <= usage.cached_tokens + _ROUNDING:
                cached = Cached.READ
            elif upto <= usage.cached_tokens + usage.written_tokens + _ROUNDING:
                cached = Cached.WRITTEN
            parts.append(SizedPart(label, tokens, cached))
        self._played.append(
            Played(
                turn=self._turn,
                provider=name,
                request=request,
                parts=parts,
                usage=usage.model_copy(update={"cost": cost}),
                at_most=worst,
            )
        )
        return ModelReply(text=text, usage=usage, model=request.model)

    def estimate(self, debate: Debate, seconds: float) -> Estimate:
        """The estimate of the whole debate."""
        usage = debate.usage
        return Estimate(
            cost=usage.cost,
            at_most=self._worst,
            seconds=seconds,
            calls=len(self._played),
            usage=usage,
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
            input_tokens=self._measure.tokens(name, request.model, prompt_text(request)),
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


def usual_reply(request: ModelRequest) -> str:
    """A reply in the form an act asks for and of the length it usually has."""
    length = request.most_chars or int(ACTS[request.act].words * _CHARS_PER_WORD)
    text = f"{_SENTENCE} " * (length // len(_SENTENCE) + 1)
    items = [_SENTENCE] * _ITEMS
    match request.act:
        case Act.BALLOT:
            labels = [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]
            reasons = [_SENTENCE for _ in labels]
            reply = {"ranking": labels, "reasons": reasons, "confidence": 0.7, "moved_by": "none"}
        case Act.FACILITATION:
            step = NextStep.GO_ON
            reply = {"decision": step, "focus": _SENTENCE, "question": "", "assumption": ""}
        case Act.SYNTHESIS:
            reply = {
                "reasons": items,
                "requirements": [
                    {"requirement": _SENTENCE, "words": _SENTENCE, "status": "met"} for _ in items
                ],
                "decision": _SENTENCE,
                "solution": text[:length],
                "implementation": " ".join(items),
                "tradeoffs": items,
                "recommendations": items,
                "open_questions": items,
                "dissent": _SENTENCE,
                "overturned_by": items,
                "notes": [],
                "confidence": 70,
            }
        case _:
            return text[:length]
    return json.dumps(reply)
