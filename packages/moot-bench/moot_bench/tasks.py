"""Questions with a known answer: what a task is, and what an arm is asked (pure).

Three kinds: a choice among options with a known better one, a forecast (yes or no) that has been
resolved, and a decision whose outcome is known, with the reasons that were named afterwards. Task
files are our own, ForecastBench's, TruthfulQA's, MMLU-Pro's or GPQA's: which one, its fields say.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.resources import files
from random import Random
from string import ascii_uppercase
from typing import Any, cast

from core.debate.vote import Option
from core.errors import BadInput
from core.figures import quantity
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
    items = tuple(Option(id=f"o{number}", name=name) for number, name in enumerate(texts, start=1))
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


#: Stands between options, and between reasons, in a field of a CSV file.
_BETWEEN = "|"
#: Wrong answers taken from a list of many.
_MOST_WRONG = 3
Row = Mapping[str, Any]


def own_tasks() -> Sequence[Task]:
    return read_tasks((files("moot_bench") / "questions.jsonl").read_text("utf-8"))


def read_tasks(text: str, *, name: str = "", answers: str = "") -> Sequence[Task]:
    """The tasks of a file of JSON, JSON Lines or CSV, in its order.

    `answers` is a second file: ForecastBench's resolutions of the questions.

    Raises:
        BadInput: It cannot be read, or it holds no task; says which line and why.
    """
    rows = rows_of(text, name)
    if answers:
        rows = list(_resolved(rows, rows_of(answers, "")))
    tasks: list[Task] = []
    for number, row in enumerate(rows, start=1):
        try:
            tasks.append(_task(row, number))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else _first(error)
            raise BadInput(f"{name or 'The tasks'}, question {number}: {reason}.") from None
    if not tasks:
        raise BadInput(f"{name or 'The file'} holds no question with a known answer.")
    places: dict[str, int] = {}
    for number, task in enumerate(tasks, start=1):
        if task.id in places:
            both = f"questions {places[task.id]} and {number}"
            raise BadInput(f"{name or 'The tasks'}: {both} have the same id {task.id!r}.")
        places[task.id] = number
    return tasks


def rows_of(text: str, name: str) -> Sequence[Row]:
    """The records of a file: of a JSON object the list in it, else lines of JSON, else CSV."""
    text = text.removeprefix("\ufeff")
    if name.lower().endswith(".csv"):
        return list(csv.DictReader(io.StringIO(text)))
    try:
        parsed_json = json.loads(text)
    except ValueError:
        return list(_lines(text, name))
    if isinstance(parsed_json, dict):
        fields = cast("Mapping[str, Any]", parsed_json)
        inner = next((fields[key] for key in _LISTS if isinstance(fields.get(key), list)), [fields])
        parsed_json = cast("Any", inner)
    rows = cast("Sequence[Any]", parsed_json if isinstance(parsed_json, list) else [parsed_json])
    if not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{name or 'The file'} is not a list of questions.")
    return cast("Sequence[Row]", rows)


#: Where JSON objects keep their list.
_LISTS = ("questions", "resolutions", "tasks")


def _lines(text: str, name: str) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{name or 'The file'}, line {number} is not JSON: {error}.") from None
        if not isinstance(row, dict):
            raise BadInput(f"{name or 'The file'}, line {number} is not a JSON object.")
        yield cast("Row", row)


def _task(row: Row, number: int) -> Task:
    if "Best Answer" in row:
        # TruthfulQA: the best answer against the best incorrect one, or against the first three.
        best, single = row["Best Answer"].strip(), (row.get("Best Incorrect Answer") or "").strip()
        several = [part.strip() for part in row["Incorrect Answers"].split(";") if part.strip()]
        return a_task(
            identity=f"truthfulqa-{number}",
            question=row["Question"],
            options=[best, *([single] if single else several[:_MOST_WRONG])],
            answer=best,
            area=row.get("Category") or "",
        )
    if "mc1_targets" in row or "mc0_targets" in row:
        targets = cast("Mapping[str, int]", row.get("mc0_targets") or row["mc1_targets"])
        right = next(text for text, value in targets.items() if value)
        return _plain(row, number, list(targets), right)
    if "Correct Answer" in row:
        wrong = [row[f"Incorrect Answer {number}"].strip() for number in (1, 2, 3)]
        right = row["Correct Answer"].strip()
        identity = row.get("Record ID") or f"gpqa-{number}"
        options = list(dict.fromkeys([right, *wrong]))
        return a_task(identity=identity, question=row["Question"], options=options, answer=right)
    if "answer_index" in row and "options" in row:
        return _plain(row, number, row["options"], row["options"][int(row["answer_index"])])
    if "resolved_to" in row:
        return _forecast(row, number, _yes_or_no(row["resolved_to"]))
    if not row.get("options"):
        return _forecast(row, number, _yes_or_no(row["answer"]))
    options = row["options"]
    if isinstance(options, str):
        options = [part.strip() for part in options.split(_BETWEEN) if part.strip()]
    return _plain(row, number, options, _option_in(row["answer"], options))


def _plain(row: Row, number: int, options: Sequence[str], right: str) -> Task:
    reasons = row.get("reasons") or ()
    if isinstance(reasons, str):
        reasons = [part.strip() for part in reasons.split(_BETWEEN) if part.strip()]
    kind = row.get("kind") or (TaskKind.DECISION if reasons else TaskKind.CHOICE)
    return a_task(
        identity=str(row.get("id") or row.get("question_id") or f"q{number}"),
        question=str(row["question"]),
        options=options,
        answer=right,
        kind=TaskKind(kind),
        context=str(row.get("context") or ""),
        reasons=reasons,
        area=str(row.get("area") or row.get("category") or ""),
    )


def _forecast(row: Row, number: int, answer: str) -> Task:
    parts = (row.get("context"), row.get("background"), row.get("resolution_criteria"))
    return a_task(
        identity=str(row.get("id") or f"q{number}"),
        question=str(row["question"]),
        options=(YES, NO),
        answer=answer,
        kind=TaskKind.FORECAST,
        context="\n\n".join(str(part) for part in parts if part and part != "N/A"),
        area=str(row.get("area") or row.get("source") or ""),
    )


def _resolved(questions: Sequence[Row], resolutions: Sequence[Row]) -> Iterator[Row]:
    """ForecastBench: each question with its first resolution; those without one are left out.

    Questions made of two (their ids are lists) are left out, too.
    """
    first: dict[str, Row] = {}
    for item in resolutions:
        identity = item.get("id")
        is_open = item.get("resolved") is False or item.get("resolved_to") is None
        if isinstance(identity, str) and not is_open:
            first.setdefault(identity, item)
    for row in questions:
        identity = row.get("id")
        if not isinstance(identity, str) or identity not in first:
            continue
        resolution = first[identity]
        if float(resolution["resolved_to"]) not in {0.0, 1.0}:
            continue
        dates = {
            "{resolution_date}": str(resolution.get("resolution_date", "")),
            "{forecast_due_date}": str(row.get("forecast_due_date", "the day of the question")),
        }
        question = str(row["question"])
        for mark, day in dates.items():
            question = question.replace(mark, day)
        yield {**row, "question": question, "resolved_to": resolution["resolved_to"]}


def _yes_or_no(value: object) -> str:
    text = str(value).strip().lower()
    if text in {"true", "yes", "1", "1.0"}:
        return YES
    if text in {"false", "no", "0", "0.0"}:
        return NO
    raise ValueError(f"the answer {text!r} is neither yes nor no, and there are no options")


def _option_in(value: object, options: Sequence[str]) -> str:
    """The option an answer names: word for word, by its letter, or by its number from 1."""
    text = str(value).strip()
    if text in options:
        return text
    if len(text) == 1 and text.upper() in ascii_uppercase[: len(options)]:
        return options[ascii_uppercase.index(text.upper())]
    if text.isdecimal() and 1 <= int(text) <= len(options):
        return options[int(text) - 1]
    raise ValueError(f"the answer {text!r} is none of its {quantity(len(options), 'option')}")


def _first(error: Exception) -> str:
    """What is wrong, in one line, without pydantic's own words."""
    lines = str(error).splitlines()
    text = next((line for line in lines if "Value error, " in line), lines[0] if lines else "")
    return text.partition("Value error, ")[2].partition(" [")[0] or text.strip().rstrip(".")
