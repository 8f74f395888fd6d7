"""A bench's texts read by evaluators: pairs, and which later-named reasons a text holds.

Every judgment is kept in a file beside the bench's log, so that a bench that was cut off asks
nothing twice. What was under way then counts with its worst case under the cap.
"""

import asyncio
import json
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from bot.terminal.bench_report import Evaluated, Recall, TextsCompared
from bot.terminal.bench_run import Bench
from bot.terminal.files import tell
from core.errors import CallFailed, LimitReached
from core.figures import counted
from core.llm import sizes
from core.llm.call import ModelCalls
from core.llm.call_options import Tables
from core.models import Agent, Call, Cap, Debate, ModelChoice, Usage
from core.proof.arms import Arm
from core.proof.comparison import ArmKind, ArmMeasure, compare
from core.proof.evaluating import (
    find_reasons,
    judged,
    pair_request,
    prefer,
    recall_request,
)
from core.proof.outcome import reasons_of, text_of
from core.proof.pairs import (
    KNOWN_PAIRS,
    Judged,
    Pair,
    PairFinding,
    Tested,
    bare,
    compare_pairs,
    examine,
    heard_on,
    known_pairs,
    makers_of,
)
from core.proof.scores import share_interval
from core.proof.tasks import Task
from core.request import ModelRequest
from core.settings import agent_for

_NOTHING = Decimal(0)
#: A repair of a reply is one more call.
_ATTEMPTS = 2


class Kept:
    """Judgments by what was asked, in a file of one JSON object a line."""

    def __init__(self, path: Path) -> None:
        """Read what is there; a line that was being written when a process was killed is left out.

        Args:
            path: The file; it need not exist.
        """
        self._path = path
        self._values: dict[str, Any] = {}
        self._paid = _NOTHING
        #: The worst case of calls that an earlier process was killed in.
        self._cut_off: dict[str, Decimal] = {}
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            key, cost = str(row["key"]), Decimal(row["cost"])
            if "value" not in row and "failed" not in row:
                self._cut_off[key] = cost
                continue
            self._cut_off.pop(key, None)
            self._paid += cost
            if "value" in row:
                self._values[key] = row["value"]
        self._begun = False

    @property
    def spent(self) -> Decimal:
        """US dollars, the worst case of what an earlier process was killed in among them."""
        return self._paid + sum(self._cut_off.values(), _NOTHING)

    def get(self, key: str) -> Any:
        """What was said; None: nothing yet."""
        return self._values.get(key)

    def begin(self, key: str, worst: Decimal) -> None:
        """Note what a call can cost before it is made."""
        self._write({"key": key, "cost": str(worst)})

    def end(self, key: str, value: object, cost: Decimal) -> None:
        """Keep what was said and what it cost."""
        self._values[key] = value
        self._paid += cost
        self._write({"key": key, "value": value, "cost": str(cost)})

    def fail(self, key: str, reason: str, cost: Decimal) -> None:
        """Keep what a call cost that came to nothing; it is made again another time."""
        self._paid += cost
        self._write({"key": key, "failed": reason, "cost": str(cost)})

    def _write(self, row: Mapping[str, object]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            # A line of its own even after one that was cut off.
            file.write(f"{'' if self._begun else chr(10)}{json.dumps(row, ensure_ascii=False)}\n")
            file.flush()
            os.fsync(file.fileno())
        self._begun = True


@dataclass(frozen=True, kw_only=True)
class Text:
    """What one arm answered to one question."""

    arm: str
    task: Task
    #: Bare, for evaluators.
    text: str
    #: Where later-named reasons are looked for.
    argued: str
    makers: frozenset[str]


@dataclass(kw_only=True)
class Evaluators:
    """Has evaluators read a bench's texts, each thing once, under the bench's cap."""

    calls: ModelCalls
    models: Sequence[ModelChoice]
    kept: Kept
    #: What was spent on debates; what evaluators spend comes on top.
    spent: Decimal = _NOTHING
    max_usd: Decimal | None = None
    tables: Tables = field(default_factory=Tables)
    #: Why not everything was judged, in words.
    notes: list[str] = field(default_factory=list[str])
    _judged: list[Judged] = field(default_factory=list[Judged])
    _known: Sequence[Pair] = ()

    @property
    def families(self) -> Mapping[str, str]:
        """The maker of each evaluator's model."""
        return {one.full_name: one.maker for one in self.models}

    @property
    def tests(self) -> Sequence[Tested]:
        """How each did on known pairs."""
        return [examine(name, self._known, self._judged) for name in self.families]

    async def test(self, known: Sequence[Task]) -> Sequence[Tested]:
        """Have every evaluator judge pairs whose better text is known."""
        self._known = known_pairs(known)
        await self._judge(self._known)
        return self.tests

    async def compare(self, pairs: Sequence[Pair]) -> PairFinding:
        """Which of two arms' texts evaluators that made neither find better; `test` comes first."""
        await self._judge(pairs)
        return compare_pairs(pairs, self._judged, self._known, self.families)

    async def judge(self, pair: Pair) -> Sequence[Judged]:
        """How those who are heard and made neither text judge one pair; `test` comes first."""
        await self._judge([pair])
        return heard_on([pair], self._judged, self._known, self.families)

    async def recall(self, texts: Sequence[Text]) -> Sequence[Recall]:
        """How many later-named reasons each arm's texts hold, each shown by a checked quote.

        A text is read by the first evaluator that is heard and made none of it.
        """
        asked = [one for one in texts if one.task.reasons]
        found = await asyncio.gather(*(self._found_in(one) for one in asked))
        of_arm: dict[str, list[Sequence[bool]]] = {}
        for one, said in zip(asked, found, strict=True):
            if said is not None:
                of_arm.setdefault(one.arm, []).append(said)
        result: list[Recall] = []
        for arm, answers in of_arm.items():
            shares = [sum(said) / len(said) for said in answers]
            low, high = share_interval(sum(shares), len(shares))
            recall = Recall(
                arm=arm,
                found=sum(map(sum, answers)),
                reasons=sum(map(len, answers)),
                share=fmean(shares),
                low=low,
                high=high,
            )
            result.append(recall)
        return result

    async def _found_in(self, one: Text) -> Sequence[bool] | None:
        fit = [
            model
            for model in self.models
            if model.maker not in one.makers
            and examine(model.full_name, self._known, self._judged).is_heard
        ]
        if not fit:
            return None
        agent, delimiter = _evaluator(fit[0]), secrets.token_hex(8)
        request = recall_request(agent, one.task.reasons, one.argued, delimiter=delimiter)

        async def ask(calls: ModelCalls) -> tuple[object, Call]:
            found, call = await find_reasons(
                calls, agent, reasons=one.task.reasons, text=one.argued, delimiter=delimiter
            )
            return list(found), call

        return await self._once(request, fit[0], ask)

    async def _judge(self, pairs: Sequence[Pair]) -> None:
        """Every pair by every evaluator that made neither text, in both orders."""
        wanted = [
            (model, pair)
            for pair in pairs
            for model in self.models
            if model.maker not in pair.makers
        ]

        async def side(model: ModelChoice, pair: Pair, *, swapped: bool) -> int | None:
            agent, delimiter = _evaluator(model), secrets.token_hex(8)
            request = pair_request(agent, pair, swapped=swapped, delimiter=delimiter)

            async def ask(calls: ModelCalls) -> tuple[object, Call]:
                found = await prefer(calls, agent, pair, swapped=swapped, delimiter=delimiter)
                return found.side, found.call

            return await self._once(request, model, ask)

        async def in_both_orders(model: ModelChoice, pair: Pair) -> Judged | None:
            ours, theirs = [await side(model, pair, swapped=one) for one in (False, True)]
            if ours is None or theirs is None:
                return None
            return judged(model.full_name, pair, ours, theirs)

        both = await asyncio.gather(*(in_both_orders(*one) for one in wanted))
        self._judged += [one for one in both if one]

    async def _once(
        self,
        request: ModelRequest,
        model: ModelChoice,
        ask: Callable[[ModelCalls], Awaitable[tuple[object, Call]]],
    ) -> Any:
        """What was said to this, asked now if it never was; None: it cannot be had."""
        words = "\0".join((request.act, request.system, *(part.text for part in request.parts)))
        key = sha256(f"{model.full_name}\0{words}".encode()).hexdigest()[:24]
        if (known := self.kept.get(key)) is not None:
            return known
        caps = []
        if self.max_usd is not None:
            total = self.spent + self.kept.spent
            remedy = "Run the same command with a higher --max-usd to go on."
            caps = [Cap("evaluators", "this bench", self.max_usd, total, remedy=remedy)]
        worst = sizes.Measure(self.tables.models).worst(model.provider, request, self.tables.prices)
        self.kept.begin(key, (worst or _NOTHING) * _ATTEMPTS)
        try:
            said, call = await ask(self.calls.under(caps))
        except CallFailed as error:
            self.kept.fail(key, str(error), _cost(error.usage))
            stopped = isinstance(error, LimitReached)
            why = f"Evaluators stopped: {error}" if stopped else f"{model.full_name}: {error}"
            if why not in self.notes:
                self.notes.append(why)
            return None
        self.kept.end(key, said, _cost(call.usage))
        return said


async def try_evaluators(reading: Evaluators, held: Bench, known: Sequence[Task]) -> None:
    """Test them before anything else is paid for, and say how far each can be trusted."""
    reading.spent = held.spent
    for one in await reading.test(known):
        tell(one.words)
    held.besides = reading.kept.spent


async def read_texts(
    reading: Evaluators,
    held: Bench,
    arms: Sequence[Arm],
    tasks: Sequence[Task],
    *,
    measure: ArmMeasure,
) -> Evaluated | None:
    """Compare the texts of debates with those of the best baselines; find later-named reasons.

    None: no question has an answer of every arm.
    """
    reading.spent = held.spent - held.besides
    scored, whole = held.scored(arms, tasks)
    if not whole:
        return None
    texts = {
        (arm.name, task.id): _text(arm, task, held.answered[arm.name, task.id])
        for task in whole
        for arm in arms
    }
    findings: list[TextsCompared] = []
    for one in compare(scored, measure):
        ours, theirs = one.arm.arm, one.baseline.arm
        if one.arm.kind is not ArmKind.DEBATE:
            continue
        both = [(task, texts[ours, task.id], texts[theirs, task.id]) for task in whole]
        pairs = [
            Pair(
                id=f"{ours}/{theirs}/{task.id}",
                question=task.question,
                ours=our.text,
                theirs=their.text,
                makers=our.makers | their.makers,
            )
            for task, our, their in both
        ]
        found = await reading.compare(pairs)
        findings.append(TextsCompared(arm=ours, baseline=theirs, found=found))
    recalls = await reading.recall(list(texts.values()))
    tests = [one.words for one in reading.tests]
    return Evaluated(tests=tests, findings=findings, recalls=recalls, notes=reading.notes)


def judgments_words(arms: Sequence[Arm], questions: int, evaluators: int) -> str:
    """How many calls evaluators take at most, said before anything is spent."""
    debates = sum(arm.form.kind is ArmKind.DEBATE for arm in arms)
    pairs = KNOWN_PAIRS + 2 * debates * questions  # with the best vote and the best single model
    calls = 2 * evaluators * pairs + len(arms) * questions
    return (
        f"{counted(evaluators, 'evaluator')}: at most {counted(calls, 'short call')} more, "
        "under the same cap."
    )


def _text(arm: Arm, task: Task, debate: Debate) -> Text:
    """What an arm answered, as evaluators read it."""
    is_judged = debate.verdict is not None and arm.form.kind is ArmKind.DEBATE
    return Text(
        arm=arm.name,
        task=task,
        text=bare(text_of(debate), [agent.name for agent in debate.setup.agents]),
        argued=reasons_of(debate),
        makers=makers_of([*arm.models, *([debate.setup.judge] if is_judged else [])]),
    )


def _evaluator(model: ModelChoice) -> Agent:
    return agent_for("sceptic", model)


def _cost(usage: Usage) -> Decimal:
    return usage.cost or _NOTHING
