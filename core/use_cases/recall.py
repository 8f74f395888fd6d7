"""People ask what was decided: answered from the register of decisions; no model writes it."""

import asyncio
import re
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import structlog

from core.errors import BadInput, DebateUnknown, ProviderError, StoreDown, StoreError
from core.events import fold
from core.evidence.likeness import ANSWERS_FROM, likeness, nearness
from core.figures import counted, number
from core.models import Debate, Status
from core.ports import DebateEntry, DebateFilter, DebateStore, Embedder, PeopleDirectory
from core.recent import Recent
from core.redaction import redact
from core.rules.options import options_of
from core.use_cases.limits import UNBOUNDED, Bounds

_log = structlog.get_logger(__name__)

#: Decisions of all of somebody's channels that are looked through, newest first.
_MOST_LOOKED_AT = 300
#: Decisions of all workspaces whose texts and vectors are kept in memory: about 50 MB.
_REMEMBERED = 4000
#: Decisions that one answer names.
_MOST_TOLD = 3
#: From so much likeness on a decision is taken for the one that was meant.
SURE_FROM = 0.6
#: How people ask for what was decided, in English and German.
_PAST = re.compile(
    r"(?:so |and |und |also )?(?:"
    r"why (?:did|do|don['’]t|didn['’]t|have|are|aren['’]t) we (?:\w+ ){0,2}?(?:choose|chosen|"
    r"pick(?:ed)?|decided?|used?|using|(?:go|gone|going) (?:with|for)|take|taken|select(?:ed)?|"
    r"reject(?:ed)?|drop(?:ped)?|stop(?:ped)?|keep|keeping|kept|moved?|adopt(?:ed)?|settled?)"
    r"|what (?:did|have) we (?:\w+ )?(?:decided?|say|said|agreed?|choose|chosen|settled?)"
    r"|(?:did|have) we (?:ever |already )?(?:decided?|agreed?|settled?|choose|chosen)"
    r"|(?:what|which|who|how|when)\b[^?]{0,80}\b(?:did we (?:decide|choose|pick|agree|settle)|"
    r"(?:was it|was|were|have we) (?:decided|chosen|agreed))"
    r"|what (?:was|is|were) (?:our|the) (?:decision|rule|verdict|stance)"
    r"|(?:warum|wieso|weshalb) (?:haben|nehmen|nutzen|verwenden|machen) wir"
    r"|(?:was|wie|wann|wofür|wozu)\b[^?]{0,80}\b(?:entschieden|beschlossen|vereinbart)"
    r"|haben wir\b[^?]{0,80}\b(?:entschieden|beschlossen|vereinbart)"
    r"|was (?:war|ist) (?:unsere|die) (?:entscheidung|regel)"
    r")\b",
    re.IGNORECASE,
)
#: Whoever asks what to do wants a debate, however the question begins.
_TO_DO = re.compile(r"\b(?:should we|sollen wir|sollten wir)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\b(?:or|oder)\b", re.IGNORECASE)
#: "Did we choose A or B?" names a choice that is behind the team.
_TAKEN = re.compile(
    r"\b(?:did we|have we|(?:was|were) (?:it )?(?:decided|chosen|agreed)|haben wir|"
    r"entschieden|beschlossen|vereinbart)\b",
    re.IGNORECASE,
)


def asks_what_was_decided(question: str) -> bool:
    """Whether a question is about a decision that was taken, and not one to be debated."""
    words = " ".join(question.split())
    if _PAST.match(words) is None or _TO_DO.search(words):
        return False
    return _CHOICE.search(words) is None or _TAKEN.search(words) is not None


@dataclass(frozen=True, kw_only=True)
class RecalledDecision:
    """A decision that may be the one that was meant."""

    debate: Debate
    #: How well it fits the question, 0 to 1.
    likeness: float


@dataclass(frozen=True, kw_only=True)
class RecallDecisions:
    """Looks decisions up. Every method may raise `StoreDown`."""

    store: DebateStore
    #: Says which channels somebody is in; None: whoever asks has the whole database.
    people: PeopleDirectory | None = None
    #: Told of a debate that is left out because its log cannot be read, and why.
    on_unreadable: Callable[[str, StoreError], None]
    #: How long a person's question may be.
    bounds: Bounds = UNBOUNDED
    #: Finds by meaning, too; None: by words only.
    embedder: Embedder | None = None
    #: Vectors by text.
    _vectors: Recent[str, Sequence[float]] = field(
        default_factory=lambda: Recent[str, Sequence[float]](_REMEMBERED),
        init=False,
        repr=False,
        compare=False,
    )
    #: What a decision is found by, by its debate and its end: neither changes.
    _texts: Recent[tuple[str, object], str] = field(
        default_factory=lambda: Recent[tuple[str, object], str](_REMEMBERED),
        init=False,
        repr=False,
        compare=False,
    )

    async def for_person(
        self, question: str, *, person: str, workspace: str
    ) -> Sequence[RecalledDecision]:
        """Return the decisions that fit a question best, of the channels this person is in.

        Raises:
            BadInput: The question is too long, or nobody says in time which channels those are.
        """
        most = self.bounds.question_characters
        if len(question) > most:
            raise BadInput(
                f"The question has {counted(len(question), 'character')}; the most is "
                f"{number(most)}. Ask for what was decided in fewer words."
            )
        channels = await self.people.channels_of(person, workspace) if self.people else ()
        return await self._among(question, workspace, channels) if channels else ()

    async def anywhere(self, question: str) -> Sequence[RecalledDecision]:
        """Return the decisions of the whole database that fit a question best."""
        return await self._among(question, None, None)

    async def _among(
        self, question: str, workspace: str | None, channels: Collection[str] | None
    ) -> Sequence[RecalledDecision]:
        question = redact(question)  # it may be sent to a server
        wanted = DebateFilter(
            workspace=workspace,
            channels=None if channels is None else tuple(channels),
            limit=_MOST_LOOKED_AT,
        )
        entries = [one for one in await self.store.find(wanted) if one.status == Status.CONCLUDED]
        texts = [await self._text(one) for one in entries]
        fits = await self._fits(question, texts)
        best = sorted(range(len(entries)), key=lambda at: -fits[at])
        found = list[RecalledDecision]()
        for at in best:
            if len(found) == _MOST_TOLD or fits[at] < ANSWERS_FROM:
                break
            if debate := await self._debate(entries[at].debate_id):
                found.append(RecalledDecision(debate=debate, likeness=fits[at]))
        return found

    async def _fits(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text fits, by words, and by meaning where that is set up."""
        by_words = await asyncio.to_thread(likeness, question, texts)
        if self.embedder is None or not texts:
            return by_words
        unseen = [one for one in dict.fromkeys(texts) if one and one not in self._vectors]
        try:
            asked, *vectors = await self.embedder.embed([question, *unseen])
        except ProviderError as error:
            _log.warning("decisions are found by their words only", reason=str(error))
            return by_words
        # An array of numbers takes a quarter of a list of them.
        self._vectors.update(zip(unseen, (array("d", one) for one in vectors), strict=True))
        by_meaning = await asyncio.to_thread(
            nearness, asked, [self._vectors.get(one, ()) for one in texts]
        )
        return [max(pair) for pair in zip(by_words, by_meaning, strict=True)]

    async def _text(self, entry: DebateEntry) -> str:
        """What a decision is found by: what was decided, the options and the question.

        In this order: of a long text the beginning counts.
        """
        key = (entry.debate_id, entry.ended_at)
        if key not in self._texts:
            debate = await self._debate(entry.debate_id)
            verdict = debate.verdict if debate else None
            if debate is None or verdict is None or verdict.is_undecided:
                self._texts[key] = ""
            else:
                named = [item.name for item in options_of(debate).items]
                self._texts[key] = "\n".join([verdict.decision, *named, entry.question])
        return self._texts[key]

    async def _debate(self, debate_id: str) -> Debate | None:
        try:
            return await asyncio.to_thread(fold, await self.store.events(debate_id))
        except StoreDown:
            raise
        except DebateUnknown:
            return None
        except StoreError as error:  # damaged, or of a newer Moot: the others are looked through
            self.on_unreadable(debate_id, error)
            return None
