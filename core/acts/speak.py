"""What agents do: say something, in every act that ends in text, and vote."""

import asyncio

from core.acts.act import ACTS
from core.acts.citing import look_up_in, may_look_up, with_checked_quotes, with_looked_up
from core.acts.context import (
    candidates,
    held_before,
    mover_labels,
    movers_shown,
    options_shown,
    sources_shown,
)
from core.acts.replies import abstains, ballot_fault, ballot_reply, reasons_by_label
from core.acts.request_for import request_for, terms_for
from core.acts.short_form import read_short_form
from core.errors import ReplyUnreadable, ReplyUnusable
from core.events import BallotAbstained, BallotCast, ContributionMade
from core.llm.call import ModelCalls
from core.models import Abstention, Act, Ballot, Contribution, Debate, Turn
from core.rules.formats.registry import format_of
from core.rules.options import leading, options_of, read_stance, without_stance


async def speak(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    """Take a turn that ends in text; carried over without a call where the format says so.

    Raises:
        ProviderError: No model could be asked.
        LimitReached: A cap forbids the call.
    """
    carried = format_of(debate).carried_over(debate, turn)
    if carried:
        warnings = ("No critique arrived.",) if turn.act is Act.REFINEMENT else ()
        return ContributionMade(
            contribution=Contribution(
                turn=turn,
                text=carried.text,
                answer=carried.answer,
                points=carried.points,
                carried_from=carried.turn.key,
                citations=carried.citations,
                stance=carried.stance,
                warnings=warnings,
            )
        )
    agent = debate.setup.agent(turn.agent)
    request, terms = request_for(debate, turn), terms_for(debate, turn)
    text, call = await calls.ask(request, agent, terms)
    looked_up = look_up_in(text) if may_look_up(debate, turn) else ""
    if looked_up:
        found = await asyncio.to_thread(with_looked_up, debate, request, looked_up)
        text, more = await calls.ask(found, agent, terms)
        call = more.model_copy(update={"usage": call.usage + more.usage})
        if look_up_in(text):
            raise ReplyUnusable("It only asked to look something up, twice.", usage=call.usage)
    is_fresh = turn.act is Act.PROPOSAL and turn.round > 1
    warnings = ("The last refinement is missing; this is a fresh proposal.",) if is_fresh else ()
    made = Contribution(turn=turn, text=text, call=call, looked_up=looked_up, warnings=warnings)
    return ContributionMade(contribution=await asyncio.to_thread(_as_read, debate, made))


def _as_read(debate: Debate, made: Contribution) -> Contribution:
    """The contribution with what its last lines state as fields, and its quotes checked."""
    short, options = read_short_form(made.text.strip()), options_of(debate)
    text, update = short.text, dict[str, object](answer=short.answer, points=short.points)
    if ACTS[made.turn.act].states_stance and options.items:
        stance = read_stance(text, options)
        text = without_stance(text)
        update |= {"stance": stance.known, "new_options": stance.new}
    return with_checked_quotes(debate, made.model_copy(update={**update, "text": text}))


async def vote(calls: ModelCalls, debate: Debate, turn: Turn) -> BallotCast | BallotAbstained:
    """Rank all positions under neutral labels; what not even a repair makes a ballot is abstained.

    A voter may also abstain itself, with a reason.

    Raises:
        ProviderError: No model could be asked.
        LimitReached: A cap forbids the call.
    """
    shown = {one.label: one.position for one in candidates(debate, turn)}
    movers = {label: one.turn.key for label, one in movers_shown(debate, turn).items()}
    movers |= {source: source for source in sources_shown(debate)}
    options = options_shown(debate)
    try:
        reply, call = await calls.ask_for(
            request_for(debate, turn),
            debate.setup.agent(turn.agent),
            ballot_reply(tuple(shown), mover_labels(debate), options),
            check=lambda ballot: ballot_fault(ballot, list(shown), options) or None,
            options=terms_for(debate, turn),
        )
    except ReplyUnreadable as error:
        abstention = Abstention(turn=turn, reason=str(error), call=error.call)
        return BallotAbstained(abstention=abstention)
    if abstains(reply):
        abstention = Abstention(turn=turn, reason=reply.reasons[0], declared=True, call=call)
        return BallotAbstained(abstention=abstention)
    ranking = tuple(shown[label] for label in reply.ranking)
    reasons = reasons_by_label(reply, list(shown))
    given = dict(zip(options, reply.probabilities, strict=True))
    probabilities = options_of(debate).probabilities(given)
    # What moved the voter counts only if it has moved at all.
    moved_by, before = None, held_before(debate, turn)
    if before and before != leading(probabilities):
        moved_by = movers.get(reply.moved_by)
    return BallotCast(
        ballot=Ballot(
            turn=turn,
            ranking=ranking,
            reasons={shown[label]: reason for label, reason in reasons.items()},
            probabilities=probabilities,
            confidence=None,
            moved_by=moved_by,
            call=call,
        )
    )
