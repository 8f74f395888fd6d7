"""Strategy `length`: an agent's own history is summarised once it is long (perspective summaries).

At the start of each round an agent counts the characters of its own perspective. From the
threshold on its history is summarised afresh from the whole of it; all agents do so at the same
time, and an agent's turns of that round wait for its own summary. The newest summary is used; where
one failed, the full history. Source: dialectic's context summarization.
"""

from collections.abc import Sequence

from core.models import Act, ContextMethod, Debate, Summarization, Summary, Turn, turn_of
from core.request import Part, PartKind
from core.strategies import full
from core.strategies.history import as_text, chars, is_complete, perspective

METHOD = ContextMethod.LENGTH
#: Whether summaries are made beside the debate, so that no turn should ever wait for one.
IN_BACKGROUND = False


def ready(debate: Debate) -> Sequence[Turn]:
    """Summaries to be made at the start of the rounds that have begun."""
    rounds = range(2, debate.setup.rounds + 1)
    agents = [agent.id for agent in debate.setup.agents]
    turns = [summary_turn(number, agent) for number in rounds for agent in agents]
    return tuple(turn for turn in turns if _is_due(debate, turn))


def lacks(debate: Debate, turn: Turn) -> bool:
    """Whether the turn waits for its agent's own summary."""
    return turn.act is not Act.SUMMARY and _is_due(debate, summary_turn(turn.round, turn.agent))


def history(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The newest summary of the agent's perspective and what came after it, else all of it."""
    summary = newest(debate, turn.agent, turn.round)
    if summary is None:
        return full.history(debate, turn)
    since = [
        made
        for made in perspective(debate, turn.agent, turn.round)
        if made.turn.round >= summary.turn.round
    ]
    parts = [Part(kind=PartKind.SUMMARY, label="Your debate so far, in short", text=summary.text)]
    if since:
        text = as_text(debate, since, mine=turn.agent)
        parts.append(Part(kind=PartKind.OTHER, label="What came after", text=text, spare=4))
    return parts


def newest(debate: Debate, agent: str, number: int) -> Summary | None:
    """The newest summary of that agent's perspective, searching backwards from a round."""
    turns = (summary_turn(before, agent) for before in range(number, 1, -1))
    found = (debate.summaries.get(turn.key) for turn in turns)
    return next((summary for summary in found if summary), None)


def summary_turn(number: int, agent: str) -> Turn:
    """The turn on which an agent sums up its perspective at the start of a round."""
    return turn_of(Act.SUMMARY, number, agent)


def rules_of(debate: Debate, agent: str) -> Summarization:
    """The agent's own settings, else the debate's."""
    own = next((one.summarization for one in debate.setup.agents if one.id == agent), None)
    return own or debate.setup.summarization


def _is_due(debate: Debate, turn: Turn) -> bool:
    """The round before is over for this agent, its history is long, and there is no summary yet."""
    rules = rules_of(debate, turn.agent)
    if turn.round < 2 or not rules.enabled or debate.is_done(turn):  # noqa: PLR2004 - round 1 has no history
        return False
    said = perspective(debate, turn.agent, turn.round)
    return chars(said) >= rules.threshold and _has_begun(debate, turn)


def _has_begun(debate: Debate, turn: Turn) -> bool:
    """Whether the agent is through with the round before."""
    return is_complete(debate, turn.round - 1) or debate.is_done(
        turn_of(Act.REFINEMENT, turn.round - 1, turn.agent)
    )
