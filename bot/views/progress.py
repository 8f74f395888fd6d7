"""How far a debate has come, and which turns people read in one post (pure).

A group is an agent's turns of a round, and is one post. A draft waits for the round that it opens;
where no round follows, it is a group of its own. The council's one round has two: what leads to a
position, and what comes of it; a review's has two as well: the review and the second look.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.slack.blocks import PLAN, Block
from bot.slack.ids import turn_key
from core.acts.act import ACTS
from core.debate.contributions import Contribution
from core.debate.rules import Ending
from core.debate.state import Debate, Status, cached_per_debate
from core.debate.turn import BESIDE, Act, Turn
from core.figures import percent, quantity
from core.rules import schedule
from core.rules.formats import clarifying, council, review
from core.rules.formats.registry import format_of
from core.rules.gate import closing_gate, gate_after, is_gated, votes_blind


@dataclass(frozen=True)
class Progress:
    """Turns with an outcome and turns that may still come, vote and decision included."""

    done: int
    total: int

    @property
    def words(self) -> str:
        return f"{percent(self.done / self.total)} done" if self.done else "just begun"


def plan(debate: Debate) -> Block:
    """The way of a running debate as Slack's plan: its steps, the one under way marked."""
    reached = progress(debate)
    return {
        "block_id": f"{PLAN}{reached.done}/{reached.total}",
        "tasks": list(_tasks(debate)),
        "title": f"{stage(debate)} · {reached.words}",
        "type": "plan",
    }


def _tasks(debate: Debate) -> Iterator[Block]:
    """The steps of a running debate, in order: questions, rounds, the vote, the decision."""
    waits = debate.paused_by or debate.outage
    now = frozenset[Turn]() if waits else frozenset(schedule.ready(debate))
    asking = clarifying.ready(debate)
    if debate.setup.clarifying.enabled:
        is_running = asking is not None and not waits
        yield _task("Questions", int(asking is None), 1, is_running=is_running)
    for title, turns in _way(debate).items():
        count = sum(map(debate.is_done, turns))
        is_running = asking is None and not now.isdisjoint(turns)
        yield _task(title, count, len(turns), is_running=is_running)
    judging = any(turn.act in {Act.CROSS_CHECK, Act.SYNTHESIS} for turn in now)
    yield _task("Decision", int(debate.verdict is not None), 1, is_running=judging)


def _task(title: str, done: int, total: int, *, is_running: bool) -> Block:
    """A step, of whose turns, as far as can be foreseen, so many have an outcome."""
    status = "in_progress" if is_running else "complete" if done >= total else "pending"
    text = title
    if done and total > 1:
        turns = quantity(total, "turn")
        text += f": {turns}" if done == total else f": {done} of {turns}"
    return {"status": status, "task_id": title, "title": text, "type": "task_card"}


@cached_per_debate
def progress(debate: Debate) -> Progress:
    """Turns done and in total. Turns of failed agents do not count."""
    count = len(_finished_turns(debate)) + (debate.verdict is not None)
    if debate.status is not Status.RUNNING:
        return Progress(max(count, 1), max(count, 1))
    turns = [turn for step in _way(debate).values() for turn in step]
    to_come = sum(not debate.is_done(turn) for turn in turns) + (debate.verdict is None)
    return Progress(count, max(count + to_come, 1))


@cached_per_debate
def _way(debate: Debate) -> Mapping[str, Sequence[Turn]]:
    """Rounds and vote, with the turns taken and those foreseen."""
    is_cut = schedule.is_cut_short(debate)
    rounds = schedule.rounds_open(debate) if is_cut else rounds_foreseen(debate)
    titles = [f"Round {number}" for number in range(1, rounds + 1)] or ["First answers"]
    parts = {title: list[Turn]() for title in (*titles, "Vote")}
    for turn in dict.fromkeys((*_finished_turns(debate), *_foreseen(debate, rounds))):
        if turn.act is Act.BALLOT and (turn.round or not rounds):
            parts["Vote"].append(turn)
        elif turn.act is Act.BALLOT or is_read(debate, turn):
            # Blind ballots are about the answers of the first round.
            parts[titles[min(max(turn.round, 1), len(titles)) - 1]].append(turn)
    return parts


def _finished_turns(debate: Debate) -> Sequence[Turn]:
    outcomes = (debate.contributions, debate.failures, debate.ballots, debate.abstentions)
    return [outcome.turn for group in outcomes for outcome in group.values()]


def _foreseen(debate: Debate, rounds: int) -> Iterator[Turn]:
    """Turns of the rounds that may follow, and the ballots of all who can vote."""
    is_cut, form = schedule.is_cut_short(debate), format_of(debate)
    for number in () if is_cut else range(1, rounds + 1):
        yield from form.planned_turns(debate, number)
    if debate.stop or debate.tally:
        return
    for number in (*([0] if votes_blind(debate) and not is_cut else []), rounds):
        for voter in form.alive(debate):
            yield Turn(act=Act.BALLOT, round=number, agent=voter)


def rounds_foreseen(debate: Debate) -> int:
    """How many rounds there may be: all that were asked for, until it is known that none follows.

    While it is not known whether any is held, all are foreseen.
    """
    if closing_gate(debate) or debate.tally or format_of(debate).ends_itself:
        first = gate_after(debate, 0)
        if first or debate.reopened_by or not is_gated(debate):
            return schedule.rounds_open(debate)
    return debate.setup.rounds


@cached_per_debate
def stage(debate: Debate) -> str:
    """Round and phase in words: "Round 1 of 3 · critiques"."""
    if debate.paused_by:
        return "Paused"
    # Summaries are made beside everything else.
    turns = [turn for turn in schedule.ready(debate) if turn.act not in BESIDE]
    spoken = [turn for turn in turns if is_read(debate, turn)]
    if spoken:
        first = min(spoken, key=lambda turn: order(debate, turn))
        # First answers are given before it is known whether any round is held.
        if is_gated(debate) and not (debate.gates or debate.reopened_by):
            return f"First answers · {first.act.phase}"
        rounds = rounds_foreseen(debate)
        converges = debate.setup.termination.ending is Ending.CONVERGED
        may_end_early = converges or format_of(debate).ends_itself
        most = "at most " if rounds > first.round and may_end_early else ""
        return f"Round {first.round} of {most}{rounds} · {first.act.phase}"
    if turns:
        return turns[0].act.phase.capitalize()
    return "Waiting for answers" if debate.waits_for_answers else "Finishing"


def is_read(debate: Debate, turn: Turn) -> bool:
    """Whether people read what comes of the turn, in the place of its phase."""
    return turn.act in format_of(debate).phases


def order(debate: Debate, turn: Turn) -> tuple[int, int]:
    """Where a turn's phase stands among all phases of the debate; what has none ends its round."""
    acts = format_of(debate).phases
    return turn.round, acts.index(turn.act) if turn.act in acts else len(acts)


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
    if debate.reopened_by or gate_after(debate, 0):
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
