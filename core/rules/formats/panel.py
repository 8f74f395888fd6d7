"""Format `panel`: rounds of one statement per agent; a facilitator says what comes next.

After each round the facilitator goes on (with a focus for the next round), asks people, or calls
the vote. The first statements are made in isolation; the last ones close, can be read alone, and
are what is voted on. Source of the format: Board of One.
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
#: The facilitator cannot call the vote before this many rounds.
LEAST_ROUNDS = 2
#: The facilitator never asks people more than this.
MOST_QUESTIONS = 2


def _goes_on_to(debate: Debate, turn: Turn) -> bool | None:
    """Whether that round is held, by the facilitator's guidance so far; None: not known yet."""
    answers = [_goes_on_after(debate, number) for number in range(1, turn.round)]
    if False in answers:
        return False
    return None if None in answers else True


def _goes_on_after(debate: Debate, number: int) -> bool | None:
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
    # People's answer is not waited for any more.
    put = Turn(act=Act.CLARIFICATION, round=number, agent=ENGINE)
    return True if debate.is_done(put) and not debate.open_cards else None


def _is_moderated(debate: Debate, turn: Turn) -> bool:
    return not _is_called(debate, turn.round - 1) and _goes_on_to(debate, turn) is not False


def _is_called(debate: Debate, number: int) -> bool:
    guidance = debate.guidance.get(facilitation(number).key)
    return guidance is not None and guidance.next_step is NextStep.VOTE


def _this_round(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    texts = [statement.text for statement in statements(debate, turn.round)]
    parts = numbered_parts(PartKind.POSITION, f"Round {turn.round}, statement", texts)
    lines = list[str]()
    for number in range(1, turn.round):
        if guidance := debate.guidance.get(facilitation(number).key):
            asked = guidance.question
            what = f"It asked people: {asked.text}" if asked else f"Focus: {guidance.focus}"
            lines.append(f"After round {number}: {guidance.next_step}. {what}")
    label, text = "What you decided before", "\n".join(lines)
    own = Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)
    return [own, *parts] if lines else parts


def _focus(_form: Format, debate: Debate, turn: Turn) -> Sequence[Part]:
    guidance = debate.guidance.get(facilitation(turn.round - 1).key)
    if not guidance or not guidance.focus:
        return ()
    label, focus = "What the facilitator wants looked at in this round", guidance.focus
    return (Part(kind=PartKind.OTHER, label=label, text=focus, ends_shared=True),)


FORMAT = Format(
    name=NAME,
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
            # What was said before is shown to voters in short, by the history.
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
    """What the facilitator may decide on this turn; to go on is always open to it."""
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
    """Whether this is the agent's last statement, which is what is voted on.

    It is in the last round that there can be, and in the one that follows the call for the vote.
    """
    if turn.act is not Act.STATEMENT or turn.round == 1:
        return False
    return not rounds_left(debate, turn.round) or _is_called(debate, turn.round - 1)


def facilitation(number: int) -> Turn:
    return Turn(act=Act.FACILITATION, round=number, agent=FACILITATOR)
