"""Who debates a question, where nobody chose: three to five roles, one of them the sceptic (pure).

Topics in the question's words choose first. Where there is a model it is asked too, as the first
turn of the debate: it names the roles and its reasons, and `held_to_rules` makes a cast of them.
Diversity comes from models and evidence; roles see to it that concerns are covered
(arXiv:2512.05858).
"""

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import resources

from core.models import SUMMARIZER, Act, Debate, Role, Turn

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
#: Longer questions are judged by their beginning.
_READ_CHARS = 4000
#: A reason is shown on one line.
_REASON_CHARS = 120
#: Words of the question that a reason names.
_MOST_WORDS = 3


@dataclass(frozen=True)
class _Topic:
    name: str
    roles: tuple[str, ...]
    words: frozenset[str]


_TOPICS_TEXT = resources.files("core.rules").joinpath("casting.toml").read_text(encoding="utf-8")
_TOPICS = [
    _Topic(load["name"], tuple(load["roles"]), frozenset(load["words"].split()))
    for load in tomllib.loads(_TOPICS_TEXT)["topic"]
]


@dataclass(frozen=True)
class CastRole:
    """A role, and why it takes part."""

    role: str
    reason: str


def is_due(debate: Debate) -> bool:
    """Whether a model is still to be asked who takes part; nobody else has a turn before."""
    return debate.setup.casting is not None and not debate.is_done(TURN)


def by_topics(question: str, more: Sequence[Role] = ()) -> Sequence[CastRole]:
    """Three to five roles for the topics that the question's words name.

    Args:
        question: What is asked.
        more: Roles besides the built-in ones; each is a topic of its own, and comes first where
            the question names as many words of it.
    """
    topics = [_Topic(one.name.lower(), (one.id,), frozenset(one.topics)) for one in more]
    said = {word.lower(): word for word in _WORD.findall(question[:_READ_CHARS])}
    hits = [
        ([said[one] for one in said if one in topic.words], topic) for topic in (*topics, *_TOPICS)
    ]
    found: dict[str, str] = {}
    for words, topic in sorted(hits, key=lambda hit: -len(hit[0])):
        if words:
            # A word tells a topic only perhaps: people see which one it was.
            named = ", ".join(f"“{word}”" for word in words[:_MOST_WORDS])
            for role in topic.roles:
                found.setdefault(role, f"The question says {named}: {topic.name}.")
    return _completed([CastRole(role, reason) for role, reason in found.items()])


def held_to_rules(
    wanted: Sequence[CastRole], known: Collection[str], most: int = MOST
) -> Sequence[CastRole]:
    """A model's choice as a cast: known roles, each once, three to five, the sceptic among them.

    Empty where it names no known role: then the cast by topics stands.

    Args:
        wanted: As the model named them.
        known: Ids of the roles there are.
        most: No more than so many; `A_CHECK` or more.
    """
    found: dict[str, CastRole] = {}
    for one in wanted:
        reason = " ".join(one.reason.split())
        if len(reason) > _REASON_CHARS:
            reason = reason[: _REASON_CHARS - 1].rstrip() + "…"
        if one.role in known:
            found.setdefault(one.role, CastRole(one.role, reason))
    return _completed(list(found.values()), most) if found else ()


def _completed(cast: Sequence[CastRole], most: int = MOST) -> Sequence[CastRole]:
    """At most five with the sceptic, at least three, or so many where fewer are wanted."""
    others = [one for one in cast if one.role != SCEPTIC][: most - 1]
    sceptic = next((one for one in cast if one.role == SCEPTIC), None)
    usual = (role for role in _USUAL if role not in {other.role for other in others})
    while len(others) < min(FEWEST, most) - 1:
        others.append(CastRole(next(usual), "Weighs the whole where no topic stands out."))
    doubts = CastRole(SCEPTIC, "Looks for what is wrong with the favourite answer.")
    return (*others, sceptic or doubts)
