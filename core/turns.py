"""Takes a turn: which act is performed by which module."""

from collections.abc import Awaitable, Callable, Mapping

from core import agents, clarification, facilitator, judge, summarizer, voting
from core.events import Event, VoteTallied
from core.formats.registry import format_of
from core.model_call import ModelCalls
from core.models import Act, Debate, Turn
from core.schedule import ballot_turns

#: Acts that end in text.
SPOKEN = (
    Act.PROPOSAL,
    Act.CRITIQUE,
    Act.REFINEMENT,
    Act.GATHER,
    Act.PLAN,
    Act.FORMULATE,
    Act.DEBATE,
    Act.ADJUST,
    Act.REBUTTAL,
    Act.STATEMENT,
)
Performer = Callable[[ModelCalls, Debate, Turn], Awaitable[Event]]


async def tally(_calls: ModelCalls, debate: Debate, _turn: Turn) -> VoteTallied:
    """Count the final ballots. Asks no model."""
    turns = ballot_turns(debate)
    ballots = [debate.ballots[turn.key] for turn in turns if turn.key in debate.ballots]
    abstained = [turn.agent for turn in turns if turn.key not in debate.ballots]
    positions = list(format_of(debate).positions(debate))
    return VoteTallied(tally=voting.count(positions, ballots, debate.setup.vote, abstained))


#: One module per act. A new act: its prompt file, its performer here.
PERFORMERS: Mapping[Act, Performer] = {
    Act.QUESTIONS: clarification.ask,
    Act.CLARIFICATION: clarification.put,
    **dict.fromkeys(SPOKEN, agents.speak),
    Act.FACILITATION: facilitator.guide,
    Act.SUMMARY: summarizer.summarise,
    Act.BALLOT: agents.vote,
    Act.TALLY: tally,
    Act.SYNTHESIS: judge.synthesise,
}


class Turns:
    """The engine's `TurnTaker`."""

    def __init__(self, calls: ModelCalls) -> None:
        self._calls = calls

    async def take(self, debate: Debate, turn: Turn) -> Event:
        """The outcome of the turn.

        Raises:
            ProviderError: No model could be asked.
            ReplyUnreadable: The reply cannot be used, even repaired.
            LimitReached: A cap forbids the call.
        """
        return await PERFORMERS[turn.act](self._calls, debate, turn)
