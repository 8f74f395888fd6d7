"""The judge: from final positions and the vote to a verdict, whatever fails on the way.

It reads positions by name, the last critiques and words, the vote, and who moved. Where the vote is
close, it chooses once before with the positions in the opposite order. A model of another vendor
audits what it wrote: a judge overlooks what its own kind writes (arXiv:2404.13076). It mends once
what was found; what then still stands is shown above the answer.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import structlog
from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ACTS, ActSpec, always, side_act
from core.acts.citing import with_checked_evidence
from core.acts.context import (
    earlier_decision_labels,
    judges_parts,
    letters,
    name_of,
    note_labels,
    option_labels,
    options_part,
    raised_part,
    tally_part,
    told_in_short,
)
from core.acts.replies import first_sentence, label_in
from core.acts.request_for import ask_choice, ask_model, request_for, terms_for
from core.acts.reviewing import verdict_of_review
from core.acts.verdict import (
    best_holder,
    binding_option,
    bound_by_vote,
    left_standing,
    stands_in,
    verdict_from,
    verdict_part,
    verdict_reply,
)
from core.debate.agents import EXAMPLE, Agent
from core.debate.contributions import Contribution, NoteOutcome
from core.debate.state import Debate
from core.debate.turn import Act, Turn, turn_of
from core.debate.turn_events import Audited, CrossChecked, VerdictDrafted, VerdictReached
from core.debate.verdict import Audit, AuditFault, AuditKind, CrossCheck, Verdict, VerdictSource
from core.errors import CallFailed
from core.evidence.words import words_of
from core.figures import percent, quantity
from core.llm.availability import is_outage
from core.llm.call import CallOptions, ModelCalls, ModelRef
from core.request import Part, PartKind
from core.rules import voting
from core.rules.confidence import confidence_of
from core.rules.ending import cut_words, failed_turns_words, fallback_words, limitations
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.gate import agreed_at_once, closing_gate, gate_words
from core.rules.history.strategies import judge_summary
from core.rules.judging import MOST_LONE, auditor_of, judge_of, raised_points
from core.rules.options import current_option, drafted_option, options_of
from core.rules.playbook import criteria_of, missing_evidence, parts_of
from core.rules.schedule import is_cut_short
from core.usage import Usage

_log = structlog.get_logger(__name__)

#: Longest section that a playbook adds, and cell of its table, in tokens.
_PART_TOKENS, _CELL_TOKENS = 450, 60
#: The judge sees the critiques of so many positions: the best of the options that came first.
_CRITICISED = 2
#: Faults that are taken up.
_MOST_FAULTS = 5
_KINDS = [kind.value for kind in AuditKind]


async def synthesise(
    calls: ModelCalls, debate: Debate, turn: Turn
) -> VerdictReached | VerdictDrafted:
    """Write the verdict: the judge, else another model in use, else the winner's position.

    What is to be audited is a draft; after its audit it is the verdict, mended if need be.

    Raises:
        ProviderError: None of them answers, and the debate is to wait until one does.
    """
    if debate.draft and debate.audit and not debate.audit.faults:
        return VerdictReached(verdict=debate.draft, edition=debate.edition)
    verdict = await _first_verdict(calls, debate, turn)
    if debate.draft and debate.audit:
        verdict = _mended_verdict(debate, debate.draft, debate.audit, verdict)
    elif verdict.source is not VerdictSource.WINNER and auditor_of(debate):
        return VerdictDrafted(turn=turn, verdict=verdict, edition=debate.edition)
    return VerdictReached(verdict=verdict, edition=debate.edition)


def _mended_verdict(debate: Debate, draft: Verdict, audit: Audit, verdict: Verdict) -> Verdict:
    spent = draft.lost + (draft.call.usage if draft.call else Usage())
    if verdict.source is VerdictSource.WINNER:  # no judge has mended it
        spent = verdict.lost
        verdict, open_faults = draft, audit.faults
    else:
        open_faults = left_standing(debate, audit, draft, verdict)
        spent += verdict.lost
    # That the vote was left stands above all else: who reads one warning reads this one.
    first = verdict.warnings[: 1 if verdict.overrule else 0]
    faults = (
        f'Audit by {audit.auditor}: {fault.why.rstrip(".")}. (About "{fault.words.rstrip(".")}".)'
        for fault in open_faults
    )
    warnings = tuple(dict.fromkeys((*first, *faults, *verdict.warnings)))
    return verdict.model_copy(update={"lost": spent, "warnings": warnings})


async def _first_verdict(calls: ModelCalls, debate: Debate, turn: Turn) -> Verdict:
    playbook = debate.setup.playbook
    form = verdict_reply(
        note_labels(debate),
        option_labels(debate),
        earlier_decision_labels(debate),
        criteria=tuple(criteria_of(playbook)),
        parts=tuple(parts_of(playbook)),
        voted=bool(binding_option(debate)),
        raised=tuple(raised_points(debate)),
        agents=tuple(agent.name for agent in debate.setup.agents),
    )
    request, failed, verdict = request_for(debate, turn), list[CallFailed](), None
    for judge, source, terms in _judges(debate, turn):
        if terms.patient and not any(is_outage(error) for error in failed):
            continue
        try:
            reply, call = await calls.ask_for(request, judge, form, options=terms)
        except CallFailed as error:
            _log.warning("judge failed", debate=debate.id, model=judge.model, reason=str(error))
            if terms.patient and is_outage(error):
                error.usage = sum((error.usage for error in failed), start=error.usage)
                raise
            failed.append(error)
            continue
        verdict = bound_by_vote(debate, verdict_from(debate, reply), reply.overrules)
        stands_in = call and call.stands_in_for and terms.patient
        actual_source = VerdictSource.FALLBACK_JUDGE if stands_in else source
        verdict = verdict.model_copy(update={"call": call, "source": actual_source})
        break
    verdict = verdict or _winners_position(debate)
    marks = {
        "lost": sum((error.usage for error in failed), start=Usage()),
        "partial": is_cut_short(debate),
        "warnings": tuple(dict.fromkeys(_lacking(debate, verdict, failed))),
    }
    draft = verdict_of_review(debate, verdict.model_copy(update=marks))
    verdict = await asyncio.to_thread(with_checked_evidence, debate, draft)
    return _with_confidence(debate, _with_case_against(debate, verdict))


def _with_confidence(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with how sure it is: computed, whatever its writer says of it."""
    computed = confidence_of(debate, verdict)
    if computed is None:
        return verdict
    is_example = all(agent.provider == EXAMPLE for agent in debate.setup.agents)
    own = None if is_example else verdict.judge_confidence
    figures = {"confidence": computed.percent, "rests_on": computed.rests_on}
    return verdict.model_copy(update={**figures, "judge_confidence": own})


def _lacking(debate: Debate, verdict: Verdict, failed: Sequence[CallFailed]) -> Iterator[str]:
    """What is missing from the verdict and the debate behind it."""
    yield from verdict.warnings
    yield from limitations(debate)
    yield from fallback_words((*debate.calls, *([verdict.call] if verdict.call else [])))
    yield from (f"The judge failed: {error}" for error in failed)
    there = {section.title for section in verdict.sections}
    titles = [part.title for part in parts_of(debate.setup.playbook).values()]
    if left_out := ", ".join(title for title in titles if title not in there):
        yield f"The verdict lacks sections of its playbook: {left_out}."


def _with_case_against(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with what speaks against it where all agreed at once and its writer says nothing.

    Unanimous advice is followed by most people whether it is right or not (arXiv:2603.22152).
    """
    if verdict.dissent or verdict.is_undecided or not agreed_at_once(debate):
        return verdict
    options = options_of(debate)
    option = options.resolve(verdict.option)
    shares = [
        (options.probabilities(ballot.probabilities).get(option, 0), ballot.voter)
        for ballot in (voting.counted_ballots(debate, debate.tally) if debate.tally else ())
        if ballot.probabilities
    ]
    if not shares:
        return verdict
    share, least = min(shares, key=lambda pair: pair[0])
    doubt = f"Least sure was {name_of(debate, least)}, at {percent(share)}."
    return verdict.model_copy(
        update={"dissent": f"The verdict names no objection, though all agreed at once. {doubt}"}
    )


def _judges(debate: Debate, turn: Turn) -> Iterator[tuple[Agent, VerdictSource, CallOptions]]:
    """The judge, then the judge with each other model that an agent uses, in roster order.

    At last, where the debate is to wait for models that are away: whichever is back first.
    """
    judge = judge_of(debate)
    terms = terms_for(debate, turn, judge)
    own = {ModelRef(judge.provider, judge.model), *terms.fallbacks}
    models = dict.fromkeys(ModelRef(agent.provider, agent.model) for agent in debate.setup.agents)
    others = [model for model in models if model not in own]
    yield judge, VerdictSource.JUDGE, replace(terms, patient=False)
    for provider, model in others:
        other = judge.model_copy(update={"provider": provider, "model": model})
        yield other, VerdictSource.FALLBACK_JUDGE, replace(terms, fallbacks=(), patient=False)
    if terms.patient:
        whole = replace(terms, fallbacks=(*terms.fallbacks, *others))
        yield judge, VerdictSource.JUDGE, whole


def _winners_position(debate: Debate) -> Verdict:
    best = best_holder(debate)
    position = format_of(debate).positions(debate)[best]
    level = len(voting.best_texts(debate.tally)) if debate.tally else 0
    whose, why = name_of(debate, best), f"is level with {quantity(level - 1, 'other')} in the vote"
    if level <= 1:
        why = "is the best by the vote" if level else "came first, as nobody voted"
    return Verdict(
        decision=first_sentence(position.answer) or first_sentence(position.text),
        option=current_option(debate, best),
        solution=position.text,
        notes=tuple(
            NoteOutcome(note=note.id, used=False, explanation="No judge has answered for it.")
            for note in debate.notes
        ),
        confidence=None,
        source=VerdictSource.WINNER,
        warnings=(f"No judge gave a verdict: this is the position of {whose}, which {why}.",),
    )


def judged_case(debate: Debate, turn: Turn) -> Sequence[Part]:
    return (
        *final_positions(debate),
        *told_in_short(debate, turn),
        *last_critiques(debate),
        *last_words(debate),
        *format_of(debate).shown_parts(debate, turn),
        *raised_part(debate),
        *options_part(debate, by_name=True),
        *tally_part(debate),
    )


def final_positions(debate: Debate) -> Sequence[Part]:
    positions = format_of(debate).positions(debate)
    winners = voting.best_texts(debate.tally) if debate.tally else ()
    summary = judge_summary(debate)
    parts = [
        Part(
            kind=PartKind.POSITION,
            label=f"Position of {debate.setup.agent(agent).name}",
            text=positions[agent].text,
            trim_priority=1 if agent in winners else 3,
        )
        for agent in _by_vote(debate)
        if not summary or agent in winners
    ]
    if summary:
        label = "All positions in short"
        parts.append(Part(kind=PartKind.SUMMARY, label=label, text=summary.text))
    return parts


def _by_vote(debate: Debate) -> Sequence[str]:
    positions = format_of(debate).positions(debate)
    scores = debate.tally.scores if debate.tally else ()
    order = [score.position for score in scores] or list(positions)
    return [agent for agent in order if agent in positions]


def last_critiques(debate: Debate) -> Sequence[Part]:
    parts = list[Part]()
    for critique in _newest_critiques(debate):
        turn, kind = critique.turn, PartKind.CRITIQUE
        by, of = name_of(debate, turn.agent), name_of(debate, turn.target or "")
        label = f"{by} on the position of {of} in round {turn.round}"
        parts.append(Part(kind=kind, label=label, text=critique.text, trim_priority=4))
    return parts


def _newest_critiques(debate: Debate) -> Sequence[Contribution]:
    contributions = list[Contribution]()
    roster = [agent.id for agent in debate.setup.agents]
    ranked, best = _by_vote(debate), list[str]()
    for score in debate.tally.options if debate.tally else ():
        best += [a for a in ranked if current_option(debate, a) == score.option][:1]
    for target in (best or ranked)[:_CRITICISED]:
        about = [
            critique
            for critique in debate.contributions.values()
            if critique.turn.act is Act.CRITIQUE and critique.turn.target == target
        ]
        last = max((critique.turn.round for critique in about), default=0)
        about.sort(key=lambda critique: roster.index(critique.turn.agent))
        contributions += [critique for critique in about if critique.turn.round == last]
    return contributions


def is_answered(debate: Debate) -> bool:
    keys = (
        turn_of(Act.REFINEMENT, critique.turn.round, critique.turn.target or "").key
        for critique in _newest_critiques(debate)
    )
    return any(key in debate.contributions for key in keys)


def last_words(debate: Debate) -> Sequence[Part]:
    """The council's rebuttals; without any, all agents' answers to the others."""
    said = debate.contributions.values()
    what, act = "Last word", Act.REBUTTAL
    if not any(text.turn.act is act for text in said):
        what, act = "Answers to the others", Act.DEBATE
    return [
        Part(
            kind=PartKind.CRITIQUE,
            label=f"{what} of {name_of(debate, answer.turn.agent)} ({letters(debate)})",
            text=answer.text,
            trim_priority=4,
        )
        for answer in said
        if answer.turn.act is act
    ]


def _about(debate: Debate, turn: Turn) -> Sequence[Part]:
    parts = [*judged_case(debate, turn), *judges_parts(debate)]
    if debate.draft and debate.audit:
        faults = (f'- {it.kind.value}, "{it.words}": {it.why}' for it in debate.audit.faults)
        label, text = "What the audit found", "\n".join(faults)
        found = Part(kind=PartKind.CRITIQUE, label=label, text=text)
        parts += [verdict_part(debate, debate.draft), found]
    return parts


def _more_tokens(debate: Debate) -> int:
    playbook = debate.setup.playbook
    cells = len(criteria_of(playbook)) * len(option_labels(debate))
    return _PART_TOKENS * len(parts_of(playbook)) + _CELL_TOKENS * cells


def _values(debate: Debate, _turn: Turn) -> Mapping[str, object]:
    ended, playbook = closing_gate(debate), debate.setup.playbook
    criteria = criteria_of(playbook)
    return {
        "options": ", ".join(option_labels(debate)),
        "earlier": ", ".join(earlier_decision_labels(debate)),
        "ended": gate_words(debate, ended) if ended else "",
        "winner": _winner_words(debate),
        "voted": binding_option(debate),
        "unanimous": agreed_at_once(debate),
        "audited": bool(debate.audit and debate.audit.faults),
        "raised": len(raised_points(debate)),
        "most_lone": MOST_LONE,
        "partial": cut_words(debate, person_words=lambda _: "A person"),
        "review": debate.setup.format == review.NAME,
        "several": bool(debate.tally) and len(voting.best_texts(debate.tally)) > 1,
        "notes": ", ".join(note_labels(debate)) or "there are none",
        "compared": ", ".join(criteria),
        "musts": ", ".join(label for label, criterion in criteria.items() if criterion.must),
        "parts": ", ".join(parts_of(playbook)),
        "missing": bool(missing_evidence(debate)),
        "answered": is_answered(debate),
        "lost": failed_turns_words(debate),
        "told": bool(debate.notes or debate.answers),
        "holders": ", ".join(dict.fromkeys(agent.name for agent in debate.setup.agents)),
    }


def _winner_words(debate: Debate) -> str:
    if not debate.tally or not debate.tally.winners:
        return "the position that meets the requirements best (there was no vote)"
    won = [
        options_of(debate).name(option) for option in voting.winning_options(debate.tally.options)
    ]
    names = list[str]()
    for agent in voting.best_texts(debate.tally):
        drafted = options_of(debate).name(drafted_option(debate, agent))
        # Its author votes for what won, but the text can still argue for the other one.
        first = f' (whose draft argued for "{drafted}")' if drafted and drafted not in won else ""
        names.append(f"{debate.setup.agent(agent).name}{first}")
    whose = f"position{'s' if len(names) > 1 else ''} of {' and '.join(names)}"
    if not won:
        tied = "tied winners" if len(names) > 1 else "winner"
        return f"the {tied} of the vote, the {whose}"
    if len(won) > 1:
        return f"the best texts for the options that are tied ({', '.join(won)}): the {whose}"
    texts = "best texts" if len(names) > 1 else "best text"
    return f"the {texts} for the option that won the vote ({won[0]}): the {whose}"


ACTS[Act.SYNTHESIS] = ActSpec(
    words=500,
    outcome_key="verdict",
    values=_values,
    about=_about,
    is_alone=always,
    more_tokens=_more_tokens,
    perform=synthesise,
)


async def cross_check(calls: ModelCalls, debate: Debate, turn: Turn) -> CrossChecked:
    """Have the judge choose with the positions in the opposite order, before it writes.

    Judges keep their choice in two of three such swaps (arXiv:2306.05685): where a vote is close,
    another choice says that the order decided.
    """
    option, reason, call = await ask_choice(calls, debate, turn, judge_of(debate))
    return CrossChecked(check=CrossCheck(turn=turn, option=option, reason=reason, call=call))


ACTS[Act.CROSS_CHECK] = side_act(
    max_tokens=1024,
    values=lambda debate, _: {
        "options": ", ".join(option_labels(debate)),
        "answered": is_answered(debate),
        "lost": failed_turns_words(debate),
    },
    # The same case in the opposite order; how the vote went is not told.
    about=lambda debate, turn: (
        *reversed(final_positions(debate)),
        *told_in_short(debate, turn),
        *reversed(last_critiques(debate)),
        *last_words(debate),
        *options_part(debate),
    ),
    is_alone=always,
    perform=cross_check,
)


class FaultReply(BaseModel):
    kind: Annotated[
        AuditKind,
        BeforeValidator(partial(label_in, labels=_KINDS)),
        WithJsonSchema({"type": "string", "enum": _KINDS}),
    ]
    words: str
    why: str


class AuditReply(BaseModel):
    faults: list[FaultReply]


async def audit(calls: ModelCalls, debate: Debate, turn: Turn) -> Audited:
    """Have another vendor's model look for faults in the verdict.

    A fault that quotes words which are neither in the verdict nor in a ballot is invented: it is
    counted and left out. If the call fails, the audit holds the failure and no faults.
    """
    auditor = auditor_of(debate) or judge_of(debate)
    try:
        reply, call = await ask_model(calls, debate, turn, AuditReply, agent=auditor)
    except CallFailed as error:
        failed = Audit(turn=turn, auditor=auditor.full_name, failure=str(error), lost=error.usage)
        return Audited(audit=failed, edition=debate.edition)
    texts = words_of("\n".join(part.text for part in _audited_parts(debate, turn)))
    faults = [
        AuditFault(kind=answer.kind, words=answer.words.strip(), why=answer.why.strip())
        for answer in reply.faults
        if stands_in(answer.words, texts)
    ]
    found, invented = tuple(faults[:_MOST_FAULTS]), len(reply.faults) - len(faults)
    result = Audit(turn=turn, auditor=auditor.full_name, faults=found, invented=invented, call=call)
    return Audited(audit=result, edition=debate.edition)


def _audited_parts(debate: Debate, _turn: Turn) -> Sequence[Part]:
    return (*([verdict_part(debate, debate.draft)] if debate.draft else []), *tally_part(debate))


ACTS[Act.AUDIT] = side_act(
    max_tokens=1024,
    values=lambda _debate, _turn: {"most": _MOST_FAULTS},
    about=_audited_parts,
    is_alone=always,
    perform=audit,
)
