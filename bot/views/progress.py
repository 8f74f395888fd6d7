"""The progress of a debate, and the groups of turns that share a post (pure).

A group is the turns of one agent in a round, and is one post. A draft belongs to the group of the
round after it; if no round follows, it is a group of its own. The one round of a council has two
groups per agent: the turns up to the formulated position, and those after it. A round of a review
has two as well: the review and the second look.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.slack.blocks import PLAN, Block
from bot.slack.ids import turn_key
from core.acts.act import ACTS
from core.debate.contributions import Contribution
from core.debate.rules import Ending
from core.debate.state import Debate, Status, cached_per_debate
from core.debate.turn import BACKGROUND_ACTS, Act, Turn
from core.figures import percent, quantity
from core.rules import schedule
from core.rules.formats import clarifying, council, review
from core.rules.formats.registry import format_of
from core.rules.gate import closing_gate, gate_after, is_gated, votes_blind


@dataclass(frozen=True)
class Progress:
    """The number of finished turns, and of all turns as far as known, with vote and decision."""

    done: int
    total: int

    @property
    def words(self) -> str:
        return f"{percent(self.done / self.total)} done" if self.done else "just begun"


def plan(debate: Debate) -> Block:
    """The steps of a running debate as a plan block of Slack, with the current step marked."""
    current = progress(debate)
    return {
        "block_id": f"{PLAN}{current.done}/{current.total}",
        "tasks": list(_tasks(debate)),
        "title": f"{stage(debate)} · {current.words}",
        "type": "plan",
    }


def _tasks(debate: Debate) -> Iterator[Block]:
    """The steps of a running debate, in order: questions, rounds, the vote, the decision."""
    waits = debate.paused_by or debate.outage
    ready = frozenset[Turn]() if waits else frozenset(schedule.ready(debate))
    asking = clarifying.ready(debate)
    if debate.setup.clarifying.enabled:
        is_running = asking is not None and not waits
        yield _task("Questions", int(asking is None), 1, is_running=is_running)
    for title, turns in _steps(debate).items():
        count = sum(map(debate.is_done, turns))
        is_running = asking is None and not ready.isdisjoint(turns)
        yield _task(title, count, len(turns), is_running=is_running)
    judging = any(turn.act in {Act.CROSS_CHECK, Act.SYNTHESIS} for turn in ready)
    yield _task("Decision", int(debate.verdict is not None), 1, is_running=judging)


def _task(title: str, count: int, total: int, *, is_running: bool) -> Block:
    """A step with `total` turns as far as known, of which `count` are finished."""
    status = "in_progress" if is_running else "complete" if count >= total else "pending"
    text = title
    if count and total > 1:
        turns = quantity(total, "turn")
        text += f": {turns}" if count == total else f": {count} of {turns}"
    return {"status": status, "task_id": title, "title": text, "type": "task_card"}


@cached_per_debate
def progress(debate: Debate) -> Progress:
    """The progress of a debate, without future turns of failed agents."""
    turns = [turn for step in _steps(debate).values() for turn in step]
    # While the debate is sealed, finished turns are known by their keys only.
    finished = frozenset((*_finished_turns(debate), *filter(debate.is_done, turns)))
    count = len(finished) + (debate.verdict is not None)
    if debate.status is not Status.RUNNING:
        return Progress(max(count, 1), max(count, 1))
    remaining = sum(not debate.is_done(turn) for turn in turns) + (debate.verdict is None)
    return Progress(count, max(count + remaining, 1))


@cached_per_debate
def _steps(debate: Debate) -> Mapping[str, Sequence[Turn]]:
    """The rounds and the vote, each with its finished and its expected turns."""
    is_cut = schedule.is_cut_short(debate)
    rounds = schedule.rounds_open(debate) if is_cut else expected_rounds(debate)
    titles = [f"Round {number}" for number in range(1, rounds + 1)] or ["First answers"]
    parts = {title: list[Turn]() for title in (*titles, "Vote")}
    for turn in dict.fromkeys((*_finished_turns(debate), *_expected_turns(debate, rounds))):
        if turn.act is Act.BALLOT and (turn.round or not rounds):
            parts["Vote"].append(turn)
        elif turn.act is Act.BALLOT or is_read(debate, turn):
            # Blind ballots are about the answers of the first round.
            parts[titles[min(max(turn.round, 1), len(titles)) - 1]].append(turn)
    return parts


def _finished_turns(debate: Debate) -> Sequence[Turn]:
    outcomes = (debate.contributions, debate.failures, debate.ballots, debate.abstentions)
    return [outcome.turn for group in outcomes for outcome in group.values()]


def _expected_turns(debate: Debate, rounds: int) -> Iterator[Turn]:
    """The turns of all rounds that may be held, and the ballots of all agents that can vote."""
    is_cut, form = schedule.is_cut_short(debate), format_of(debate)
    for number in () if is_cut else range(1, rounds + 1):
        yield from form.planned_turns(debate, number)
    if debate.stop or debate.tally:
        return
    for number in (*([0] if votes_blind(debate) and not is_cut else []), rounds):
        for voter in form.alive(debate):
            yield Turn(act=Act.BALLOT, round=number, agent=voter)


def expected_rounds(debate: Debate) -> int:
    """The number of rounds that may be held.

    All requested rounds count until a gate, the vote or the format has decided that no more follow.
    """
    if closing_gate(debate) or debate.tally or format_of(debate).ends_itself:
        first = gate_after(debate, 0)
        if first or debate.reopened_by or not is_gated(debate):
            return schedule.rounds_open(debate)
    return debate.setup.rounds


@cached_per_debate
def stage(debate: Debate) -> str:
    """Round and phase in words, such as "Round 1 of 3 · critiques"."""
    if debate.paused_by:
        return "Paused"
    # Summaries are made in the background.
    turns = [turn for turn in schedule.ready(debate) if turn.act not in BACKGROUND_ACTS]
    visible = [turn for turn in turns if is_read(debate, turn)]
    if visible:
        first = min(visible, key=lambda turn: order(debate, turn))
        # The gate after the first answers decides whether any round is held.
        if is_gated(debate) and not (debate.gates or debate.reopened_by):
            return f"First answers · {first.act.phase}"
        rounds = expected_rounds(debate)
        converges = debate.setup.termination.ending is Ending.CONVERGED
        may_end_early = converges or format_of(debate).ends_itself
        bound = "at most " if rounds > first.round and may_end_early else ""
        return f"Round {first.round} of {bound}{rounds} · {first.act.phase}"
    if turns:
        return turns[0].act.phase.capitalize()
    if debate.waits_for_answers:
        return "Waiting for answers"
    # The turns of a sealed debate are hidden, so that none of them seems ready.
    steps = _steps(debate).items() if debate.is_sealed else ()
    return next((title for title, step in steps if debate.open_turns(step)), "Finishing")


def is_read(debate: Debate, turn: Turn) -> bool:
    """Whether the turn belongs to a phase of the format, so that people read its result there."""
    return turn.act in format_of(debate).phases


def order(debate: Debate, turn: Turn) -> tuple[int, int]:
    """The sort key of a turn: its round and phase. A turn without a phase is last in its round."""
    acts = format_of(debate).phases
    return turn.round, acts.index(turn.act) if turn.act in acts else len(acts)


#: The sort key of a group: the round, and the part of the round.
Group = tuple[int, int]
_FIRST, _SECOND, _FACILITATION, _REST = range(4)
_BEFORE_THE_GATE = frozenset({Act.OPTIONS, Act.BALLOT, Act.GATE})


def turn_group(debate: Debate, turn: Turn) -> Group:
    """The group of a turn."""
    form = format_of(debate)
    if turn.act not in form.phases:
        return turn.round, _REST
    if turn.act is Act.FACILITATION:
        return turn.round, _FACILITATION
    first = gate_after(debate, 0)
    if turn.round == 1 and first and first.ends_rounds:
        return 1, _FIRST if turn.act is form.phases[0] else _SECOND
    if form.name == review.NAME:  # between the two, people answer
        return turn.round, _FIRST if turn.act is Act.REVIEW else _SECOND
    if form.name == council.NAME:
        is_later = form.phases.index(turn.act) > form.phases.index(Act.FORMULATE)
        return turn.round, _SECOND if is_later else _FIRST
    return turn.round, _FIRST


def are_groups_held(debate: Debate) -> bool:
    """Whether all groups are held back because turns may still be added to them.

    So it is until the gate after the drafts has decided about rounds, and in a debate that is cut
    short until the vote is counted or the verdict is there, because running turns may finish.
    """
    if debate.status is not Status.RUNNING:
        return False
    if schedule.is_cut_short(debate):
        return not (debate.tally or debate.verdict)
    if debate.reopened_by or gate_after(debate, 0):
        return False
    turns = schedule.ready(debate)
    is_gate_open = any(turn.round == 0 and turn.act in _BEFORE_THE_GATE for turn in turns)
    return is_gate_open and is_gated(debate)


def is_complete(debate: Debate, agent: str, group: Group) -> bool:
    """Whether no more turns of an agent's group are expected."""
    for turn in format_of(debate).planned_turns(debate, group[0]):
        if turn.agent != agent or debate.is_done(turn) or turn_group(debate, turn) != group:
            continue
        # A critique of a proposal that is refined already is not written any more.
        refined = Turn(act=Act.REFINEMENT, round=turn.round, agent=turn.target or "")
        if turn.act is not Act.CRITIQUE or not debate.is_done(refined):
            return False
    return True


def group_contributions(debate: Debate, turn: Turn) -> Sequence[Contribution]:
    """The contributions that share a post with this turn, in order."""
    group = turn_group(debate, turn)
    return [
        contribution
        for contribution in debate.contributions.values()
        if contribution.turn.agent == turn.agent
        and turn_group(debate, contribution.turn) == group
        and is_shown(contribution)
    ]


def is_shown(contribution: Contribution) -> bool:
    """Whether a contribution is posted. One carried over was posted earlier."""
    return contribution.carried_from is None and ACTS[contribution.turn.act].is_posted


def post_key(debate: Debate, turn: Turn) -> str:
    """The key of the post that shows the contribution of a turn."""
    if not debate.setup.quiet:
        return turn_key(debate.id, turn.key)
    contributions = group_contributions(debate, turn)
    return turn_key(debate.id, contributions[0].turn.key if contributions else turn.key)
