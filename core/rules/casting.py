"""Who debates a question, where nobody chose: three to five roles, one of them the sceptic (pure).

By its words first: an architect or a generalist, operations, the sceptic, and at most one more.
Where there is a model it is asked too, as the first turn of the debate: it names the roles and its
reasons, and `valid_cast` makes a cast of them.
Diversity comes from models and evidence; roles see to it that concerns are covered
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
#: A check of rules: one checker and the sceptic (arXiv:2606.00804: one agent checks best).
A_CHECK = 2
#: Looks for what is wrong, in every cast.
SCEPTIC = "sceptic"
#: The turn on which a model is asked who takes part.
TURN = Turn(act=Act.CASTING, round=0, agent=SUMMARIZER)
#: Fill a cast whose topics name too few.
_USUAL = ("generalist", "simplicity", "product")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
#: A reason is shown on one line.
_REASON_CHARS = 120
#: Words of the question that a reason names.
_MOST_WORDS = 3
#: Who weighs the whole: of software, and of everything else.
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
    """Whether the model that chooses is the one that all agents have: without it nobody speaks.

    The choice waits for it then, as the agents would.
    """
    cast = debate.setup.casting
    own = debate.setup.agent(SUMMARIZER).full_name
    return cast is not None and {choice.full_name for choice in cast.models} == {own}


def cast_by_topics(question: str, more: Sequence[Role] = ()) -> Sequence[CastRole]:
    """Three or four roles by the question's words, where no model can choose.

    Each of `more`, the roles besides the built-in ones, is a topic of its own, and comes first
    where the question names as many words of it.
    """
    spellings = {word.lower(): word for word in _WORD.findall(question)}
    software = [spellings[word] for word in spellings if word in _SOFTWARE]
    roles = [CastRole(_GENERALIST, "Weighs the whole where nothing speaks of software.")]
    if software:
        roles = [CastRole(_ARCHITECT, f"The question says {_named(software)}: software.")]
    roles.append(CastRole(_OPERATIONS, "Looks at who will run it, and how."))
    topics = [_Topic(role.name.lower(), role.id, frozenset(role.topics)) for role in more] + _TOPICS
    places, own = list(spellings), {role.id for role in more}
    hits = [([word for word in spellings if word in topic.words], topic) for topic in topics]
    hits = [(words, topic) for words, topic in hits if words]
    if hits:  # the one named by most words; of several a role of one's own, then the first named
        words, topic = max(
            hits, key=lambda hit: (len(hit[0]), hit[1].role in own, -places.index(hit[0][0]))
        )
        why = f"The question says {_named([spellings[word] for word in words])}: {topic.name}."
        roles.insert(0, CastRole(topic.role, why))
    return _complete_cast(roles)


def _named(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:_MOST_WORDS])


def valid_cast(
    suggestions: Sequence[CastRole], role_ids: Collection[str], most: int = MOST
) -> Sequence[CastRole]:
    """A model's choice as a cast: known roles, each once, three to five, the sceptic among them.

    Empty where it names no known role: then the cast by topics stands.
    """
    roles: dict[str, CastRole] = {}
    for role in suggestions:
        if role.role in role_ids:
            reason = " ".join(role.reason.split())
            if len(reason) > _REASON_CHARS:  # not at a word's end: some scripts have no spaces
                reason = reason[: _REASON_CHARS - 1].rstrip() + "…"
            roles.setdefault(role.role, CastRole(role.role, reason))
    return _complete_cast(list(roles.values()), most) if roles else ()


def _complete_cast(cast: Sequence[CastRole], most: int = MOST) -> Sequence[CastRole]:
    """At most five with the sceptic, at least three, or so many where fewer are wanted."""
    others = [role for role in cast if role.role != SCEPTIC][: most - 1]
    sceptic = next((role for role in cast if role.role == SCEPTIC), None)
    usual = (role for role in _USUAL if role not in {other.role for other in others})
    while len(others) < min(FEWEST, most) - 1:
        others.append(CastRole(next(usual), "Weighs the whole where no topic stands out."))
    doubts = CastRole(SCEPTIC, "Looks for what is wrong with the favourite answer.")
    return (*others, sceptic or doubts)
