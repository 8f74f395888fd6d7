"""The `example` provider: plays handwritten debates through the real engine.

The role, the act and the texts of a request determine the reply, so that changes by people during
the debate have no effect on it.
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
#: Words shown per second, so that an example takes about a minute. People read about 4 words per
#: second and skim the others.
WORDS_PER_SECOND = 18.0
#: Number of words that unread replies count as: ballots, questions, options.
_UNREAD_WORDS = 11
#: The text after this is shown; the text before is folded.
_IN_SHORT = "In short:"
_HOUR = 3600.0
#: The value for no cause of a change, and for an option that no longer exists.
_NONE = "none"
_NOTE = "A written example: nobody read this note."
#: In the judge's prompt: the agents that favour an option, after its name.
_FAVOURED_BY = " (favoured by "
#: How often people read the short form of a reply: a first answer on the board, a refinement in a
#: post together with the critiques. Other replies are not shown alone.
_TIMES_READ = {Act.PROPOSAL: 0.7, Act.REFINEMENT: 1.8}


class ExampleAgent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    #: The option of its first proposal.
    option: str
    #: Each with its assumption.
    questions: tuple[Mapping[str, str], ...] = ()
    proposal: str
    #: Critiques of this proposal by role.
    criticised_by: Mapping[str, str]
    refinement: str
    #: Percent by name of an option; a new name adds an option.
    stance: Mapping[str, float]
    #: A ballot: ranking and reasons by agent, probabilities by option, the cause of a change.
    before: Mapping[str, Any]
    after: Mapping[str, Any]


class Example(BaseModel):
    """A written debate with one round of the format `critique`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: Describes the example in a list of examples.
    title: str
    question: str
    asked_by: str
    #: Files of the question (name, by, text), which agents quote.
    sources: tuple[Mapping[str, str], ...] = ()
    kind: str
    options: tuple[str, ...]
    #: By role, in the order of the roster.
    agents: Mapping[str, ExampleAgent]
    #: Answers of people (question, by, answer).
    answers: tuple[Mapping[str, str], ...]
    summary: str
    cross_check: Mapping[str, str]
    #: The judge's reply, with names of options instead of ids.
    verdict: Mapping[str, Any]


@cache
def examples() -> Mapping[str, Example]:
    """All written debates by name, in playing order."""
    order = ("nightly-export", "vier-tage-woche", "monitoring-contract")
    return {
        name: Example.model_validate(yaml.safe_load((_FOLDER / f"{name}.yaml").read_text("utf-8")))
        for name in order
    }


def example_settings(name: str, wait_seconds: float) -> Settings:
    """The settings for a written debate; `wait_seconds` is the wait for answers of people."""

    def voice(role: str) -> ModelChoice:
        # One model per agent, because each agent has its own opinion.
        return ModelChoice(provider=EXAMPLE, model=f"{name}/{role}")

    return Settings(
        agents=tuple(agent_for(role, voice(role)) for role in examples()[name].agents),
        judge_model=voice(JUDGE),
        rounds=1,
        clarifying=Clarifying(enabled=True, wait_seconds=wait_seconds),
        # Turns wait until people could read the earlier texts.
        limits=AllLimits(turn_seconds=_HOUR, debate_seconds=_HOUR),
    )


class ExampleProvider:
    """A `ModelProvider` whose models are agents of written debates: `name/role`."""

    name = EXAMPLE

    def __init__(
        self,
        clock: Clock,
        words_per_second: float = 0.0,
        read: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        """Each reply waits until people could read the one before it.

        With 0 words per second there is no wait. `read` waits for seconds of reading (None: the
        clock waits).
        """
        self._clock = clock
        self._read = read or clock.sleep
        self._pace = words_per_second
        self._turn = asyncio.Lock()
        #: Seconds to read the previous reply.
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
        """Do nothing: there is no connection."""


def reply_to(request: ModelRequest) -> str:
    """The reply of the example to a request, in the form that the task asks for."""
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
    """Ids of the options by their current names, in the order of the request."""
    lines = "\n".join(_texts(request, PartKind.OPTIONS).values()).splitlines()
    pairs = (line.partition(": ") for line in lines)
    return {name.partition(_FAVOURED_BY)[0]: option for option, _, name in pairs}


def _first_line(text: str) -> str:
    """Identifies a text; its later lines may contain struck-out quotes."""
    return text.strip().partition("\n")[0]


def _speeches(
    example: Example, request: ModelRequest, kind: PartKind
) -> Mapping[str, tuple[Act, str]]:
    """The act and the role of each text in a request, by label."""
    speeches = {
        _first_line(text): (act, role)
        for author, agent in example.agents.items()
        for act, role, text in (
            (Act.PROPOSAL, author, agent.proposal),
            (Act.REFINEMENT, author, agent.refinement),
            *((Act.CRITIQUE, critic, text) for critic, text in agent.criticised_by.items()),
        )
    }
    found = {
        label: speeches.get(_first_line(text)) for label, text in _texts(request, kind).items()
    }
    if None in found.values() and kind is not PartKind.CRITIQUE:
        raise RequestRejected("The request shows a position that is not of the written example.")
    return {label: speech for label, speech in found.items() if speech}


def _critique(example: Example, _agent: ExampleAgent, request: ModelRequest) -> str:
    ((_, author),) = _speeches(example, request, PartKind.POSITION).values()
    return example.agents[author].criticised_by[request.role]


def _refinement(_example: Example, agent: ExampleAgent, request: ModelRequest) -> str:
    """The text with the line of probabilities at its end."""
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
    # Blind ballots show first proposals.
    is_first = all(act is Act.PROPOSAL for act, _ in candidates.values())
    vote = agent.before if is_first else agent.after
    labels = {role: label for label, (_, role) in candidates.items()}
    shares = [vote["probabilities"].get(name, 0.0) for name in _option_ids(request)]
    return {
        "reasons": [f"{label}: {vote['reasons'][role]}" for role, label in labels.items()],
        "ranking": [labels[role] for role in vote["ranking"] if role in labels],
        # Equal shares if people have renamed all options.
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


#: Replies of agents, and common replies, by act.
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
