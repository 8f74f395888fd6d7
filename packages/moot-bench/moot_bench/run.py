"""Runs a bench: each arm's answer to each question is a debate in its log."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from bot.terminal.files import tell
from core.acts.take import Turns
from core.debate.debate_events import CallsDropped, DebateStarted
from core.debate.log import RecordedEvent, fold, usage_of
from core.debate.people import Person
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.verdict import VerdictSource
from core.engine import Engine
from core.errors import BadInput
from core.estimate import Estimate
from core.figures import money, quantity
from core.llm.call import ModelCalls
from core.ports import Clock, DebateFilter, DebateStore, Reservations
from core.rules import schedule
from core.rules.options import current_stance, leading, options_of
from core.rules.schedule import rounds_held
from core.rules.voting import winning_options
from core.settings import Settings
from core.telling import Sinks
from core.usage import Cap, SpendingScope, Usage
from core.use_cases.start import new_debate_id

from moot_bench.arms import MOST_DRAFTS, Arm, ArmForm, drafts_for, origin_of, setup_of
from moot_bench.comparison import ArmKind, ArmScores
from moot_bench.scores import ArmAnswer, accuracy
from moot_bench.tasks import Task, stance_of
from moot_bench.turns import BenchTurns, asks_model

#: After so many questions best-of-N is set by what was really paid.
CORRECTED_AFTER = 10
#: A log holds no more debates.
_MOST_DEBATES = 1_000_000
_MOST_ATTEMPTS = 100
_NOTHING = Decimal(0)
#: Arms that are set by what a debate takes.
_MATCHED = (ArmForm.THINK, ArmForm.BEST_OF)
_NO_DEBATE = "{} needs a debate whose {} it is to match: add critique."
_REMEDY = "Run the same command with a higher --max-usd to go on."


@dataclass(frozen=True)
class ExpectedCost:
    """Calls for one question if all rounds are held, and US dollars; None: a price is unknown."""

    calls: int
    cost: Decimal | None


class BenchStore(DebateStore, Reservations, Protocol):
    """Where a bench's debates are, and what their calls may cost."""


@dataclass(kw_only=True)
class Bench:
    """One bench over one log. `hold` goes on where an earlier process was cut off."""

    store: BenchStore
    calls: ModelCalls
    settings: Settings
    clock: Clock
    estimating: Callable[[Setup], Estimate]
    asker: Person
    #: What all debates of the log may cost together; None: no cap.
    max_usd: Decimal | None
    #: Whether a judge ends debates.
    judged: bool = True
    answers: dict[str, list[ArmAnswer]] = field(default_factory=dict[str, list[ArmAnswer]])
    #: Answers that could not be had, in words.
    failed: list[str] = field(default_factory=list[str])
    #: What debates answered, by arm and question.
    answered: dict[tuple[str, str], Debate] = field(default_factory=dict[tuple[str, str], Debate])
    #: US dollars that were spent on other things than debates, under the same cap.
    besides: Decimal = _NOTHING
    #: Why the bench ended before its last question; empty: it did not.
    stopped: str = ""
    #: US dollars that each debate of the log has cost; None: a price is unknown.
    _paid: dict[str, Decimal | None] = field(default_factory=dict[str, "Decimal | None"])
    _tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    #: Output tokens that one answer may spend, by debate.
    _budgets: dict[str, int] = field(default_factory=dict[str, int])
    _costs: dict[str, Mapping[int, float]] = field(default_factory=dict[str, Mapping[int, float]])
    #: What one question is expected to take, by arm.
    expected: dict[str, ExpectedCost] = field(default_factory=dict[str, ExpectedCost])

    async def plan(self, arms: Sequence[Arm], task: Task) -> Sequence[Arm]:
        """The arms, best-of-N with so many drafts that it costs what its debate costs.

        Also notes what a question is expected to cost. Asks no model.
        """
        planned: list[Arm] = []
        weights: dict[tuple[int, ArmForm], float] = {}
        tokens: list[int] = []
        for arm in sorted(arms, key=lambda arm: arm.form in _MATCHED):
            passes = 1
            if arm.form is ArmForm.THINK:
                if not tokens:
                    raise BadInput(_NO_DEBATE.format(arm.form, "tokens"))
                choice, estimate = arm.with_tokens(max(tokens)), await self._estimate_of(arm, task)
                passes = max(1, round(max(tokens) / max(1, estimate.usage.output_tokens)))
            elif arm.form is ArmForm.BEST_OF:
                debates = [
                    weight
                    for (models, form), weight in weights.items()
                    if models == len(arm.models) and form.kind is ArmKind.DEBATE
                ]
                if not debates:
                    raise BadInput(_NO_DEBATE.format(arm.form, "cost"))
                choice, estimate = await self._matching_arm(arm, task, max(debates))
            else:
                choice, estimate = arm, await self._estimate_of(arm, task)
                tokens += [estimate.usage.output_tokens] if arm.form.kind is ArmKind.DEBATE else []
            weights[len(arm.models), arm.form] = _weight(estimate)
            once = _expected(self.setup_of(choice, task), estimate)
            total_cost = None if once.cost is None else once.cost * passes
            self.expected[arm.name] = ExpectedCost(once.calls * passes, total_cost)
            planned.append(choice)
        return [next(item for item in planned if item.name == arm.name) for arm in arms]

    async def _matching_arm(self, arm: Arm, task: Task, target: float) -> tuple[Arm, Estimate]:
        """Best-of-N with the most drafts whose cost is within the target."""
        estimates: dict[int, Estimate] = {}
        for drafts in range(2, MOST_DRAFTS + 1):
            estimates[drafts] = await self._estimate_of(arm.with_drafts(drafts), task)
            if _weight(estimates[drafts]) > target:
                break
        self._costs[arm.name] = {
            drafts: _weight(estimate) for drafts, estimate in estimates.items()
        }
        drafts = drafts_for(target, self._costs[arm.name])
        return arm.with_drafts(drafts), estimates[drafts]

    async def _estimate_of(self, arm: Arm, task: Task) -> Estimate:
        return self.estimating(self.setup_of(arm, task))

    def setup_of(self, arm: Arm, task: Task) -> Setup:
        delimiter = secrets.token_hex(8)
        return setup_of(arm, task, self.settings, delimiter=delimiter, asker=self.asker)

    async def hold(self, arms: Sequence[Arm], tasks: Sequence[Task]) -> None:
        """Have every arm answer every question, question by question, within the cap."""
        cap, caps = self.max_usd, list[Cap]()
        if cap is not None:  # over all debates of the log; readers have spent their part of it
            scope, remaining = SpendingScope(), cap - self.besides
            caps = [Cap("bench", "this bench", remaining, remedy=_REMEDY, scope=scope)]
        turns = BenchTurns(
            Turns(self.calls, lambda _debate: caps, reservations=self.store),
            self._tasks,
            judged=self.judged,
            budgets=self._budgets,
        )
        engine = Engine(store=self.store, turns=turns, sink=Sinks(), clock=self.clock)
        for number, task in enumerate(tasks, start=1):
            if number == CORRECTED_AFTER + 1:
                arms = [self._corrected_arm(arm, arms) for arm in arms]
            if not await self._is_affordable(arms, task):
                self.stopped = (
                    f"Stopped before question {number} of {len(tasks)}: it could pass the cap of "
                    f"{money(cap)}; {money(self.total_cost)} are spent. {_REMEDY}"
                )
                return
            results = await asyncio.gather(*(self._answer(engine, arm, task) for arm in arms))
            right = [
                f"{arm.name} {'right' if accuracy(answer) == 1 else 'wrong'}"
                for arm, answer in zip(arms, results, strict=True)
                if answer
            ]
            spent = self.spent_words + (f" of {money(cap)}" if cap else "")
            tell(f"{number} of {len(tasks)} {task.id}: {', '.join(right) or 'no answer'}; {spent}")

    async def take_stock(self) -> None:
        """Book what a killed process may have spent, and count what the log has cost so far.

        Comes before `hold`.
        """
        await self._book_what_was_cut_off()
        for entry in await self.store.find(DebateFilter(limit=_MOST_DEBATES)):
            self._pay(fold(await self.store.events(entry.debate_id)))

    async def _answer(self, engine: Engine, arm: Arm, task: Task) -> ArmAnswer | None:
        """One arm's answer, from the log if it is there; None: it could not be had."""
        setup = self.setup_of(arm, task)
        for attempt in range(_MOST_ATTEMPTS):
            origin = origin_of(setup, task, attempt)
            debate_id = await self.store.id_of_origin(origin)
            is_new = debate_id is None
            if debate_id is None:
                started = await self.store.create(
                    new_debate_id(), DebateStarted(setup=setup), origin=origin, at=self.clock.now()
                )
                debate_id = started.recorded.debate_id
            debate = fold(await self.store.events(debate_id))
            was_running = debate.status is Status.RUNNING
            self._tasks[debate_id] = task
            if was_running:
                debate = await engine.run(debate_id)
            self._pay(debate)
            if is_answer(debate):
                self.answered[arm.name, task.id] = debate
                log = await self.store.events(debate_id)
                answer = answer_of(log, debate, arm, task)
                self.answers.setdefault(arm.name, []).append(answer)
                return answer
            # What failed in an earlier process is tried anew, once in each.
            if is_new or was_running:
                reason = debate.out_of_money or debate.failure or "it was cut short"
                self.failed.append(f"{arm.name}, {task.id}: {reason}")
                return None
        return None

    async def _is_affordable(self, arms: Sequence[Arm], task: Task) -> bool:
        """Whether what this question will probably still cost is left under the cap.

        The cap itself holds at every call; this keeps a question from being paid for in part.
        """
        if self.max_usd is None:
            return True
        missing = [arm for arm in arms if not await self._is_there(arm, task)]
        costs = (
            self._mean_cost(arm) or self.expected[arm.name].cost or _NOTHING for arm in missing
        )
        return not missing or self.total_cost + sum(costs, _NOTHING) <= self.max_usd

    async def _is_there(self, arm: Arm, task: Task) -> bool:
        setup = self.setup_of(arm, task)
        for attempt in range(_MOST_ATTEMPTS):
            debate_id = await self.store.id_of_origin(origin_of(setup, task, attempt))
            if debate_id is None:
                return False
            if is_answer(fold(await self.store.events(debate_id))):
                return True
        return False

    def _corrected_arm(self, arm: Arm, arms: Sequence[Arm]) -> Arm:
        """Best-of-N and thinking by what debates have really cost and used."""
        if arm.form is ArmForm.THINK:
            tokens = [self._tokens(rival) for rival in arms if rival.form.kind is ArmKind.DEBATE]
            return arm.with_tokens(max(tokens, default=0) or arm.tokens)
        costs, paid = self._costs.get(arm.name), self._mean_cost(arm)
        rivals = [
            cost
            for item in arms
            if item.form.kind is ArmKind.DEBATE and len(item.models) == len(arm.models)
            if (cost := self._mean_cost(item))
        ]
        if not costs or not paid or not rivals or not costs[arm.drafts]:
            return arm
        dearer = float(paid) / costs[arm.drafts]
        drafts = drafts_for(float(max(rivals)), {n: cost * dearer for n, cost in costs.items()})
        return arm.with_drafts(drafts)

    def arm_scores(
        self, arms: Sequence[Arm], tasks: Sequence[Task]
    ) -> tuple[Sequence[ArmScores], Sequence[Task]]:
        """Every arm's answers to the questions that all arms answered, and these questions."""
        there = {arm.name: {a.question: a for a in self.answers.get(arm.name, ())} for arm in arms}
        complete_tasks = [
            task for task in tasks if all(task.id in answers for answers in there.values())
        ]
        scored = [
            ArmScores(
                arm=arm.name,
                kind=arm.form.kind,
                answers=[there[arm.name][task.id] for task in complete_tasks],
            )
            for arm in arms
        ]
        return scored, complete_tasks

    def _tokens(self, arm: Arm) -> int:
        """Output tokens per question, on average; 0: nothing was answered."""
        debates = [debate for (name, _), debate in self.answered.items() if name == arm.name]
        tokens = sum(debate.usage.output_tokens for debate in debates)
        return round(tokens / len(debates)) if debates else 0

    def token_words(self, arms: Sequence[Arm]) -> Sequence[str]:
        """What arms have used, where one is set by it."""
        if not any(arm.form is ArmForm.THINK for arm in arms):
            return ()
        return [f"{arm.name}: {self._tokens(arm):,} output tokens per question" for arm in arms]

    def _mean_cost(self, arm: Arm) -> Decimal | None:
        answers = self.answers.get(arm.name)
        return (
            ArmScores(arm=arm.name, kind=arm.form.kind, answers=answers).cost if answers else None
        )

    @property
    def total_cost(self) -> Decimal:
        """US dollars that all of it has cost, what is only presumed of a kill included."""
        return sum((paid for paid in self._paid.values() if paid), self.besides)

    @property
    def spent_words(self) -> str:
        """The same in words, with what is not known of it."""
        if None in self._paid.values():
            return f"{money(self.total_cost)} spent besides debates with a price that is unknown"
        return f"{money(self.total_cost)} spent"

    def _pay(self, debate: Debate) -> None:
        self._paid[debate.id] = debate.usage.cost

    async def _book_what_was_cut_off(self) -> None:
        """Book the worst case of calls that were under way when a process was killed.

        They may have been paid for, and their answers are lost: without this a bench that is
        killed again and again could pass its cap.
        """
        if self.max_usd is None:
            return
        for debate_id in await self.store.unfinished_ids():
            debate = fold(await self.store.events(debate_id))
            if debate.status is not Status.RUNNING:
                continue
            under_way = {turn.key for turn in schedule.ready(debate)}
            planned = self.estimating(debate.setup).planned
            calls = {call.turn.key: call for call in planned if call.turn.act is not Act.OPTIONS}
            worst = sum(
                (calls[key].most.cost or _NOTHING for key in under_way if key in calls), _NOTHING
            )
            if worst:
                lost = CallsDropped(usage=Usage(cost=worst), origin=f"{PRESUMED}{debate.seq}")
                await self.store.append(debate_id, lost, at=self.clock.now())
                tell(
                    f"Debate {debate_id} was cut off: {money(worst)} are booked for "
                    f"{quantity(len(under_way), 'call')} that may have been paid for."
                )


def _expected(setup: Setup, estimate: Estimate) -> ExpectedCost:
    """What the estimate says without the turns that a bench asks no model for."""
    costs = [call.usual.cost for call in estimate.planned if asks_model(setup, call.turn)]
    known_costs = [cost for cost in costs if cost is not None]
    return ExpectedCost(
        len(costs), sum(known_costs, _NOTHING) if len(known_costs) == len(costs) else None
    )


def _weight(estimate: Estimate) -> float:
    """What an arm costs: US dollars, or tokens where a price is unknown or nothing."""
    tokens = estimate.usage.input_tokens + 4 * estimate.usage.output_tokens
    return float(estimate.cost) if estimate.cost else float(tokens)


#: How the origin of what a killed process may have spent begins.
PRESUMED = "presumed/"


def is_answer(debate: Debate) -> bool:
    """Whether the debate ended as it was meant to: not for want of money, models or time."""
    spoilt = debate.out_of_money or debate.out_of_time or debate.outage_timed_out or debate.stop
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
    cost = sum((usage_of(event) for event in real), start=Usage()).cost
    # First and last choice of everybody who voted before a debate; none where none was held.
    if not rounds_held(debate):
        sides = ()
    else:
        options = options_of(debate)
        first = {b.voter: b.probabilities for b in debate.ballots.values() if not b.turn.round}
        sides = tuple(
            (leading(options.probabilities(shares)), leading(current_stance(debate, voter)))
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
