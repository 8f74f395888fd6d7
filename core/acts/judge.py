"""The judge: writes the verdict from final positions and the vote, with fallbacks for failures.

Its prompt shows positions with names, the last critiques and replies, the vote, and changes of
mind. If the vote is close, it first chooses with the positions in the opposite order. A model of
another vendor audits the verdict, because judges overlook faults of their own model
(arXiv:2404.13076). The judge corrects it once; faults that remain are shown above the answer.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import structlog

from core.acts.act import ACTS, ActSpec, always, side_act
from core.acts.citing import with_checked_evidence
from core.acts.context import (
    earlier_decision_labels,
    judge_playbook_parts,
    letters,
    name_of,
    note_labels,
    option_labels,
    options_part,
    raised_points_part,
    round_summary_parts,
    tally_part,
)
from core.acts.replies import first_sentence
from core.acts.request_for import ask_choice, request_for, terms_for
from core.acts.reviewing import verdict_of_review
from core.acts.verdict import (
    apply_vote,
    best_author,
    binding_option,
    uncorrected_faults,
    verdict_from,
    verdict_part,
    verdict_reply,
)
from core.debate.agents import EXAMPLE, Agent
from core.debate.contributions import Contribution, NoteOutcome
from core.debate.state import Debate, roster
from core.debate.turn import Act, Turn, turn_of
from core.debate.turn_events import CrossChecked, VerdictDrafted, VerdictReached
from core.debate.verdict import Audit, CrossCheck, Verdict, VerdictSource
from core.errors import CallFailed
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
from core.rules.playbook import criteria_of, missing_evidence, musts_of, parts_of
from core.rules.schedule import is_cut_short
from core.usage import Usage

_log = structlog.get_logger(__name__)
#: Left out around the words of a fault, which are quoted.
_MARKS = ' ."“”'
#: Longest section of a playbook, and longest cell of its table, in tokens.
_PART_TOKENS, _CELL_TOKENS = 450, 60
#: Positions whose critiques the judge sees: one for each of the best options.
_MOST_CRITICISED = 2


async def synthesise(
    calls: ModelCalls, debate: Debate, turn: Turn
) -> VerdictReached | VerdictDrafted:
    """Write the verdict: the judge, else another model of the debate, else the best position.

    If an audit follows, the verdict is recorded as a draft. After the audit it is recorded as the
    verdict, corrected if the audit found faults.

    Raises:
        ProviderError: No model answers, and the debate must wait until one does.
    """
    if debate.draft and debate.audit and not debate.audit.faults:
        return VerdictReached(verdict=debate.draft, edition=debate.edition)
    verdict = await _first_verdict(calls, debate, turn)
    if debate.draft and debate.audit:
        verdict = _corrected_verdict(debate, debate.draft, debate.audit, verdict)
    elif verdict.source is not VerdictSource.WINNER and auditor_of(debate):
        return VerdictDrafted(turn=turn, verdict=verdict, edition=debate.edition)
    return VerdictReached(verdict=verdict, edition=debate.edition)


def _corrected_verdict(debate: Debate, draft: Verdict, audit: Audit, verdict: Verdict) -> Verdict:
    wasted_usage = draft.lost + (draft.call.usage if draft.call else Usage())
    if verdict.source is VerdictSource.WINNER:  # no judge corrected the draft
        wasted_usage = verdict.lost
        verdict, open_faults = draft, audit.faults
    else:
        open_faults = uncorrected_faults(debate, audit, draft, verdict)
        wasted_usage += verdict.lost
    # The warning that the judge overruled the vote comes first: some surfaces show only one.
    first = verdict.warnings[: 1 if verdict.overrule else 0]
    faults = (
        f"Audit by {audit.auditor}: {fault.why.rstrip('.')}. (About “{fault.words.strip(_MARKS)}”.)"
        for fault in open_faults
    )
    warnings = tuple(dict.fromkeys((*first, *faults, *verdict.warnings)))
    return verdict.model_copy(update={"lost": wasted_usage, "warnings": warnings})


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
    request, errors, verdict = request_for(debate, turn), list[CallFailed](), None
    for judge, source, terms in _judges(debate, turn):
        if terms.waits_for_models and not any(is_outage(error) for error in errors):
            continue
        try:
            reply, call = await calls.ask_for(request, judge, form, options=terms)
        except CallFailed as error:
            _log.warning("judge failed", debate=debate.id, model=judge.model, reason=str(error))
            if terms.waits_for_models and is_outage(error):
                error.usage = sum((failure.usage for failure in errors), start=error.usage)
                raise
            errors.append(error)
            continue
        verdict = apply_vote(debate, verdict_from(debate, reply), reply.overrules)
        is_stand_in = call and call.stands_in_for and terms.waits_for_models
        actual_source = VerdictSource.FALLBACK_JUDGE if is_stand_in else source
        verdict = verdict.model_copy(update={"call": call, "source": actual_source})
        break
    verdict = verdict or _winners_position(debate)
    marks = {
        "lost": sum((error.usage for error in errors), start=Usage()),
        "partial": is_cut_short(debate),
        "warnings": tuple(dict.fromkeys(_verdict_warnings(debate, verdict, errors))),
    }
    draft = verdict_of_review(debate, verdict.model_copy(update=marks))
    verdict = await asyncio.to_thread(with_checked_evidence, debate, draft)
    return _with_confidence(debate, _with_case_against(debate, verdict))


def _with_confidence(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with a computed confidence; the judge's own number does not count."""
    confidence = confidence_of(debate, verdict)
    if confidence is None:
        return verdict
    is_example = all(agent.provider == EXAMPLE for agent in debate.setup.agents)
    judges_number = None if is_example else verdict.judge_confidence
    figures = {"confidence": confidence.percent, "rests_on": confidence.rests_on}
    return verdict.model_copy(update={**figures, "judge_confidence": judges_number})


def _verdict_warnings(
    debate: Debate, verdict: Verdict, errors: Sequence[CallFailed]
) -> Iterator[str]:
    """The warnings of the verdict: what is missing from it and from the debate."""
    yield from verdict.warnings
    yield from limitations(debate)
    yield from fallback_words((*debate.calls, *([verdict.call] if verdict.call else [])))
    yield from (f"The judge failed: {error}" for error in errors)
    written = {section.title for section in verdict.sections}
    titles = [part.title for part in parts_of(debate.setup.playbook).values()]
    if missing := ", ".join(title for title in titles if title not in written):
        yield f"The verdict lacks sections of its playbook: {missing}."


def _with_case_against(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with a doubt as its dissent, if all agents agreed at once and the judge has none.

    Most people follow unanimous advice whether it is right or not (arXiv:2603.22152).
    """
    options, gate = options_of(debate), closing_gate(debate)
    option = options.resolve(verdict.option)
    is_agreed = gate and agreed_at_once(debate) and option == options.resolve(gate.option)
    if verdict.dissent or verdict.is_undecided or not is_agreed:
        return verdict
    shares = [
        (options.probabilities(ballot.probabilities).get(option, 0), ballot.voter)
        for ballot in voting.counted_ballots(debate)
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
    """The judge, then the judge with each other model of an agent, in roster order.

    If the debate waits for models in an outage, the last call waits for any of them.
    """
    judge = judge_of(debate)
    terms = terms_for(debate, turn, judge)
    judges_models = {ModelRef(judge.provider, judge.model), *terms.fallbacks}
    models = dict.fromkeys(ModelRef(agent.provider, agent.model) for agent in debate.setup.agents)
    others = [model for model in models if model not in judges_models]
    yield judge, VerdictSource.JUDGE, replace(terms, waits_for_models=False)
    for provider, model in others:
        substitute = judge.model_copy(update={"provider": provider, "model": model})
        yield (
            substitute,
            VerdictSource.FALLBACK_JUDGE,
            replace(terms, fallbacks=(), waits_for_models=False),
        )
    if terms.waits_for_models:
        all_models = replace(terms, fallbacks=(*terms.fallbacks, *others))
        yield judge, VerdictSource.JUDGE, all_models


def _winners_position(debate: Debate) -> Verdict:
    best = best_author(debate)
    position = format_of(debate).positions(debate)[best]
    winners = len(voting.best_texts(debate.tally))
    rank = f"is level with {quantity(winners - 1, 'other')} in the vote"
    if winners <= 1:
        rank = "is ranked best" if winners else "came first, as nobody voted"
    if winners == 1 and debate.tally and best not in debate.tally.winners:
        rank += " of those for the option that won the vote"
    warning = (
        f"No judge gave a verdict: this is the position of {name_of(debate, best)}, which {rank}."
    )
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
        warnings=(warning,),
    )


def case_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    return (
        *position_parts(debate),
        *round_summary_parts(debate, turn),
        *critique_parts(debate),
        *reply_parts(debate),
        *format_of(debate).shown_parts(debate, turn),
        *raised_points_part(debate),
        *options_part(debate, by_name=True),
        *tally_part(debate),
    )


def position_parts(debate: Debate) -> Sequence[Part]:
    positions = format_of(debate).positions(debate)
    winners = voting.best_texts(debate.tally)
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


def critique_parts(debate: Debate) -> Sequence[Part]:
    parts = list[Part]()
    for critique in _newest_critiques(debate):
        turn, kind = critique.turn, PartKind.CRITIQUE
        critic, author = name_of(debate, turn.agent), name_of(debate, turn.target or "")
        label = f"{critic} on the position of {author} in round {turn.round}"
        parts.append(Part(kind=kind, label=label, text=critique.text, trim_priority=4))
    return parts


def _newest_critiques(debate: Debate) -> Sequence[Contribution]:
    contributions = list[Contribution]()
    ranking, best = _by_vote(debate), list[str]()
    for score in debate.option_scores:
        best += [a for a in ranking if current_option(debate, a) == score.option][:1]
    for target in (best or ranking)[:_MOST_CRITICISED]:
        critiques = [
            critique
            for critique in debate.contributions.values()
            if critique.turn.act is Act.CRITIQUE and critique.turn.target == target
        ]
        last = max((critique.turn.round for critique in critiques), default=0)
        critiques.sort(key=lambda critique: roster(debate).index(critique.turn.agent))
        contributions += [critique for critique in critiques if critique.turn.round == last]
    return contributions


def is_answered(debate: Debate) -> bool:
    keys = (
        turn_of(Act.REFINEMENT, critique.turn.round, critique.turn.target or "").key
        for critique in _newest_critiques(debate)
    )
    return any(key in debate.contributions for key in keys)


def reply_parts(debate: Debate) -> Sequence[Part]:
    """The council's rebuttals; if there are none, all agents' answers to the others."""
    contributions = debate.contributions.values()
    title, act = "Last word", Act.REBUTTAL
    if not any(text.turn.act is act for text in contributions):
        title, act = "Answers to the others", Act.DEBATE
    return [
        Part(
            kind=PartKind.CRITIQUE,
            label=f"{title} of {name_of(debate, answer.turn.agent)} ({letters(debate)})",
            text=answer.text,
            trim_priority=4,
        )
        for answer in contributions
        if answer.turn.act is act
    ]


def _turn_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    parts = [*case_parts(debate, turn), *judge_playbook_parts(debate)]
    if debate.draft and debate.audit:
        faults = (
            f'- {fault.kind.value}, "{fault.words}": {fault.why}' for fault in debate.audit.faults
        )
        label, text = "What the audit found", "\n".join(faults)
        audit_part = Part(kind=PartKind.CRITIQUE, label=label, text=text)
        parts += [verdict_part(debate, debate.draft), audit_part]
    return parts


def _more_tokens(debate: Debate) -> int:
    playbook = debate.setup.playbook
    cells = len(criteria_of(playbook)) * len(option_labels(debate))
    return _PART_TOKENS * len(parts_of(playbook)) + _CELL_TOKENS * cells


def _values(debate: Debate, _turn: Turn) -> Mapping[str, object]:
    closing, playbook = closing_gate(debate), debate.setup.playbook
    return {
        "options": ", ".join(option_labels(debate)),
        "earlier": ", ".join(earlier_decision_labels(debate)),
        "ended": gate_words(debate, closing) if closing else "",
        "winner": _winner_words(debate),
        "voted": binding_option(debate),
        "unanimous": agreed_at_once(debate),
        "audited": bool(debate.audit and debate.audit.faults),
        "raised": len(raised_points(debate)),
        "most_lone": MOST_LONE,
        "partial": cut_words(debate, person_words=lambda _: "A person"),
        "review": debate.setup.format == review.NAME,
        "several": len(voting.best_texts(debate.tally)) > 1,
        "notes": ", ".join(note_labels(debate)) or "there are none",
        "compared": ", ".join(criteria_of(playbook)),
        "musts": ", ".join(musts_of(playbook)),
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
    winning_names = [
        options_of(debate).name(option) for option in voting.winning_options(debate.tally.options)
    ]
    names = list[str]()
    for agent in voting.best_texts(debate.tally):
        drafted = options_of(debate).name(drafted_option(debate, agent))
        # The author votes for the winning option, but the draft can argue for another one.
        is_other = drafted and drafted not in winning_names
        remark = f' (whose draft argued for "{drafted}")' if is_other else ""
        names.append(f"{debate.setup.agent(agent).name}{remark}")
    positions = f"position{'s' if len(names) > 1 else ''} of {' and '.join(names)}"
    if not winning_names:
        tied = "tied winners" if len(names) > 1 else "winner"
        return f"the {tied} of the vote, the {positions}"
    if len(winning_names) > 1:
        tied = ", ".join(winning_names)
        return f"the best texts for the options that are tied ({tied}): the {positions}"
    texts = "best texts" if len(names) > 1 else "best text"
    return f"the {texts} for the option that won the vote ({winning_names[0]}): the {positions}"


ACTS[Act.SYNTHESIS] = ActSpec(
    words=500,
    values=_values,
    turn_parts=_turn_parts,
    skips_cache=always,
    more_tokens=_more_tokens,
    perform=synthesise,
)


async def cross_check(calls: ModelCalls, debate: Debate, turn: Turn) -> CrossChecked:
    """Let the judge choose with the positions in the opposite order before it writes the verdict.

    Judges keep their choice in two of three such swaps (arXiv:2306.05685). If a vote is close, a
    different choice shows that the order decided.
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
    # The same case in the opposite order, without the result of the vote.
    turn_parts=lambda debate, turn: (
        *reversed(position_parts(debate)),
        *round_summary_parts(debate, turn),
        *reversed(critique_parts(debate)),
        *reply_parts(debate),
        *options_part(debate),
    ),
    skips_cache=always,
    perform=cross_check,
)
