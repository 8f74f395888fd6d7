"""The fact ledger: figures and requirements people gave, and which texts still hold them (pure).

Agents agree more and more while critical facts get lost on the way (arXiv:2606.03032). So what the
question, its context, answers and notes state is kept, and every position, summary and verdict is
checked against it without asking a model.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from core.models import CitationStatus, Debate, Verdict, once_per_debate

#: Words that make a sentence a requirement; German ones too, for the teams that ask in German.
_DEMANDS = re.compile(
    r"\b(must|shall|should|needs? to|required|critical|ideally|at (?:most|least)|no more than|"
    r"never|only|without|"
    r"muss|müssen|soll|sollen|sollte|sollten|erforderlich|zwingend|notwendig|kritisch|"
    r"idealerweise|möglichst|höchstens|mindestens|nie|ohne|nur)\b",
    re.IGNORECASE,
)
#: A wish: a sentence with no stronger word is a minor requirement.
_WISHES = re.compile(r"should|ideally|soll(?:en|ten?)?|idealerweise|möglichst", re.IGNORECASE)
#: "Should we …?" and "Is it required?" ask; they demand nothing.
_ASKS_ONLY = re.compile(
    rf"{_WISHES.pattern}|required|critical|erforderlich|notwendig|zwingend|kritisch", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
#: What may stand between a figure and what it counts: "200 a month", "16 per team".
_PER = r"(?:an?|per|each|every|pro|je)"
#: Words that say nothing of the figure before them: it ends there.
_NO_UNIT = (
    r"an?|the|and|or|but|nor|so|yet|with|without|to|of|in|on|at|for|from|by|as|is|are|was|were|be|"
    r"been|has|have|had|will|would|can|could|may|might|must|shall|should|if|then|than|when|while|"
    r"where|which|who|that|this|these|those|it|its|we|our|they|their|you|your|not|no|only|also|"
    r"because|since|until|over|under|after|before|between|into|about|per|each|every|"
    r"und|oder|aber|mit|ohne|zu|zum|zur|von|vom|bis|in|im|an|am|auf|für|aus|bei|nach|vor|als|wie|"
    r"ist|sind|war|waren|wird|werden|hat|haben|kann|können|muss|müssen|soll|sollen|wenn|dann|der|"
    r"die|das|den|dem|des|ein|eine|einen|einem|einer|es|wir|sie|nicht|kein|keine|nur|auch|pro|je"
)
_UNIT = re.compile(
    rf"\s*[%$€£]|\s*(?!(?:{_NO_UNIT})\b)[^\W\d_]+|\s+{_PER}\s+(?!(?:{_NO_UNIT})\b)[^\W\d_]+",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.](?=\S)[^.!?\n]*)*[.!?]?")
_WORD = re.compile(r"[^\W\d_]{4,}")
#: Where a sentence can be cut so that each piece may say something by itself.
_CLAUSE = re.compile(
    r"(?<=[,;:–—])\s+|(?<![^\S\n])[^\S\n]+(?:and|but|und|aber)\s+"  # a run of blanks is tried once
)
_JOINED = re.compile(r"\s(?:and|but|und|aber)$")
#: A piece of fewer words says too little: "and 10 servers" of "between 5 and 10 servers".
_LEAST_WORDS = 4
#: Most characters of the words around a figure.
_AROUND = 120
#: Share of a requirement's words that a text must hold to hold the requirement.
_ENOUGH = 0.5
#: One text is asked about many facts, whenever the board is made: it is read once. As many as the
#: positions of some tens of debates.
_TEXTS_KEPT = 256
#: Fewer of those that people gave: the facts of 8,000 characters can take 130 KB.
_GIVEN_KEPT = 64


class FactKind(StrEnum):
    """What a fact is."""

    FIGURE = "figure"
    REQUIREMENT = "requirement"


@dataclass(frozen=True)
class Fact:
    """Something people stated that must survive the debate."""

    kind: FactKind
    #: As it was written.
    text: str
    #: Where it came from: "question", "context", "answer 2", "note 1", "e3".
    source: str
    #: Whether an answer that breaks it is no good; "should" and "ideally" are minor.
    is_major: bool = True
    #: The words it belongs to: "900" alone says nothing. Empty: the text says enough.
    words: str = ""

    @property
    def told(self) -> str:
        """The fact as somebody understands it who has not read where it stands."""
        return self.words or self.text


@once_per_debate
def ledger(debate: Debate) -> Sequence[Fact]:
    """All facts people gave so far, and those agents cited from their sources, each once."""
    answers = [(f"answer {number}", answer.text) for number, answer in debate.answers.items()]
    notes = [(f"note {note.number}", note.text) for note in debate.notes]
    cited = [
        (one.source, one.words)
        for made in debate.contributions.values()
        for one in made.citations
        if one.status is CitationStatus.VERIFIED
    ]
    sources = [
        ("question", debate.setup.question),
        ("context", debate.setup.context),
        *answers,
        *notes,
        *cited,
    ]
    found = (fact for source, text in sources for fact in _facts(text, source))
    return list({(fact.kind, fact.text.lower()): fact for fact in found}.values())


def lost(facts: Sequence[Fact], text: str) -> Sequence[Fact]:
    """Facts that this text does not contain."""
    return [fact for fact in facts if not holds(text, fact)]


def holds(text: str, fact: Fact) -> bool:
    """Whether a text contains a fact: the same figure, or most words of the requirement."""
    if fact.kind is FactKind.FIGURE:
        number = _NUMBER.search(fact.text)
        return bool(number) and _plain(number.group()) in _numbers(text)
    words = _words(fact.text)
    return not words or len(words & _words(text)) / len(words) >= _ENOUGH


def words_of(verdict: Verdict) -> str:
    """All texts of a verdict in which a fact may stand."""
    parts = (
        verdict.decision,
        verdict.solution,
        verdict.implementation,
        *(one.text for one in verdict.sections),
        *verdict.tradeoffs,
        *verdict.recommendations,
        *verdict.unmet_requirements,
        *verdict.open_questions,
        *verdict.overturned_by,
    )
    return "\n".join(parts)


@lru_cache(maxsize=_GIVEN_KEPT)
def _facts(text: str, source: str) -> tuple[Fact, ...]:
    """The requirements in a text, then its numbers with the unit or word that follows them."""
    found: list[Fact] = []
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        demands = [demand.group() for demand in _DEMANDS.finditer(sentence)]
        if sentence.endswith("?"):
            demands = [demand for demand in demands if not _ASKS_ONLY.fullmatch(demand)]
        if demands:
            major = any(not _WISHES.fullmatch(demand) for demand in demands)
            found.append(Fact(FactKind.REQUIREMENT, sentence, source, is_major=major))
    clauses = _Clauses(text)
    for match in _NUMBER.finditer(text):
        unit = _UNIT.match(text, match.end())
        figure = match.group() + (unit.group() if unit else "")
        words = clauses.around(match.start(), match.start() + len(figure))
        found.append(Fact(FactKind.FIGURE, figure, source, words=words))
    return tuple(found)


class _Clauses:
    """A text cut into clauses once, however many figures stand in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        spans = (found.span() for found in _SENTENCE.finditer(text))
        cuts = [_clauses(text, *span) for span in spans if span[0] < span[1]]
        #: Where each sentence begins and ends, and all clauses of all sentences, in order.
        self._sentences = [(one[0], one[-1]) for one in cuts]
        self._clauses = [clause for one in cuts for clause in pairwise(one)]

    def around(self, start: int, end: int) -> str:
        """The clause in which these characters stand, cut on both sides where it is long, visibly.

        What goes on in the next clause stands in its sentence; in the next sentence, by itself.
        """
        text = self._text
        at, to = (
            _holding(self._clauses, start, end)
            or _holding(self._sentences, start, end)
            or (start, end)
        )
        # Only so much of a long clause is looked at: there may be many figures in it.
        room = max(0, (_AROUND - (end - start)) // 2)
        left, right = text[max(at, start - room) : start], text[end : min(to, end + room)]
        if start - at > room:
            left = "… " + left.partition(" ")[2]
        if to - end > room:
            right = right.rpartition(" ")[0] + " …"
        words = " ".join(f"{left}{text[start:end]}{right}".split()).strip(",;:. ")
        return _JOINED.sub("", words)


def _clauses(text: str, at: int, to: int) -> Sequence[int]:
    """Where the clauses of a sentence begin, and its end."""
    cuts = [to]
    for cut in reversed([at, *(found.end() for found in _CLAUSE.finditer(text, at, to))]):
        # A piece that says too little stays with the one before it.
        if cut == at or len(text[cut : cuts[-1]].split()) >= _LEAST_WORDS:
            cuts.append(cut)
    return cuts[::-1]


def _holding(spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """Which of these spans, in order, holds these characters; None where it is cut within them."""
    index = bisect_right(spans, start, key=itemgetter(0)) - 1
    return spans[index] if index >= 0 and end <= spans[index][1] else None


@lru_cache(maxsize=_TEXTS_KEPT)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(_plain(match.group()) for match in _NUMBER.finditer(text))


@lru_cache(maxsize=_TEXTS_KEPT)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _plain(number: str) -> str:
    """The number without thousands separators: 2,000 and 2.000 are 2000, 2.5 stays."""
    return re.sub(r"[.,](?=\d{3}(?:\D|$))", "", number)


def each_once(found: Sequence[Fact]) -> Sequence[Fact]:
    """Those that no other one tells: a requirement tells its own figures, a clause all of its."""
    texts = [fact.told.casefold().rstrip(".!") for fact in found]
    return [
        fact
        for at, (fact, text) in enumerate(zip(found, texts, strict=True))
        if not any(text in other and text != other for other in texts) and text not in texts[:at]
    ]
