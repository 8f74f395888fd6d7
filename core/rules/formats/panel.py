"""Format `panel`: rounds of one statement per agent; a facilitator says what comes next.

After each round the facilitator goes on (with a focus for the next round), asks people, or calls
the vote. The first statements are made in isolation; the last ones close, can be read alone, and
are what is voted on. Source of the format: Board of One.
"""

from collections.abc import Mapping, Sequence

from core.models import ENGINE, FACILITATOR, Act, Contribution, Debate, NextStep, Turn
from core.request import Part, PartKind, numbered
from core.rules.formats.clarifying import answered
from core.rules.formats.outcomes import outcome_keys
from core.rules.formats.presence import awaited

NAME = "panel"
PHASES: tuple[Act, ...] = (Act.STATEMENT, Act.FACILITATION)
STANCE_ACT = Act.STATEMENT
ENDS_ITSELF = True
COMPARES_DRAFTS = True
#: A panel never takes more rounds than this.
MOST_ROUNDS = 7
#: The facilitator cannot call the vote before this many rounds.
LEAST_ROUNDS = 2
#: The facilitator never asks people more than this.
MOST_QUESTIONS = 2


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Turns whose inputs exist and which have no outcome yet."""
    if not rounds:
        first = (_statement(1, agent) for agent in alive(debate))
        return tuple(turn for turn in first if not debate.is_done(turn))
    turns, most = list[Turn](), min(rounds, MOST_ROUNDS)
    for number in range(1, most + 1):
        if number > 1 and not _goes_on_after(debate, number - 1):
            break
        turns += [_statement(number, agent) for agent in alive(debate)]
        is_last = number >= most or _is_called(debate, number - 1)
        heard = [_statement(number, agent) for agent in awaited(debate, alive(debate))]
        if not is_last and all(debate.is_done(turn) for turn in heard):
            turns.append(facilitation(number))
    return tuple(turn for turn in turns if not debate.is_done(turn))


def planned(debate: Debate, number: int) -> Sequence[Turn]:
    """Every turn of a round, as far as can be foreseen."""
    if number > MOST_ROUNDS or _is_over_before(debate, number):
        return ()
    statements = [_statement(number, agent) for agent in alive(debate)]
    is_last = not rounds_left(debate, number) or _is_called(debate, number - 1)
    return statements if is_last else [*statements, facilitation(number)]


def alive(debate: Debate) -> Sequence[str]:
    """Ids of agents that can still speak: two statements missed in a row, and an agent is out.

    So is one whose provider refuses the key.
    """
    able: list[str] = []
    for agent in (one.id for one in debate.setup.agents if one.id not in debate.refused):
        failed = (failure.turn for failure in debate.failures.values())
        missed = {turn.round for turn in failed if turn == _statement(turn.round, agent)}
        # Without a first statement there is nothing to go on with.
        if 1 not in missed and not any(number + 1 in missed for number in missed):
            able.append(agent)
    return tuple(able)


def positions(debate: Debate, upto: int | None = None) -> Mapping[str, Contribution]:
    """The newest statement of every agent that made one, up to a round, in roster order."""
    newest: dict[str, Contribution] = {}
    for made in debate.contributions.values():
        if made.turn.act is Act.STATEMENT and (upto is None or made.turn.round <= upto):
            newest[made.turn.agent] = made
    return {agent.id: newest[agent.id] for agent in debate.setup.agents if agent.id in newest}


def drafts(debate: Debate) -> Mapping[str, Contribution]:
    """The positions taken in isolation; empty while one can still come."""
    turns = {agent.id: _statement(1, agent.id) for agent in debate.setup.agents}
    if not all(debate.is_done(turns[agent]) for agent in awaited(debate, tuple(turns))):
        return {}
    made = {agent: debate.contributions.get(turn.key) for agent, turn in turns.items()}
    return {agent: draft for agent, draft in made.items() if draft}


def carried_over(debate: Debate, turn: Turn) -> Contribution | None:
    """Nothing is carried over."""
    del debate, turn


def sees(debate: Debate, turn: Turn) -> Sequence[Part]:
    """The facilitator sees this round; an agent its own last statement and the focus."""
    if turn.act is Act.FACILITATION:
        said = [made.text for made in statements(debate, turn.round)]
        shown = numbered(PartKind.POSITION, f"Round {turn.round}, statement", said)
        earlier = [(n, debate.guidance.get(facilitation(n).key)) for n in range(1, turn.round)]
        decided = "\n".join(
            f"After round {n}: {one.next_step}. "
            + (f"It asked people: {one.question.text}" if one.question else f"Focus: {one.focus}")
            for n, one in earlier
            if one
        )
        if not decided:
            return shown
        label = "What you decided before"
        return [Part(kind=PartKind.OWN, label=label, text=decided, trim_priority=1), *shown]
    if turn.act is Act.BALLOT:
        return ()  # what was said before is shown in short, by the history
    parts: list[Part] = []
    guidance = debate.guidance.get(facilitation(turn.round - 1).key)
    if guidance and guidance.focus:
        label, focus = "What the facilitator wants looked at in this round", guidance.focus
        parts.append(Part(kind=PartKind.OTHER, label=label, text=focus, ends_shared=True))
    if own := debate.text_of(Act.STATEMENT, turn.round - 1, turn.agent):
        label = "Your last statement"
        parts.append(Part(kind=PartKind.OWN, label=label, text=own, trim_priority=1))
    return parts


def needs(debate: Debate, turn: Turn) -> Sequence[str]:
    """Keys of the outcomes this turn waits for."""
    if turn.act is Act.FACILITATION:
        said = (_statement(turn.round, agent.id) for agent in debate.setup.agents)
        return outcome_keys(debate, said, alive(debate))
    if turn.round == 1:
        return ()
    guided = facilitation(turn.round - 1)
    guidance = debate.guidance.get(guided.key)
    if not guidance or not guidance.question:
        return (guided.key,)
    # People's answer, too.
    opened = Turn(act=Act.CLARIFICATION, round=guided.round, agent=ENGINE)
    return (guided.key, opened.key, *answered(debate, opened))


def longest_chain(rounds: int) -> int:
    """A statement and a facilitation per round; the last round needs no facilitator."""
    return 2 * min(rounds, MOST_ROUNDS) - 1


def statements(debate: Debate, number: int) -> Sequence[Contribution]:
    """What was said in that round, in roster order."""
    keys = (_statement(number, agent.id).key for agent in debate.setup.agents)
    return [debate.contributions[key] for key in keys if key in debate.contributions]


def steps_open(debate: Debate, turn: Turn) -> tuple[NextStep, ...]:
    """What the facilitator may decide on this turn; to go on is always open to it."""
    steps = [NextStep.GO_ON]
    if questions_left(debate):
        steps.append(NextStep.ASK)
    if turn.round >= LEAST_ROUNDS:
        steps.append(NextStep.VOTE)
    return tuple(steps)


def questions_left(debate: Debate) -> int:
    """How many more questions the facilitator may put to people."""
    if not debate.setup.clarifying.enabled:
        return 0
    asked = sum(1 for guidance in debate.guidance.values() if guidance.question)
    return max(0, MOST_QUESTIONS - asked)


def rounds_left(debate: Debate, number: int) -> int:
    """How many rounds can follow that one."""
    return max(0, min(debate.setup.rounds, MOST_ROUNDS) - number)


def is_closing(debate: Debate, turn: Turn) -> bool:
    """Whether this is the agent's last statement, which is what is voted on.

    It is in the last round that there can be, and in the one that follows the call for the vote.
    """
    if turn.act is not Act.STATEMENT or turn.round == 1:
        return False
    return not rounds_left(debate, turn.round) or _is_called(debate, turn.round - 1)


def facilitation(number: int) -> Turn:
    """The facilitator's turn after that round."""
    return Turn(act=Act.FACILITATION, round=number, agent=FACILITATOR)


def _goes_on_after(debate: Debate, number: int) -> bool:
    """Whether the facilitator lets another round follow; one that failed does not stand in it."""
    turn = facilitation(number)
    guidance = debate.guidance.get(turn.key)
    if guidance is None:
        return turn.key in debate.failures
    if guidance.next_step is NextStep.VOTE:
        return guidance.closing
    if _is_called(debate, number - 1):
        return False
    if guidance.next_step is not NextStep.ASK or not guidance.question:
        return True
    # People's answer is not waited for any more.
    opened = Turn(act=Act.CLARIFICATION, round=guidance.turn.round, agent=ENGINE)
    return debate.is_done(opened) and not debate.open_clarifications


def _is_over_before(debate: Debate, number: int) -> bool:
    """Whether the vote was called before that round, and it is not the one of closing words."""
    for earlier in range(1, number):
        found = debate.guidance.get(facilitation(earlier).key)
        if found and found.next_step is NextStep.VOTE:
            return not found.closing or earlier < number - 1
    return False


def _is_called(debate: Debate, number: int) -> bool:
    """Whether the facilitator called the vote after that round."""
    guidance = debate.guidance.get(facilitation(number).key)
    return guidance is not None and guidance.next_step is NextStep.VOTE


def _statement(number: int, agent: str) -> Turn:
    return Turn(act=Act.STATEMENT, round=number, agent=agent)
