"""What agents do: say something, in every act that ends in text, and vote."""

from core.errors import ReplyUnreadable
from core.events import BallotAbstained, BallotCast, ContributionMade
from core.llm.call import ModelCalls
from core.models import Abstention, Act, Ballot, Contribution, Debate, Turn
from core.rules.formats.registry import format_of
from core.turns.context import Candidate, candidates, critiques_shown, first_choice_before
from core.turns.replies import BallotReply, ballot_fault
from core.turns.request_for import request_for, terms_for


async def speak(calls: ModelCalls, debate: Debate, turn: Turn) -> ContributionMade:
    """Take a turn that ends in text; carried over without a call where the format says so.

    Raises:
        ProviderError: No model could be asked.
        LimitReached: A cap forbids the call.
    """
    carried = format_of(debate).carried_over(debate, turn)
    if carried:
        return _carry(turn, carried)
    agent = debate.setup.agent(turn.agent)
    text, call = await calls.ask(request_for(debate, turn), agent, terms_for(debate, turn))
    warnings = _warnings(turn)
    return ContributionMade(
        contribution=Contribution(turn=turn, text=text.strip(), call=call, warnings=warnings)
    )


async def vote(calls: ModelCalls, debate: Debate, turn: Turn) -> BallotCast | BallotAbstained:
    """Rank all positions under neutral labels; what not even a repair makes a ballot is abstained.

    Raises:
        ProviderError: No model could be asked.
        LimitReached: A cap forbids the call.
    """
    shown = candidates(debate, turn)
    labels = [candidate.label for candidate in shown]
    try:
        reply, call = await calls.ask_for(
            request_for(debate, turn),
            debate.setup.agent(turn.agent),
            BallotReply,
            check=lambda ballot: ballot_fault(ballot, labels) or None,
            terms=terms_for(debate, turn),
        )
    except ReplyUnreadable as error:
        abstention = Abstention(turn=turn, reason=str(error), call=error.call)
        return BallotAbstained(abstention=abstention)
    ballot = _ballot(turn, reply, shown)
    moved_by = _moved_by(debate, ballot, reply)
    return BallotCast(ballot=ballot.model_copy(update={"call": call, "moved_by": moved_by}))


def _carry(turn: Turn, carried: Contribution) -> ContributionMade:
    """The earlier text under this turn: no call, no tokens, no time."""
    warnings = ("No critique arrived.",) if turn.act is Act.REFINEMENT else ()
    return ContributionMade(
        contribution=Contribution(
            turn=turn, text=carried.text, carried_from=carried.turn.key, warnings=warnings
        )
    )


def _warnings(turn: Turn) -> tuple[str, ...]:
    if turn.act is Act.PROPOSAL and turn.round > 1:
        return ("The last refinement is missing; this is a fresh proposal.",)
    return ()


def _ballot(turn: Turn, reply: BallotReply, shown: tuple[Candidate, ...]) -> Ballot:
    """The ballot with agents' ids in place of the labels the voter saw."""
    positions = {candidate.label: candidate.position for candidate in shown}
    ranking = tuple(positions[label] for label in reply.ranking)
    return Ballot(
        turn=turn,
        ranking=ranking,
        reasons=dict(zip(ranking, reply.reasons, strict=True)),
        confidence=reply.confidence,
    )


def _moved_by(debate: Debate, ballot: Ballot, reply: BallotReply) -> str | None:
    """Key of the critique the voter says it was moved by; only if it has moved at all."""
    before = first_choice_before(debate, ballot.turn)
    if before is None or before == ballot.ranking[0]:
        return None
    shown = enumerate(critiques_shown(debate, ballot.turn), start=1)
    keys = {f"c{number}": critique.turn.key for number, critique in shown}
    return keys.get(reply.moved_by.strip())
