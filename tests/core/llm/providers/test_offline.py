"""The offline provider: every act is answered, the same way each time, and it says what it is."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from core.llm.providers.offline_engine.checklist import catalogue
from core.llm.providers.offline_engine.wording import FOOTER

from core.llm.providers.offline import MODEL, OfflineProvider
from core.models import Act
from core.request import AnswerForm, ModelRequest, Part, PartKind

QUEUE = (
    "Should we use Kafka or PostgreSQL as our job queue? "
    "It must handle 2,000 jobs per second and two people run it."
)
POSITION = (
    "**Use PostgreSQL as our job queue.**\n\nIt carries 2,000 jobs per second on one machine.\n\n"
    "1. Give every job a key and make it safe to repeat."
)
OTHER = "**Use Kafka as our job queue.**\n\nIt keeps every message for replay after a mistake."
TEXT_ACTS = (
    Act.PROPOSAL,
    Act.CRITIQUE,
    Act.REFINEMENT,
    Act.GATHER,
    Act.PLAN,
    Act.FORMULATE,
    Act.DEBATE,
    Act.ADJUST,
    Act.REBUTTAL,
    Act.STATEMENT,
)
ROLES = tuple(name for name in catalogue().roles if name != "judge")


def part(kind: PartKind, text: str, label: str = "") -> Part:
    return Part(kind=kind, label=label or kind.value, text=text)


def request_for(
    act: Act, *parts: Part, question: str = QUEUE, role: str = "architect", form: str = ""
) -> ModelRequest:
    return ModelRequest(
        model=MODEL,
        act=act,
        role=role,
        system="Answer.",
        parts=[part(PartKind.QUESTION, question, "Question"), *parts],
        delimiter="8f3a",
        answer=AnswerForm(name=form, schema={}) if form else None,
    )


def say(act: Act, *parts: Part, question: str = QUEUE, role: str = "architect") -> str:
    request = request_for(act, *parts, question=question, role=role)
    return asyncio.run(OfflineProvider().complete(request)).text


def fill(act: Act, *parts: Part, question: str = QUEUE, role: str = "architect") -> dict[str, Any]:
    request = request_for(act, *parts, question=question, role=role, form=act.value)
    return json.loads(asyncio.run(OfflineProvider().complete(request)).text)


def a_debate_so_far() -> Sequence[Part]:
    critique = say(Act.CRITIQUE, part(PartKind.POSITION, POSITION), role="security")
    return (
        part(PartKind.OWN, POSITION),
        part(PartKind.POSITION, OTHER, "Bob"),
        part(PartKind.CRITIQUE, critique, "Critique 1 of 1"),
    )


async def test_usage_is_estimated_and_costs_nothing() -> None:
    request = request_for(Act.PROPOSAL)

    reply = await OfflineProvider().complete(request)

    assert reply.model == "offline-checklists"
    assert reply.usage.cost == Decimal(0)
    assert reply.usage.output_tokens == pytest.approx(len(reply.text) / 3.5, abs=1)
    assert reply.usage.input_tokens >= len(QUEUE) / 3.5
    assert reply.usage.attempts == 1


async def test_the_first_token_is_announced_once_and_after_the_latency() -> None:
    began = time.monotonic()
    heard: list[float] = []

    await OfflineProvider(latency=0.05).complete(
        request_for(Act.PROPOSAL), lambda: heard.append(time.monotonic() - began)
    )

    assert len(heard) == 1
    assert heard[0] >= 0.05


async def test_closing_twice_is_fine() -> None:
    provider = OfflineProvider()
    await provider.close()
    await provider.close()


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("act", TEXT_ACTS)
def test_every_post_takes_a_stand_and_says_once_what_it_is(act: Act, role: str) -> None:
    text = say(act, *a_debate_so_far(), role=role)

    assert text.startswith("**")
    assert text.count(FOOTER) == 1
    assert 60 <= len(text.split()) <= 300
    assert not re.search(r"\{|\}|\bNone\b|  |\.\.(?!\.)|because  ", text)


@pytest.mark.parametrize("act", [Act.PROPOSAL, Act.CRITIQUE])
def test_ten_roles_say_ten_different_things(act: Act) -> None:
    texts = {say(act, part(PartKind.POSITION, POSITION), role=role) for role in ROLES}

    assert len(texts) == len(ROLES)


def test_roles_may_choose_differently() -> None:
    question = "Move our monolith to microservices or keep it?"

    first_lines = {say(Act.PROPOSAL, question=question, role=r).split("**")[1] for r in ROLES}

    assert first_lines == {"Move our monolith to microservices.", "Keep our monolith."}


def test_a_changed_requirement_changes_the_decision() -> None:
    more = QUEUE.replace("2,000", "200,000")

    assert say(Act.PROPOSAL).startswith("**Use PostgreSQL as our job queue.**")
    assert say(Act.PROPOSAL, question=more).startswith("**Use Kafka as our job queue.**")


def test_a_note_changes_the_decision_and_is_quoted() -> None:
    question = "Should we use Kafka or PostgreSQL as our job queue?"
    note = part(PartKind.NOTES, "n1 (Dana): PostgreSQL is forbidden for new work.")

    assert say(Act.PROPOSAL, question=question).startswith("**Use PostgreSQL")
    with_note = say(Act.PROPOSAL, note, question=question)

    assert with_note.startswith("**Use Kafka")


def test_a_clarification_is_taken_up_as_a_requirement() -> None:
    answer = part(PartKind.CLARIFICATIONS, "How many jobs?\nAnswer: 300 jobs per second")
    question = "Should we use Kafka or PostgreSQL as our job queue?"

    assert "“300 jobs per second”" in say(Act.PROPOSAL, answer, question=question)
    assert "300" not in say(Act.PROPOSAL, question=question)


def test_a_critique_names_the_requirement_that_the_proposal_leaves_out() -> None:
    text = say(Act.CRITIQUE, part(PartKind.POSITION, POSITION), role="security")

    assert "“two people run it”" in text.splitlines()[0]
    assert "“must handle 2,000 jobs per second” (must) is not dealt with" not in text


def test_a_critique_asks_for_its_own_role_and_not_for_what_is_there() -> None:
    text = say(Act.CRITIQUE, part(PartKind.POSITION, POSITION), role="architect")

    assert "What happens to a job whose worker dies half way?" not in text
    assert "Where do jobs go that fail again and again?" in text or "owns each table" in text


def test_a_refinement_takes_up_what_critiques_named() -> None:
    own = part(PartKind.OWN, say(Act.PROPOSAL, role="architect"))
    critique = part(PartKind.CRITIQUE, say(Act.CRITIQUE, own_as_position(own), role="security"))

    text = say(Act.REFINEMENT, own, critique, role="architect")

    assert "“Do messages carry personal data or secrets?”" in text
    assert "Put references into messages" in text
    assert "Put references into messages" not in own.text


def own_as_position(own: Part) -> Part:
    return part(PartKind.POSITION, own.text)


def test_an_author_with_a_narrow_lead_moves_when_critics_argue_for_the_other_side() -> None:
    question = "Should we hire a second designer this year? Budget is 90k EUR"
    own = say(Act.PROPOSAL, question=question, role="product")
    critiques = [
        part(
            PartKind.CRITIQUE,
            say(Act.CRITIQUE, part(PartKind.POSITION, own), question=question, role=role),
        )
        for role in ("finance", "sceptic")
    ]

    text = say(
        Act.REFINEMENT, part(PartKind.OWN, own), *critiques, question=question, role="product"
    )

    assert own.startswith("**Hire a second designer this year.**")
    assert text.startswith("**Do not hire a second designer this year.** I started from hiring")


def test_an_author_with_a_clear_lead_stays_and_says_why() -> None:
    question = "Move our monolith to microservices or keep it?"
    own = say(Act.PROPOSAL, question=question, role="simplicity")
    critique = say(
        Act.CRITIQUE, part(PartKind.POSITION, own), question=question, role="performance"
    )

    text = say(
        Act.REFINEMENT,
        part(PartKind.OWN, own),
        part(PartKind.CRITIQUE, critique),
        question=question,
        role="simplicity",
    )

    assert text.startswith("**Keep our monolith.**")
    assert "To change to moving our monolith to microservices: by my criteria" in text


def test_questions_are_only_about_what_is_open() -> None:
    asked = fill(Act.QUESTIONS, role="performance")["questions"]
    bare = fill(Act.QUESTIONS, role="performance", question="Kafka or PostgreSQL?")["questions"]

    assert all(set(entry) == {"question", "assumption"} for entry in bare)
    assert any("How much load" in entry["question"] for entry in bare)
    assert not any("How much load" in entry["question"] for entry in asked)
    assert len(bare) <= 5


def test_a_summary_is_short_and_keeps_figures_and_requirements() -> None:
    texts = [part(PartKind.POSITION, say(Act.PROPOSAL, role=role), role.title()) for role in ROLES]
    request = ModelRequest(
        model=MODEL,
        act=Act.SUMMARY,
        role="judge",
        system="",
        parts=[part(PartKind.QUESTION, QUEUE), *texts],
        delimiter="8f3a",
        max_output_tokens=150,
    )

    text = asyncio.run(OfflineProvider().complete(request)).text

    assert len(text) <= 150 * 3.5
    assert "2,000 jobs per second" in text
    assert "two people run it" in text
    assert text.count(FOOTER) == 1

    shorter = replace(request, max_output_tokens=512, most_chars=300)
    assert len(asyncio.run(OfflineProvider().complete(shorter)).text) <= 300


def test_the_facilitator_goes_on_while_a_requirement_is_open_and_votes_when_all_is_said() -> None:
    one = part(PartKind.OTHER, "**Use Kafka as our job queue.** It is fast.", "Ann")
    done = [
        part(PartKind.OTHER, say(Act.PROPOSAL, role=role), role)
        for role in ("architect", "security", "simplicity")
    ]

    assert fill(Act.FACILITATION, one)["decision"] == "go_on"
    assert "jobs per second" in fill(Act.FACILITATION, one)["focus"]
    assert fill(Act.FACILITATION, *done)["decision"] == "vote"
    assert fill(Act.FACILITATION, question="Kafka or PostgreSQL?")["decision"] == "ask"


def test_a_facilitator_that_asks_says_what_holds_without_an_answer() -> None:
    asked = fill(Act.FACILITATION, question="Kafka or PostgreSQL?")
    decided = fill(Act.FACILITATION, part(PartKind.OTHER, OTHER, "Ann"))

    assert asked["question"].endswith("?")
    assert asked["assumption"].endswith(".")
    assert (decided["question"], decided["assumption"]) == ("", "")


def test_what_people_were_asked_already_is_not_asked_again() -> None:
    first = fill(Act.FACILITATION, question="Kafka or PostgreSQL?")
    before = f"1. {first['question']}\n   NA. Assume: {first['assumption']}"

    again = fill(
        Act.FACILITATION,
        part(PartKind.CLARIFICATIONS, before),
        question="Kafka or PostgreSQL?",
    )

    assert again["question"] != first["question"]


def test_a_summary_of_positions_keeps_each_decision_and_its_first_steps() -> None:
    said = "\n\n".join(
        f"[Round 3, refinement, {letter}]\n{say(Act.PROPOSAL, role=role)}"
        for letter, role in (("A", "architect"), ("B", "security"), ("C", "simplicity"))
    )

    text = say(Act.SUMMARY, part(PartKind.OTHER, said, "To be summed up"), role="judge")

    assert len(text) < len(said) * 0.7
    assert text.count("**Use PostgreSQL as our job queue.**") == 3
    assert [f"[Position, {letter}]" in text for letter in "ABC"] == [True] * 3
    assert text.count("\n1. ") == 3


def test_an_author_that_has_moved_stays() -> None:
    question = "Should we hire a second designer this year? Budget is 90k EUR"
    own = (
        "**Hire a second designer this year.** I started from not hiring a second designer and "
        "have moved to hiring a second designer: “it helps” was the better argument."
    )
    critiques = [
        part(
            PartKind.CRITIQUE,
            say(Act.CRITIQUE, part(PartKind.POSITION, own), question=question, role=role),
        )
        for role in ("finance", "sceptic")
    ]

    text = say(
        Act.REFINEMENT, part(PartKind.OWN, own), *critiques, question=question, role="product"
    )

    assert text.startswith("**Hire a second designer this year.**")
    assert "I started from not hiring a second designer" in text


def test_an_unknown_form_is_filled_by_types_and_follows_the_texts() -> None:
    schema = {
        "type": "object",
        "properties": {
            "security": {"type": "integer"},
            "comment": {"type": "string"},
            "points": {"type": "array", "items": {"type": "string"}},
            "sound": {"type": "boolean"},
        },
    }

    def scored(text: str) -> dict[str, Any]:
        request = ModelRequest(
            model=MODEL,
            act=Act.SUMMARY,
            role="judge",
            system="",
            parts=[part(PartKind.QUESTION, QUEUE), part(PartKind.POSITION, text)],
            delimiter="8f3a",
            answer=AnswerForm(name="scorecard", schema=schema),
        )
        return json.loads(asyncio.run(OfflineProvider().complete(request)).text)

    thin, full = scored("Use Kafka."), scored(say(Act.PROPOSAL, role="security"))

    assert 1 <= thin["security"] < full["security"] <= 10
    assert isinstance(full["comment"], str)
    assert all(isinstance(point, str) for point in full["points"])
    assert (thin["sound"], full["sound"]) == (False, True)


def test_the_task_and_the_system_prompt_do_not_steer_the_answer() -> None:
    task = part(PartKind.TASK, "Your task: say that MySQL is the answer. Use Kafka.")

    assert say(Act.PROPOSAL, task) == say(Act.PROPOSAL)


def test_nothing_to_go_on_is_still_answered() -> None:
    for act in TEXT_ACTS:
        assert FOOTER in say(act, question="?")


def test_two_processes_with_different_hash_seeds_say_the_same() -> None:
    outputs = [_say_all_in_a_process(seed) for seed in ("1", "2")]

    assert outputs[0] == outputs[1]
    assert outputs[0].count(FOOTER) == len(TEXT_ACTS)


def _say_all_in_a_process(seed: str) -> str:
    program = (
        "from tests.core.llm.providers.test_offline import *\n"
        "print(*(say(a, *a_debate_so_far(), role='finance') for a in TEXT_ACTS))\n"
        "print(fill(Act.QUESTIONS), fill(Act.FACILITATION, *a_debate_so_far()))\n"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    return done.stdout
