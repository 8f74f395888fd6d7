"""What a team decided earlier in the same place: each decision is a source of a new debate."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.log import fold
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.debate.verdict import OVERTURNED_BY, DecisionKind, OutcomeKind
from core.errors import BadInput, DebateUnknown, LogBroken, reading
from core.evidence.reading import joined_sections
from core.evidence.search import best_of, terms
from core.figures import day, quantity, without_stops
from core.ports import DebateFilter, DebateStore

#: Debates of a place that are looked through, newest first.
_MOST_DEBATES = 100
#: Decisions that a debate gets as sources, and characters of all of them; of more, those that fit
#: the question best.
_MOST_DECISIONS = 12
_MOST_CHARACTERS = 8000
_MOST_REASONS = 3
_TITLE = 120
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
#: Says where people find a verdict.
AddressOf = Callable[[Debate], Awaitable[str]]


def earlier_decisions(question: str, by: Person) -> SourceReference:
    """The register of a place's decisions as a reference, looked through with this question."""
    return SourceReference(
        kind=SourceKind.REGISTER, title="what this team decided earlier", fetch=question, by=by
    )


def decision_reference(debate: Debate, by: Person, address: str = "") -> SourceReference:
    verdict = debate.verdict
    text = " ".join((verdict.decision if verdict else debate.setup.question).split())
    text = text if len(text) <= _TITLE else f"{text[: _TITLE - 1].rstrip()}…"
    title = f"decided on {day(debate.ended_at or debate.now)}: {text}"
    return SourceReference(
        kind=SourceKind.DECISION, title=title, address=address, fetch=debate.id, by=by
    )


async def has_earlier(store: DebateStore, place: Place) -> bool:
    """Whether a debate of the place has ended with a verdict."""
    filters = DebateFilter(workspace=place.workspace, channels=[place.channel], limit=_MOST_DEBATES)
    return any(entry.status == Status.CONCLUDED for entry in await store.find(filters))


@dataclass(frozen=True)
class FetchEarlierDecisions:
    store: DebateStore
    address_of: AddressOf | None = None

    async def __call__(
        self, reference: SourceReference, place: Place, _most_bytes: int, /
    ) -> SourceText:
        """No text of its own: references to the decisions that fit, and a warning of the rest."""
        filters = DebateFilter(
            workspace=place.workspace, channels=[place.channel], limit=_MOST_DEBATES
        )
        decided = list[Debate]()
        for entry in await self.store.find(filters):
            if entry.status != Status.CONCLUDED:
                continue
            try:
                log = await self.store.events(entry.debate_id)
                debate = await asyncio.to_thread(fold, log)
                with reading(debate.id):  # names the debate in errors
                    await asyncio.to_thread(terms, decision_words(debate))
            except (LogBroken, DebateUnknown):
                continue  # damaged (reported elsewhere), or deleted meanwhile
            if debate.verdict and debate.decision and debate.setup.place == place:
                decided.append(debate)
        fitting = await asyncio.to_thread(_fitting, decided, reference.fetch)
        references = [
            decision_reference(
                debate, reference.by, await self.address_of(debate) if self.address_of else ""
            )
            for debate in fitting
        ]
        left_out = len(decided) - len(fitting)
        warning = f"{quantity(left_out, 'earlier decision')} left out that fit the question less"
        return SourceText(
            references=tuple(references),
            warnings=(warning,) if left_out else (),
        )


@dataclass(frozen=True)
class FetchDecision:
    store: DebateStore

    async def __call__(
        self, reference: SourceReference, place: Place, _most_bytes: int, /
    ) -> SourceText:
        error = BadInput("there is no such decision in this channel")
        try:
            debate = await asyncio.to_thread(fold, await self.store.events(reference.fetch))
        except (DebateUnknown, LogBroken):
            raise error from None
        if debate.setup.place != place or not debate.verdict:
            raise error
        label = f"{debate.id}, {day(debate.ended_at or debate.now)}"
        return joined_sections([(label, reference.address, decision_words(debate), "")])


def decision_words(debate: Debate) -> str:
    """A decision as text: the question, what was decided, how it stands, and why."""
    verdict, decision = debate.verdict, debate.decision
    if verdict is None:
        return ""
    stands = "Nobody has accepted or rejected it yet."
    if decision:
        why = f" {decision.why}" if decision.why else ""
        stands = f"It was {_STANDING[decision.kind]} by {decision.by.display_name}.{why}"
    outcome, turned_out = debate.outcome, list[str]()
    if outcome and outcome.kind is not OutcomeKind.TOO_EARLY:
        by = outcome.by.display_name
        words = f"How it turned out: {_OUTCOMES[outcome.kind]}, says {by}. {outcome.why}"
        turned_out.append(words.rstrip())
    overturns = "; ".join(without_stops(verdict.overturned_by))
    return "\n".join(
        [
            f"# {' '.join(debate.setup.question.split())}",
            f"Decision: {verdict.decision}",
            stands,
            *turned_out,
            *(f"- {reason}" for reason in verdict.reasons[:_MOST_REASONS]),
            *([f"What speaks against it: {verdict.dissent}"] if verdict.dissent else []),
            *([f"{OVERTURNED_BY}: {overturns}"] if overturns else []),
        ]
    )


def _fitting(decided: Sequence[Debate], question: str) -> Sequence[Debate]:
    """All of a small register, else the decisions that fit the question best, then the newest."""
    texts = [decision_words(debate) for debate in decided]
    if len(decided) <= _MOST_DECISIONS and sum(map(len, texts)) <= _MOST_CHARACTERS:
        return decided
    debates, room = list[Debate](), _MOST_CHARACTERS
    for at in dict.fromkeys((*best_of(texts, question), *range(len(decided)))):
        if len(texts[at]) <= room and len(debates) < _MOST_DECISIONS:
            debates.append(decided[at])
            room -= len(texts[at])
    return debates
