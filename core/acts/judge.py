"""The judge: from final positions and the vote to a verdict, whatever fails on the way."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import structlog

from core.acts import case
from core.acts.act import ActSpec, always, declare
from core.acts.citing import with_checked_evidence
from core.acts.context import earlier_shown, note_labels, options_part, options_shown, told_in_short
from core.acts.playbook_part import judges_parts
from core.acts.replies import NOBODY, choice_reply, first_sentence
from core.acts.request_for import request_for, terms_for
from core.acts.review_verdict import reviewed
from core.acts.verdict_replies import (
    VerdictReply,
    relations_in,
    verdict_from,
    verdict_reply,
)
from core.errors import CallFailed, ReplyUnreadable
from core.events import CrossChecked, VerdictReached
from core.llm.call import ModelCalls
from core.llm.call_options import CallOptions, ModelRef
from core.llm.outages import is_outage
from core.models import (
    EXAMPLE,
    Act,
    Agent,
    CrossCheck,
    Debate,
    EarlierDecision,
    NoteOutcome,
    SourceKind,
    Turn,
    Usage,
    Verdict,
    VerdictSection,
    VerdictSource,
)
from core.request import Effort, Part
from core.rules import voting
from core.rules.confidence import confidence_of
from core.rules.degradations import degradations
from core.rules.ending import cut_words
from core.rules.fallback_models import fallback_words
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.gate import closing_gate, in_words
from core.rules.judging import judge_of
from core.rules.options import option_of, options_of
from core.rules.playbook import criteria_of, missing_evidence, parts_of
from core.rules.schedule import is_cut_short

_log = structlog.get_logger(__name__)

#: Longest section that a playbook adds, and cell of its table, in tokens.
_PART_TOKENS, _CELL_TOKENS = 450, 60
#: What a model thought before it wrote.
_THOUGHT = re.compile(r"\A\s{0,20}<(think(?:ing)?)>.*?</\1>", re.DOTALL)
#: How a form begins that cannot be read: in a list or block of code or not, cut at its front or its
#: end, with nothing in it at worst; or a few words before it.
_FORM = re.compile(
    r"""
    (?:(?:[-+*>]|[0-9]{1,9}[.)])\s{1,20}){0,5} (?:(?:`{3,9}|~{3,9})[ ]{0,9}\w{0,20}\s{0,20})?
    (?: \{
    | \[\s{0,20} (?: [\[{\]] | ["'][^"']{0,400} (?: \Z | ["']\s{0,20}(?:[,\]]|\Z) ) )
    | ["']?\w{1,60}["']\s{0,20}:
    | "\w{0,60}\Z
    | </?\w
    | \Z
    )
    | .{0,300}?\w["']\s{0,20}:\s{0,20} (?: ["'\[{] | -?[0-9] | (?:true|false|null)\b | \Z )
    """,
    re.DOTALL | re.VERBOSE,
)


async def cross_check(calls: ModelCalls, debate: Debate, turn: Turn) -> CrossChecked:
    """Have the judge choose with the positions in the opposite order, before it writes.

    Judges keep their choice in two of three such swaps (arXiv:2306.05685): where a vote is close,
    another choice says that the order decided.

    Raises:
        ProviderError: No model could be asked.
        ReplyUnreadable: The reply is no choice, even repaired.
        LimitReached: A cap forbids the call.
    """
    judge = judge_of(debate)
    reply, call = await calls.ask_for(
        request_for(debate, turn),
        judge,
        choice_reply(options_shown(debate)),
        options=terms_for(debate, turn, judge),
    )
    option = "" if reply.option == NOBODY else reply.option
    check = CrossCheck(turn=turn, option=option, reason=reply.reason.strip(), call=call)
    return CrossChecked(check=check)


async def synthesise(calls: ModelCalls, debate: Debate, turn: Turn) -> VerdictReached:
    """Write the verdict: the judge, else another model in use, else the winner's position.

    Raises:
        ProviderError: None of them answers, and the debate is to wait until one does.
    """
    labels = note_labels(debate)
    note_ids = dict(zip(labels, (note.id for note in debate.notes), strict=True))
    playbook = debate.setup.playbook
    named = {"criteria": tuple(criteria_of(playbook)), "parts": tuple(parts_of(playbook))}
    form = verdict_reply(labels, options_shown(debate), earlier_shown(debate), **named)
    request, failed, verdict = request_for(debate, turn), list[CallFailed](), None
    for judge, source, terms in _judges(debate, turn):
        if terms.patient and not any(is_outage(error) for error in failed):
            continue
        try:
            reply, call = await calls.ask_for(request, judge, form, options=terms)
        except CallFailed as error:
            _log.warning("judge failed", debate=debate.id, model=judge.model, reason=str(error))
            if terms.patient and is_outage(error):
                error.usage = sum((one.usage for one in failed), start=error.usage)
                raise
            failed.append(error)
            continue
        else:
            verdict = _with_earlier(debate, verdict_from(reply, note_ids, playbook), reply)
        stands_in = call and call.stands_in_for and terms.patient
        found = VerdictSource.FALLBACK_JUDGE if stands_in else source
        verdict = verdict.model_copy(update={"call": call, "source": found})
        break
    verdict = verdict or _winners_position(debate, failed)
    there = {one.title for one in verdict.sections}
    wanted = (one.title for one in parts_of(debate.setup.playbook).values())
    left_out = ", ".join(title for title in wanted if title not in there)
    # What is missing from the debate behind it, each thing once.
    said = (
        *verdict.warnings,
        *degradations(debate),
        *fallback_words((*debate.calls, *([verdict.call] if verdict.call else []))),
        *(f"The judge failed: {error}" for error in failed),
        *([f"The verdict lacks sections of its playbook: {left_out}."] if left_out else []),
    )
    marks = {
        "lost": sum((error.usage for error in failed), start=Usage()),
        "partial": is_cut_short(debate),
        "warnings": tuple(dict.fromkeys(said)),
    }
    written = reviewed(debate, verdict.model_copy(update=marks))
    verdict = await asyncio.to_thread(with_checked_evidence, debate, written)
    verdict = _with_confidence(debate, verdict)
    return VerdictReached(verdict=verdict, edition=debate.edition)


def _with_earlier(debate: Debate, verdict: Verdict, reply: VerdictReply) -> Verdict:
    """The verdict with how it stands to earlier decisions, in the order of their sources."""
    found = relations_in(reply)
    earlier = tuple(
        EarlierDecision(
            source=one.id,
            debate=one.reference.fetch,
            title=one.reference.title,
            address=one.reference.address,
            relation=found[one.id][0],
            why=found[one.id][1],
        )
        for one in debate.evidence
        if one.id in found and one.reference.kind is SourceKind.DECISION
    )
    return verdict.model_copy(update={"earlier": earlier})


def _with_confidence(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with how sure it is: computed, whatever its writer says of it."""
    computed = confidence_of(debate, verdict)
    if computed is None:
        return verdict
    is_example = all(agent.provider == EXAMPLE for agent in debate.setup.agents)
    own = None if is_example else verdict.judge_confidence
    figures = {"confidence": computed.percent, "rests_on": computed.rests_on}
    return verdict.model_copy(update={**figures, "judge_confidence": own})


def _judges(debate: Debate, turn: Turn) -> Iterator[tuple[Agent, VerdictSource, CallOptions]]:
    """The judge, then the judge with each other model that an agent uses, in roster order.

    At last, where the debate is to wait for models that are away: whichever is back first.
    """
    judge = judge_of(debate)
    terms = terms_for(debate, turn, judge)
    yield judge, VerdictSource.JUDGE, replace(terms, patient=False)
    own = {ModelRef(judge.provider, judge.model), *terms.fallbacks}
    others = dict.fromkeys(ModelRef(agent.provider, agent.model) for agent in debate.setup.agents)
    others = [ref for ref in others if ref not in own]
    for ref in others:
        served = {"provider": ref.provider, "model": ref.model, "fallbacks": ()}
        other = judge.model_copy(update=served)
        short = replace(terms_for(debate, turn, other), patient=False)
        yield other, VerdictSource.FALLBACK_JUDGE, short
    if terms.patient:
        whole = replace(terms, fallbacks=(*terms.fallbacks, *others))
        yield judge, VerdictSource.JUDGE, whole


def _winners_position(debate: Debate, failed: Sequence[CallFailed]) -> Verdict:
    """The position that won, or the first one where nobody voted; with what a judge wrote instead.

    Args:
        debate: The debate.
        failed: Why there is no judge's verdict.
    """
    positions = format_of(debate).positions(debate)
    winners = voting.best_texts(debate.tally) if debate.tally else ()
    best = winners[0] if winners else next(iter(positions))
    name = debate.setup.agent(best).name
    chosen = "won the vote" if len(winners) == 1 else "stands for others of equal weight"
    texts = (one.text for one in failed if isinstance(one, ReplyUnreadable))
    wrote = (
        _THOUGHT.sub("", text.lstrip("\ufeff"), count=1).strip("\ufeff \n\r\t") for text in texts
    )
    # Words can be read though they are no verdict; what is left of a form cannot.
    words = next((t for t in wrote if any(map(str.isalpha, t)) and not _FORM.match(t)), "")
    return Verdict(
        decision=positions[best].answer or first_sentence(positions[best].text),
        option=option_of(debate, best),
        solution=positions[best].text,
        notes=tuple(
            NoteOutcome(note=note.id, used=False, explanation="No judge has answered for it.")
            for note in debate.notes
        ),
        confidence=None,
        source=VerdictSource.WINNER,
        sections=(VerdictSection(title="What the judge wrote instead", text=words),)
        if words
        else (),
        warnings=(f"No judge gave a verdict: this is the position of {name}, which {chosen}.",),
    )


def _about_check(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The same case in the opposite order; how the vote went is not told."""
    return (
        *reversed(case.final_positions(debate)),
        *told_in_short(debate, turn),
        *reversed(case.last_critiques(debate)),
        *case.last_words(debate),
        *options_part(debate),
    )


def _about(debate: Debate, turn: Turn) -> Sequence[Part]:
    return (*case.judged_case(debate, turn), *judges_parts(debate))


def _more_tokens(debate: Debate) -> int:
    """What a playbook asks of the verdict takes more."""
    playbook = debate.setup.playbook
    if not playbook:
        return 0
    cells = len(playbook.criteria) * len(options_shown(debate))
    return _PART_TOKENS * len(playbook.verdict) + _CELL_TOKENS * cells


def _values_of_check(debate: Debate, _turn: Turn) -> Mapping[str, object]:
    return {"options": ", ".join(options_shown(debate))}


def _values(debate: Debate, _turn: Turn) -> Mapping[str, object]:
    ended, playbook = closing_gate(debate), debate.setup.playbook
    criteria = criteria_of(playbook)
    return {
        "options": ", ".join(options_shown(debate)),
        "earlier": ", ".join(earlier_shown(debate)),
        "ended": in_words(debate, ended) if ended else "",
        "winner": _winner_words(debate),
        "partial": cut_words(debate, who=lambda _: "A person"),
        "review": debate.setup.format == review.NAME,
        "several": bool(debate.tally) and len(voting.best_texts(debate.tally)) > 1,
        "notes": ", ".join(note_labels(debate)) or "there are none",
        "compared": ", ".join(criteria),
        "musts": ", ".join(label for label, criterion in criteria.items() if criterion.must),
        "parts": ", ".join(parts_of(playbook)),
        "missing": bool(missing_evidence(debate)),
    }


def _winner_words(debate: Debate) -> str:
    """Whose position the judge starts from."""
    if not debate.tally or not debate.tally.winners:
        return "the position that meets the requirements best (there was no vote)"
    names = [debate.setup.agent(agent).name for agent in voting.best_texts(debate.tally)]
    won = [
        options_of(debate).name(option) for option in voting.winning_options(debate.tally.options)
    ]
    whose = f"position{'s' if len(names) > 1 else ''} of {' and '.join(names)}"
    if not won:
        tied = "tied winners" if len(names) > 1 else "winner"
        return f"the {tied} of the vote, the {whose}"
    if len(won) > 1:
        return f"the best texts for the options that are tied ({', '.join(won)}): the {whose}"
    texts = "best texts" if len(names) > 1 else "best text"
    return f"the {texts} for the option that won the vote ({won[0]}): the {whose}"


declare(
    Act.CROSS_CHECK,
    ActSpec(
        label="Check in the opposite order",
        noun="check in the opposite order",
        phase="the judge chooses in the opposite order",
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
        values=_values_of_check,
        about=_about_check,
        is_alone=always,
        perform=cross_check,
    ),
)

declare(
    Act.SYNTHESIS,
    ActSpec(
        label="Synthesis",
        noun="decision",
        phase="the judge writes the decision",
        words=500,
        sees_history=False,
        outcome_key="verdict",
        values=_values,
        about=_about,
        is_alone=always,
        more_tokens=_more_tokens,
        perform=synthesise,
    ),
)
