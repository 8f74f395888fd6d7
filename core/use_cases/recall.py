"""What was decided, for who asks, and how it turned out; no model writes it."""

import asyncio
import math
from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import structlog

from core.calibration import Case, case_of
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate, Status
from core.errors import ProviderError, reading
from core.evidence.earlier import decision_words
from core.evidence.passages import best_of, stems, terms
from core.evidence.words import words_of
from core.opening import check_length
from core.ports import DebateEntry, DebateFilter, DebateStore, Embedder, PeopleDirectory
from core.redaction import redact
from core.rules.options import options_of
from core.transcript.cited import link_citations
from core.use_cases.fact_log import OnUnreadable, leaving_out
from core.use_cases.limits import UNBOUNDED, Bounds
from core.values import Recent

_log = structlog.get_logger(__name__)

#: Decisions of all of somebody's channels that are looked through, newest first.
_MOST_LOOKED_AT = 300
#: Decisions of all workspaces whose texts and vectors are kept in memory: about 50 MB.
_REMEMBERED = 4000
#: Decisions that one answer names.
_MOST_TOLD = 3
#: A decision is named if it holds this share of the question's words, and is taken for the one that
#: was meant if it holds them all.
ANSWERS_FROM, SURE_FROM = 0.5, 1.0
#: A word that is cut short has at least so many letters.
_CUT_SHORT = 4
#: Cosines of texts that have nothing to do with each other, and of those that say the same: what
#: common models give for a question and a text of a few sentences.
_UNRELATED, _EQUAL = 0.2, 0.7
#: How a question for a decision that was taken begins; every other one is to be debated.
_BEGINNINGS = (
    "what did we decide",
    "what have we decided",
    "what was decided",
    "why did we decide",
    "why did we choose",
    "did we decide",
    "have we decided",
    "was haben wir entschieden",
    "was haben wir beschlossen",
    "was wurde entschieden",
    "was wurde beschlossen",
    "warum haben wir uns für",
    "haben wir entschieden",
    "haben wir beschlossen",
)
#: Words of a question that say nothing of what it is about.
_STOP_WORDS = frozenset(
    word
    for line in (
        "a about an and are as at be been by can choose chose chosen decide decided decision did",
        "do does for from had has have how i in is it its of on or our so that the their then",
        "there this to was we were what when where which who why will with you your",
        "aber als am an auch auf aus bei beschlossen das dem den der des die du ein eine einem",
        "einen einer entschieden entscheidung es für haben hat ich im in ist mit nach noch oder",
        "sich sie sind so über um und uns unser unsere unter vom von vor war waren warum was wegen",
        "wenn wer wie wieso wir wird wo wurde wurden zu zum zur",
    )
    for word in line.split()
)
#: Debates that are kept in memory, of all workspaces.
_CASES_REMEMBERED = 20_000
#: How keys begin of what makes a debate count: the team's decisions, and how they turned out.
_DECIDED = ("decision/", "outcome/")


def asks_what_was_decided(question: str) -> bool:
    words = " ".join(question.casefold().replace("’", "'").split())
    return words.startswith(_BEGINNINGS)


def word_shares(question: str, texts: Sequence[str]) -> Sequence[float]:
    """For each text, the share of the question's words that it holds, 0 to 1.

    Words are compared by their stems, and may be cut short as in `/debate search`.
    """
    query_words = {
        word for word in words_of(question) if word not in _STOP_WORDS and word.isalnum()
    }
    if not query_words:
        return [0.0] * len(texts)

    def share(text: str) -> float:
        words, stemmed = frozenset(words_of(text)), frozenset(terms(text))
        held = [
            not stemmed.isdisjoint(stems(word))
            or (len(word) >= _CUT_SHORT and any(other.startswith(word) for other in words))
            for word in query_words
        ]
        return sum(held) / len(query_words)

    return [share(text) for text in texts]


def _text_of(debate: Debate) -> str:
    verdict = debate.verdict
    if verdict is None or not debate.decides:
        return ""
    named = [item.name for item in options_of(debate).items]
    return "\n".join([verdict.decision, *named, debate.setup.question])


def nearness(question: Sequence[float], texts: Sequence[Sequence[float]]) -> Sequence[float]:
    """For each vector, how near its meaning is to the question's, 0 to 1; of another length: 0."""

    def near(other: Sequence[float]) -> float:
        lengths = math.hypot(*question) * math.hypot(*other)
        if not lengths or len(question) != len(other):
            return 0.0
        cosine = sum(a * b for a, b in zip(question, other, strict=True)) / lengths
        return max(0.0, min(1.0, (cosine - _UNRELATED) / (_EQUAL - _UNRELATED)))

    return [near(other) for other in texts]


@dataclass(frozen=True, kw_only=True)
class RecalledDecision:
    debate: Debate
    #: The share of the question's words that it holds, or how near its meaning is: 0 to 1.
    likeness: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RecallDecisions:
    """Looks decisions up. Every method may raise `StoreDown`."""

    store: DebateStore
    #: Says which channels somebody is in; None: whoever asks has the whole database.
    people: PeopleDirectory | None = None
    on_unreadable: OnUnreadable
    #: How long a person's question may be.
    bounds: Bounds = UNBOUNDED
    #: Finds by meaning, too; None: by words only.
    embedder: Embedder | None = None
    #: Vectors by text.
    _vectors: Recent[str, Sequence[float]] = field(
        default_factory=lambda: Recent(_REMEMBERED), init=False
    )
    #: What a decision is found by, by its debate and its end: neither changes.
    _texts: Recent[tuple[str, object], str] = field(
        default_factory=lambda: Recent(_REMEMBERED), init=False
    )

    async def for_person(
        self, question: str, *, person: str, workspace: str
    ) -> Sequence[RecalledDecision]:
        instead, most = "Ask for what was decided in fewer words.", self.bounds.question_characters
        check_length("The question", question, most, instead=instead)
        channels = await self.people.channels_of(person, workspace) if self.people else ()
        return await self._among(question, workspace, channels) if channels else ()

    async def anywhere(self, question: str) -> Sequence[RecalledDecision]:
        return await self._among(question, None, None)

    async def _among(
        self, question: str, workspace: str | None, channels: Collection[str] | None
    ) -> Sequence[RecalledDecision]:
        question = redact(question)  # it may be sent to a server
        filters = DebateFilter(
            workspace=workspace,
            channels=None if channels is None else tuple(channels),
            limit=_MOST_LOOKED_AT,
        )
        entries = [
            entry for entry in await self.store.find(filters) if entry.status == Status.CONCLUDED
        ]
        texts = [await self._text(entry) for entry in entries]
        fits = await self._fits(question, texts)
        # Of those that hold as many of the words, the best hit of the search comes first.
        order = await asyncio.to_thread(best_of, texts, question)
        best = sorted(dict.fromkeys((*order, *range(len(entries)))), key=lambda at: -fits[at])
        decisions = list[RecalledDecision]()
        for at in best:
            if len(decisions) == _MOST_TOLD or fits[at] < ANSWERS_FROM:
                break
            with leaving_out(entries[at].debate_id, self.on_unreadable):
                log = await self.store.events(entries[at].debate_id)
                debate = await asyncio.to_thread(fold, log)
                decisions.append(RecalledDecision(debate=debate, likeness=fits[at]))
        return decisions

    async def _fits(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        by_words = await asyncio.to_thread(word_shares, question, texts)
        if self.embedder is None or not texts:
            return by_words
        unseen = [text for text in dict.fromkeys(texts) if text and text not in self._vectors]
        try:
            query_vector, *vectors = await self.embedder.embed([question, *unseen])
        except ProviderError as error:
            _log.warning("decisions are found by their words only", reason=str(error))
            return by_words
        # An array of numbers takes a quarter of a list of them.
        self._vectors.update(zip(unseen, (array("d", vector) for vector in vectors), strict=True))
        by_meaning = await asyncio.to_thread(
            nearness, query_vector, [self._vectors.get(text, ()) for text in texts]
        )
        return [max(pair) for pair in zip(by_words, by_meaning, strict=True)]

    async def _text(self, entry: DebateEntry) -> str:
        """What a decision is found by; of a long text the beginning counts."""
        key = (entry.debate_id, entry.ended_at)
        if key not in self._texts:
            text = ""
            with leaving_out(entry.debate_id, self.on_unreadable):
                debate = await asyncio.to_thread(fold, await self.store.events(entry.debate_id))
                with reading(entry.debate_id):
                    words = _text_of(debate)
                    await asyncio.to_thread(terms, words)  # else it would fail among all others
                text = words
            self._texts[key] = text
        return self._texts[key]


def recalled_decision(debate: Debate) -> str:
    citations = debate.verdict.citations if debate.verdict else ()
    return link_citations(decision_words(debate), citations)


def _case(log: Sequence[RecordedEvent]) -> Case | None:
    debate = fold(log)
    with reading(debate.id):
        return case_of(debate)


@dataclass(kw_only=True)
class CountOutcomes:
    """Reads each debate's log once, and again when it has grown."""

    store: DebateStore
    on_unreadable: OnUnreadable
    #: By debate: how far its log was read, and what it counts as.
    _known: Recent[str, tuple[int, Case | None]] = field(
        default_factory=lambda: Recent(_CASES_REMEMBERED), init=False
    )

    async def cases(
        self, workspace: str | None, channels: Collection[str] | None, limit: int
    ) -> Sequence[Case]:
        """Return the accepted decisions of these channels, newest first.

        Args:
            workspace: Where; None: anywhere.
            channels: Those the caller knows the person to be in; None: all.
            limit: So many debates with a decision are looked at.
        """
        if channels is not None and not channels:
            return ()
        channel_ids = None if channels is None else tuple(channels)
        filters = DebateFilter(
            workspace=workspace, channels=channel_ids, having=_DECIDED, limit=limit
        )
        cases: list[Case] = []
        for entry in await self.store.find(filters):
            with leaving_out(entry.debate_id, self.on_unreadable):
                read, case = self._known.get(entry.debate_id, (0, None))
                log = await self.store.events(entry.debate_id, after=read)
                if log:
                    whole = log if not read else await self.store.events(entry.debate_id)
                    # A long log takes a while, and others wait for this thread.
                    case = await asyncio.to_thread(_case, whole)
                    self._known[entry.debate_id] = (whole[-1].seq, case)
                if case:
                    cases.append(case)
        return cases
