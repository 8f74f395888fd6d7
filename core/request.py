"""Values for a model call: the request with its parts, and the reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.debate.turn import Act
from core.usage import Usage


class PartKind(StrEnum):
    """The kind of a part of a prompt. All parts but TASK are quoted as data, not instructions."""

    QUESTION = "question"
    CONTEXT = "context"
    CLARIFICATIONS = "clarifications"
    #: Requirements of the playbook: criteria for options, sections of the verdict.
    PLAYBOOK = "playbook"
    #: The list of evidence, and passages of it.
    SOURCE = "source"
    NOTES = "notes"
    SUMMARY = "summary"
    #: The agent's own text that the task is about.
    OWN = "own"
    #: Another agent's position that the task is about, without its name.
    POSITION = "position"
    #: A critique that the agent received, without the critic's name.
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
    """One labelled part of a prompt.

    Parts shared by all agents come first and the agent's own parts last, so that providers can
    cache the common prefix.
    """

    kind: PartKind
    #: The heading in the prompt: "Question", "Critique 2 of 3", "p1".
    label: str
    text: str
    #: The prompt up to and including this part is the same for other agents: cache up to here.
    ends_shared: bool = False
    #: Parts with a higher number are shortened first if the prompt is too long. 1: the agent's own
    #: text, 2: others' texts, 3 and 4: earlier texts; 0: the default of its kind.
    trim_priority: int = 0


def numbered_parts(kind: PartKind, label: str, texts: Sequence[str]) -> list[Part]:
    """Return numbered parts of the same kind: "Critique 1 of 3" and so on."""
    return [
        Part(kind=kind, label=f"{label} {number} of {len(texts)}", text=text, trim_priority=2)
        for number, text in enumerate(texts, start=1)
    ]


@dataclass(frozen=True, kw_only=True)
class AnswerForm:
    #: Short name, letters and underscores.
    name: str
    #: JSON Schema: flat, all fields required, no $ref, no optionals.
    schema: Mapping[str, Any]

    def labels(self, field: str, key: str) -> Sequence[str]:
        """Return the values allowed for this key in the items of a list; empty: any text."""
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
    #: The role of the agent ("judge" for the judge), for the offline engine.
    role: str
    #: Constant instructions without persona, date or id, so that they can be cached.
    system: str
    parts: Sequence[Part]
    #: Random per debate; surrounds quoted parts.
    delimiter: str
    #: Most tokens of the reply, without hidden reasoning.
    max_output_tokens: int = 2048
    #: Most characters of the reply; None: no limit. For the offline engine; models read it in the
    #: task.
    most_chars: int | None = None
    answer: AnswerForm | None = None
    temperature: float | None = None
    effort: Effort = Effort.MEDIUM
    #: Estimated tokens of the prompt for this model; None: not estimated.
    prompt_tokens: int | None = None
    #: Groups calls with a common prefix (the debate's id).
    cache_key: str = ""
    #: Pseudonym of the person, for vendors that distinguish end users.
    user: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """A model's complete reply. A reply that is cut off is an error instead."""

    text: str
    usage: Usage
    model: str
    request_id: str = ""
