"""What each arm is: the same question, one model or several, held on the real engine."""

import json

import pytest
from core.debate.agents import ModelChoice
from core.debate.people import Person
from core.debate.rules import When
from core.debate.setup import Setup
from core.errors import BadInput
from core.settings import Settings, agent_for

from moot_bench.arms import MOST_DRAFTS, Arm, ArmForm, arms_for, drafts_for, origin_of, setup_of
from moot_bench.recorded import recorded_answers
from moot_bench.tasks import read_tasks

ONE, TWO = ModelChoice(provider="openai", model="a"), ModelChoice(provider="anthropic", model="b")
TASKS = read_tasks('{"id": "x", "question": "Which?", "options": ["K", "P"], "answer": "K"}')
TASK = TASKS[0]


def the_setup(arm: Arm, settings: Settings | None = None, delimiter: str = "d") -> Setup:
    asker = Person(id="dana", name="Dana")
    return setup_of(arm, TASK, settings or Settings(), delimiter=delimiter, asker=asker)


def test_each_model_alone_then_each_form_with_one_and_mixed() -> None:
    names = [arm.name for arm in arms_for([ArmForm.CRITIQUE, ArmForm.SOLO], [ONE, TWO])]
    assert names == ["solo a", "solo b", "critique a", "critique mixed"]
    mixed = arms_for([ArmForm.VOTE, ArmForm.SOLO], [ONE, TWO], only_mixed=True)
    assert [arm.name for arm in mixed] == ["solo a", "solo b", "vote mixed"]
    thinking = arms_for([ArmForm.VOTE, ArmForm.THINK], [ONE])
    assert [arm.name for arm in thinking] == ["think a", "vote a"]


@pytest.mark.parametrize(
    ("form", "agents", "when", "named"),
    [
        (ArmForm.SOLO, 1, When.NEVER, "critique"),
        (ArmForm.THINK, 1, When.NEVER, "critique"),
        (ArmForm.VOTE, 3, When.NEVER, "critique"),
        (ArmForm.BEST_OF, 5, When.NEVER, "critique"),
        (ArmForm.GATE, 3, When.SPLIT, "critique"),
        (ArmForm.COUNCIL, 3, When.ALWAYS, "council"),
        (ArmForm.PANEL, 3, When.ALWAYS, "panel"),
    ],
)
def test_what_an_arm_is(form: ArmForm, agents: int, when: When, named: str) -> None:
    arm = Arm(form=form, models=(ONE, TWO))
    setup = the_setup(arm.with_drafts(5) if form is ArmForm.BEST_OF else arm)
    assert (len(setup.agents), setup.when, setup.format) == (agents, when, named)
    assert [agent.model for agent in setup.agents] == list("ababa")[:agents]
    assert setup.limits.debate_cost is None
    assert not setup.clarifying.enabled
    assert not any(agent.fallbacks for agent in setup.agents)


def test_arms_of_one_model_are_judged_by_it() -> None:
    judge = agent_for("legal", ONE).model_copy(update={"id": "judge"})
    settings = Settings(judge_model=TWO)
    alone, mixed = Arm(form=ArmForm.GATE, models=(ONE,)), Arm(form=ArmForm.GATE, models=(TWO, ONE))
    assert the_setup(alone, settings).judge.model == "a"
    assert the_setup(mixed, settings).judge.model == "b"
    named = settings.model_copy(update={"judge": judge})
    assert the_setup(Arm(form=ArmForm.GATE, models=(TWO,)), named).judge.model == "b"
    assert the_setup(mixed, named).judge.model == "a"


def test_the_settings_roster_debates() -> None:
    settings = Settings(agents=(agent_for("legal", ONE), agent_for("finance", ONE)))
    setup = the_setup(Arm(form=ArmForm.CRITIQUE, models=(TWO,)), settings)
    assert [(agent.id, agent.model) for agent in setup.agents] == [("legal", "b"), ("finance", "b")]


def test_the_same_work_has_the_same_origin_and_other_work_has_not() -> None:
    arm = Arm(form=ArmForm.VOTE, models=(ONE,))
    first = origin_of(the_setup(arm, delimiter="d1"), TASK, 0)
    assert first == origin_of(the_setup(arm, delimiter="d2"), TASK, 0)
    others = [
        origin_of(the_setup(arm), TASK, 1),
        origin_of(the_setup(Arm(form=ArmForm.VOTE, models=(TWO,))), TASK, 0),
        origin_of(the_setup(Arm(form=ArmForm.SOLO, models=(ONE,))), TASK, 0),
        origin_of(the_setup(arm, Settings(rounds=2)), TASK, 0),
        *(
            origin_of(the_setup(Arm(form=ArmForm.THINK, models=(ONE,), tokens=n)), TASK, 0)
            for n in (0, 9)
        ),
        origin_of(the_setup(arm), TASK.model_copy(update={"answer": "o2"}), 0),
    ]
    assert len({first, *others}) == 8


def test_best_of_has_as_many_drafts_as_the_debate_pays_for() -> None:
    costs = {2: 0.1, 3: 0.2, 4: 0.4}
    assert [drafts_for(target, costs) for target in (0.05, 0.2, 0.39, 9)] == [2, 3, 3, 4]
    assert Arm(form=ArmForm.BEST_OF, models=(ONE,)).with_drafts(99).drafts == MOST_DRAFTS


def record(**changes: object) -> str:
    whole = {"question": "Rain?", "model": "a", "phase": "first", "probability": 0.7}
    return json.dumps({**whole, "answer": True, **changes})


def test_recorded_answers() -> None:
    lines = [record(), record(phase="second", probability=0.9, answer=None)]
    lines += [record(question="Only first?")]
    tasks, answers, models = recorded_answers("\n".join(lines), "rec.jsonl")
    assert [task.question for task in tasks] == ["Rain?"]
    assert list(answers.values()) == [{"first": 0.7, "second": 0.9}]
    assert [model.model for model in models] == ["a"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (record(phase="third"), "the phase is first or second"),
        (record(probability=1.2), "from 0 to 1"),
        ("{}", "record 1: 'question' cannot be used"),
        (record(answer=None), "no question with an answer"),
    ],
)
def test_what_is_wrong_with_records_is_told(line: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        recorded_answers(line, "rec.jsonl")
