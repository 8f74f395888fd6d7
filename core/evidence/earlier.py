"""Earlier decisions of the same place as sources of a new debate."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from core.debate.evidence import SourceKind, SourceReference, SourceText
from core.debate.log import RecordedEvent, fold
from core.debate.people import Person, Place
from core.debate.state import Debate, Status
from core.debate.verdict import OVERTURNED_BY, DecisionKind, OutcomeKind
from core.errors import BadInput, DebateUnknown, LogBroken, reading
from core.evidence.passages import best_of
from core.evidence.reading import Section, joined_sections
from core.figures import day, quantity
from core.ports import DebateFilter, DebateStore

#: Most decided debates of a place that are searched, the newest first.
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
#: Returns the link to a verdict.
AddressOf = Callable[[Debate], Awaitable[str]]


def earlier_decisions(question: str, by: Person) -> SourceReference:
    """A reference to the decisions of a place that fit this question."""
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


async def _decided_debates(store: DebateStore, place: Place) -> Sequence[str]:
    """Ids of debates of the place on whose verdict people decided, the newest first."""
    filters = DebateFilter(
        workspace=place.workspace,
        channels=[place.channel],
        having=("decision/",),
        limit=_MOST_DEBATES,
    )
    entries = await store.find(filters)
    return [entry.debate_id for entry in entries if entry.status == Status.CONCLUDED]


async def has_earlier(store: DebateStore, place: Place) -> bool:
    return bool(await _decided_debates(store, place))


@dataclass(frozen=True)
class FetchEarlierDecisions:
    store: DebateStore
    address_of: AddressOf | None = None

    async def __call__(
        self, reference: SourceReference, place: Place, _most_bytes: int, /
    ) -> SourceText:
        """References to the decisions that fit, and a warning about the others; no text."""
        decisions = list[tuple[Debate, str]]()
        for debate_id in await _decided_debates(self.store, place):
            try:
                log = await self.store.events(debate_id)
                with reading(debate_id):  # names the debate in errors
                    debate, text = await asyncio.to_thread(_read, log)
            except (LogBroken, DebateUnknown):
                continue  # damaged (reported elsewhere), or deleted meanwhile
            if debate.decision and text and debate.setup.place == place:
                decisions.append((debate, text))
        fitting = await asyncio.to_thread(_best_decisions, decisions, reference.fetch)
        references = [
            decision_reference(
                debate, reference.by, await self.address_of(debate) if self.address_of else ""
            )
            for debate in fitting
        ]
        left_out = quantity(len(decisions) - len(fitting), "earlier decision")
        warnings = (f"{left_out} left out that fit the question less",)
        return SourceText(
            references=tuple(references),
            warnings=warnings if len(fitting) < len(decisions) else (),
        )


def _read(log: Sequence[RecordedEvent]) -> tuple[Debate, str]:
    debate = fold(log)
    return debate, decision_words(debate)


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
        return joined_sections(
            [Section(label=label, address=reference.address, text=decision_words(debate))]
        )


def decision_words(debate: Debate) -> str:
    """A decision as text: the question, the decision, its status and the reasons."""
    verdict, decision, outcome = debate.verdict, debate.decision, debate.outcome
    if verdict is None:
        return ""
    lines = [f"# {' '.join(debate.setup.question.split())}", f"Decision: {verdict.decision}"]
    if decision:
        status = f"It was {_STANDING[decision.kind]} by {decision.by.display_name}."
        lines.append(f"{status} {decision.why}".rstrip())
    else:
        lines.append("Nobody has accepted or rejected it yet.")
    if outcome and outcome.kind is not OutcomeKind.TOO_EARLY:
        person_name = outcome.by.display_name
        words = f"How it turned out: {_OUTCOMES[outcome.kind]}, says {person_name}. {outcome.why}"
        lines.append(words.rstrip())
    lines += [f"- {reason}" for reason in verdict.reasons[:_MOST_REASONS]]
    if verdict.dissent:
        lines.append(f"What speaks against it: {verdict.dissent}")
    if verdict.overturned_by:
        *sentences, last = verdict.overturned_by
        overturns = "; ".join((*(sentence.rstrip(".") for sentence in sentences), last))
        lines.append(f"{OVERTURNED_BY}: {overturns}")
    return "\n".join(lines)


def _best_decisions(decisions: Sequence[tuple[Debate, str]], question: str) -> Sequence[Debate]:
    """The decisions that fit the question best, then the newest, as many as are allowed."""
    texts, chosen, room = [text for _, text in decisions], set[int](), _MOST_CHARACTERS
    for index in dict.fromkeys((*best_of(texts, question), *range(len(texts)))):
        if len(texts[index]) <= room and len(chosen) < _MOST_DECISIONS:
            chosen.add(index)
            room -= len(texts[index])
    return [debate for index, (debate, _) in enumerate(decisions) if index in chosen]
