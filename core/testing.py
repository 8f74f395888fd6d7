"""PUBLIC doubles for tests: a scripted model, a sink, a clock, channels' choices, a debate at hand.

The in-memory store is `core.store.memory.InMemoryStore`.
"""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

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
from core.usage import Usage
from core.use_cases.choices import ChannelChoices

_CHARS_PER_WORD = 6
Script = Callable[[ModelRequest], str | ProviderError]


class ScriptedProvider:
    def __init__(
        self, script: Script | None = None, *, name: str = "scripted", latency: float = 0.0
    ) -> None:
        """`script` makes the reply; a call takes `latency` seconds, which may be changed."""
        self.name = name
        self.requests: list[ModelRequest] = []
        self._script = script or plausible_reply
        self.latency = latency
        self._asked = asyncio.Condition()
        self._held: frozenset[Act] = frozenset()
        self._go = asyncio.Event()

    def hold(self, *acts: Act) -> None:
        """Let nothing of these acts be answered until `let_go`: a debate stands there meanwhile."""
        self._held = frozenset(acts)
        self._go.clear()

    def let_go(self) -> None:
        self._held = frozenset()
        self._go.set()

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        async with self._asked:
            self.requests.append(request)
            self._asked.notify_all()
        await asyncio.sleep(self.latency)
        if request.act in self._held:
            await self._go.wait()
        answer = self._script(request)
        usage = Usage(input_tokens=100, output_tokens=20, attempts=1)
        if isinstance(answer, ProviderError):
            answer.usage = usage
            raise answer
        on_first_token()
        return ModelReply(text=answer, usage=usage, model=request.model)

    async def wait_until_asked(self, act: Act, times: int = 1) -> None:
        async with self._asked:
            await self._asked.wait_for(lambda: len(self.requests_of(act)) >= times)

    async def close(self) -> None:
        """Nothing to free."""

    def requests_of(self, act: Act) -> Sequence[ModelRequest]:
        return [request for request in self.requests if request.act is act]


def _same_as(request: ModelRequest) -> list[int]:
    is_review = request.act is Act.FINDINGS
    kind = PartKind.CRITIQUE if is_review else PartKind.OTHER
    lines = [line for part in request.parts if part.kind is kind for line in part.text.splitlines()]
    return [1 if is_review else number for number, _ in enumerate(lines, start=1)]


def plausible_reply(request: ModelRequest) -> str:
    if request.act is Act.BALLOT:
        labels = [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]
        reasons = [f"{label} is clear" for label in labels]
        count = len(options_in(request))
        shares = [100 - 10 * (count - 1), *[10] * (count - 1)] if count else []
        ballot = {"reasons": reasons, "ranking": labels, "probabilities": shares}
        return json.dumps(ballot | {"moved_by": "none"})
    if request.act is Act.OPTIONS:
        labels = [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]
        stands_for = [1, *[2] * (len(labels) - 1)]
        options = {"options": ["PostgreSQL", "Kafka"], "stands_for": stands_for, "kind": "choice"}
        return json.dumps(options)
    if request.act is Act.SYNTHESIS and request.answer:
        # What a playbook asks for is answered label by label.
        parts = request.answer.labels("parts", "part")
        criteria = request.answer.labels("criteria", "criterion")
        cells = [(option, criterion) for option in options_in(request) for criterion in criteria]
        own = {
            "parts": [{"part": part, "text": f"What is known of {part}."} for part in parts],
            "criteria": [
                {"option": option, "criterion": criterion, "judgement": f"{option} by {criterion}"}
                for option, criterion in cells
            ],
        }
        return json.dumps(a_verdict_reply(**own))
    if request.act is Act.REVIEW:
        findings = [a_finding_reply(words) for words in subject_words(request)[:1]]
        return json.dumps({"findings": findings, "summary": "It says no reason.", "verdict": "o2"})
    if request.act in {Act.FINDINGS, Act.CLARIFICATION}:
        return json.dumps({"same_as": _same_as(request)})
    if request.act is Act.SECOND_LOOK:
        looks = [
            {"finding": line.partition(":")[0], "why": "It is said now.", "status": "resolved"}
            for part in request.parts
            if part.label == "Your findings"
            for line in part.text.splitlines()
        ]
        return json.dumps({"looks": looks, "new": [], "summary": "It is good.", "verdict": "o1"})
    if request.act in _STRUCTURED:
        return json.dumps(_STRUCTURED[request.act])
    return f"**The {request.role} says {request.act}.**\n\nBecause of the question."


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
    # Numbered, as a reply that repeats itself is none.
    sentences = (
        f"The reasons, the risks and the cost of step {step} are set out here. "
        for step in range(length // 50 + 1)
    )
    return "".join(sentences)[:length]


def subject_words(request: ModelRequest) -> Sequence[str]:
    texts = [part.text for part in request.parts if part.label.startswith("Source e")]
    return [line for text in texts for line in text.splitlines()[1:] if line.strip()]


def a_finding_reply(words: str, **changes: object) -> dict[str, object]:
    """A finding as an agent may answer it, about these words of the first source, with changes."""
    reply: dict[str, object] = {
        "source": "e1",
        "words": words,
        "wrong": "It says no reason.",
        "mend": "Say why.",
        "severity": "major",
    }
    return reply | changes


def options_in(request: ModelRequest) -> Sequence[str]:
    texts = [part.text for part in request.parts if part.kind is PartKind.OPTIONS]
    return [line.partition(":")[0] for text in texts for line in text.splitlines()]


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
_STRUCTURED: dict[Act, dict[str, object]] = {
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


@dataclass
class Members:
    #: None: in all there are.
    channels: Collection[str] | None = None
    zone: tzinfo = UTC
    #: The surface does not answer.
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
        """Raises `BadInput` where the surface is silent."""
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


#: A format as a plugin brings it: every act that agents hear is that of others.
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
    """The setup with a model of its own for each agent: those of one model only vote."""
    agents = tuple(
        agent.model_copy(update={"model": f"scripted-{number}"})
        for number, agent in enumerate(setup.agents, start=1)
    )
    return setup.model_copy(update={"agents": agents})


def log_of(events: Sequence[Event], debate_id: str = "dabc2345") -> Sequence[RecordedEvent]:
    """A log of these events, a second apart."""
    clock = ManualClock()
    log: list[RecordedEvent] = []
    for seq, event in enumerate(events, start=1):
        log.append(RecordedEvent(debate_id=debate_id, seq=seq, at=clock.now(), event=event))
        clock.advance(1)
    return log
