"""What a team decided earlier in the same place, as a source of a new debate."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from core.errors import DebateUnknown, LogBroken
from core.events import fold
from core.evidence.passages import passages_of
from core.evidence.reading import joined
from core.evidence.search import best_first
from core.figures import counted, day
from core.models import (
    Act,
    Debate,
    DecisionKind,
    OutcomeKind,
    Person,
    Place,
    Source,
    SourceKind,
    SourceReference,
    SourceText,
    Status,
    Turn,
)
from core.ports import DebateFilter, DebateStore

#: Debates of a place that are looked through, newest first.
_MOST_DEBATES = 100
#: Characters of all decisions together; of more, those that fit the question best.
_MOST_CHARACTERS = 8000
_MOST_REASONS = 3
_STANDING = {
    DecisionKind.ACCEPT: "accepted",
    DecisionKind.REJECT: "rejected",
    DecisionKind.REVISIT: "to be looked at again",
    DecisionKind.SUPERSEDE: "replaced by a newer one",
}
_OUTCOMES = {
    OutcomeKind.HELD: "it held",
    OutcomeKind.PARTLY: "it held in part",
    OutcomeKind.REVERSED: "it was reversed",
}
Section = tuple[str, str, str, str]


def earlier_decisions(question: str, by: Person) -> SourceReference:
    """The register of a place's decisions as a reference, looked through with this question."""
    return SourceReference(
        kind=SourceKind.REGISTER, title="what this team decided earlier", fetch=question, by=by
    )


async def has_earlier(store: DebateStore, place: Place) -> bool:
    """Whether a debate of the place has ended with a verdict."""
    wanted = DebateFilter(workspace=place.workspace, channels=[place.channel], limit=_MOST_DEBATES)
    return any(one.status == Status.CONCLUDED for one in await store.find(wanted))


class FetchEarlierDecisions:
    """Fetches the register of the place a debate is held in, and of no other."""

    def __init__(
        self, store: DebateStore, address_of: Callable[[Debate], Awaitable[str]] | None = None
    ) -> None:
        """Keep where to look.

        Args:
            store: All debates.
            address_of: Says where people find a verdict; None: nowhere.
        """
        self._store = store
        self._address_of = address_of

    async def __call__(
        self, reference: SourceReference, place: Place, _most_bytes: int, /
    ) -> SourceText:
        """The decisions, one section each; no text where there are none."""
        wanted = DebateFilter(
            workspace=place.workspace, channels=[place.channel], limit=_MOST_DEBATES
        )
        sections = list[Section]()
        for entry in await self._store.find(wanted):
            if entry.status != Status.CONCLUDED:
                continue
            try:
                log = await self._store.events(entry.debate_id)
                debate = await asyncio.to_thread(fold, log)
            except (LogBroken, DebateUnknown):
                continue  # damaged, which is told elsewhere, or deleted meanwhile
            if debate.verdict and debate.decision and debate.setup.place == place:
                address = await self._address_of(debate) if self._address_of else ""
                sections.append((_label(debate), address, _words(debate), ""))
        chosen = _fitting(sections, reference.fetch)
        left_out = len(sections) - len(chosen)
        warning = f"{counted(left_out, 'earlier decision')} left out that fit the question less"
        return joined(list(chosen), warnings=(warning,) if left_out else ())


def _label(debate: Debate) -> str:
    return f"{debate.id}, {day(debate.ended_at or debate.now)}"


def _words(debate: Debate) -> str:
    """A decision as text: the question, what was decided, how it stands, and why."""
    verdict, decision = debate.verdict, debate.decision
    if verdict is None or decision is None:
        return ""
    by = decision.by.name or decision.by.id
    why = f" {decision.why}" if decision.why else ""
    return "\n".join(
        [
            f"# {' '.join(debate.setup.question.split())}",
            f"Decision: {verdict.decision}",
            f"It was {_STANDING[decision.kind]} by {by}.{why}",
            *_turned_out(debate),
            *(f"- {reason}" for reason in verdict.reasons[:_MOST_REASONS]),
            *([f"What speaks against it: {verdict.dissent}"] if verdict.dissent else []),
        ]
    )


def _turned_out(debate: Debate) -> Iterator[str]:
    """How it turned out, as somebody said; nothing where it was too early."""
    said = debate.outcome
    if said and said.kind is not OutcomeKind.TOO_EARLY:
        by = said.by.name or said.by.id
        yield f"How it turned out: {_OUTCOMES[said.kind]}, says {by}. {said.why}".rstrip()


def _fitting(sections: Sequence[Section], question: str) -> Sequence[Section]:
    """All of a small register, else the decisions that fit the question best, then the newest."""
    if sum(len(text) for _, _, text, _ in sections) <= _MOST_CHARACTERS:
        return sections
    turn = Turn(act=Act.READING, round=0, agent="engine", target="1")
    reference = earlier_decisions(question, Person(id=""))
    whole = Source(turn=turn, reference=reference, **dict(joined(list(sections))))
    by_label = {section[0]: section for section in sections}
    best = [by_label[passage.place] for passage in best_first(passages_of(whole), question)]
    kept, room = list[Section](), _MOST_CHARACTERS
    for section in dict.fromkeys((*best, *sections)):
        if len(section[2]) <= room:
            kept.append(section)
            room -= len(section[2])
    return kept
