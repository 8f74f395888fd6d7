"""Arguments of the tools: types, limits and error messages (pure)."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, Protocol

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from core.debate.evidence import SourceReference
from core.debate.log import RecordedEvent
from core.debate.people import Person
from core.debate.rules import MOST_ROUNDS
from core.debate.state import Debate
from core.opening import DebateRequest
from core.ports import Clock
from core.rules.sources import MOST_SOURCES
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.messages import AddNote, AnswerQuestions
from core.use_cases.recall import RecalledDecision
from core.use_cases.start import StartedDebate
from core.use_cases.steer import SteerDebate
from core.wrong_values import wrong

#: Most seconds that one call waits for news: clients and proxies give up after 60.
LONGEST_WAIT = 50
_LINE = 2000
#: Most faults of one call in an error message.
_MOST_FAULTS = 5
#: NUL, other control characters, lone surrogates.
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
#: Error type of pydantic → text. Other types have the texts of `core.wrong_values`.
_FAULTS = {"missing": "is needed", "extra_forbidden": "is no argument of this tool"}


def _readable(text: str) -> str:
    """Raise `ValueError` for control characters and lone surrogates, which databases refuse."""
    if match := _UNREADABLE.search(text):
        code, position = f"U+{ord(match[0]):04X}", match.start() + 1
        raise ValueError(f"contains the control character {code} at position {position}; remove it")
    return text


def _from_json(value: object) -> object:
    """Parse a list that some clients send as JSON text."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


_Readable = AfterValidator(_readable)
# Limits in characters, above the default limits of Slack and the terminal, which are checked later.
_Context = Annotated[str, Field(max_length=100_000), _Readable]
#: A question, an answer or a note.
_Saying = Annotated[str, Field(max_length=20_000), _Readable]
_Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=_LINE), _Readable]
_Lines = Annotated[tuple[_Line, ...], BeforeValidator(_from_json)]
DebateId = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9-]{1,40}$"), Field(description="Id, like dabc2345.")
]


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StartArguments(_Arguments):
    question: _Saying = Field(
        description='What to debate, as a question: "Kafka or SQS for the job queue?"'
    )
    context: _Context = Field(
        default="", description="What the agents should know: requirements, numbers, constraints."
    )
    sources: _Lines = Field(
        default=(),
        max_length=MOST_SOURCES,
        description="Evidence to read and cite: addresses of pages; on this machine files and "
        "folders below the server's folder; in Slack links to messages and files of the channel.",
    )
    channel: _Line = Field(
        default="",
        description="Slack only: the channel to hold it in, as #name or id. The person must be in "
        "it. Leave it out on this machine.",
    )
    format: _Line | None = Field(
        default=None,
        description="critique, council, panel, or review (of a proposal, given as sources or as "
        "context); left out: as usual.",
    )
    playbook: _Line | None = Field(
        default=None,
        description="A ready-made kind of debate, by its name: architecture-decision, "
        "build-or-buy, incident-follow-up, rfc-review, vendor-choice, or one of the "
        "team's. It asks the person its own questions first.",
    )
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS)] | None = Field(
        default=None, description="So many rounds, and all of them; left out: as many as it takes."
    )
    agents: _Lines | None = Field(
        default=None,
        max_length=20,
        description="Who debates, by role or id, at least two; left out: chosen for the question.",
    )
    clarify: bool | None = Field(
        default=None,
        description="Whether agents may ask the person first; left out: as the settings say.",
    )

    def request(self, references: Sequence[SourceReference], **of_caller: Any) -> DebateRequest:
        """The request for a debate; `of_caller` are further fields that the caller sets."""
        return DebateRequest(
            question=self.question,
            context=self.context,
            agents=self.agents,
            rounds=self.rounds,
            format=self.format,
            playbook=self.playbook,
            references=references,
            **of_caller,
        )


class StatusArguments(_Arguments):
    debate_id: DebateId
    wait_seconds: Annotated[float, Field(ge=0, le=LONGEST_WAIT, allow_inf_nan=False)] = Field(
        default=0,
        description="Seconds to wait for news before answering; 0 answers at once. 30 is a good "
        "choice while a debate runs.",
    )


class GivenArgument(_Arguments):
    number: Annotated[int, Field(ge=1, le=999)] = Field(description="The question's number.")
    answer: _Saying = Field(
        description="The person's answer; empty: skip, the agents' assumption holds."
    )


class AnswerArguments(_Arguments):
    debate_id: DebateId
    answers: Annotated[tuple[GivenArgument, ...], BeforeValidator(_from_json)] = Field(
        min_length=1, max_length=50, description="One answer or several."
    )


class RevisionArguments(_Arguments):
    debate_id: DebateId
    sources: _Lines = Field(
        default=(),
        max_length=MOST_SOURCES,
        description="The changed files, named as in start_debate: they are read anew. In Slack "
        "links.",
    )
    text: _Context = Field(default="", description="The whole changed text, where it is no file.")


class DecisionArguments(_Arguments):
    debate_id: DebateId
    decision: Literal["accept", "reject", "revisit"]
    because: _Saying = Field(default="", description="Why, in the person's words.")
    revisit_on: date | None = Field(
        default=None, description="With revisit: the day, as 2027-01-31."
    )


class NoteArguments(_Arguments):
    debate_id: DebateId
    text: _Saying = Field(
        min_length=1, description="What the agents should know from their next turn on."
    )


class DebateArguments(_Arguments):
    debate_id: DebateId


class SearchArguments(_Arguments):
    query: Annotated[str, Field(min_length=1, max_length=_LINE), _Readable] = Field(
        description='A question or words: "what did we decide about the job queue?"'
    )


class ListArguments(_Arguments):
    limit: Annotated[int, Field(ge=1, le=50)] = Field(default=10, description="How many at most.")
    running_only: bool = Field(default=False, description="Only debates that have not ended.")


def faults_in(error: ValidationError) -> str:
    """A sentence for each of the first faults, without the values that were sent."""
    errors = error.errors(include_url=False, include_input=False)
    texts = list[str]()
    for fault in errors[:_MOST_FAULTS]:
        place = ".".join(str(part)[:40] for part in fault["loc"]) or "The arguments"
        texts.append(f"{place}: {_FAULTS.get(fault['type'], wrong(fault))}.")
    if len(errors) > _MOST_FAULTS:
        texts.append(f"And {len(errors) - _MOST_FAULTS} more.")
    return " ".join(texts)


def request_key(action: str, request: BaseModel, *context: str) -> str:
    """An idempotency key: equal requests have equal keys, so a repeated request changes nothing.

    `context` distinguishes equal requests, for example by person and folder.
    """
    text = "\0".join((request.model_dump_json(), *context))
    return f"{action}/{hashlib.sha256(text.encode()).hexdigest()[:24]}"


@dataclass(frozen=True, kw_only=True)
class CallerActions:
    #: Starts a debate; raises `BadInput` if it cannot be started.
    start: Callable[[StartArguments], Awaitable[StartedDebate]]
    #: References for source names, and a text that changes when the files change; raises `BadInput`
    #: if a source may not be read.
    sources: Callable[[Debate, Sequence[str]], Awaitable[tuple[Sequence[SourceReference], str]]]
    answer: AnswerQuestions
    note: AddNote
    steer: SteerDebate
    decide: DecideOnVerdict


class CallerDebates(Protocol):
    """The debates that one caller may read and change. Every method may raise `StoreDown`."""

    @property
    def person(self) -> Person: ...

    @property
    def clock(self) -> Clock: ...

    async def actions(self) -> CallerActions:
        """Return the actions; raises `BadInput` if debates can only be read now."""
        ...

    async def log(self, debate_id: str, *, to_change: bool = False) -> Sequence[RecordedEvent]:
        """Return the events of a debate. Access is checked at each call.

        Raises:
            BadInput: The debate does not exist or the caller may not see it (same message); or
                `to_change` is set and the debate belongs to another surface.
        """
        ...

    async def has_grown(self, debate_id: str, after: int) -> bool: ...

    async def newest(self, limit: int, *, running_only: bool) -> Sequence[Debate]:
        """The newest debates. Unreadable ones are omitted."""
        ...

    async def recall(self, question: str) -> Sequence[RecalledDecision]:
        """The decisions that match a question best, among those that the caller may see.

        Raises:
            BadInput: The question is too long, or Slack does not say what the caller may see.
        """
        ...

    async def address(self, debate: Debate) -> str:
        """The debate's address for people; empty if it has none."""
        ...

    def origin(self, request: str) -> str:
        """The origin of a request's events: the same each time the request is sent."""
        ...
