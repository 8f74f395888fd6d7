"""Recorded answers as questions, and as models that give them without a key: JSON Lines (pure).

A line holds `question`, `model`, `phase` ("first" before the models read each other, "second"
after), `probability` (of yes, 0 to 1) and, at least once for each question, `answer` or `outcome`.
A set may hold first answers only.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from core.debate.agents import ModelChoice
from core.debate.turn import Act
from core.errors import BadInput, RequestRejected
from core.request import ModelReply, ModelRequest, PartKind
from core.usage import Usage

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


#: By these words a voter sees that it is shown second answers.
_HEADS = {FIRST: "First answer, as recorded.", SECOND: "Second answer, as recorded."}


class ReplayProvider:
    """A `ModelProvider` over recorded answers. It costs nothing."""

    name = REPLAY

    def __init__(self, recorded: Answers) -> None:
        self._recorded = recorded

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        match request.act:
            case Act.PROPOSAL:
                text = self._said(request, FIRST)
            case Act.REFINEMENT:
                text = self._said(request, SECOND)
            case Act.BALLOT:
                parts = [part for part in request.parts if part.kind is PartKind.CANDIDATE]
                is_late = any(_HEADS[SECOND] in part.text for part in parts)
                yes = round(self._share(request, SECOND if is_late else FIRST) * 100, 1)
                labels = [part.label for part in parts]
                ballot = {
                    "reasons": [f"{label}: as recorded." for label in labels],
                    "ranking": labels,
                    "probabilities": [yes, round(100 - yes, 1)],
                    "moved_by": "none",
                }
                text = json.dumps(ballot)
            case _:
                text = "Nothing else was recorded."
        on_first_token()
        usage = Usage(cost=Decimal(0), attempts=1)
        return ModelReply(text=text, usage=usage, model=request.model)

    async def close(self) -> None:
        """Nothing is held open."""

    def _said(self, request: ModelRequest, phase: str) -> str:
        yes = round(self._share(request, phase) * 100, 1)
        stance = f"Stance: o1 {yes} %, o2 {round(100 - yes, 1)} %"
        return f"**{'Yes' if yes > 50 else 'No'}.** {_HEADS[phase]}\n\n{stance}"  # noqa: PLR2004 - half

    def _share(self, request: ModelRequest, phase: str) -> float:
        question = next(part.text for part in request.parts if part.kind is PartKind.QUESTION)
        shares = self._recorded.get((question, request.model), {})
        if phase not in shares:
            raise RequestRejected(f"No {phase} answer of {request.model} was recorded.")
        return shares[phase]
