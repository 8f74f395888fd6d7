"""The count of the final ballots."""

from core.acts.act import ActSpec, declare
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import VoteTallied
from core.llm.call import ModelCalls
from core.rules import voting
from core.rules.formats.registry import format_of
from core.rules.options import option_of, options_of
from core.rules.schedule import ballot_turns


async def tally(_calls: ModelCalls, debate: Debate, _turn: Turn) -> VoteTallied:
    """Count the final ballots. Asks no model."""
    turns = ballot_turns(debate)
    ballots = [debate.ballots[turn.key] for turn in turns if turn.key in debate.ballots]
    abstained = [turn.agent for turn in turns if turn.key not in debate.ballots]
    positions = {a: option_of(debate, a) for a in format_of(debate).positions(debate)}
    counted = voting.count(
        positions,
        ballots,
        debate.setup.vote,
        abstained=abstained,
        options=options_of(debate),
    )
    return VoteTallied(tally=counted, edition=debate.edition)


declare(Act.TALLY, ActSpec(asks_model=False, outcome_key="tally", perform=tally))
