"""A model request as the engine sees it: the question read, and the other texts by their kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.providers.offline_engine.checklist import Role, catalogue
from core.llm.providers.offline_engine.cleaning import argument_of
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.positions import Position, read_position
from core.llm.providers.offline_engine.question import Reading, read_question
from core.llm.providers.offline_engine.weighing import Weighed, find, weigh
from core.llm.providers.offline_engine.wording import normal
from core.request import ModelRequest, Part, PartKind

#: How a post says that its author left the option it began with; read again in later rounds.
MOVED = "I started from {old} and have moved to {new}"
_MOVED = re.compile(
    r"I started from (?P<old>.+?) and have moved to (?P<new>.+?)(?:: “|[.](?:\s|$))"
)
#: How parts are labelled that hold what the asked one said before.
_OWN_LABEL = "Your "


@dataclass(frozen=True)
class Text:
    """A quoted text with its label."""

    label: str
    text: str


@dataclass(frozen=True)
class Material:
    """What an act works from. The task's prose is not among it."""

    role_name: str
    reading: Reading
    own: str
    positions: tuple[Text, ...]
    critiques: tuple[Text, ...]
    candidates: tuple[Text, ...]
    tally: str
    summaries: tuple[Text, ...]
    others: tuple[Text, ...]
    facts: str
    #: Length a reply may have, in characters.
    room: int

    @property
    def role(self) -> Role:
        """The checklist of the role that asks."""
        return catalogue().role(self.role_name)

    @property
    def ranked(self) -> tuple[Weighed, ...]:
        """The options as this role weighs them."""
        return weigh(self.role_name, self.reading)

    @property
    def moved_to(self) -> Option | None:
        """The option the asked one has moved to in an earlier round; None if it has not moved."""
        return moved_in(self._own_words, self.reading)

    @property
    def moved_from(self) -> str:
        """The name of the option the asked one began with, if it has moved."""
        found = _MOVED.search(self._own_words)
        return found["old"] if found else ""

    @property
    def _own_words(self) -> str:
        mine = [text.text for text in self.others if text.label.startswith(_OWN_LABEL)]
        return "\n".join([self.own, *mine])

    @property
    def first_choice(self) -> Weighed:
        """The option this role is for: what it moved to, else what its criteria put first."""
        return find(self.ranked, self.moved_to) if self.moved_to else self.ranked[0]

    def position(self, text: str) -> Position:
        """What a text stands for on this question."""
        return read_position(text, self.reading)


def moved_in(text: str, reading: Reading) -> Option | None:
    """The option that a text says its author has moved to."""
    found = _MOVED.search(text)
    wanted = normal(found["new"]) if found else ""
    return next((option for option in reading.options if normal(option.name) == wanted), None)


def material_of(request: ModelRequest) -> Material:
    """Sort a request's parts."""
    parts = request.parts
    return Material(
        role_name=request.role,
        reading=read_question(
            _joined(parts, PartKind.QUESTION),
            _joined(parts, PartKind.CONTEXT),
            _joined(parts, PartKind.CLARIFICATIONS),
            _joined(parts, PartKind.NOTES),
        ),
        own=argument_of(_joined(parts, PartKind.OWN)),
        positions=_texts(parts, PartKind.POSITION),
        critiques=_texts(parts, PartKind.CRITIQUE),
        candidates=_texts(parts, PartKind.CANDIDATE),
        tally=_joined(parts, PartKind.TALLY),
        summaries=_texts(parts, PartKind.SUMMARY),
        others=_texts(parts, PartKind.OTHER),
        facts=_joined(parts, PartKind.FACTS),
        room=_room(request),
    )


def _room(request: ModelRequest) -> int:
    """Characters a reply may have: what is cut after fewer must not be longer."""
    most = int(request.max_output_tokens * 3.5)
    return most if request.most_chars is None else min(most, request.most_chars)


def _joined(parts: Sequence[Part], kind: PartKind) -> str:
    return "\n".join(part.text for part in parts if part.kind is kind)


def _texts(parts: Sequence[Part], kind: PartKind) -> tuple[Text, ...]:
    return tuple(
        Text(part.label.strip(), argument_of(part.text))
        for part in parts
        if part.kind is kind and part.text.strip()
    )
