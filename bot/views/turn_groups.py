"""Which turns people read in one post: a group is an agent's turns of a round (pure).

Every group is one post. A draft waits for the round that it opens; where no round follows, it is a
group of its own. The council's one round has two: what leads to a position, and what comes of it;
a review's has two as well: the review and the second look.
"""

from collections.abc import Sequence

from bot.slack.ids import turn_key
from core.acts.act import ACTS
from core.debate.contributions import Contribution
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.rules import schedule
from core.rules.formats import council, review
from core.rules.formats.registry import format_of
from core.rules.gate import gate_after, is_gated

#: Where a group stands among all: the round, and the part of the round.
Group = tuple[int, int]
_FIRST, _SECOND, _FACILITATION, _REST = range(4)
_BEFORE_THE_GATE = frozenset({Act.OPTIONS, Act.BALLOT, Act.GATE})


def group_of(debate: Debate, turn: Turn) -> Group:
    """Where the group that the turn belongs to stands."""
    form = format_of(debate)
    if turn.act not in form.phases:
        return turn.round, _REST
    if turn.act is Act.FACILITATION:
        return turn.round, _FACILITATION
    first = gate_after(debate, 0)
    if turn.round == 1 and first and first.ends_rounds:
        return 1, _FIRST if turn.act is form.phases[0] else _SECOND
    if form.name == review.NAME:  # people answer between the two
        return turn.round, _FIRST if turn.act is Act.REVIEW else _SECOND
    if form.name == council.NAME:
        argued = form.phases.index(turn.act) > form.phases.index(Act.FORMULATE)
        return turn.round, _SECOND if argued else _FIRST
    return turn.round, _FIRST


def are_held(debate: Debate) -> bool:
    """Whether every group is held back, because it may still grow.

    Until it is known whether a round follows the drafts; and when the debate is cut short until the
    votes are counted, or the verdict is there: turns in hand are let finish.
    """
    if debate.status is not Status.RUNNING:
        return False
    if schedule.is_cut_short(debate):
        return not (debate.tally or debate.verdict)
    if debate.wanted_by or gate_after(debate, 0):
        return False
    turns = schedule.ready(debate)
    is_weighed = any(turn.round == 0 and turn.act in _BEFORE_THE_GATE for turn in turns)
    return is_weighed and is_gated(debate)


def is_complete(debate: Debate, agent: str, group: Group) -> bool:
    """Whether nothing more can come of an agent's group, as far as can be foreseen."""
    for turn in format_of(debate).planned_turns(debate, group[0]):
        if turn.agent != agent or debate.is_done(turn) or group_of(debate, turn) != group:
            continue
        # A critique that comes too late is not written any more.
        refined = Turn(act=Act.REFINEMENT, round=turn.round, agent=turn.target or "")
        if turn.act is not Act.CRITIQUE or not debate.is_done(refined):
            return False
    return True


def said_together(debate: Debate, turn: Turn) -> Sequence[Contribution]:
    """The agent's contributions on turns of the same group, in order."""
    group = group_of(debate, turn)
    return [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.agent == turn.agent
        and group_of(debate, contribution.turn) == group
        and is_shown(contribution)
    ]


def is_shown(contribution: Contribution) -> bool:
    """Whether it is posted; a contribution carried over has been posted already."""
    return contribution.carried_from is None and ACTS[contribution.turn.act].is_posted


def post_key(debate: Debate, turn: Turn) -> str:
    """The key of the post in which people read what was said on the turn."""
    if not debate.setup.quiet:
        return turn_key(debate.id, turn.key)
    contributions = said_together(debate, turn)
    return turn_key(debate.id, contributions[0].turn.key if contributions else turn.key)
