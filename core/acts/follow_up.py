"""Answers questions about a decided debate from its record, with one call of the judge's model.

The record is split into entries, r1 and so on, in the form of sources, so that quotes in the answer
are checked by the same rules.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.acts.act import ACTS, ActSpec, side_act
from core.acts.context import name_of, note_parts, people_parts
from core.acts.judge import case_parts
from core.acts.request_for import request_for, terms_for
from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.evidence import CitationStatus, Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import FollowUpAnswered
from core.debate.verdict import (
    DECISION_ENTRY,
    LIST_TITLES,
    VERDICT_ENTRY,
    DecisionKind,
    FollowUp,
    FollowUpAnswer,
)
from core.errors import CallFailed
from core.evidence.citations import check_citations
from core.evidence.passages import Passage, best_first, passages_of
from core.evidence.reading import Section, joined_sections
from core.figures import day
from core.llm.call import ModelCalls
from core.request import Effort, Part, PartKind
from core.rules.judging import judge_of

#: Most characters of earlier rounds in a prompt; passages that fit the question best come first.
_MOST_EARLIER = 12_000
#: Most earlier questions, with their answers, in a prompt.
_MOST_BEFORE = 3
#: Most passages of the record in an answer without a model.
_MOST_PASSAGES = 3
_PASSAGE = 300
_NO_MODEL = "No model was asked, so the answer only quotes the record."
_NO_VERDICT = "The debate was continued after this question and failed, so there is no verdict."
_NO_JUDGE = "The judge could not be asked: {reason}"
_STANDING = {
    DecisionKind.ACCEPT: "accepted the verdict",
    DecisionKind.REJECT: "rejected the verdict",
    DecisionKind.REVISIT: "wants to look at the verdict again",
    DecisionKind.SUPERSEDE: "replaced the verdict by a newer debate's",
}


@dataclass(frozen=True)
class Entry:
    #: A turn's key, `VERDICT_ENTRY` or `DECISION_ENTRY`.
    key: str
    title: str
    text: str


async def answer(calls: ModelCalls, debate: Debate, turn: Turn) -> FollowUpAnswered:
    """Answer one question. If no model can, answer with passages of the record and the reason.

    Raises nothing: a failed call becomes part of the answer.
    """
    follow_up = debate.follow_ups[int(turn.target or 1) - 1]
    entries = record_entries(debate)
    judge = judge_of(debate)
    if debate.verdict is None or judge.provider in {OFFLINE, EXAMPLE}:
        reason = _NO_VERDICT if debate.verdict is None else _NO_MODEL
        return _from_passages(turn, follow_up, entries, reason)
    parts = await asyncio.to_thread(_parts, debate, turn, follow_up, entries)
    request = request_for(debate, turn, judge, parts=parts)
    try:
        text, call = await calls.ask(request, judge, terms_for(debate, turn, judge))
    except CallFailed as error:
        reason = _NO_JUDGE.format(reason=str(error))
        fallback = _from_passages(turn, follow_up, entries, reason).answer
        return FollowUpAnswered(answer=fallback.model_copy(update={"lost": error.usage}))
    # The prompt also includes the sources, and positions that quote them.
    quotable = (*_sources(entries), *debate.evidence)
    text, citations = await asyncio.to_thread(check_citations, text.strip(), quotable)
    cited_keys = {
        citation.source: entries[citation.source].key
        for citation in citations
        if citation.status is CitationStatus.VERIFIED and citation.source in entries
    }
    return FollowUpAnswered(
        answer=FollowUpAnswer(
            turn=turn, text=text, citations=citations, entries=cited_keys, call=call
        )
    )


def record_entries(debate: Debate) -> Mapping[str, Entry]:
    entries = list[Entry]()
    if verdict := debate.verdict:
        holder = f", held by {name_of(debate, verdict.dissent_by)}" if verdict.dissent_by else ""
        parts = [
            verdict.decision,
            *(
                "\n- ".join([f"{title}:", *texts])
                for name, title in LIST_TITLES.items()
                if (texts := getattr(verdict, name))
            ),
            verdict.solution,
            verdict.implementation,
            *(f"{section.title}:\n{section.text}" for section in verdict.sections),
            f"Dissent{holder}: {verdict.dissent}" if verdict.dissent else "",
        ]
        entries.append(Entry(VERDICT_ENTRY, "the verdict", "\n\n".join(filter(None, parts))))
    for contribution in debate.contributions.values():
        turn = contribution.turn
        target = f" of {name_of(debate, turn.target)}'s" if turn.target else ""
        title = f"{name_of(debate, turn.agent)}'s {turn.act.noun}{target}, round {turn.round}"
        if contribution.carried_from is None:
            entries.append(Entry(turn.key, title, contribution.text))
    for decision in debate.decisions:
        date = day(debate.times.get(f"decision/{decision.origin}", debate.now))
        person = decision.by.display_name
        words = f"{person} {_STANDING[decision.kind]} on {date}. {decision.why}".strip()
        entries.append(Entry(DECISION_ENTRY, "the team's decision", words))
    return {f"r{number}": entry for number, entry in enumerate(entries, start=1)}


def _parts(
    debate: Debate, turn: Turn, current: FollowUp, entries: Mapping[str, Entry]
) -> Sequence[Part]:
    ids = {entry.text: name for name, entry in entries.items()}
    case = [
        replace(part, label=f"{ids[part.text]}: {part.label}") if part.text in ids else part
        for part in case_parts(debate, turn)
    ]
    full_texts = {part.text for part in case}
    case += [
        Part(kind=PartKind.OTHER, label=f"{ids[entry.text]}: {entry.title}", text=entry.text)
        for entry in entries.values()
        if entry.key in {VERDICT_ENTRY, DECISION_ENTRY}
    ]
    room, fitting = _MOST_EARLIER, list[str]()
    for passage in _passages(entries, current.text):
        entry = entries[passage.source]
        is_shown = entry.text in full_texts or entry.key in {VERDICT_ENTRY, DECISION_ENTRY}
        if not is_shown and len(passage.text) <= room:
            room -= len(passage.text)
            fitting.append(f"{passage.source} ({entry.title})\n{passage.text}")
    if fitting:
        label, text = "What else was said that fits the question", "\n\n".join(fitting)
        case.append(Part(kind=PartKind.OTHER, label=label, text=text, trim_priority=4))
    talk = [
        f"Question: {follow_up.text}\nAnswer: {answer.text}"
        for follow_up in debate.follow_ups
        if follow_up.number < current.number
        and (answer := debate.follow_up_answers.get(follow_up.number))
    ]
    if talk:
        label, text = "What was asked after the verdict", "\n\n".join(talk[-_MOST_BEFORE:])
        case.append(Part(kind=PartKind.OTHER, label=label, text=text, trim_priority=4))
    question = Part(kind=PartKind.NOTES, label="What a person asks now", text=current.text)
    return (*people_parts(debate), *note_parts(debate), *case, question)


def _passages(entries: Mapping[str, Entry], question: str) -> Sequence[Passage]:
    everything = [passage for source in _sources(entries) for passage in passages_of(source)]
    return best_first(everything, question)


def _sources(entries: Mapping[str, Entry]) -> Sequence[Source]:
    return [
        Source(
            turn=Turn(act=Act.READING, round=0, agent="engine", target=name.removeprefix("r")),
            reference=SourceReference(
                kind=SourceKind.RECORD, title=entry.title, fetch=entry.key, by=Person(id="")
            ),
            label=name,
            **dict(joined_sections([Section(label=entry.title, text=entry.text)])),
        )
        for name, entry in entries.items()
    ]


def _from_passages(
    turn: Turn, follow_up: FollowUp, entries: Mapping[str, Entry], reason: str
) -> FollowUpAnswered:
    passages = _passages(entries, follow_up.text)[:_MOST_PASSAGES]
    lines = list[str]()
    for passage in passages:
        words = " ".join(passage.text.replace('"', "'").split())
        words = words if len(words) <= _PASSAGE else words[:_PASSAGE].rsplit(None, 1)[0] + " …"
        title = entries[passage.source].title
        lines.append(f"- {title[0].upper()}{title[1:]} ({passage.source}): {words}")
    opening = (
        "Passages of the record:" if lines else "No text in the record has words of the question."
    )
    return FollowUpAnswered(
        answer=FollowUpAnswer(
            turn=turn,
            text="\n".join([opening, *lines]),
            entries={passage.source: entries[passage.source].key for passage in passages},
            fault=reason,
        )
    )


ACTS[Act.FOLLOW_UP] = side_act(
    words=200,
    max_tokens=1024,
    is_numbered=True,
    perform=answer,
)


ACTS[Act.EVALUATION] = ActSpec(max_tokens=1536)
ACTS[Act.COMPARISON] = ActSpec(max_tokens=1536)
ACTS[Act.RECALL] = ActSpec(max_tokens=1024, effort=Effort.LOW)
