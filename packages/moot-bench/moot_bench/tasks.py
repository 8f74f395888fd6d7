"""Questions with a known answer: what a task is, and what an arm is asked (pure).

Three kinds: a choice among options with a known better one, a forecast (yes or no) that has been
resolved, and a decision whose outcome is known, with the reasons that were named afterwards.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from random import Random

from core.debate.vote import Option
from core.rules.options import OptionList, read_stance
from core.values import Value
from pydantic import Field, model_validator

YES, NO = "yes", "no"
#: More cannot be told apart by their ids in a ballot.
MOST_OPTIONS = 20


class TaskKind(StrEnum):
    """What is known of the answer."""

    CHOICE = "choice"
    FORECAST = "forecast"
    #: How it went is known, and why.
    DECISION = "decision"


class Task(Value):
    """A question and its known answer."""

    id: str = Field(min_length=1)
    kind: TaskKind = TaskKind.CHOICE
    question: str = Field(min_length=1)
    context: str = ""
    #: What may be chosen, in the order it is shown.
    options: tuple[Option, ...] = Field(min_length=2, max_length=MOST_OPTIONS)
    #: Id of the right one.
    answer: str
    #: Why it is, as it turned out: never shown to an agent.
    reasons: tuple[str, ...] = ()
    #: What it is about: "technical", "people", "money".
    area: str = ""

    @model_validator(mode="after")
    def _is_answerable(self) -> "Task":
        if self.answer not in {option.id for option in self.options}:
            raise ValueError("the answer is none of the options")
        if len({option.name for option in self.options}) < len(self.options):
            raise ValueError("two options are the same")
        return self


def a_task(  # noqa: PLR0913 - one per field of a file
    *,
    identity: str,
    question: str,
    options: Sequence[str],
    answer: str,
    kind: TaskKind = TaskKind.CHOICE,
    context: str = "",
    reasons: Sequence[str] = (),
    area: str = "",
) -> Task:
    """The task with its options in an order that tells nothing, the same one for an identity.

    Yes and no stay in their order. `answer` is one of the options, word for word.

    Raises:
        ValueError: It cannot be used; says why.
    """
    texts = list(options)
    if texts != [YES, NO]:
        Random(identity).shuffle(texts)  # noqa: S311 - no secret: the same order every time
    items = tuple(Option(id=f"o{at}", name=name) for at, name in enumerate(texts, start=1))
    right = next((item.id for item in items if item.name == answer), "")
    return Task(
        id=identity,
        kind=kind,
        question=question,
        context=context,
        options=items,
        answer=right,
        reasons=tuple(reasons),
        area=area,
    )


def task_prompt(task: Task) -> str:
    """The question as every arm is asked it, with its options and how to state probabilities."""
    options = "\n".join(f"- {option.id}: {option.name}" for option in task.options)
    example = f"Stance: {task.options[0].id} 70 %, {task.options[1].id} 30 %"
    return (
        f"{task.question}\n\nThese are the options; choose one of them and no other:\n{options}\n\n"
        "End your answer with one line that says for every option how likely it is the right one, "
        f'in percent, 100 together, in this form: "{example}".'
    )


def stance_of(draft: str, task: Task) -> Mapping[str, float]:
    """The probabilities by option id that an answer states in its last lines; empty: none."""
    options = OptionList(items=task.options)
    return options.probabilities(read_stance(draft, options).known)
