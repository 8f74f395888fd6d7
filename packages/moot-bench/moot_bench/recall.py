"""Which later-named reasons each arm's texts hold, each shown by a quote that code has checked.

A reader is a model that reads a text and quotes where it says a reason. Each reply is saved in a
file beside the bench's log, so a bench that was cut off asks nothing twice.
"""

import asyncio
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from core.acts import prompt as render
from core.acts.act import ACTS
from core.debate.agents import Agent, ModelChoice
from core.debate.state import Debate
from core.debate.turn import Act
from core.errors import CallFailed, LimitReached
from core.evidence.words import words_of
from core.figures import quantity
from core.llm import sizes
from core.llm.call import CallOptions, CallScope, ModelCalls, Tables
from core.redaction import clean
from core.request import ModelRequest, Part, PartKind
from core.settings import agent_for
from core.usage import Cap, Usage
from pydantic import BaseModel

from moot_bench.arms import Arm
from moot_bench.comparison import ArmKind
from moot_bench.report import Recall, Recalls
from moot_bench.run import reasons_of
from moot_bench.scores import share_interval
from moot_bench.tasks import Task

_NOTHING = Decimal(0)
#: A repair of a reply is one more call.
_ATTEMPTS = 2
#: Seconds for one text, retries included.
_SECONDS = 180.0
#: A quote of fewer words shows nothing.
_SHORTEST = 3


class Quote(BaseModel):
    """Where a text says one of the reasons, by the reason's number."""

    reason: int
    quote: str


class RecallReply(BaseModel):
    found: list[Quote]


class SavedReplies:
    """Replies by what was asked, in a file of one JSON object a line."""

    def __init__(self, path: Path) -> None:
        """Read the file, if it exists; a line cut off by a kill is ignored."""
        self._path = path
        self._values: dict[str, Any] = {}
        self._paid = _NOTHING
        #: The worst case of calls under way, and of those during which a process was killed.
        self._unfinished: dict[str, Decimal] = {}
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            key, cost = str(row["key"]), Decimal(row["cost"])
            if "value" not in row and "failed" not in row:
                self._unfinished[key] = cost
                continue
            self._finish(key, cost)
            if "value" in row:
                self._values[key] = row["value"]
        self._is_open = False

    @property
    def total_cost(self) -> Decimal:
        """US dollars, the worst case of unfinished calls included."""
        return self._paid + sum(self._unfinished.values(), _NOTHING)

    def get(self, key: str) -> Any:
        return self._values.get(key)

    def begin(self, key: str, worst: Decimal) -> None:
        """Record what a call can cost before it is made."""
        self._unfinished[key] = worst
        self._write({"key": key, "cost": str(worst)})

    def end(self, key: str, value: object, cost: Decimal) -> None:
        self._values[key] = value
        self._finish(key, cost)
        self._write({"key": key, "value": value, "cost": str(cost)})

    def fail(self, key: str, reason: str, cost: Decimal) -> None:
        """Save the cost of a failed call; the next run makes it again."""
        self._finish(key, cost)
        self._write({"key": key, "failed": reason, "cost": str(cost)})

    def _finish(self, key: str, cost: Decimal) -> None:
        self._unfinished.pop(key, None)
        self._paid += cost

    def _write(self, row: Mapping[str, object]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            # A line of its own even after one that was cut off.
            file.write(f"{'' if self._is_open else chr(10)}{json.dumps(row, ensure_ascii=False)}\n")
            file.flush()
            os.fsync(file.fileno())
        self._is_open = True


@dataclass(kw_only=True)
class Readers:
    """Has models look for later-named reasons in a bench's texts, under the bench's cap."""

    calls: ModelCalls
    models: Sequence[ModelChoice]
    saved: SavedReplies
    #: US dollars spent on debates.
    spent: Decimal = _NOTHING
    max_usd: Decimal | None = None
    tables: Tables = field(default_factory=Tables)
    #: Why some texts were not read.
    notes: list[str] = field(default_factory=list[str])

    async def read(
        self, arms: Sequence[Arm], tasks: Sequence[Task], debates: Mapping[tuple[str, str], Debate]
    ) -> Recalls:
        """How many later-named reasons each arm's texts hold; debates are by arm and question.

        A text is read by the first reader whose maker made none of it; where there is none, the
        text is left out with a note.
        """
        texts = [(arm, task) for arm in arms for task in tasks if task.reasons]
        replies = await asyncio.gather(
            *(self._reasons_in(arm, task, debates[arm.name, task.id]) for arm, task in texts)
        )
        of_arm: dict[str, list[Sequence[bool]]] = {}
        for (arm, _), reply in zip(texts, replies, strict=True):
            if reply is not None:
                of_arm.setdefault(arm.name, []).append(reply)
        recalls: list[Recall] = []
        for name, answers in of_arm.items():
            shares = [sum(reply) / len(reply) for reply in answers]
            low, high = share_interval(sum(shares), len(shares))
            recall = Recall(
                arm=name,
                found=sum(map(sum, answers)),
                reasons=sum(map(len, answers)),
                share=fmean(shares),
                low=low,
                high=high,
            )
            recalls.append(recall)
        return Recalls(rows=recalls, notes=self.notes)

    async def _reasons_in(self, arm: Arm, task: Task, debate: Debate) -> Sequence[bool] | None:
        """Whether each reason stands in the text; None: nobody could read it."""
        is_judged = debate.verdict is not None and arm.form.kind is ArmKind.DEBATE
        judges = [debate.setup.judge] if is_judged else []
        makers = {model.maker for model in (*arm.models, *judges)}
        reader = next((model for model in self.models if model.maker not in makers), None)
        if reader is None:
            self._note(f"No reader of another maker than the text's authors: {arm.name}.")
            return None
        text = reasons_of(debate)
        agent = agent_for("sceptic", reader)
        request = recall_request(agent, task.reasons, text, delimiter=secrets.token_hex(8))
        words = "\0".join((request.act, request.system, *(part.text for part in request.parts)))
        key = sha256(f"{reader.full_name}\0{words}".encode()).hexdigest()[:24]
        if (saved := self.saved.get(key)) is not None:
            return saved
        caps = []
        if self.max_usd is not None:
            total = self.spent + self.saved.total_cost
            remedy = "Run the same command with a higher --max-usd to go on."
            caps = [Cap("readers", "this bench", self.max_usd, total, remedy=remedy)]
        measure = sizes.Measure(self.tables.models, self.tables.prices)
        worst = measure.worst(reader.provider, request)
        self.saved.begin(key, (worst or _NOTHING) * _ATTEMPTS)
        options = CallOptions(seconds=_SECONDS, prompt_source=render.source(Act.RECALL, agent))
        try:
            reply, call = await self.calls.within(CallScope(caps=caps)).ask_for(
                request, agent, RecallReply, options=options
            )
        except CallFailed as error:
            self.saved.fail(key, str(error), _cost(error.usage))
            stopped = isinstance(error, LimitReached)
            self._note(f"Readers stopped: {error}" if stopped else f"{reader.full_name}: {error}")
            return None
        numbers = {quote.reason for quote in reply.found if stands_in(quote.quote, text)}
        value = [number in numbers for number, _ in enumerate(task.reasons, start=1)]
        self.saved.end(key, value, _cost(call.usage))
        return value

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def calls_words(arms: int, tasks: Sequence[Task], readers: int) -> str:
    """How many calls readers take at most, said before anything is spent."""
    calls = arms * sum(bool(task.reasons) for task in tasks)
    short = quantity(calls, "short call")
    return f"{quantity(readers, 'reader')}: at most {short} more, under the same cap."


def stands_in(quote: str, text: str) -> bool:
    """Whether the words of a quote stand in the text, one after the other."""
    words = words_of(quote)
    return len(words) >= _SHORTEST and f" {' '.join(words)} " in f" {' '.join(words_of(text))} "


def recall_request(
    reader: Agent, reasons: Sequence[str], text: str, *, delimiter: str
) -> ModelRequest:
    listed = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, start=1))
    act = Act.RECALL
    parts = (
        Part(kind=PartKind.OTHER, label="Reasons that were named later", text=listed),
        Part(kind=PartKind.POSITION, label="The text", text=clean(text), trim_priority=2),
        Part(kind=PartKind.TASK, label="Task", text=render.task(act, reader, words=0)),
    )
    return ModelRequest(
        model=reader.model,
        act=act,
        role=reader.role,
        system=render.system(act),
        parts=parts,
        delimiter=delimiter,
        max_output_tokens=ACTS[act].max_tokens,
        temperature=reader.temperature,
        effort=ACTS[act].effort,
        cache_key="",
    )


def _cost(usage: Usage) -> Decimal:
    return usage.cost or _NOTHING
