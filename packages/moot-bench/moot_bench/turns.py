"""Takes the turns of a bench's debates: options are the question's, votes are not judged."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

from core.acts.replies import first_sentence
from core.acts.take import Turns
from core.acts.verdict import best_author
from core.debate.contributions import Failure
from core.debate.log import Event
from core.debate.rules import When
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, OptionsMerged, TurnFailed, VerdictReached
from core.debate.verdict import Verdict, VerdictSource
from core.debate.vote import Options, QuestionKind
from core.errors import CallFailed
from core.rules.formats.registry import format_of
from core.rules.options import current_option, leading
from core.usage import Usage

from moot_bench.tasks import Task, stance_of

#: An answer is written no more often.
MOST_PASSES = 50
_NO_BUDGETS: Mapping[str, int] = {}
_AGAIN = (
    "You have answered this question already; your answer is quoted below. Look for what is wrong "
    "or missing in it, then write the whole answer anew, better, in the form that is asked for."
)
_NO_JUDGE = "This arm of the bench asks no judge: what won the vote stands."


def asks_model(setup: Setup, turn: Turn) -> bool:
    """Whether a model takes the turn in a bench with a judge: `BenchTurns` takes some itself."""
    if turn.act is Act.OPTIONS:
        return False
    return setup.when is not When.NEVER or turn.act not in {Act.SYNTHESIS, Act.CROSS_CHECK}


class Taking(Protocol):
    async def __call__(self, debate: Debate, *, waits: bool) -> Event:
        """The outcome."""
        ...


class BenchTurns:
    def __init__(
        self,
        turns: Turns,
        tasks: Mapping[str, Task],
        *,
        judged: bool = True,
        budgets: Mapping[str, int] = _NO_BUDGETS,
    ) -> None:
        """Tasks, and output tokens that an answer may spend, are by the id of their debate."""
        self._turns = turns
        self._tasks = tasks
        self._judged = judged
        self._budgets = budgets

    async def take(
        self,
        debate: Debate,
        turn: Turn,
        book: Callable[[Usage], None],
        *,
        check_lease: Callable[[], Awaitable[None]],
        waits: bool,
    ) -> Event:
        task, has_judge = self._tasks[debate.id], self._judged
        has_judge = has_judge and debate.setup.when is not When.NEVER
        if turn.act is Act.OPTIONS:
            # The question's own options, and which of them each draft holds best.
            drafts = format_of(debate).drafts(debate)
            leaders = {
                agent: leading(stance_of(draft.text, task)) for agent, draft in drafts.items()
            }
            return OptionsMerged(
                options=Options(
                    turn=turn,
                    question_kind=QuestionKind.CHOICE,
                    items=task.options,
                    stances={agent: option for agent, option in leaders.items() if option},
                )
            )
        if turn.act is Act.SYNTHESIS and not has_judge:
            # The text that won the vote, or the only one.
            best = best_author(debate)
            text = format_of(debate).positions(debate)[best].text
            return VerdictReached(
                verdict=Verdict(
                    decision=first_sentence(text),
                    option=current_option(debate, best),
                    solution=text,
                    confidence=None,
                    source=VerdictSource.WINNER,
                    warnings=(_NO_JUDGE,),
                ),
                edition=debate.edition,
            )
        if turn.act is Act.CROSS_CHECK and not has_judge:
            return TurnFailed(failure=Failure(turn=turn, reason=_NO_JUDGE, usage=Usage()))
        take = partial(self._turns.take, turn=turn, book=book, check_lease=check_lease)
        return await _within(self._budgets.get(debate.id, 0), debate, take, waits=waits)


async def _within(budget: int, debate: Debate, take: Taking, *, waits: bool) -> Event:
    """The turn, written anew until its answer has used so many output tokens; 0: once.

    The next one is written where it ends nearer to them than without it.
    """
    event, used, context = await take(debate, waits=waits), Usage(), debate.setup.context
    for _ in range(MOST_PASSES if budget else 0):
        if not isinstance(event, ContributionMade) or not (call := event.contribution.call):
            break
        used += call.usage
        contribution = event.contribution.model_copy(update={"call": replace(call, usage=used)})
        event = ContributionMade(contribution=contribution)
        if used.output_tokens + call.usage.output_tokens / 2 > budget:
            break
        # The answer so far stands in the context: the prompt stays that of all arms.
        text = "\n\n".join(filter(None, (context, _AGAIN, contribution.text)))
        again = debate.replace(setup=debate.setup.model_copy(update={"context": text}))
        try:
            event = await take(again, waits=False)
        except CallFailed as error:  # the answer before it stands
            spent = replace(call, usage=used + error.usage)
            return ContributionMade(contribution=contribution.model_copy(update={"call": spent}))
    return event
