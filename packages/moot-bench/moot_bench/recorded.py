"""Recorded answers as questions, and as models that give them without a key: JSON Lines (pure).

A line holds `question`, `model`, `phase` ("first" before the models read each other, "second"
after), `probability` (of yes, 0 to 1) and, at least once for each question, `answer` or `outcome`.
A set may hold first answers only. Whoever has such answers of a team's models sees what Moot's
rules for confidence and gate are worth for it: whether the stated confidence is right as often as
it says, and how much of a debate's gain is kept where only the gate's questions are debated.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import log
from statistics import fmean

from core.debate.agents import ModelChoice
from core.debate.turn import Act
from core.errors import BadInput, RequestRejected
from core.figures import percent, quantity, score
from core.request import ModelReply, ModelRequest, PartKind
from core.rules.agreement import GAP_FROM, MOVED_FROM, Probabilities, agreement, mean, spread_of
from core.rules.confidence import BANDS, LEAST_BALLOTS, Confidence, from_ballots
from core.rules.options import leading
from core.transcript.words import bullets, table
from core.usage import Usage

from moot_bench.comparison import LEAST_QUESTIONS, paired_bootstrap
from moot_bench.scores import LEAST_PROBABILITY, share_interval
from moot_bench.tasks import NO, YES, Task, TaskKind, a_task, rows_of, task_prompt

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
    for number, row in enumerate(rows_of(text, name), start=1):
        try:
            question, model, phase = (str(row[key]) for key in ("question", "model", "phase"))
            share = float(row["probability"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{name}, record {number}: {error} cannot be used.") from None
        if phase not in _PHASES or not 0 <= share <= 1:
            raise BadInput(
                f"{name}, record {number}: the phase is first or second, the probability from 0 to "
                "1."
            )
        shares.setdefault((question, model), {})[phase] = share
        if (truth := row.get("answer", row.get("outcome"))) not in (None, ""):
            truths[question] = str(truth).strip().lower() in _TRUE
    models = list(dict.fromkeys(model for _, model in shares))
    phases = {phase for by_phase in shares.values() for phase in by_phase}
    complete_questions = [
        question
        for question in dict.fromkeys(question for question, _ in shares)
        if question in truths
        and all(shares.get((question, model), {}).keys() == phases for model in models)
    ]
    if not complete_questions:
        raise BadInput(f"{name} holds no question with an answer and all phases of every model.")
    tasks = {
        question: a_task(
            identity=question,
            question=question,
            options=(YES, NO),
            answer=YES if truths[question] else NO,
            kind=TaskKind.FORECAST,
        )
        for question in complete_questions
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


#: Bins of equal width in which figures are held against how often they were right.
_BINS = 10
#: A vote in three or more can hang on one.
_LEAST_TO_HANG = 3


@dataclass(frozen=True, kw_only=True)
class ReplayedQuestion:
    """One question with the answers of all models; options are `YES` and `NO`."""

    truth: str
    first: Mapping[str, Probabilities]
    #: After they read each other; empty: that was not recorded.
    second: Mapping[str, Probabilities]

    @property
    def last(self) -> Mapping[str, Probabilities]:
        """What the models held in the end."""
        return self.second or self.first

    @property
    def choice(self) -> str:
        """The option that leads in the end; empty: they are level."""
        return leading(mean(self.last, {}))


def replayed_questions(
    tasks: Sequence[Task], answers: Answers, models: Sequence[str]
) -> Sequence[ReplayedQuestion]:
    def votes_of(task: Task, phase: str) -> Mapping[str, Probabilities]:
        shares = {model: answers[task_prompt(task), model].get(phase) for model in models}
        return {m: {YES: yes, NO: 1 - yes} for m, yes in shares.items() if yes is not None}

    ids = {task.id: {option.id: option.name for option in task.options} for task in tasks}
    return [
        ReplayedQuestion(
            truth=YES if ids[task.id][task.answer] == YES else NO,
            first=votes_of(task, FIRST),
            second=votes_of(task, SECOND),
        )
        for task in tasks
    ]


def rules_report(questions: Sequence[ReplayedQuestion]) -> str:
    parts = ["## Confidence, replayed", *_confidence(questions)]
    debated = [question for question in questions if question.second]
    if debated:
        parts += ["## Gate, replayed", _gates(debated), _debate_words(debated)]
    return "\n\n".join([*parts, bullets(_single_voters(questions))])


def _confidence(questions: Sequence[ReplayedQuestion]) -> Sequence[str]:
    """What figures for the chosen side are worth, and how often each word was right."""
    voted = [question for question in questions if len(question.last) >= LEAST_BALLOTS]
    if not voted:
        return [f"Moot gives no figure for fewer than {LEAST_BALLOTS} ballots."]
    decided = [question for question in voted if question.choice]
    hits = [question.truth == question.choice for question in decided]
    if not hits:
        return ["The models were level on every question."]
    means = [mean(question.last, {})[question.choice] for question in decided]
    verdicts = [_figure(question) for question in decided]
    figures = [(verdict.percent or 0) / 100 for verdict in verdicts]
    always = fmean(hits)
    rules = [
        (f"always {percent(always)}, the share that was right", [always] * len(hits)),
        ("mean of the ballots", means),
        ("what Moot says", figures),
    ]
    rows = [
        (name, score(_squares(shares, hits)), score(_error(shares, hits))) for name, shares in rules
    ]
    by_word: list[tuple[object, ...]] = []
    for _, word in BANDS:
        pairs = zip(verdicts, hits, strict=True)
        right = [hit for verdict, hit in pairs if verdict.word == word]
        if right:
            low, high = share_interval(sum(right), len(right))
            share = f"{percent(fmean(right))} ({percent(low)} to {percent(high)})"
            by_word.append((word, len(right), share))
    return [
        f"Is the chosen side right? {quantity(len(decided), 'question')}; lower is better.",
        table(("Figure", "Brier", "Calibration error"), rows),
        table(("Word", "Questions", "Right (95% interval)"), by_word),
    ]


def _figure(question: ReplayedQuestion) -> Confidence:
    last, first = question.last, question.first
    figure, rests_on = from_ballots(question.choice, last, first, {}, voters=len(last))
    return Confidence(round(figure), tuple(rests_on))


def _squares(figures: Sequence[float], hits: Sequence[bool]) -> float:
    return fmean((figure - hit) ** 2 for figure, hit in zip(figures, hits, strict=True))


def _error(figures: Sequence[float], hits: Sequence[bool]) -> float:
    """How far figures are from the share that was right, on average over bins."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for figure, hit in zip(figures, hits, strict=True):
        bins.setdefault(min(_BINS - 1, int(figure * _BINS)), []).append((figure, hit))
    gaps = (abs(sum(figure - hit for figure, hit in pairs)) for pairs in bins.values())
    return sum(gaps) / len(hits)


def _gates(questions: Sequence[ReplayedQuestion]) -> str:
    """What is kept of the debate's gain if only some questions are debated."""
    gates: Sequence[tuple[str, Callable[[ReplayedQuestion], bool]]] = (
        ("nobody debates: the vote", lambda _: False),
        (
            f"first answers {round(GAP_FROM * 100)} points apart",
            lambda q: spread_of(YES, q.first.values()) >= GAP_FROM,
        ),
        ("Moot's gate", lambda q: not agreement(q.first).is_agreed),
        ("everybody debates", lambda _: True),
    )
    rows: list[tuple[object, ...]] = []
    none, everybody = _worths(questions, gates[0][1]), _worths(questions, gates[-1][1])
    for name, is_debated in gates:
        worths = _worths(questions, is_debated)
        gains = [
            percent((worth - least) / (most - least)) if most > least else "–"
            for worth, least, most in zip(worths, none, everybody, strict=True)
        ]
        share = fmean(map(is_debated, questions))
        brier, loss, right = worths
        scores = (score(-brier), score(-loss), percent(right))
        rows.append((name, percent(share), *scores, " / ".join(gains)))
    head = (
        "Debated where",
        "Debated",
        "Brier",
        "Log loss",
        "Right",
        "Gain kept (Brier / log loss / right)",
    )
    return table(head, rows)


def _worths(
    questions: Sequence[ReplayedQuestion], is_debated: Callable[[ReplayedQuestion], bool]
) -> tuple[float, float, float]:
    """Minus the Brier score, minus the log loss, the share that is right; more is better."""
    votes = [mean(q.second if is_debated(q) else q.first, {}) for q in questions]
    shares = [vote[q.truth] for vote, q in zip(votes, questions, strict=True)]
    sides = [(leading(vote), q.truth) for vote, q in zip(votes, questions, strict=True)]
    right = [float(side == truth) if side else 0.5 for side, truth in sides]
    losses = (log(max(LEAST_PROBABILITY, share)) for share in shares)
    return -fmean((1 - share) ** 2 for share in shares), fmean(losses), fmean(right)


def _debate_words(questions: Sequence[ReplayedQuestion]) -> str:
    """One model, the vote and the debate by Brier score, and who moved the right way."""
    first = [[(1 - vote[q.truth]) ** 2 for vote in q.first.values()] for q in questions]
    votes = [(1 - mean(q.first, {})[q.truth]) ** 2 for q in questions]
    debates = [(1 - mean(q.second, {})[q.truth]) ** 2 for q in questions]
    apart = [after - before for after, before in zip(debates, votes, strict=True)]
    span = ""
    if len(apart) >= LEAST_QUESTIONS:
        gap = paired_bootstrap(apart)
        low, high = _signed(gap.low), _signed(gap.high)
        span = f"; debate − vote {_signed(gap.mean)} [{low}, {high}]"
    moves = [
        move
        for q in questions
        for model, vote in q.first.items()
        if abs(move := q.second[model][q.truth] - vote[q.truth]) >= MOVED_FROM
    ]
    single, vote, debate = (score(fmean(arm)) for arm in (map(fmean, first), votes, debates))
    lines = [f"Brier score: one model {single}, the vote {vote}, after the debate {debate}{span}"]
    if moves:
        way = percent(fmean(move > 0 for move in moves))
        lines.append(f"{quantity(len(moves), 'move')} of 10 points or more, {way} the right way")
    return bullets(lines)


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{score(abs(value))}"


def _single_voters(questions: Sequence[ReplayedQuestion]) -> Sequence[str]:
    """How often a first vote hangs on one model, and how often a model alone is right."""
    comparable_questions = [q for q in questions if len(q.first) >= _LEAST_TO_HANG]
    lines = list[str]()
    hanging = [question for question in comparable_questions if _hangs_on_one(question.first)]
    firm = [question for question in comparable_questions if not _hangs_on_one(question.first)]
    for name, group in (("hangs on one model", hanging), ("hangs on none", firm)):
        if group:
            wrong = fmean(leading(mean(q.first, {})) != q.truth for q in group)
            which = quantity(len(group), "question")
            lines.append(f"First vote {name}: {which}, {percent(wrong)} wrong")
    alone = [
        (side == question.truth)
        for question in comparable_questions
        for side, count in Counter(map(leading, question.first.values())).items()
        if side and count == 1
    ]
    if alone:
        lines.append(f"A model alone with its side: {len(alone)}, {percent(fmean(alone))} right")
    return lines


def _hangs_on_one(votes: Mapping[str, Probabilities]) -> bool:
    choice_of_all = leading(mean(votes, {}))
    return any(
        leading(mean({v: vote for v, vote in votes.items() if v != voter}, {})) != choice_of_all
        for voter in votes
    )
