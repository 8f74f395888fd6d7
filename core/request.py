"""What a model is asked and what it replies, as values: the request and its parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.debate.turn import Act
from core.usage import Usage


class PartKind(StrEnum):
    """What a part of a prompt is. Everything but TASK is quoted as data, never as instruction."""

    QUESTION = "question"
    CONTEXT = "context"
    CLARIFICATIONS = "clarifications"
    #: What the kind of debate asks: what options are compared by, sections of the verdict.
    PLAYBOOK = "playbook"
    #: What evidence there is, and passages of it.
    SOURCE = "source"
    NOTES = "notes"
    SUMMARY = "summary"
    #: The agent's own text the task is about.
    OWN = "own"
    #: Another agent's position the task is about, unnamed.
    POSITION = "position"
    #: A critique the agent received, critics unnamed.
    CRITIQUE = "critique"
    #: A position on a ballot; its label is `p1`…`pN`.
    CANDIDATE = "candidate"
    OPTIONS = "options"
    TALLY = "tally"
    OTHER = "other"
    #: Persona and task: the only part that instructs.
    TASK = "task"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One labelled piece of a prompt.

    Parts come in the order: shared by all agents first, the agent's own last, so that providers
    can cache the common beginning.
    """

    kind: PartKind
    #: Words for the reader: "Question", "Critique 2 of 3", "p1".
    label: str
    text: str
    #: The prompt up to and including this part is the same for other agents: cache up to here.
    ends_shared: bool = False
    #: How readily this part is shortened when the prompt does not fit; 0: as is usual for its kind.
    #: One's own text is 1 and goes last, others' texts are 2, what was said earlier 3 and 4.
    trim_priority: int = 0


def numbered_parts(
    kind: PartKind, label: str, texts: Sequence[str], *, trim_priority: int = 2
) -> list[Part]:
    """Parts of the same kind, unnamed: "Critique 1 of 3" and so on."""
    return [
        Part(
            kind=kind,
            label=f"{label} {number} of {len(texts)}",
            text=text,
            trim_priority=trim_priority,
        )
        for number, text in enumerate(texts, start=1)
    ]


@dataclass(frozen=True, kw_only=True)
class AnswerForm:
    #: Short name, letters and underscores.
    name: str
    #: JSON Schema: flat, all fields required, no $ref, no optionals.
    schema: Mapping[str, Any]

    def labels(self, field: str, key: str) -> Sequence[str]:
        """The labels allowed under this key in the entries of a list; empty: any text."""
        schema: Any = self.schema
        for step in ("properties", field, "items", "properties", key, "enum"):
            schema = schema.get(step, {})
        return tuple(schema)


class Effort(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    model: str
    act: Act
    #: The role of the agent that asks ("judge" for the judge). Offline engines need it.
    role: str
    #: Frozen instructions: no persona, no date, no id, so that it can be cached.
    system: str
    parts: Sequence[Part]
    #: Random per debate; surrounds quoted parts.
    delimiter: str
    #: Cap on the reply, hidden reasoning not counted.
    max_output_tokens: int = 2048
    #: Characters after which the reply is cut; None: it is not. Offline engines need it, a model
    #: reads it in its task.
    most_chars: int | None = None
    answer: AnswerForm | None = None
    temperature: float | None = None
    effort: Effort = Effort.MEDIUM
    #: About how long the prompt is, by what was learned of the model; None: not measured.
    prompt_tokens: int | None = None
    #: Groups calls that share a beginning (the debate's id).
    cache_key: str = ""
    #: Who asks, unrecognisable; for vendors that want to tell people apart.
    user: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """What a model answered, complete: a cut-off reply is an error, never a reply."""

    text: str
    usage: Usage
    model: str
    request_id: str = ""
