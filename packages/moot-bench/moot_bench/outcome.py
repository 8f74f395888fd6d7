"""What an arm answered, read from its debate's log (pure)."""

from collections.abc import Mapping, Sequence

from core.debate.debate_events import CallsDropped
from core.debate.log import RecordedEvent, spent_by
from core.debate.state import Debate, Status
from core.debate.verdict import VerdictSource
from core.rules.options import held_by, leading, options_of
from core.rules.schedule import rounds_held
from core.rules.voting import winning_options
from core.usage import Usage

from moot_bench.arms import Arm
from moot_bench.comparison import ArmKind
from moot_bench.scores import ArmAnswer
from moot_bench.tasks import Task, stance_of

#: How the origin of what a killed process may have spent begins.
PRESUMED = "presumed/"


def is_answer(debate: Debate) -> bool:
    """Whether the debate ended as it was meant to: not for want of money, models or time."""
    spoilt = debate.out_of_money or debate.out_of_time or debate.out_of_patience or debate.stop
    return debate.status is Status.CONCLUDED and not spoilt


def answer_of(log: Sequence[RecordedEvent], debate: Debate, arm: Arm, task: Task) -> ArmAnswer:
    """What came of one arm and one question; a question that nobody answers is answered wrongly."""
    drafts = list(debate.contributions.values())
    tally, verdict = debate.tally, debate.verdict
    shares: Mapping[str, float] = {}
    if tally is None and drafts:  # one draft alone: there was nothing to vote on
        shares = stance_of(drafts[0].text, task)
    elif tally:
        shares = {score.option: score.mean_probability for score in tally.options}
    best = [option for option, share in shares.items() if share == max(shares.values())]
    choice = tuple(best) if tally is None else winning_options(tally.options)
    judged = verdict is not None and verdict.source is not VerdictSource.WINNER
    if verdict and judged and arm.form.kind is ArmKind.DEBATE:
        choice = (options_of(debate).resolve(verdict.option),)
    even = {option.id: 1 / len(task.options) for option in task.options}
    # What it cost, without what is only presumed of calls that a kill cut off.
    events = [entry.event for entry in log]
    real = [
        event
        for event in events
        if not (isinstance(event, CallsDropped) and event.origin.startswith(PRESUMED))
    ]
    cost = sum((spent_by(event) for event in real), start=Usage()).cost
    # First and last choice of everybody who voted before a debate; none where none was held.
    if not rounds_held(debate):
        sides = ()
    else:
        options = options_of(debate)
        first = {b.voter: b.probabilities for b in debate.ballots.values() if not b.turn.round}
        sides = tuple(
            (leading(options.probabilities(shares)), leading(held_by(debate, voter)))
            for voter, shares in first.items()
        )
    return ArmAnswer(
        arm=arm.name,
        question=task.id,
        truth=task.answer,
        probabilities=shares or even,
        chosen=tuple(label for label in choice if label),
        cost=cost,
        is_read=bool(shares),
        sides=sides,
    )


def text_of(debate: Debate) -> str:
    """What the debate answered, all of it: the verdict's parts, or the text that won the vote."""
    verdict = debate.verdict
    if verdict is None:
        return next((contribution.text for contribution in debate.contributions.values()), "")
    if verdict.source is VerdictSource.WINNER:
        return verdict.solution
    lists = (verdict.tradeoffs, (verdict.dissent,), verdict.overturned_by)
    parts = (verdict.decision, *verdict.reasons, verdict.solution, verdict.implementation)
    texts = [*parts, *(item for items in lists for item in items)]
    return "\n\n".join(filter(str.strip, texts))


def reasons_of(debate: Debate) -> str:
    """Where later-named reasons are looked for: a verdict's reasons, risks, dissent, overturners.

    In drafts, which have no such parts, anywhere.
    """
    verdict = debate.verdict
    if verdict is None or verdict.source is VerdictSource.WINNER:
        return text_of(debate)
    lists = (*verdict.reasons, *verdict.tradeoffs, verdict.dissent, *verdict.overturned_by)
    return "\n".join(filter(str.strip, lists))
