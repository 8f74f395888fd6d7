"""Recorded answers as questions and what models said: JSON Lines (pure).

A line holds `question`, `model`, `phase` ("first" before the models read each other, "second"
after), `probability` (of yes, 0 to 1) and, at least once for each question, `answer` or `outcome`.
A set may hold first answers only.
"""

from collections.abc import Mapping, Sequence

from core.debate.agents import ModelChoice
from core.errors import BadInput

from moot_bench.reading import rows_of
from moot_bench.tasks import NO, YES, Task, TaskKind, a_task, task_prompt

#: The provider that gives recorded answers.
REPLAY = "replay"
FIRST, SECOND = "first", "second"
_PHASES = frozenset({FIRST, SECOND})
#: How a file says that yes was right; a CSV file has words only.
_TRUE = frozenset({"true", "yes", "1", "1.0"})

#: Probabilities of yes by phase, by the question as it is asked and the model.
Answers = Mapping[tuple[str, str], Mapping[str, float]]


def recorded_answers(text: str, name: str) -> tuple[Sequence[Task], Answers, Sequence[ModelChoice]]:
    """The questions that every model answered in all phases there are, answers, and models.

    Raises:
        BadInput: A line cannot be used, or no question is left.
    """
    shares: dict[tuple[str, str], dict[str, float]] = {}
    truths: dict[str, bool] = {}
    for at, row in enumerate(rows_of(text, name), start=1):
        try:
            question, model, phase = (str(row[key]) for key in ("question", "model", "phase"))
            share = float(row["probability"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{name}, record {at}: {error} cannot be used.") from None
        if phase not in _PHASES or not 0 <= share <= 1:
            raise BadInput(
                f"{name}, record {at}: the phase is first or second, the probability from 0 to 1."
            )
        shares.setdefault((question, model), {})[phase] = share
        if (truth := row.get("answer", row.get("outcome"))) not in (None, ""):
            truths[question] = str(truth).strip().lower() in _TRUE
    models = list(dict.fromkeys(model for _, model in shares))
    phases = {phase for by_phase in shares.values() for phase in by_phase}
    whole = [
        question
        for question in dict.fromkeys(question for question, _ in shares)
        if question in truths
        and all(shares.get((question, model), {}).keys() == phases for model in models)
    ]
    if not whole:
        raise BadInput(f"{name} holds no question with an answer and all phases of every model.")
    tasks = {
        question: a_task(
            identity=question,
            question=question,
            options=(YES, NO),
            answer=YES if truths[question] else NO,
            kind=TaskKind.FORECAST,
        )
        for question in whole
    }
    answers = {
        (task_prompt(tasks[question]), model): by_phase
        for (question, model), by_phase in shares.items()
        if question in tasks
    }
    return list(tasks.values()), answers, [ModelChoice(provider=REPLAY, model=m) for m in models]
