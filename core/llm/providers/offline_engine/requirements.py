"""Reads what a question demands: musts, shoulds and figures with their units."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from core.llm.providers.offline_engine.checklist import catalogue, normal_sentences
from core.llm.providers.offline_engine.wording import mentions, normal, sentences

#: Share of a requirement's words that one sentence must repeat to deal with it.
_ENOUGH = 0.6

_NUMBER_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
}
_FACTOR = {"k": 1e3, "thousand": 1e3, "tausend": 1e3, "m": 1e6, "million": 1e6, "millionen": 1e6}
_NUMBER = (
    r"(?P<n>\d+(?:[.,' ]\d{3})+(?!\d)|\d+(?:[.,]\d+)?|"
    + "|".join(rf"\b{word}\b" for word in _NUMBER_WORDS)
    + r")\s?(?P<f>k|m|thousand|million|tausend|millionen)?\b"
)
_UNITS = {
    "rate": r"(?:\s*[\w-]{1,24}){0,2}?\s*(?:(?:\b(?:per|a|pro|an)\s+|/\s*)"
    r"(?P<per>second|sec|s|minute|min|hour|day|sekunde|minute|stunde|tag)\b|"
    r"\b(?P<rps>rps|qps|tps)\b)",
    "latency": r"\s*(?:ms|milliseconds?|millisekunden|μs|seconds?\s+(?:latency|response))\b",
    "money": r"\s*(?:€|\$|£|eur(?:os?)?|usd|dollars?|gbp|pounds?|chf|yen|円|万円)(?!\w)",
    "people": r"\s*(?:\w{1,24}\s)?(?:people|persons?|engineers?|developers?|devs?|admins?|"
    r"designers?|of us|colleagues|operators?|leute|personen|entwickler\w*|kolleg\w*|人|名)",
    "time": r"\s*(?:weeks?|months?|days?|quarters?|sprints?|wochen?|monaten?|tagen?|"
    r"週間|か月|ヶ月)\b",
    "availability": r"\s*%|\s*percent",
    "volume": r"\s*(?:\w{1,24}\s)?(?:users?|customers?|clients?|tenants?|rows?|records?|gb|tb|pb|"
    r"stores?|events|documents?|devices?|services?|nutzer\w*|kunden|ユーザー?)",
}
_FIGURES = {kind: re.compile(_NUMBER + unit, re.IGNORECASE) for kind, unit in _UNITS.items()}
_MONEY_FIRST = re.compile(r"(?:€|\$|£|\beur\b|\busd\b)\s?" + _NUMBER, re.IGNORECASE)
_DOWNTIME = re.compile(
    r"\b(?:\w+\s+)?(?:seconds?|minutes?|hours?|sekunden?|minuten?|stunden?)['’]?\s+(?:of\s+)?"
    r"(?:down-?time|outage|standstill|interruption|ausfall\w*|stillstand)\b|"
    r"\bno (?:down-?time|outage|interruption)\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(?:must|shall|has to|have to|needs? to|required?|mandatory|"
    r"no (?:[\w-]+ ){1,4}may|may not|cannot|can't|muss|müssen|"
    r"darf nicht|dürfen nicht)\b|必須|なければならない|必要が?あ",
    re.IGNORECASE,
)
_SHOULD = re.compile(
    r"\b(?:should|ought to|ideally|preferably|want|soll|sollte|sollten)\b|べき", re.IGNORECASE
)
_BUDGET = re.compile(r"\b(?:budget|bills?|cap|spend|costs?|kosten)\b", re.IGNORECASE)
_DEADLINE = re.compile(
    r"\b(?:by|until|before|within|deadline|bis)\b.{0,25}"
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"q[1-4]|quarter|year|month|weeks?|days?|monday|friday|christmas|summer|spring|autumn|winter|"
    r"ende|monat|jahr|\d{4})\b|\b(?:this|next) (?:quarter|sprint)\b",
    re.IGNORECASE,
)
_LAW = re.compile(
    r"\b(?:gdpr|dsgvo|hipaa|pci|soc ?2|iso ?27001|personal data|health data|in the eu|"
    r"data residency|audit\w*|compliance|regulat\w*|datenschutz\w*)\b|個人情報",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?\uff1f]|べきか|^\W*(?:should|shall|sollen|sollten|do|can|which|what|how)\b", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"\s*(?:[;\uff1b。]|,?\s+(?:and|but|while|und|aber)\s+)|(?<=[^\d]),\s+", re.IGNORECASE
)
#: A clause without a subject, which goes on with the one before: "must do this and cost that".
_GOES_ON = re.compile(
    r"^(?:be|have|cost|take|answer|handle|find|export|import|load|last|fit|carry|survive|support|"
    r"keep|launch|run|start|stay|use|work|ship|deploy|store|send|show|save|serve|not)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(?:must|shall|should|has to|have to|needs? to)\b", re.IGNORECASE)
_LINK = re.compile(r"^(?:(?:and|but|so|also)\s+)+", re.IGNORECASE)
#: A subject that can go because its verb says enough alone: "must keep", not "are 6 people".
_SUBJECT = re.compile(
    r"^(?:it|they|that|this|we|es|wir|there)\s+(?=(?:must|shall|should|has|have to|needs?|required|"
    r"may|can|cannot|can't|ought|want|muss|müssen|soll\w*|darf|dürfen)\b)",
    re.IGNORECASE,
)
_PER_SECOND = {"m": 60.0, "h": 3600.0, "d": 86400.0, "st": 3600.0, "t": 86400.0}
_EMPTY = frozenset(
    normal(
        "a an and are as at be been but by can for from has have he her his if in is it its my of "
        "on or our shall should so that the their them then there they this to us was we were will "
        "with would you your must need needs required und der die das wir muss müssen ist sind ein "
        "eine"
    ).split()
)
_MAX_LENGTH = 110
#: A smaller percentage is a share of something, not an availability.
_AVAILABLE = 90


class Level(StrEnum):
    """How binding a requirement is."""

    MUST = "must"
    SHOULD = "should"
    #: A figure somebody gave without saying how binding it is.
    FIGURE = "figure"


@dataclass(frozen=True)
class Requirement:
    """Something an answer has to satisfy, in the words it was stated in."""

    text: str
    level: Level
    #: Key of a `RequirementKind`.
    kind: str
    #: In the kind's unit: per second, milliseconds, people, currency; None without a figure.
    amount: float | None = None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that carry it."""
        kept = (word for word in normal(self.text).split() if word not in _EMPTY)
        return tuple(dict.fromkeys(kept))

    @cached_property
    def digits(self) -> tuple[str, ...]:
        """Its figures as they are written, without separators."""
        return tuple(w for w in self.words if any(c.isdigit() for c in w) or w in _NUMBER_WORDS)

    def is_met_in(self, text: str) -> bool:
        """Whether some sentence of a text speaks of this requirement."""
        return any(self.is_named_in(sentence) for sentence in normal_sentences(text))

    def is_named_in(self, normalised: str) -> bool:
        """Whether one normalised sentence speaks of this requirement."""
        if not all(f" {figure}" in normalised for figure in self.digits) or not self.words:
            return False
        found = sum(mentions(normalised, word[:6]) for word in self.words)
        return found >= max(1, round(len(self.words) * _ENOUGH))


def requirements_in(text: str, *, default: Level = Level.FIGURE) -> tuple[Requirement, ...]:
    """Every requirement a text states; sentences that ask are read for their figures only."""
    found: dict[str, Requirement] = {}
    for sentence in sentences(text):
        for requirement in _of_sentence(sentence, default):
            found.setdefault(normal(requirement.text), requirement)
    return tuple(found.values())


def _of_sentence(sentence: str, default: Level) -> list[Requirement]:
    if _ASKS.search(sentence):
        kind, amount = _figure_kind(sentence)
        return [Requirement(_figure_of(sentence), default, kind, amount)] if kind else []
    found = [_requirement(clause, default) for clause in _clauses(sentence)]
    return [requirement for requirement in found if requirement]


def _clauses(sentence: str) -> list[str]:
    """Parts of a sentence that each state something; a part that states nothing joins the last."""
    clauses: list[str] = []
    for part in filter(None, (piece.strip(" .") for piece in _CLAUSE.split(sentence))):
        modal = _MODAL.search(clauses[-1]) if clauses and _GOES_ON.match(part) else None
        if modal:
            clauses.append(f"{modal[0].lower()} {part}")
        elif clauses and not (_states(part) and _states(clauses[-1])):
            clauses[-1] = f"{clauses[-1]} and {part}" if _states(part) else f"{clauses[-1]}, {part}"
        else:
            clauses.append(part)
    return clauses


def _states(clause: str) -> bool:
    return bool(_MUST.search(clause) or _SHOULD.search(clause)) or _kind_of(clause)[0] != "other"


def _requirement(clause: str, level: Level) -> Requirement | None:
    kind, amount = _kind_of(clause)
    if _MUST.search(clause):
        level = Level.MUST
    elif _SHOULD.search(clause):
        level = Level.SHOULD
    elif kind == "other":
        return None
    return Requirement(_short(clause), level, kind, amount)


def _figure_of(question: str) -> str:
    """The piece of a question that holds the figure, with the words around it."""
    for pattern in (*_FIGURES.values(), _MONEY_FIRST, _DOWNTIME, _DEADLINE, _LAW):
        if found := pattern.search(question):
            return found[0].strip()
    return question


def _short(clause: str) -> str:
    text = _SUBJECT.sub("", _LINK.sub("", clause)).strip(" .,;:")
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH].rsplit(" ", 1)[0]


def _kind_of(clause: str) -> tuple[str, float | None]:
    """The kind a clause is of, and its figure."""
    kind, amount = _figure_kind(clause)
    return (kind, amount) if kind else (_kind_by_words(clause), amount)


def _figure_kind(clause: str) -> tuple[str, float | None]:
    """The kind that a clause's figure, date or law gives it; none without one."""
    if _LAW.search(clause):
        return "law", None
    if money := _MONEY_FIRST.search(clause):
        return "money", _amount(money)
    for kind, pattern in _FIGURES.items():
        found = pattern.search(clause)
        if found and not (kind == "availability" and _amount(found) < _AVAILABLE):
            return kind, _amount(found)
    if _DOWNTIME.search(clause):
        return "availability", None
    return ("time", None) if _DEADLINE.search(clause) else ("", None)


def _kind_by_words(clause: str) -> str:
    """The kind whose criterion's words a clause uses; only binding clauses are read this way."""
    if _BUDGET.search(clause):
        return "money"
    if not (_MUST.search(clause) or _SHOULD.search(clause)):
        return "other"
    normalised = normal(clause)
    for kind, entry in catalogue().requirement_kinds.items():
        words = catalogue().criteria[entry.criterion].words
        if any(mentions(normalised, word) for word in words):
            return kind
    return "other"


def _amount(found: re.Match[str]) -> float:
    raw = found["n"].lower()
    if raw in _NUMBER_WORDS:
        return float(_NUMBER_WORDS[raw])
    plain = re.sub(r"[.,' ](?=\d{3}(?!\d))", "", raw).replace(",", ".")
    groups = found.groupdict()
    amount = float(plain) * _FACTOR.get((groups.get("f") or "").lower(), 1.0)
    return amount / _divisor((groups.get("per") or "").lower())


def _divisor(unit: str) -> float:
    """Seconds in a unit of time; 1 for seconds and for no unit."""
    if unit in {"", "s", "sec", "second", "sekunde"}:
        return 1.0
    return _PER_SECOND["st" if unit == "stunde" else unit[0]]
