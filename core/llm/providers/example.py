"""The `example` provider: plays debates that were written by hand, through the real engine.

A reply is found by who asks, for which act, about whose text: the same request always gets the same
one, whatever people do to the debate meanwhile.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
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
#: Words that what nobody reads counts as: ballots, questions, the list of options.
_UNREAD_WORDS = 11
#: What follows is shown; what stands before is folded.
_IN_SHORT = "In short:"
_HOUR = 3600.0
#: What a ballot holds where nothing moved the voter, and a reply for an option that is gone.
_NONE = "none"
_NOTE = "A written example: nobody read this note."
#: The judge sees behind an option who favours it.
_FAVOURED_BY = " (favoured by "
#: How often the words of a reply's short form are read: a first answer is seen on the board, a
#: refinement in a post with what it answers. Other replies are not seen by themselves.
_TIMES_READ = {Act.PROPOSAL: 0.7, Act.REFINEMENT: 1.8}


class ExampleAgent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    #: The option that its first proposal stands for.
    option: str
    #: Each with the assumption that holds without an answer.
    questions: tuple[Mapping[str, str], ...] = ()
    proposal: str
    #: What each other agent says of this proposal.
    criticised_by: Mapping[str, str]
    refinement: str
    #: Percent by name of the option; a name that is no option yet adds one.
    stance: Mapping[str, float]
    #: Votes: a ranking and reasons by agent, probabilities by option, whose critique moved it.
    before: Mapping[str, Any]
    after: Mapping[str, Any]


class Example(BaseModel):
    """A written debate: the format `critique`, one round. People are named as in the workspace."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: What it shows, for people who choose among examples.
    title: str
    question: str
    asked_by: str
    #: Files that come with the question (name, by, text); agents quote them.
    sources: tuple[Mapping[str, str], ...] = ()
    kind: str
    options: tuple[str, ...]
    #: By role, in the order of the roster.
    agents: Mapping[str, ExampleAgent]
    #: What people answer (question, by, answer).
    answers: tuple[Mapping[str, str], ...]
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
                unread = _UNREAD_WORDS / self._pace
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
    agent = example.agents.get(request.role)
    if agent and (speak := _OF_AGENTS.get(request.act)):
        reply = speak(example, agent, request)
    elif answer := _OF_ALL.get(request.act):
        reply = answer(example, request)
    else:
        raise RequestRejected(
            f"The written example {request.model} holds no {request.act} by {request.role}."
        )
    return reply.strip() if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


def _texts(request: ModelRequest, kind: PartKind) -> Mapping[str, str]:
    return {part.label: part.text.strip() for part in request.parts if part.kind is kind}


def _option_ids(request: ModelRequest) -> Mapping[str, str]:
    """Ids of the options by the names they have now, in the request's order."""
    lines = "\n".join(_texts(request, PartKind.OPTIONS).values()).splitlines()
    pairs = (line.partition(": ") for line in lines)
    return {name.partition(_FAVOURED_BY)[0]: option for option, _, name in pairs}


def _first_line(text: str) -> str:
    """By which a text is known: further down quotes may be struck out."""
    return text.strip().partition("\n")[0]


def _speeches(
    example: Example, request: ModelRequest, kind: PartKind
) -> Mapping[str, tuple[Act, str]]:
    """What the texts of a request are, by label: a speech of which act, by which role."""
    written = {
        _first_line(text): (act, role)
        for author, agent in example.agents.items()
        for act, role, text in (
            (Act.PROPOSAL, author, agent.proposal),
            (Act.REFINEMENT, author, agent.refinement),
            *((Act.CRITIQUE, critic, text) for critic, text in agent.criticised_by.items()),
        )
    }
    found = {label: written.get(_first_line(text)) for label, text in _texts(request, kind).items()}
    if None in found.values() and kind is not PartKind.CRITIQUE:
        raise RequestRejected("The request shows a position that is not of the written example.")
    return {label: speech for label, speech in found.items() if speech}


def _critique(example: Example, _agent: ExampleAgent, request: ModelRequest) -> str:
    ((_, author),) = _speeches(example, request, PartKind.POSITION).values()
    return example.agents[author].criticised_by[request.role]


def _refinement(_example: Example, agent: ExampleAgent, request: ModelRequest) -> str:
    """The text, and in a last line how likely each option is the best."""
    ids = _option_ids(request)
    shares = ", ".join(
        f"{ids.get(name) or json.dumps(name, ensure_ascii=False)} {share:g} %"
        for name, share in agent.stance.items()
    )
    return f"{agent.refinement.strip()}\nStance: {shares}"


def _ballot(example: Example, agent: ExampleAgent, request: ModelRequest) -> Mapping[str, object]:
    candidates = _speeches(example, request, PartKind.CANDIDATE)
    critiques = _speeches(example, request, PartKind.CRITIQUE)
    movers = {critic: label for label, (_, critic) in critiques.items()}
    # Votes before the debate show first proposals.
    is_first = all(act is Act.PROPOSAL for act, _ in candidates.values())
    vote = agent.before if is_first else agent.after
    labels = {role: label for label, (_, role) in candidates.items()}
    shares = [vote["probabilities"].get(name, 0.0) for name in _option_ids(request)]
    return {
        "reasons": [f"{label}: {vote['reasons'][role]}" for role, label in labels.items()],
        "ranking": [labels[role] for role in vote["ranking"] if role in labels],
        # Equal shares where people have renamed every option.
        "probabilities": shares if sum(shares) else [1.0 for _ in shares],
        "moved_by": movers.get(vote.get("moved_by", ""), _NONE),
    }


def _options(example: Example, request: ModelRequest) -> Mapping[str, object]:
    authors = (role for _, role in _speeches(example, request, PartKind.CANDIDATE).values())
    stands_for = [example.options.index(example.agents[role].option) + 1 for role in authors]
    return {"options": example.options, "stands_for": stands_for, "kind": example.kind}


def _cross_check(example: Example, request: ModelRequest) -> Mapping[str, object]:
    option = _option_ids(request).get(example.cross_check["option"], _NONE)
    return {**example.cross_check, "option": option}


def _verdict(example: Example, request: ModelRequest) -> Mapping[str, object]:
    """The judge's reply; every note is marked as unused."""
    ids, verdict = _option_ids(request), example.verdict
    notes = "\n".join(_texts(request, PartKind.NOTES).values()).splitlines()
    labels = [line.partition(" (")[0] for line in notes if line.startswith("n")]
    criteria = [
        {**criterion, "option": ids[criterion["option"]]}
        for criterion in verdict["criteria"]
        if criterion["option"] in ids
    ]
    return {
        **verdict,
        "option": ids.get(verdict["option"], _NONE),
        "criteria": criteria,
        "notes": [{"note": label, "explanation": _NOTE, "used": False} for label in labels],
    }


#: Replies of the agents themselves, by act, and replies for all of them.
_OF_AGENTS: Mapping[Act, Callable[[Example, ExampleAgent, ModelRequest], object]] = {
    Act.QUESTIONS: lambda _example, agent, _request: {"questions": agent.questions},
    Act.PROPOSAL: lambda _example, agent, _request: agent.proposal,
    Act.CRITIQUE: _critique,
    Act.REFINEMENT: _refinement,
    Act.BALLOT: _ballot,
}
_OF_ALL: Mapping[Act, Callable[[Example, ModelRequest], object]] = {
    Act.OPTIONS: _options,
    Act.SUMMARY: lambda example, _request: example.summary,
    Act.CROSS_CHECK: _cross_check,
    Act.SYNTHESIS: _verdict,
}
