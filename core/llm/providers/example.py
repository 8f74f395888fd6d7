"""The `example` provider: plays debates that were written by hand, through the real engine.

A reply is found by who asks, for which act, about whose text: the same request always gets the same
one, whatever people do to the debate meanwhile.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from core.debate.agents import EXAMPLE, ModelChoice
from core.debate.rules import Clarifying
from core.debate.turn import JUDGE, Act
from core.errors import RequestRejected
from core.ports import Clock
from core.request import ModelReply, ModelRequest, PartKind
from core.settings import AllLimits, Settings, agent_for
from core.usage import Usage

_FOLDER = Path(__file__).parent / "examples"
#: Words shown in a second, for an example that is over within a minute. People read about 4, and
#: skim the rest.
WORDS_PER_SECOND = 18.0
#: Seconds that what nobody reads takes at this pace: ballots, questions, the list of options.
_UNREAD_SECONDS = 0.6
#: What follows is shown; what stands before is folded.
_IN_SHORT = "In short:"
_HOUR = 3600.0
#: What a ballot holds where nothing moved the voter.
_NOBODY = "none"
_NOTE = "A written example: nobody read this note."
#: The judge sees behind an option who favours it.
_FAVOURED_BY = " (favoured by "
#: How often the words of a reply's short form are read: a first answer is seen on the board, a
#: refinement in a post with what it answers. Other replies are not seen by themselves.
_TIMES_READ = {Act.PROPOSAL: 0.7, Act.REFINEMENT: 1.8}


class _ExampleEntry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExampleQuestion(_ExampleEntry):
    question: str
    assumption: str


class ExampleAnswer(_ExampleEntry):
    question: str
    #: Name in the local workspace.
    by: str
    answer: str


class ExampleSource(_ExampleEntry):
    """A file that somebody brings with the question; agents quote it."""

    name: str
    #: Name in the local workspace.
    by: str
    text: str


class ExampleBallot(_ExampleEntry):
    """A vote: positions by agent, options by name."""

    ranking: tuple[str, ...]
    reasons: Mapping[str, str]
    probabilities: Mapping[str, float]
    #: The agent whose critique moved the voter.
    moved_by: str = _NOBODY


class ExampleAgent(_ExampleEntry):
    #: The option that its first proposal stands for.
    option: str
    questions: tuple[ExampleQuestion, ...] = ()
    proposal: str
    #: What each other agent says of this proposal.
    criticised_by: Mapping[str, str]
    refinement: str
    #: Percent by name of the option; a name that is no option yet adds one.
    stance: Mapping[str, float]
    before: ExampleBallot
    after: ExampleBallot


class Example(_ExampleEntry):
    """A written debate: the format `critique`, one round."""

    #: What it shows, for people who choose among examples.
    title: str
    question: str
    #: Name in the local workspace.
    asked_by: str
    sources: tuple[ExampleSource, ...] = ()
    kind: str
    options: tuple[str, ...]
    #: By role, in the order of the roster.
    agents: Mapping[str, ExampleAgent]
    answers: tuple[ExampleAnswer, ...]
    summary: str
    cross_check: Mapping[str, str]
    #: The judge's reply, with options by name.
    verdict: Mapping[str, Any]


@cache
def examples() -> Mapping[str, Example]:
    """All written debates by name, in the order in which they are played."""
    order = ("nightly-export", "vier-tage-woche", "monitoring-contract")
    return {
        name: Example.model_validate(yaml.safe_load((_FOLDER / f"{name}.yaml").read_text("utf-8")))
        for name in order
    }


def example_settings(name: str, wait_seconds: float) -> Settings:
    """The settings under which a written debate is played; agents wait so long for answers."""

    def voice(role: str) -> ModelChoice:
        # Each agent is written as a mind of its own, so each is a model of its own.
        return ModelChoice(provider=EXAMPLE, model=f"{name}/{role}")

    return Settings(
        agents=tuple(agent_for(role, voice(role)) for role in examples()[name].agents),
        judge_model=voice(JUDGE),
        rounds=1,
        clarifying=Clarifying(enabled=True, wait_seconds=wait_seconds),
        # Turns wait until what was said before them has been read.
        limits=AllLimits(turn_seconds=_HOUR, debate_seconds=_HOUR),
    )


class ExampleProvider:
    """A `ModelProvider` whose models are written debates: `name/role`."""

    name = EXAMPLE

    def __init__(
        self,
        clock: Clock,
        words_per_second: float = 0.0,
        read: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        """Set how fast people read: a reply comes when the one before it has been read.

        At 0 words per second all come at once. `read` waits for seconds of reading (None: the
        clock does).
        """
        self._clock = clock
        self._read = read or clock.sleep
        self._pace = words_per_second
        self._turn = asyncio.Lock()
        #: Seconds that it takes to read the last reply.
        self._reading = 0.0

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        text = reply_to(request)
        if self._pace:
            async with self._turn:
                unread = _UNREAD_SECONDS * WORDS_PER_SECOND / self._pace
                if self._reading:
                    await self._read(max(self._reading, unread))
                else:
                    await self._clock.sleep(unread)
                words = len(text.rpartition(_IN_SHORT)[2].split())
                self._reading = words * _TIMES_READ.get(request.act, 0.0) / self._pace
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=request.model)

    async def close(self) -> None:
        """Nothing is held open."""


def reply_to(request: ModelRequest) -> str:
    """The example's reply to a request, in the form of its task."""
    example = examples().get(request.model.partition("/")[0])
    if example is None:
        raise RequestRejected(f"There is no written example {request.model}.")
    own = example.agents.get(request.role)
    match request.act:
        case Act.QUESTIONS if own:
            return _json({"questions": [question.model_dump() for question in own.questions]})
        case Act.PROPOSAL if own:
            return own.proposal.strip()
        case Act.CRITIQUE if own:
            text = next(iter(_texts(request, PartKind.POSITION).values()), "")
            return example.agents[_author(example, text)].criticised_by[request.role].strip()
        case Act.REFINEMENT if own:
            # The last line says how likely each option is the best.
            ids = _options(request)
            named = {name: ids.get(name, f'"{name}"') for name in own.stance}
            shares = [f"{named[name]} {own.stance[name]:g} %" for name in named]
            return f"{own.refinement.strip()}\nStance: {', '.join(shares)}"
        case Act.OPTIONS:
            numbers = {name: number for number, name in enumerate(example.options, start=1)}
            whose = _positions(example, request)
            stands_for = [numbers[example.agents[agent].option] for agent in whose.values()]
            options = {"options": example.options, "stands_for": stands_for}
            return _json({**options, "kind": example.kind})
        case Act.BALLOT if own:
            return _json(_ballot(example, own, request))
        case Act.SUMMARY:
            return example.summary.strip()
        case Act.CROSS_CHECK:
            option = _options(request).get(example.cross_check["option"], _NOBODY)
            return _json({**example.cross_check, "option": option})
        case Act.SYNTHESIS:
            return _json(_verdict(example, request))
        case _:
            raise RequestRejected(
                f"The written example {request.model} holds no {request.act} by {request.role}."
            )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(request: ModelRequest, kind: PartKind) -> Mapping[str, str]:
    return {part.label: part.text.strip() for part in request.parts if part.kind is kind}


def _options(request: ModelRequest) -> Mapping[str, str]:
    """Ids of the options by the names they have now, in the request's order."""
    text = "\n".join(_texts(request, PartKind.OPTIONS).values())
    lines = (line.partition(": ") for line in text.splitlines())
    ids = dict[str, str]()
    for option, _, text in lines:
        ids[text.partition(_FAVOURED_BY)[0]] = option
    return ids


def _beginning(text: str) -> str:
    """The first line of a text, by which it is known: further down quotes may be struck out."""
    return text.strip().partition("\n")[0]


def _author(example: Example, text: str) -> str:
    """The role whose position this text is."""
    begins = {
        _beginning(speech): role
        for role, agent in example.agents.items()
        for speech in (agent.proposal, agent.refinement)
    }
    author = begins.get(_beginning(text))
    if author is None:
        raise RequestRejected("The request shows a position that is not of the written example.")
    return author


def _positions(example: Example, request: ModelRequest) -> Mapping[str, str]:
    texts = _texts(request, PartKind.CANDIDATE)
    return {label: _author(example, text) for label, text in texts.items()}


def _ballot(example: Example, own: ExampleAgent, request: ModelRequest) -> Mapping[str, object]:
    whose = _positions(example, request)
    labels = {agent: label for label, agent in whose.items()}
    ids = _options(request)
    # Votes before the debate show first proposals.
    firsts = {_beginning(agent.proposal) for agent in example.agents.values()}
    texts = _texts(request, PartKind.CANDIDATE).values()
    vote = own.before if all(_beginning(text) in firsts for text in texts) else own.after
    shares: Sequence[float] = [vote.probabilities.get(name, 0.0) for name in ids]
    critics = {
        _beginning(text): critic
        for agent in example.agents.values()
        for critic, text in agent.criticised_by.items()
    }
    movers = {
        critics.get(_beginning(text)): label
        for label, text in _texts(request, PartKind.CRITIQUE).items()
    }
    return {
        "reasons": [f"{label}: {vote.reasons[agent]}" for label, agent in whose.items()],
        "ranking": [labels[agent] for agent in vote.ranking if agent in labels],
        # Equal shares where people have renamed every option.
        "probabilities": shares if sum(shares) else [1.0 for _ in shares],
        "moved_by": movers.get(vote.moved_by, _NOBODY),
    }


def _verdict(example: Example, request: ModelRequest) -> Mapping[str, object]:
    """The judge's reply; every note is marked as unused."""
    ids = _options(request)
    notes = "\n".join(_texts(request, PartKind.NOTES).values()).splitlines()
    labels = [line.partition(" (")[0] for line in notes if line.startswith("n")]
    criteria = [
        {**criterion, "option": ids[criterion["option"]]}
        for criterion in example.verdict["criteria"]
        if criterion["option"] in ids
    ]
    return {
        **example.verdict,
        "option": ids.get(example.verdict["option"], _NOBODY),
        "criteria": criteria,
        "notes": [{"note": label, "explanation": _NOTE, "used": False} for label in labels],
    }
