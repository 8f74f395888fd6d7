"""Finds earlier decisions for a question, and counts outcomes. No model is called to write."""

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

#: Decisions searched for a person, from all their channels, newest first.
_MOST_LOOKED_AT = 300
#: Decisions of all workspaces whose texts and vectors are cached in memory: about 50 MB.
_REMEMBERED = 4000
#: Most decisions in one answer.
_MOST_RESULTS = 3
#: Lowest likeness of a decision in an answer, and the likeness from which it counts as the one that
#: the person means.
ANSWERS_FROM, SURE_FROM = 0.5, 1.0
#: Least letters of a word that also matches longer words which begin with it.
_PREFIX_LETTERS = 4
#: Typical cosines of common models for a question and a short text: of unrelated texts, and of
#: texts with the same meaning.
_UNRELATED, _EQUAL = 0.2, 0.7
#: Beginnings of questions about an earlier decision. Every other question starts a debate.
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
#: Words of a question that say nothing about its topic.
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
#: Debates of all workspaces whose outcomes are cached in memory.
_CASES_REMEMBERED = 20_000
#: Prefixes of the keys of decisions and outcomes: debates with neither are not counted.
_DECIDED = ("decision/", "outcome/")


def is_about_decision(question: str) -> bool:
    words = " ".join(question.casefold().replace("’", "'").split())
    return words.startswith(_BEGINNINGS)


def word_shares(question: str, texts: Sequence[str]) -> Sequence[float]:
    """Return for each text the share of the question's words that it contains, 0 to 1.

    Words are compared by their stems; the beginning of a word matches too, as in `/debate search`.
    """
    query_words = {
        word for word in words_of(question) if word not in _STOP_WORDS and word.isalnum()
    }
    if not query_words:
        return [0.0] * len(texts)

    def share(text: str) -> float:
        words, text_stems = frozenset(words_of(text)), frozenset(terms(text))
        matches = [
            not text_stems.isdisjoint(stems(query))
            or (len(query) >= _PREFIX_LETTERS and any(word.startswith(query) for word in words))
            for query in query_words
        ]
        return sum(matches) / len(query_words)

    return [share(text) for text in texts]


def _search_text(debate: Debate) -> str:
    verdict = debate.verdict
    if verdict is None or not debate.decides:
        return ""
    options = [item.name for item in options_of(debate).items]
    return "\n".join([verdict.decision, *options, debate.setup.question])


def nearness(question: Sequence[float], texts: Sequence[Sequence[float]]) -> Sequence[float]:
    """Return how near each text's vector is to the question's, 0 to 1.

    0 for a vector of another length, which another model made.
    """

    def near(vector: Sequence[float]) -> float:
        lengths = math.hypot(*question) * math.hypot(*vector)
        if not lengths or len(question) != len(vector):
            return 0.0
        cosine = sum(a * b for a, b in zip(question, vector, strict=True)) / lengths
        return max(0.0, min(1.0, (cosine - _UNRELATED) / (_EQUAL - _UNRELATED)))

    return [near(vector) for vector in texts]


@dataclass(frozen=True, kw_only=True)
class RecalledDecision:
    debate: Debate
    #: The share of the question's words in it, or the nearness of its meaning: 0 to 1.
    likeness: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RecallDecisions:
    """Finds decisions. Every method may raise `StoreDown`."""

    store: DebateStore
    #: Knows the channels of each person; None in the terminal, where the user sees all debates.
    people: PeopleDirectory | None = None
    on_unreadable: OnUnreadable
    #: Bounds the length of a person's question.
    bounds: Bounds = UNBOUNDED
    #: Also compares meanings; None: words only.
    embedder: Embedder | None = None
    #: Cached vectors by text.
    _vectors: Recent[str, Sequence[float]] = field(
        default_factory=lambda: Recent(_REMEMBERED), init=False
    )
    #: Cached search texts by the debate's id and time of its end.
    _texts: Recent[tuple[str, object], str] = field(
        default_factory=lambda: Recent(_REMEMBERED), init=False
    )

    async def for_person(
        self, question: str, *, person: str, workspace: str
    ) -> Sequence[RecalledDecision]:
        most = self.bounds.question_characters
        check_length("The question", question, most, instead="Ask in fewer words.")
        channels = await self.people.channels_of(person, workspace) if self.people else ()
        return await self._among(question, workspace, channels) if channels else ()

    async def anywhere(self, question: str) -> Sequence[RecalledDecision]:
        return await self._among(question, None, None)

    async def _among(
        self, question: str, workspace: str | None, channels: Collection[str] | None
    ) -> Sequence[RecalledDecision]:
        question = redact(question)  # the embedder may send it to a server
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
        # Decisions of equal likeness are ordered by the rank of the full-text search.
        order = await asyncio.to_thread(best_of, texts, question)
        indexes = dict.fromkeys((*order, *range(len(entries))))
        decisions = list[RecalledDecision]()
        for index in sorted(indexes, key=lambda index: -fits[index]):
            if len(decisions) == _MOST_RESULTS or fits[index] < ANSWERS_FROM:
                break
            with leaving_out(entries[index].debate_id, self.on_unreadable):
                log = await self.store.events(entries[index].debate_id)
                debate = await asyncio.to_thread(fold, log)
                decisions.append(RecalledDecision(debate=debate, likeness=fits[index]))
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
        # An array of floats takes a quarter of a list's memory.
        self._vectors.update(zip(unseen, (array("d", vector) for vector in vectors), strict=True))
        by_meaning = await asyncio.to_thread(
            nearness, query_vector, [self._vectors.get(text, ()) for text in texts]
        )
        return [max(pair) for pair in zip(by_words, by_meaning, strict=True)]

    async def _text(self, entry: DebateEntry) -> str:
        """Return the text that a decision is found by; empty if it cannot be read."""
        key = (entry.debate_id, entry.ended_at)
        if key not in self._texts:
            text = ""
            with leaving_out(entry.debate_id, self.on_unreadable):
                debate = await asyncio.to_thread(fold, await self.store.events(entry.debate_id))
                with reading(entry.debate_id):
                    search_text = _search_text(debate)
                    # An error for a damaged text must not fail the search of all decisions later.
                    await asyncio.to_thread(terms, search_text)
                text = search_text
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
    """Counts outcomes of decisions. A debate's log is read again only after it has grown."""

    store: DebateStore
    on_unreadable: OnUnreadable
    #: By debate: the last `seq` that was read, and the resulting case.
    _cache: Recent[str, tuple[int, Case | None]] = field(
        default_factory=lambda: Recent(_CASES_REMEMBERED), init=False
    )

    async def cases(
        self, workspace: str | None, channels: Collection[str] | None, limit: int
    ) -> Sequence[Case]:
        """Return the accepted decisions of these channels, newest first.

        Args:
            workspace: Only debates of this workspace; None: of all.
            channels: The person's channels, checked by the caller; None: all.
            limit: Most debates with a decision to examine.
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
                seq, case = self._cache.get(entry.debate_id, (0, None))
                log = await self.store.events(entry.debate_id, after=seq)
                if log:
                    full_log = log if not seq else await self.store.events(entry.debate_id)
                    # In a thread: a long log would block the event loop.
                    case = await asyncio.to_thread(_case, full_log)
                    self._cache[entry.debate_id] = (full_log[-1].seq, case)
                if case:
                    cases.append(case)
        return cases
