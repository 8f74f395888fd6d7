"""Task files: each format by its fields, and what is wrong told in words."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from core.errors import BadInput
from core.rules.options import OptionList, read_stance

from moot_bench.tasks import Task, TaskKind, own_tasks, read_tasks, task_prompt


def right(task: Task) -> str:
    return next(option.name for option in task.options if option.id == task.answer)


def only_task(row: Mapping[str, Any], **more: str) -> Task:
    (task,) = read_tasks(json.dumps(row), **more)
    return task


def test_the_questions_that_come_along() -> None:
    tasks = own_tasks()
    assert len(tasks) == 30
    assert all(task.kind is TaskKind.DECISION and len(task.reasons) >= 2 for task in tasks)
    assert Counter(task.area for task in tasks).keys() == {"technical", "people", "money"}
    assert sum(task.id.endswith("-de") for task in tasks) == 4
    # The place among the options must not give the answer away.
    assert max(Counter(task.answer for task in tasks).values()) <= 14


def test_the_reasons_are_not_shown() -> None:
    for task in own_tasks():
        text = f"{task_prompt(task)} {task.context}"
        assert not any(reason in text for reason in task.reasons)
        assert all(option.name in text for option in task.options)


def test_the_example_of_a_stance_can_be_read() -> None:
    task = only_task({"question": "Which?", "options": ["A1", "B1"], "answer": "A"})
    text = task_prompt(task).rsplit('"', 2)[1]
    assert read_stance(text, OptionList(items=task.options)).known == {"o1": 0.7, "o2": 0.3}


@pytest.mark.parametrize("answer", ["Kafka", "b", "B", "2"])
def test_an_answer_by_words_letter_or_number(answer: str) -> None:
    task = only_task({"question": "Which?", "options": ["PostgreSQL", "Kafka"], "answer": answer})
    assert (right(task), task.kind, task.id) == ("Kafka", TaskKind.CHOICE, "q1")


@pytest.mark.parametrize(("answer", "name"), [(True, "yes"), (0, "no"), ("No", "no")])
def test_without_options_it_is_a_forecast(answer: object, name: str) -> None:
    task = only_task({"id": "f1", "question": "Will it rain?", "answer": answer})
    assert (right(task), task.kind) == (name, TaskKind.FORECAST)
    assert [option.name for option in task.options] == ["yes", "no"]


GPQA = "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3"
TRUTH = "Type,Category,Question,Best Answer,Best Incorrect Answer,Correct Answers,Incorrect Answers"
TRUTHFUL = f"{TRUTH}\nx,Law,Is it?,It is,It is not,It is; Yes,It is not; Never\n"
OLDER = TRUTHFUL.replace("Best Incorrect Answer,", "").replace("It is,It is not,", "It is,")
LETTERS = list("KLMNOPQRST")
MMLU_PRO = {"question_id": 70, "question": "Which?", "options": LETTERS, "answer_index": 8}


@pytest.mark.parametrize(
    ("name", "text", "answer", "options"),
    [
        ("mine.CSV", "id,question,options,answer\nc1,Which?,P | Kafka,Kafka", "Kafka", "P,Kafka"),
        ("mmlu-pro", json.dumps(MMLU_PRO), "S", ",".join(LETTERS)),
        ("gpqa.csv", f"{GPQA}\nrec1,Which?,right ,w1,w2,w3\n", "right", "right,w1,w2,w3"),
        ("TruthfulQA.csv", TRUTHFUL, "It is", "It is,It is not"),
        ("TruthfulQA.csv", OLDER, "It is", "It is,It is not,Never"),
        (
            "mc.json",
            json.dumps({"question": "Is it?", "mc1_targets": {"Yes.": 1, "No.": 0, "Never.": 0}}),
            "Yes.",
            "Yes.,No.,Never.",
        ),
    ],
)
def test_known_sets_are_read_by_their_fields(
    name: str, text: str, answer: str, options: str
) -> None:
    (task,) = read_tasks(text, name=name)
    assert right(task) == answer
    assert {option.name for option in task.options} == set(options.split(","))
    assert task.id in {"c1", "70", "rec1", "truthfulqa-1", "q1"}


def test_reasons_make_a_decision() -> None:
    text = "question,options,answer,reasons\nWhich?,P | Kafka,Kafka,fast|known\n"
    (task,) = read_tasks(text, name="mine.csv")
    assert (task.kind, task.reasons) == (TaskKind.DECISION, ("fast", "known"))


def test_forecastbench_in_two_files() -> None:
    row: dict[str, Any] = {"source": "s", "background": "N/A", "resolution_criteria": "As told."}
    questions = {
        "forecast_due_date": "2026-01-01",
        "questions": [
            {"id": "a", "question": "Above 5 on {resolution_date}?", **row},
            {"id": ["a", "b"], "question": "Both?", **row},
            {"id": "open", "question": "Later?", **row},
        ],
    }
    resolutions = {
        "resolutions": [
            {"id": "a", "resolution_date": "2026-02-01", "resolved_to": 1.0, "resolved": True},
            {"id": "a", "resolution_date": "2026-03-01", "resolved_to": 0.0, "resolved": True},
            {"id": "open", "resolution_date": "2027-02-01", "resolved_to": 0.4, "resolved": False},
        ]
    }
    (task,) = read_tasks(json.dumps(questions), answers=json.dumps(resolutions))
    assert (task.question, right(task)) == ("Above 5 on 2026-02-01?", "yes")
    assert (task.context, task.kind) == ("As told.", TaskKind.FORECAST)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no question with a known answer"),
        ("[1]", "not a list of questions"),
        ("{}\n[", "line 2 is not JSON"),
        ('{"question": "Which?"}', "question 1: answer is missing"),
        ('{"question": "Which?", "answer": "perhaps"}', "neither yes nor no"),
        ('{"question": "W?", "options": ["a", "b"], "answer": "c"}', "none of its 2 options"),
        ('{"question": "W?", "options": ["a", "a"], "answer": "a"}', "two options are the same"),
        ('{"id":1,"question":"W?","answer":1}\n{"id":1,"question":"X?","answer":1}', "same id"),
    ],
)
def test_what_is_wrong_is_told_in_words(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_tasks(text)


def test_the_order_of_options_is_the_same_every_time() -> None:
    row = {"id": "x", "question": "Which?", "options": ["a1", "b1", "c1", "d1"], "answer": "a1"}
    assert only_task(row) == only_task(row)
    tasks = [only_task({**row, "id": number}) for number in range(1, 30)]
    assert len({tuple(option.name for option in task.options) for task in tasks}) > 10
