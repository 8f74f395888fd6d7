"""The judge: from final positions and the vote to a verdict, whatever fails on the way."""

from collections.abc import Iterator

import structlog

from core.errors import CallFailed, ReplyUnreadable
from core.events import VerdictReached
from core.llm.call import ModelCalls
from core.models import Agent, Debate, NoteOutcome, Turn, Usage, Verdict, VerdictSource
from core.rules.fallback_models import fallback_words
from core.rules.formats.registry import format_of
from core.rules.schedule import is_cut_short
from core.turns.citing import with_checked_evidence
from core.turns.context import note_labels
from core.turns.replies import first_sentence, verdict_from, verdict_from_text, verdict_reply
from core.turns.request_for import request_for, terms_for

_log = structlog.get_logger(__name__)

#: Confidence of a verdict that is only the winning position: nobody has judged it.
UNJUDGED_CONFIDENCE = 30


async def synthesise(calls: ModelCalls, debate: Debate, turn: Turn) -> VerdictReached:
    """Write the verdict: the judge, else another model in use, else the winner's position."""
    labels = note_labels(debate)
    note_ids = dict(zip(labels, (note.id for note in debate.notes), strict=True))
    form = verdict_reply(labels)
    request, failed, verdict = request_for(debate, turn), list[CallFailed](), None
    for judge, source in _judges(debate):
        terms = terms_for(debate, turn, judge)
        try:
            reply, call = await calls.ask_for(request, judge, form, options=terms)
        except ReplyUnreadable as error:
            # Its text is a verdict all the same, unless there is none.
            if not error.text.strip():
                failed.append(error)
                continue
            verdict, call = verdict_from_text(error.text), error.call
        except CallFailed as error:
            _log.warning("judge failed", debate=debate.id, model=judge.model, reason=str(error))
            failed.append(error)
            continue
        else:
            verdict = verdict_from(reply, note_ids)
        verdict = verdict.model_copy(update={"call": call, "source": source})
        break
    verdict = verdict or _winners_position(debate)
    # What is missing from the debate behind it, each thing once.
    said = (
        *verdict.warnings,
        *_degradations(debate),
        *fallback_words((*debate.calls, *([verdict.call] if verdict.call else []))),
        *(f"The judge failed: {error}" for error in failed),
    )
    marks = {
        "lost": sum((error.usage for error in failed), start=Usage()),
        "partial": is_cut_short(debate),
        "warnings": tuple(dict.fromkeys(said)),
    }
    verdict = with_checked_evidence(debate, verdict)
    return VerdictReached(verdict=verdict.model_copy(update=marks))


def _judges(debate: Debate) -> Iterator[tuple[Agent, VerdictSource]]:
    """The judge, then the judge with each other model that an agent uses, in roster order."""
    judge = debate.setup.judge
    yield judge, VerdictSource.JUDGE
    tried = {(judge.provider, judge.model)}
    tried |= {(other.provider, other.model) for other in judge.fallbacks or ()}
    for agent in debate.setup.agents:
        if (agent.provider, agent.model) not in tried:
            tried.add((agent.provider, agent.model))
            served = {"provider": agent.provider, "model": agent.model, "fallbacks": ()}
            yield judge.model_copy(update=served), VerdictSource.FALLBACK_JUDGE


def _winners_position(debate: Debate) -> Verdict:
    """The position that won, or the first one where nobody voted."""
    positions = format_of(debate).positions(debate)
    winners = debate.tally.winners if debate.tally else ()
    best = winners[0] if winners else next(iter(positions))
    name = debate.setup.agent(best).name
    chosen = "won the vote" if len(winners) == 1 else "stands for others of equal weight"
    return Verdict(
        decision=first_sentence(positions[best].text),
        solution=positions[best].text,
        notes=tuple(
            NoteOutcome(note=note.id, used=False, explanation="No judge could be asked.")
            for note in debate.notes
        ),
        confidence=UNJUDGED_CONFIDENCE,
        source=VerdictSource.WINNER,
        warnings=(
            f"The judge could not be asked: this is the position of {name}, which {chosen}.",
        ),
    )


def _degradations(debate: Debate) -> Iterator[str]:
    """What went wrong before the verdict, in words for people."""
    fmt = format_of(debate)
    alive, agents = len(fmt.alive(debate)), len(debate.setup.agents)
    if debate.stop:
        yield f"Stopped by {debate.stop.by.name or 'a person'} before all turns were taken."
    if debate.out_of_time:
        yield "The debate ran out of time before all turns were taken."
    if debate.out_of_money:
        yield f"The debate ended early. {debate.out_of_money}"
    yield from debate.refused.values()
    if alive < agents:
        yield f"Only {alive} of {agents} agents could take part to the end."
    if debate.failures:
        yield f"Turns that failed and are missing: {len(debate.failures)}."
    if debate.tally and not debate.tally.voters:
        yield "No ballot could be counted."
