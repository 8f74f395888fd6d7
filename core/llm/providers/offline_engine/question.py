"""Everything the engine makes of a question: options, requirements, topics and what people said."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from core.llm.providers.offline_engine.asking import asking_sentence
from core.llm.providers.offline_engine.checklist import WAYS, topics_of
from core.llm.providers.offline_engine.cleaning import is_order, without_orders
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.options import options_in
from core.llm.providers.offline_engine.requirements import Requirement, requirements_in
from core.llm.providers.offline_engine.wording import mentions, normal, sentences

_UNANSWERED = re.compile(r"\b(?:NA|n/a|unanswered|nobody answered|no answer)\b")
_ANSWER = re.compile(
    r"(?:^|\b|\s)(?:a|answer|answered(?: by [\w .-]+)?|→|->|=>)\s*[:→]\s*(?P<a>.+)$", re.IGNORECASE
)
_CLAUSES = re.compile(r"\s*[,;]\s+(?:(?:and|but)\s+)?|\s+(?:and|but)\s+(?=\w+ \w+ )")
_NOTE = re.compile(r"^\W*(?P<id>[\w-]+)\s*\((?P<author>[^)]*)\)\s*:\s*(?P<text>.*)$")
_AGAINST = tuple(
    normal(
        "not no never cannot expensive hate left leaving nobody problem outage deprecated slow "
        "painful against fear afraid dislike broke fail trouble kein nicht teuer niemand"
    ).split()
)
_FOR = tuple(
    normal(
        "already know experience familiar prefer works worked used love trained skilled happy "
        "reliable cheap proven favour favor run runs like want bereits kennen gut"
    ).split()
)
_FORBIDDEN = (
    "forbid",
    "forbidden",
    "banned",
    "prohibit",
    "verboten",
    "ruled out",
    "not allowed",
    "may not",
    "not an option",
    "must not",
)
#: Words of a decision that set no option apart.
_FILLERS = frozenset(
    normal(
        "from to with the a an of our own not do go for choose use stay as is yes no build"
    ).split()
)


@dataclass(frozen=True)
class Remark:
    """Something a person said that counts for or against an option."""

    option: Option
    #: 1 for it, −1 against it, −3 rules it out.
    sign: int
    text: str
    #: Who said it: "Dana", "the context".
    source: str


@dataclass(frozen=True)
class Note:
    """What a person added while the debate ran."""

    id: str
    author: str
    text: str

    @property
    def is_order(self) -> bool:
        """Whether it tells the agents how to vote instead of bringing a fact."""
        return is_order(self.text)


@dataclass(frozen=True, eq=False)
class Reading:
    """A question as the engine understands it.

    Compared by identity: `read_question` gives the same one for the same texts while it is
    remembered, and comparing all texts on each look-up would cost more than reading them.
    """

    question: str
    asked: str
    options: tuple[Option, ...]
    requirements: tuple[Requirement, ...]
    topics: tuple[str, ...]
    remarks: tuple[Remark, ...]
    notes: tuple[Note, ...]
    #: All facts people gave, orders removed.
    evidence: str
    #: What people were asked already, normalised.
    asked_before: str
    language: str
    #: Whether the checklists hold anything about what the question is about.
    covered: bool = True

    def has_kind(self, *kinds: str) -> bool:
        """Whether a requirement of one of these kinds is known."""
        return any(requirement.kind in kinds for requirement in self.requirements)


@lru_cache(maxsize=64)
def read_question(
    question: str, context: str = "", clarifications: str = "", notes: str = ""
) -> Reading:
    """Read a question with everything people added to it.

    Args:
        question: What was asked, as typed.
        context: What was given with it.
        clarifications: Questions and answers, one a line or in pairs of lines.
        notes: One a line: `n1 (Dana): text`.
    """
    asked, given = without_orders(question) or question, without_orders(context)
    answers, added = answers_in(clarifications), notes_in(notes)
    facts = [asked, given, *answers, *(note.text for note in added if not note.is_order)]
    topics = topics_of(f"{asked} {given}")
    options, covered = _known(options_in(asked, given), topics)
    demands = _distinct(options, requirements_in("\n".join(facts)))
    return Reading(
        question=asked,
        asked=asking_sentence(asked),
        options=options,
        requirements=demands,
        topics=topics,
        remarks=_remarks(options, _told(asked, given), answers, added),
        notes=added,
        evidence="\n".join(facts),
        asked_before=normal(clarifications),
        language=_language(asked),
        covered=covered,
    )


def _known(options: tuple[Option, ...], topics: tuple[str, ...]) -> tuple[tuple[Option, ...], bool]:
    """The options with what they stand for, and whether the checklists cover the question.

    To do something, or to leave it, says nothing of what it is about: where that is all that is
    known of the options, and no topic either, nothing is claimed of them.
    """
    if topics or any(key not in WAYS for option in options for key in option.things):
        return options, True
    return tuple(replace(option, things=()) for option in options), False


def answers_in(clarifications: str) -> tuple[str, ...]:
    """What people answered; unanswered questions and the questions themselves are left out."""
    lines = [line.strip() for line in without_orders(clarifications).splitlines() if line.strip()]
    found: list[str] = []
    for line in lines:
        answer = _ANSWER.search(line)
        if _UNANSWERED.search(line) or re.match(r"^\W*assum", line, re.IGNORECASE):
            continue
        if answer:
            found.append(answer["a"].strip())
        elif "?" not in line:
            found.append(re.sub(r"^\W*\d+[.:)]\s*", "", line))
        elif tail := line.rsplit("?", 1)[1].strip(" —–-:→*_"):
            found.append(tail)
    return tuple(found)


def notes_in(notes: str) -> tuple[Note, ...]:
    """The notes of a NOTES part; a line without an id continues the note before it."""
    found: list[Note] = []
    for line in notes.splitlines():
        if match := _NOTE.match(line):
            found.append(
                Note(match["id"], match["author"].strip() or "somebody", match["text"].strip())
            )
        elif found and line.strip():
            last = found[-1]
            found[-1] = Note(last.id, last.author, f"{last.text} {line.strip()}")
    return tuple(found)


def _distinct(
    options: tuple[Option, ...], found: tuple[Requirement, ...]
) -> tuple[Requirement, ...]:
    """One requirement per figure and kind: the first one stated stands; options are none."""
    kept: dict[tuple[str, ...], Requirement] = {}
    choices = " | ".join(normal(option.say) for option in options if len(options) > 1)
    for requirement in found:
        if normal(requirement.text) not in choices or requirement.digits:
            key = (requirement.kind, *(requirement.digits or requirement.words))
            kept.setdefault(key, requirement)
    return tuple(kept.values())


def _told(question: str, given: str) -> list[tuple[str, str]]:
    """What is stated with the question, clause by clause, and in the context, with its source."""
    stated = [s for s in sentences(question) if "?" not in s and s != asking_sentence(question)]
    clauses = [clause for s in stated for clause in _CLAUSES.split(s.rstrip("."))]
    return [
        *((clause, "the question") for clause in clauses),
        *((sentence, "the context") for sentence in sentences(given)),
    ]


def _remarks(
    options: tuple[Option, ...],
    told: list[tuple[str, str]],
    answers: tuple[str, ...],
    added: tuple[Note, ...],
) -> tuple[Remark, ...]:
    said = list(told)
    said += [(sentence, "a clarification") for answer in answers for sentence in sentences(answer)]
    said += [
        (sentence, note.author)
        for note in added
        if not note.is_order
        for sentence in sentences(note.text)
    ]
    found = (_remark(options, sentence, source) for sentence, source in said)
    return tuple(remark for remark in found if remark)


def _remark(options: tuple[Option, ...], sentence: str, source: str) -> Remark | None:
    """What a sentence says about the one option it names; None if none, several or nothing."""
    named = [option for option in options if names(option, options, normal(sentence))]
    sign = _sign(normal(sentence))
    if len(named) != 1 or not sign or "?" in sentence:
        return None
    return Remark(named[0], sign, sentence, source)


def own_words(option: Option, options: tuple[Option, ...]) -> tuple[str, ...]:
    """The words that set an option apart from the others."""
    others = " ".join(normal(f"{other.say} {other.name}") for other in options if other != option)
    words = dict.fromkeys(normal(f"{option.name} {option.say}").split())
    return tuple(w for w in words if f" {w} " not in f" {others} " and w not in _FILLERS)


def names(option: Option, options: tuple[Option, ...], normalised: str) -> bool:
    """Whether a normalised sentence names this option."""
    words = own_words(option, options)
    return not option.negated and any(mentions(normalised, word) for word in words)


def _sign(normalised: str) -> int:
    if any(f" {word} " in normalised for word in _FORBIDDEN):
        return -3
    if any(f" {word} " in normalised for word in _AGAINST):
        return -1
    return int(any(f" {word} " in normalised for word in _FOR))


def _language(text: str) -> str:
    if re.search(r"[\u3040-\u30ff]", text):
        return "Japanese"
    german = re.search(
        r"\b(?:sollen|sollten|wir|oder|und|nicht|welche[rs]?|warum|wie)\b", text, re.IGNORECASE
    )
    return "German" if german else "English"
