"""What the engine knows: criteria, topics, things people choose between, and each role's checklist.

All of it is in `data/*.yaml`; this file only says what those files may contain and reads them once.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, Field

from core.llm.providers.offline_engine.wording import mentions, normal, sentences, small

#: Topic under which a role keeps the checks that fit any question.
ANY = "any"
#: Role that answers where a role is unknown.
GENERALIST = "generalist"
#: Words of a check that one sentence must have, to say that it is dealt with.
_ENOUGH = 2


#: The files beside the roles' own and their other names, without their ending.
_FILES = ("criteria", "topics", "things", "open_points", "requirement_kinds", "finding_out")
#: Things that are ways to go about anything: they say nothing of what a question is about.
WAYS = frozenset(("affirm", "change", "deny", "full", "gradual", "keep", "trial", "wait"))
#: First words of titles that are no names.
_COMMON = frozenset(
    (
        "A",
        "An",
        "The",
        "Our",
        "Staying",
        "Waiting",
        "Dropping",
        "Acting",
        "Code",
        "Working",
        "Storing",
        "Pages",
        "Native",
        "Retrieval",
    )
)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Criterion(_Entry):
    """One thing by which options are compared."""

    #: Completes "it comes down to …".
    noun: str
    #: Words that show that a requirement is about it.
    words: tuple[str, ...]


class Trait(_Entry):
    """How a thing does by one criterion."""

    #: −2 (clearly bad) to 2 (clearly good).
    amount: int = Field(ge=-2, le=2)
    #: A predicate that follows the thing's title.
    says: str


class Thing(_Entry):
    """Something that people choose: a product, a way to build, a way to act."""

    #: Subject of its sentences.
    title: str
    #: Words by which it is found, lower case.
    names: tuple[str, ...]
    #: Work per second that one ordinary installation is known to carry; None: not known.
    capacity: int | None = None
    #: What a year of it costs, in euros or dollars, all in; None: not known or too various.
    price: int | None = None
    #: Whether the title is a plural.
    plural: bool = False
    traits: Mapping[str, Trait]


class Topic(_Entry):
    """What a question may be about."""

    #: Completes "this is about …".
    noun: str
    words: tuple[str, ...]
    #: Things to weigh when the question names no options.
    approaches: tuple[str, ...] = ()
    #: It is about people, money or words: what each role asks of any software does not fit it.
    beside_software: bool = False


class Check(_Entry):
    """One point of a role's checklist."""

    #: What the reviewer asks.
    ask: str
    #: What the reviewer wants done: a sentence in the imperative.
    do: str
    #: What happens where nobody does it: a sentence.
    otherwise: str
    #: Beginnings of words; two of them in one sentence show that a text deals with the point.
    words: tuple[str, ...] = Field(min_length=2)
    #: Keys of things; the point is made only about options that stand for one of them.
    only: tuple[str, ...] = ()

    def concerns(self, things: Iterable[str]) -> bool:
        """Whether the point is worth making about an option that stands for these things."""
        return not self.only or any(key in self.only for key in things)

    def is_met_by(self, text: str) -> bool:
        """Whether some sentence of the text deals with this point."""
        return any(self.is_named_in(sentence) for sentence in normal_sentences(text))

    def is_named_in(self, normalised: str) -> bool:
        """Whether one normalised sentence is about this point."""
        return sum(mentions(normalised, word) for word in self.words) >= _ENOUGH


class OpenPoint(_Entry):
    """Something a question may leave open."""

    question: str
    assumption: str
    #: Kinds of requirement that settle it.
    settled_by: tuple[str, ...] = ()
    #: Words that settle it.
    words: tuple[str, ...] = ()
    #: Topics it matters for; empty: any.
    topics: tuple[str, ...] = ()


class RequirementKind(_Entry):
    """How a kind of requirement is weighed and talked about."""

    #: Criterion that decides whether an option meets it.
    criterion: str
    fits: str
    strained: str
    fails: str
    unknown: str


class Headings(_Entry):
    """A role's words over the parts of its posts."""

    needs: str
    why: str
    how: str
    risks: str


class Role(_Entry):
    """A point of view: what it values, how it speaks, what it asks."""

    #: Completes "seen from …".
    title: str
    #: What this role looks at first: a sentence.
    lens: tuple[str, ...]
    headings: Headings
    #: Weight per criterion.
    values: Mapping[str, int]
    #: Keys of open points, most important first.
    asks: tuple[str, ...]
    #: Kinds of requirement this role deals with first.
    first: tuple[str, ...]
    checks: Mapping[str, tuple[Check, ...]]


class Catalogue(_Entry):
    """Everything in the data files."""

    criteria: Mapping[str, Criterion]
    topics: Mapping[str, Topic]
    things: Mapping[str, Thing]
    open_points: Mapping[str, OpenPoint]
    requirement_kinds: Mapping[str, RequirementKind]
    roles: Mapping[str, Role]
    role_names: Mapping[str, str]
    #: What to do about a question that nothing here covers, with places for its own words.
    finding_out: tuple[Check, ...]

    def role(self, name: str) -> Role:
        """The role with this name or one of its other names; the generalist if there is none."""
        key = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
        return self.roles.get(self.role_names.get(key, key), self.roles[GENERALIST])


@cache
def catalogue() -> Catalogue:
    """The data files, read once per process."""
    folder = resources.files("core.llm.providers.offline_engine") / "data"
    parts = {name: _read((folder / f"{name}.yaml").read_text("utf-8")) for name in _FILES}
    files = sorted((folder / "roles").iterdir(), key=lambda file: file.name)
    roles = {file.name.removesuffix(".yaml"): _read(file.read_text("utf-8")) for file in files}
    names = _read((folder / "role_names.yaml").read_text("utf-8"))
    return Catalogue.model_validate({**parts, "roles": roles, "role_names": names})


def _read(text: str) -> object:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)  # noqa: S506 - both are safe loaders


def inside(title: str) -> str:
    """A title in the middle of a sentence: articles and common words lose their capital."""
    return small(title) if title.split(" ", 1)[0] in _COMMON else title


@lru_cache(maxsize=512)
def normal_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, normalised for looking up words."""
    return tuple(normal(sentence) for sentence in sentences(text))


def topics_of(text: str, limit: int = 3) -> tuple[str, ...]:
    """The topics a text is about, the most mentioned first, in the catalogue's order when equal."""
    normalised = normal(text)
    counted = {
        key: sum(mentions(normalised, word) for word in topic.words)
        for key, topic in catalogue().topics.items()
    }
    found = sorted((key for key, count in counted.items() if count), key=lambda k: -counted[k])
    return tuple(found[:limit])


def things_in(text: str) -> tuple[str, ...]:
    """Keys of the things a text names, in the catalogue's order.

    Longer names are looked for first and used up, so that "React Native" is not React too.
    """
    normalised, found = normal(text), set[str]()
    for name, key in _names():
        if mentions(normalised, name):
            found.add(key)
            normalised = normalised.replace(f" {name.rstrip('$')}", " ")
    return tuple(key for key in catalogue().things if key in found)


@cache
def _names() -> tuple[tuple[str, str], ...]:
    """Every name of every thing with the thing's key, the longest first."""
    pairs = [
        (normal(name).strip() + ("$" if name.endswith("$") else ""), key)
        for key, thing in catalogue().things.items()
        for name in thing.names
    ]
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair)))
