"""Public test doubles: a provider, a store, a sink, a clock, channel choices, a sample setup."""

import asyncio
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeVar

from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from core.acts.act import ACTS
from core.debate.agenda import Agenda, Phase
from core.debate.log import Event, RecordedEvent
from core.debate.people import Person, Place
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.errors import BadInput, ProviderError
from core.opening import DebateRequest, open_debate
from core.ports import ModelReply, ModelRequest
from core.request import PartKind
from core.settings import ModelChoice, Settings
from core.store.debates import SqlDebateStore
from core.store.tables import METADATA
from core.usage import Usage
from core.use_cases.choices import ChannelChoices

T = TypeVar("T")

_CHARS_PER_WORD = 6
Script = Callable[[ModelRequest], str | ProviderError]


class ScriptedProvider:
    def __init__(
        self, script: Script | None = None, *, name: str = "scripted", latency: float = 0.0
    ) -> None:
        """`script` makes the reply; a call takes `latency` seconds (can be changed later)."""
        self.name = name
        self.requests: list[ModelRequest] = []
        self._script = script or plausible_reply
        self.latency = latency
        self._request_added = asyncio.Condition()
        self._blocked_acts: frozenset[Act] = frozenset()
        self._unblocked = asyncio.Event()

    def hold(self, *acts: Act) -> None:
        """Block replies to calls of these acts until `let_go`."""
        self._blocked_acts = frozenset(acts)
        self._unblocked.clear()

    def let_go(self) -> None:
        self._blocked_acts = frozenset()
        self._unblocked.set()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        async with self._request_added:
            self.requests.append(request)
            self._request_added.notify_all()
        await asyncio.sleep(self.latency)
        if request.act in self._blocked_acts:
            await self._unblocked.wait()
        answer = self._script(request)
        usage = Usage(input_tokens=100, output_tokens=20, attempts=1)
        if isinstance(answer, ProviderError):
            answer.usage = usage
            raise answer
        on_first_token()
        return ModelReply(text=answer, usage=usage, model=request.model)

    async def wait_until_asked(self, act: Act, times: int = 1) -> None:
        async with self._request_added:
            await self._request_added.wait_for(lambda: len(self.requests_of(act)) >= times)

    async def close(self) -> None:
        """Nothing to free."""

    def requests_of(self, act: Act) -> Sequence[ModelRequest]:
        return [request for request in self.requests if request.act is act]


def plausible_reply(request: ModelRequest) -> str:
    reply = _REPLIES.get(request.act)
    if reply is None:
        return f"**The {request.role} says {request.act}.**\n\nBecause of the question."
    return json.dumps(reply(request) if callable(reply) else reply)


def _ballot(request: ModelRequest) -> object:
    labels, count = _candidates(request), len(options_in(request))
    return {
        "reasons": [f"{label} is clear" for label in labels],
        "ranking": labels,
        "probabilities": [100 - 10 * (count - 1), *[10] * (count - 1)] if count else [],
        "moved_by": "none",
    }


def _options(request: ModelRequest) -> object:
    stands_for = [1, *[2] * (len(_candidates(request)) - 1)]
    return {"options": ["PostgreSQL", "Kafka"], "stands_for": stands_for, "kind": "choice"}


def _candidates(request: ModelRequest) -> Sequence[str]:
    return [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]


def _verdict(request: ModelRequest) -> object:
    """Reply with a verdict; each section and criterion of a playbook gets a text."""
    form = request.answer
    parts = form.labels("parts", "part") if form else ()
    criteria = form.labels("criteria", "criterion") if form else ()
    return a_verdict_reply(
        parts=[{"part": part, "text": f"What is known of {part}."} for part in parts],
        criteria=[
            {"option": option, "criterion": criterion, "judgement": f"{option} by {criterion}"}
            for option in options_in(request)
            for criterion in criteria
        ],
    )


def _review(request: ModelRequest) -> object:
    texts = [part.text for part in request.parts if part.label.startswith("Source e")]
    words = [line for text in texts for line in text.splitlines()[1:] if line.strip()]
    findings = [a_finding_reply(line) for line in words[:1]]
    return {"findings": findings, "summary": "It says no reason.", "verdict": "o2"}


def _second_look(request: ModelRequest) -> object:
    looks = [
        {"finding": line.partition(":")[0], "why": "It is said now.", "status": "resolved"}
        for part in request.parts
        if part.label == "Your findings"
        for line in part.text.splitlines()
    ]
    return {"looks": looks, "new": [], "summary": "It is good.", "verdict": "o1"}


def _lines_of(request: ModelRequest, kind: PartKind) -> Sequence[str]:
    texts = [part.text for part in request.parts if part.kind is kind]
    return [line for text in texts for line in text.splitlines()]


def usual_reply(request: ModelRequest) -> str:
    reply = plausible_reply(request)
    length = request.most_chars or ACTS[request.act].words * _CHARS_PER_WORD
    if not reply.startswith("{"):
        return _long(length)
    fields = json.loads(reply)
    texts = {"solution": _long(length), "implementation": _long(400), "summary": _long(200)}
    texts |= dict.fromkeys(("dissent", "reason"), _long(200))
    fields |= {name: text for name, text in texts.items() if fields.get(name)}
    for finding in fields.get("findings", []):
        finding |= {"wrong": _long(200), "mend": _long(200)}
    if fields.get("reasons"):
        fields["reasons"] = [_long(100) for _ in fields["reasons"]]
    return json.dumps(fields)


def _long(length: int) -> str:
    # Numbered, because a reply that repeats itself is rejected.
    sentences = (
        f"The reasons, the risks and the cost of step {step} are set out here. "
        for step in range(length // 50 + 1)
    )
    return "".join(sentences)[:length]


def a_finding_reply(words: str, **changes: object) -> dict[str, object]:
    """Return an agent's finding about these words of the first source, with changes."""
    reply: dict[str, object] = {
        "source": "e1",
        "words": words,
        "wrong": "It says no reason.",
        "mend": "Say why.",
        "severity": "major",
    }
    return reply | changes


def options_in(request: ModelRequest) -> Sequence[str]:
    return [line.partition(":")[0] for line in _lines_of(request, PartKind.OPTIONS)]


def a_verdict_reply(**changes: object) -> dict[str, object]:
    reply: dict[str, object] = {
        "reasons": ["The team runs PostgreSQL already."],
        "requirements": [
            {
                "requirement": "It must keep every job.",
                "words": "It meets the requirements.",
                "status": "met",
            }
        ],
        "criteria": [],
        "decision": "Use PostgreSQL.",
        "option": "o1",
        "solution": "It meets the requirements.",
        "implementation": "1. Create the table.",
        "tradeoffs": ["Throughput for simplicity"],
        "recommendations": ["Watch the queue's depth"],
        "open_questions": ["How long may a job take?"],
        "dissent": "Performance would take Kafka.",
        "overturned_by": ["More than 50,000 jobs per second"],
        "notes": [],
        "confidence": 72,
    }
    return reply | changes


A_SHADOW_REPLY: dict[str, object] = {
    "options": ["PostgreSQL", "Kafka"],
    "reasons": ["The team runs PostgreSQL already."],
    "risks": ["Throughput may not last."],
    "overturned_by": ["A load that grows tenfold"],
    "decision": "Use PostgreSQL.",
    "solution": "One table, and workers that skip locked rows.",
}
#: Acts whose reply is JSON; the others' is text.
_REPLIES: Mapping[Act, Mapping[str, object] | Callable[[ModelRequest], object]] = {
    Act.BALLOT: _ballot,
    Act.OPTIONS: _options,
    Act.SYNTHESIS: _verdict,
    Act.REVIEW: _review,
    Act.SECOND_LOOK: _second_look,
    # Questions are all different; findings are all the same.
    Act.CLARIFICATION: lambda request: {
        "same_as": [at + 1 for at, _ in enumerate(_lines_of(request, PartKind.OTHER))]
    },
    Act.FINDINGS: lambda request: {"same_as": [1 for _ in _lines_of(request, PartKind.CRITIQUE)]},
    Act.QUESTIONS: {"questions": [{"question": "How many jobs?", "assumption": "A thousand"}]},
    Act.CROSS_CHECK: {"reason": "The team runs it already.", "option": "o1"},
    Act.AUDIT: {"faults": []},
    Act.SHADOW: A_SHADOW_REPLY,
    Act.SHADOW_CHOICE: {"reason": "It says so.", "option": "o1"},
    Act.CASTING: {
        "agents": [
            {"reason": "Jobs must not be lost.", "role": "operations"},
            {"reason": "Somebody has to pay for it.", "role": "finance"},
        ]
    },
    Act.FACILITATION: {"decision": "go_on", "focus": "cost", "question": "", "assumption": ""},
}


class InMemoryDatabase:
    """Tables in memory, deleted with the object: no file, no thread, no waiting."""

    def __init__(self) -> None:
        # One connection: each connection in memory has its own database.
        self._engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        METADATA.create_all(self._engine)

    async def write(self, work: Callable[[Connection], T]) -> T:
        with self._engine.begin() as connection:
            return work(connection)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.write(work)

    def __del__(self) -> None:
        self._engine.dispose()


class InMemoryStore(SqlDebateStore):
    """A `DebateStore` in memory, for one event loop."""

    def __init__(self) -> None:
        super().__init__(InMemoryDatabase())


@dataclass
class Members:
    #: Channels of every person; None: all.
    channels: Collection[str] | None = None
    zone: tzinfo = UTC
    #: Whether the surface does not answer.
    silent: bool = False

    async def may_see(self, person: str, place: Place) -> bool:
        del person
        return await self.has_place(place)

    async def channels_of(self, person: str, workspace: str) -> Collection[str]:
        del person, workspace
        return self.channels or ()

    async def zone_of(self, person: str, workspace: str) -> tzinfo:
        del person, workspace
        return self.zone

    async def has_place(self, place: Place) -> bool:
        """Raise `BadInput` if the surface does not answer."""
        if self.silent:
            raise BadInput("Slack did not answer.")
        return self.channels is None or place.channel in self.channels


class InMemoryChannelChoices:
    def __init__(self) -> None:
        self._chosen: dict[tuple[str, str], ChannelChoices] = {}

    async def get(self, place: Place) -> ChannelChoices:
        return self._chosen.get((place.workspace, place.channel), ChannelChoices())

    async def put(self, place: Place, choices: ChannelChoices) -> None:
        self._chosen[place.workspace, place.channel] = choices


class RecordingSink:
    def __init__(self) -> None:
        self.events: list[RecordedEvent] = []
        self.debates: list[Debate] = []
        self.began: list[Sequence[Turn]] = []

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        self.debates.append(debate)
        self.events.append(recorded)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        del debate
        self.began.append(turns)


class ManualClock:
    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)


#: A plugin's format in which agents hear only other agents' texts.
AN_AGENDA = Agenda(
    name="premortem",
    words="Pre-mortem: it failed; why?",
    phases=(
        Phase(act=Act.PROPOSAL),
        Phase(act=Act.DEBATE, hears=(Act.PROPOSAL,)),
        Phase(act=Act.REFINEMENT, hears=(Act.PROPOSAL, Act.DEBATE)),
        Phase(act=Act.REBUTTAL, hears=(Act.REFINEMENT,)),
    ),
    source="premortem 1.0",
)


def a_setup(
    question: str = "Should we use Kafka or PostgreSQL as our job queue? It must keep every job.",
    *,
    agents: Sequence[str] = ("architect", "security", "simplicity"),
    rounds: int = 2,
    provider: str = "scripted",
) -> Setup:
    choice = ModelChoice(provider=provider, model="scripted-1")
    request = DebateRequest(
        question=question,
        asked_by=Person(id="U1", name="Dana"),
        place=Place(surface="slack", workspace="T1", channel="C1"),
        agents=agents,
        rounds=rounds,
    )
    settings = Settings(agent_model=choice, judge_model=choice)
    return open_debate(request, settings, delimiter="d41d8c")


def on_own_models(setup: Setup) -> Setup:
    """Return the setup with a different model for each agent: agents of one model only vote."""
    agents = tuple(
        agent.model_copy(update={"model": f"scripted-{number}"})
        for number, agent in enumerate(setup.agents, start=1)
    )
    return setup.model_copy(update={"agents": agents})


def log_of(events: Sequence[Event], debate_id: str = "dabc2345") -> Sequence[RecordedEvent]:
    """Return a log of these events, one second apart."""
    clock = ManualClock()
    log: list[RecordedEvent] = []
    for seq, event in enumerate(events, start=1):
        log.append(RecordedEvent(debate_id=debate_id, seq=seq, at=clock.now(), event=event))
        clock.advance(1)
    return log
