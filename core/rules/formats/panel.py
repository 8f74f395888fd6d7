"""Format `panel`: rounds of one statement per agent; a facilitator chooses the next step.

After each round the facilitator starts another one (with a focus), asks people, or calls the vote.
The first statements are isolated. The last ones are closing statements: each can be read alone, and
the vote is on them. Source of the format: Board of One.
"""

from collections.abc import Sequence

from core.debate.contributions import Contribution
from core.debate.state import Debate
from core.debate.turn import ENGINE, FACILITATOR, Act, Turn
from core.debate.vote import NextStep
from core.request import Part, PartKind, numbered_parts
from core.rules.formats.shown import newest_position
from core.rules.steps import Format, Step, everybody, single

NAME = "panel"
#: The facilitator cannot call the vote before this round is over.
LEAST_ROUNDS = 2
#: The most questions of the facilitator to people.
MOST_QUESTIONS = 2


def _goes_on_to(debate: Debate, turn: Turn) -> bool | None:
    """Whether the turn's round is held, by the facilitator's guidance; None: not known yet."""
    answers = [_goes_on_after(debate, number) for number in range(1, turn.round)]
    if False in answers:
        return False
    return None if None in answers else True


def _goes_on_after(debate: Debate, number: int) -> bool | None:
    """Whether a round follows this one; None: not known yet."""
    turn = facilitation(number)
    guidance = debate.guidance.get(turn.key)
    if _is_called(debate, number - 1):
        return False
    if guidance is None:
        return True if turn.key in debate.failures else None
    if guidance.next_step is NextStep.VOTE:
        return guidance.closing
    if guidance.next_step is not NextStep.ASK or not guidance.question:
        return True
    # The next round begins after people's answers, or at the deadline for them.
    asking = Turn(act=Act.CLARIFICATION, round=number, agent=ENGINE)
    return True if debate.is_done(asking) and not debate.open_cards else None


def _is_moderated(debate: Debate, turn: Turn) -> bool:
    """Whether the facilitator is asked after the turn's round; not after closing statements."""
    return not _is_called(debate, turn.round - 1) and _goes_on_to(debate, turn) is not False


def _is_called(debate: Debate, number: int) -> bool:
    """Whether the facilitator called the vote after this round."""
    guidance = debate.guidance.get(facilitation(number).key)
    return guidance is not None and guidance.next_step is NextStep.VOTE


def _this_round(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    texts = [statement.text for statement in statements(debate, turn.round)]
    parts = numbered_parts(PartKind.POSITION, f"Round {turn.round}, statement", texts)
    lines = list[str]()
    for number in range(1, turn.round):
        if guidance := debate.guidance.get(facilitation(number).key):
            detail = f"Focus: {guidance.focus}"
            if guidance.question:
                detail = f"It asked people: {guidance.question.text}"
            lines.append(f"After round {number}: {guidance.next_step}. {detail}")
    label, text = "What you decided before", "\n".join(lines)
    decisions = Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)
    return [decisions, *parts] if lines else parts


def _focus(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    guidance = debate.guidance.get(facilitation(turn.round - 1).key)
    if not guidance or not guidance.focus:
        return ()
    label, focus = "What the facilitator wants looked at in this round", guidance.focus
    return (Part(kind=PartKind.OTHER, label=label, text=focus, ends_shared=True),)


FORMAT = Format(
    name=NAME,
    words="Panel: short rounds led by a facilitator",
    most_rounds=7,
    steps=(
        Step(
            act=Act.STATEMENT,
            after=(single(Act.FACILITATION, rounds_back=1),),
            only_if=_goes_on_to,
            misses=2,
            isolated=True,
            position=True,
            stance=True,
            # Earlier rounds are in the history, as summaries.
            shows=(_focus, newest_position("Your last statement")),
        ),
        Step(
            act=Act.FACILITATION,
            by=FACILITATOR,
            after=(everybody(Act.STATEMENT),),
            only_if=_is_moderated,
            between_rounds=True,
            shows=(_this_round,),
        ),
    ),
)


def statements(debate: Debate, number: int) -> Sequence[Contribution]:
    return list(FORMAT.contributions(debate, Act.STATEMENT, number).values())


def allowed_steps(debate: Debate, turn: Turn) -> tuple[NextStep, ...]:
    """The steps that the facilitator may choose on this turn; `GO_ON` is always one of them."""
    steps = [NextStep.GO_ON]
    if questions_left(debate):
        steps.append(NextStep.ASK)
    if turn.round >= LEAST_ROUNDS:
        steps.append(NextStep.VOTE)
    return tuple(steps)


def questions_left(debate: Debate) -> int:
    if not debate.setup.clarifying.enabled:
        return 0
    count = sum(1 for guidance in debate.guidance.values() if guidance.question)
    return max(0, MOST_QUESTIONS - count)


def rounds_left(debate: Debate, number: int) -> int:
    return max(0, min(debate.setup.rounds, FORMAT.most_rounds) - number)


def is_closing(debate: Debate, turn: Turn) -> bool:
    """Whether this is the agent's closing statement, on which agents vote.

    It is made in the last possible round, or in the round after the vote was called.
    """
    if turn.act is not Act.STATEMENT or turn.round == 1:
        return False
    return not rounds_left(debate, turn.round) or _is_called(debate, turn.round - 1)


def facilitation(number: int) -> Turn:
    return Turn(act=Act.FACILITATION, round=number, agent=FACILITATOR)
