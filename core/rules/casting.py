"""Chooses the agents of a debate if people chose none: three to five roles (pure).

The first choice is by the question's words: an architect or a generalist, operations, the sceptic,
and at most one more. If there is a model, it is asked for a better one in the first turn of the
debate: it names roles with reasons, and `valid_cast` makes a valid cast of them.
Different models and evidence bring different answers; roles ensure that all concerns are covered
(arXiv:2512.05858).
"""

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources

from core.debate.agents import Role
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn

FEWEST, MOST = 3, 5
#: The size of a cast that checks rules: one checker and the sceptic (arXiv:2606.00804: one agent
#: checks best).
A_CHECK = 2
#: The role that is in every cast and looks for faults.
SCEPTIC = "sceptic"
#: The turn on which a model is asked who takes part.
TURN = Turn(act=Act.CASTING, round=0, agent=SUMMARIZER)
#: Roles that fill a cast with too few others.
_USUAL = ("generalist", "simplicity", "product")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
#: The longest reason; it is shown on one line.
_REASON_CHARS = 120
#: The most words of the question that a reason quotes.
_MOST_WORDS = 3
#: The architect takes part in questions about software, the generalist in all others.
_ARCHITECT, _GENERALIST, _OPERATIONS = "architect", "generalist", "operations"


@dataclass(frozen=True)
class _Topic:
    name: str
    role: str
    words: frozenset[str]
    is_software: bool = False


_TOPICS_TEXT = resources.files("core.rules").joinpath("casting.toml").read_text(encoding="utf-8")
_TABLE = tomllib.loads(_TOPICS_TEXT)
_TOPICS = [
    _Topic(row["name"], row["role"], frozenset(row["words"].split()), row.get("is_software", False))
    for row in _TABLE["topic"]
]
_SOFTWARE = frozenset(_TABLE["software"].split()).union(
    *(topic.words for topic in _TOPICS if topic.is_software)
)


@dataclass(frozen=True)
class CastRole:
    role: str
    reason: str


def is_due(debate: Debate) -> bool:
    return debate.setup.casting is not None and not debate.is_done(TURN)


def waits_for_models(debate: Debate) -> bool:
    """Whether casting waits for its model during an outage.

    It does if all agents have the same model: without it no agent could speak.
    """
    casting = debate.setup.casting
    model = debate.setup.agent(SUMMARIZER).full_name
    return casting is not None and {choice.full_name for choice in casting.models} == {model}


def cast_by_topics(question: str, plugin_roles: Sequence[Role] = ()) -> Sequence[CastRole]:
    """Choose three or four roles by the question's words, without a model.

    Each role of a plugin is a topic. It precedes a built-in topic with as many words in the
    question.
    """
    spellings = {word.lower(): word for word in _WORD.findall(question)}
    software = [spellings[word] for word in spellings if word in _SOFTWARE]
    roles = [CastRole(_GENERALIST, "Weighs all sides, as the question is not about software.")]
    if software:
        roles = [CastRole(_ARCHITECT, f"The question says {_quoted(software)}: software.")]
    roles.append(CastRole(_OPERATIONS, "Looks at who will run it, and how."))
    plugin_ids = {role.id for role in plugin_roles}
    topics = [
        *(_Topic(role.name.lower(), role.id, frozenset(role.topics)) for role in plugin_roles),
        *_TOPICS,
    ]
    order = list(spellings)
    hits = [([word for word in spellings if word in topic.words], topic) for topic in topics]
    hits = [(words, topic) for words, topic in hits if words]
    if hits:
        # The topic with most words in the question; then a plugin's, then the first in the text.
        words, topic = max(
            hits, key=lambda hit: (len(hit[0]), hit[1].role in plugin_ids, -order.index(hit[0][0]))
        )
        reason = f"The question says {_quoted([spellings[word] for word in words])}: {topic.name}."
        roles.insert(0, CastRole(topic.role, reason))
    return _complete_cast(roles)


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:_MOST_WORDS])


def valid_cast(
    suggestions: Sequence[CastRole], role_ids: Collection[str], most: int = MOST
) -> Sequence[CastRole]:
    """Make a valid cast of a model's choice: three to five known roles with the sceptic.

    Empty if the model named no known role; then the cast by topics is used.
    """
    roles: dict[str, CastRole] = {}
    for role in suggestions:
        if role.role in role_ids:
            reason = " ".join(role.reason.split())
            if len(reason) > _REASON_CHARS:  # not cut at a space, because some scripts have none
                reason = reason[: _REASON_CHARS - 1].rstrip() + "…"
            roles.setdefault(role.role, CastRole(role.role, reason))
    return _complete_cast(list(roles.values()), most) if roles else ()


def _complete_cast(cast: Sequence[CastRole], most: int = MOST) -> Sequence[CastRole]:
    """The cast with the sceptic last, filled up or cut to `FEWEST` to `most` roles."""
    roles = [role for role in cast if role.role != SCEPTIC][: most - 1]
    sceptic = next((role for role in cast if role.role == SCEPTIC), None)
    usual = (role for role in _USUAL if role not in {chosen.role for chosen in roles})
    while len(roles) < min(FEWEST, most) - 1:
        roles.append(CastRole(next(usual), "Weighs all sides, as no topic stands out."))
    default = CastRole(SCEPTIC, "Looks for what is wrong with the favourite answer.")
    return (*roles, sceptic or default)
