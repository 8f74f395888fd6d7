"""The judge: from final positions and the vote to a verdict, whatever fails on the way."""

from collections.abc import Iterator

import structlog

from core.calling.spent import call_of
from core.context import note_labels
from core.errors import LimitReached, ProviderError, ReplyUnreadable
from core.events import VerdictReached
from core.formats.registry import format_of
from core.model_call import ModelCalls
from core.models import Agent, Debate, NoteOutcome, Turn, Verdict, VerdictSource
from core.prompting import request_for, terms_for
from core.replies import VerdictReply, first_sentence, verdict_from, verdict_from_text
from core.schedule import is_cut_short

_log = structlog.get_logger(__name__)

#: Confidence of a verdict that is only the winning position: nobody has judged it.
UNJUDGED_CONFIDENCE = 30


async def synthesise(calls: ModelCalls, debate: Debate, turn: Turn) -> VerdictReached:
    """Write the verdict: the judge, else another agent's model, else the winner's position."""
    verdict = None
    for judge, source in _judges(debate):
        verdict = await _try(calls, debate, turn, judge)
        if verdict:
            verdict = verdict.model_copy(update={"source": source})
            break
    verdict = verdict or _winners_position(debate)
    return VerdictReached(verdict=_marked(debate, verdict))


def _judges(debate: Debate) -> Iterator[tuple[Agent, VerdictSource]]:
    """The judge, then the judge with the first other model that an agent uses."""
    judge = debate.setup.judge
    yield judge, VerdictSource.JUDGE
    for agent in debate.setup.agents:
        if (agent.provider, agent.model) != (judge.provider, judge.model):
            served = {"provider": agent.provider, "model": agent.model}
            yield judge.model_copy(update=served), VerdictSource.FALLBACK_JUDGE
            return


async def _try(calls: ModelCalls, debate: Debate, turn: Turn, judge: Agent) -> Verdict | None:
    """One judge's verdict; None if it cannot be asked."""
    labels = note_labels(debate)
    note_ids = dict(zip(labels, (note.id for note in debate.notes), strict=True))
    request = request_for(debate, turn)
    try:
        reply, call = await calls.ask_for(
            request, judge, VerdictReply, terms=terms_for(debate, turn)
        )
    except ReplyUnreadable as error:
        return _raw(error)
    except (ProviderError, LimitReached) as error:
        _log.warning("judge failed", debate=debate.id, model=judge.model, reason=str(error))
        return None
    return verdict_from(reply, note_ids).model_copy(update={"call": call})


def _raw(error: ReplyUnreadable) -> Verdict | None:
    """The verdict in an unreadable reply; None if there was no text at all."""
    if not error.text.strip():
        return None
    return verdict_from_text(error.text).model_copy(update={"call": call_of(error)})


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


def _marked(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict, saying what is missing from the debate behind it."""
    warnings = (*verdict.warnings, *_degradations(debate))
    return verdict.model_copy(update={"partial": is_cut_short(debate), "warnings": warnings})


def _degradations(debate: Debate) -> Iterator[str]:
    """What went wrong before the verdict, in words for people."""
    fmt = format_of(debate)
    alive, agents = len(fmt.alive(debate)), len(debate.setup.agents)
    if debate.stop:
        yield f"Stopped by {debate.stop.by.name or 'a person'} before all turns were taken."
    if debate.out_of_time:
        yield "The debate ran out of time before all turns were taken."
    if alive < agents:
        yield f"Only {alive} of {agents} agents could take part to the end."
    if debate.failures:
        yield f"Turns that failed and are missing: {len(debate.failures)}."
    if debate.tally and not debate.tally.voters:
        yield "No ballot could be counted."
