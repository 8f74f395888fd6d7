"""Bad replies of models through a real SDK.

The first reply is the one of the row, later ones are good. One request means that the first reply
was read, two that the call was repeated.
"""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from core.acts.ballot import ballot_reply
from core.acts.verdict import verdict_reply
from core.clock import SystemClock
from core.debate.agents import Agent
from core.debate.turn import Act
from core.errors import ReplyUnreadable, ReplyUnusable
from core.llm.call import ModelCalls
from core.llm.providers.factory import build_server
from core.llm.replies import answer_form, read_answer
from core.request import ModelRequest, Part, PartKind
from core.retry import RetryPolicy
from core.settings import ModelServer
from core.testing import a_setup
from tests.vendors.script import Say
from tests.vendors.server import Vendor, always, in_turn

BALLOT: dict[str, Any] = {
    "reasons": ["p1: it keeps every job.", "p2: one system more."],
    "ranking": ["p1", "p2"],
    "probabilities": [70.0, 30.0],
    "moved_by": "c1",
    "why_moved": "It is simpler.",
}
GOOD = json.dumps(BALLOT)
VERDICT: dict[str, Any] = {
    "reasons": ["The team knows it."],
    "dissent": "Kafka scales further.",
    "requirements": [{"requirement": "Keeps jobs", "words": "every job", "status": "met"}],
    "criteria": [],
    "decision": "Use PostgreSQL.",
    "option": "o1",
    "solution": "One table.",
    "implementation": "SKIP LOCKED.",
    "tradeoffs": ["Less throughput."],
    "recommendations": ["Measure."],
    "open_questions": [],
    "overturned_by": ["10,000 jobs a second."],
    "notes": [],
    "confidence": 70,
}
WHOLE_VERDICT = json.dumps(VERDICT)


def changed(**fields: Any) -> str:
    return json.dumps(BALLOT | fields)


def without(name: str) -> str:
    return json.dumps({key: value for key, value in BALLOT.items() if key != name})


READ = [
    pytest.param(GOOD, id="as asked"),
    pytest.param(f"My ballot:\n```json\n{GOOD}\n```\nI hope it helps.", id="fence, preamble"),
    pytest.param(f"```JSON\n{GOOD}\n```", id="fence in capitals"),
    pytest.param(f"```\n{GOOD}", id="fence that does not end"),
    pytest.param(f"I thought about {{this}}.\n{GOOD}", id="braces before it"),
    pytest.param(f"{GOOD}\nI hope this {{really}} helps.", id="braces behind it"),
    pytest.param(f"<think>Maybe {changed(ranking=['p2', 'p1'])}</think>\n{GOOD}", id="a thought"),
    pytest.param(f"{changed(ranking=['p2', 'p1'])}\nNo, wait:\n{GOOD}", id="a draft before it"),
    pytest.param(GOOD[:-1] + ",}", id="trailing comma"),
    pytest.param(GOOD.replace("]", ",]"), id="trailing commas in lists"),
    pytest.param("{ // my ballot\n" + GOOD[1:], id="a comment"),
    pytest.param("{ /* my ballot */ " + GOOD[1:], id="a comment of C"),
    pytest.param(str(BALLOT), id="Python"),
    pytest.param(GOOD.replace('"', "'"), id="single quotes"),
    pytest.param(GOOD.replace('"', "“", 1).replace('"', "”", 1), id="typographic quotes"),
    pytest.param(GOOD.replace('"ranking"', "ranking"), id="a name without quotes"),
    pytest.param(GOOD.replace('], "ranking"', '] "ranking"'), id="a comma missing"),
    pytest.param(json.dumps(GOOD), id="quoted"),
    pytest.param(json.dumps([BALLOT]), id="in a list"),
    pytest.param(json.dumps({"answer": BALLOT}), id="in an object"),
    pytest.param(json.dumps({"type": "object", "properties": BALLOT}), id="in its schema"),
    pytest.param(json.dumps({"result": {"ballot": BALLOT}}), id="two objects deep"),
    pytest.param(json.dumps({name.title(): BALLOT[name] for name in BALLOT}), id="Capitals"),
    pytest.param(GOOD.replace("moved_by", "movedBy"), id="camel case"),
    pytest.param(changed(ranking=["P1", "P2"]), id="labels in capitals"),
    pytest.param(changed(ranking=["**p1**", "p2."]), id="labels in Markdown"),
    pytest.param(changed(probabilities=["70%", "30 %"]), id="numbers as text"),
    pytest.param(changed(extra="I like it."), id="a field more"),
    pytest.param(GOOD[:-1] + ', "reasons": null}', id="a field twice, at last as null"),
    pytest.param(changed(moved_by="c1, because it is true"), id="a label with a reason"),
    pytest.param(changed(reasons=["p1: \ud83d keeps jobs.", "p2: no."]), id="half a character"),
    pytest.param(GOOD.replace("it keeps", "it\nkeeps"), id="a line end in a text"),
    pytest.param("\ufeff" + GOOD, id="a mark before it"),
    pytest.param(changed(reasons=["p1: 它保留每个任务。", "p2: 多一个系统。"]), id="Chinese"),
]  # fmt: skip
ASKED_AGAIN = [
    pytest.param("I would rather not say.", "no JSON object", id="prose"),
    pytest.param(GOOD[: len(GOOD) // 2], "ends in the middle", id="cut in the middle"),
    pytest.param(GOOD[:-30], "ends in the middle", id="cut near its end"),
    pytest.param(without("ranking"), '"ranking" is missing', id="a field missing"),
    pytest.param(json.dumps({"moved_by": "c1"}), r'"reasons" is missing\. .*"ranking" is missing',
                 id="two fields missing"),
    pytest.param(changed(ranking=["p1", 7], probabilities=["many", "few"]),
                 r'"ranking\.1" must be .*"probabilities\.0" must.*"probabilities\.1" must',
                 id="two faults at once"),
    pytest.param(changed(probabilities="seventy"), "probabilities", id="a text for a list"),
    pytest.param("[1, 2]", "no JSON object", id="a list of numbers"),
    pytest.param("null", "no JSON object", id="null"),
    pytest.param("{}", '"reasons" is missing', id="an empty object"),
    pytest.param("ranking: [p1, p2]", "no JSON object", id="YAML"),
    pytest.param("p1 > p2", "no JSON object", id="a formula"),
]  # fmt: skip
UNUSABLE = [
    pytest.param("", "holds no text", id="empty"),
    pytest.param(" \n\t ", "holds no text", id="blanks"),
    pytest.param("<think>I do not know.</think>", "holds no text", id="nothing but a thought"),
    pytest.param("I'm sorry, but I can't help with that.", "refused to answer", id="a refusal"),
    pytest.param("As an AI model, I cannot take part in debates.", "refused", id="an AI"),
    pytest.param("Sorry, I won’t comply with this.", "refused to answer", id="a curly refusal"),
    pytest.param("the " * 60, "same words again and again", id="a loop of a word"),
    pytest.param("Use it. " + "And it is the best choice. " * 40, "again and again", id="a loop"),
    pytest.param("<<<k7f3q9 Question\nA or B?\n>>>k7f3q9", "repeated its prompt", id="an echo"),
]  # fmt: skip
TEXTS = [
    pytest.param("Use A.\n\n- It is there.", "Use A.\n\n- It is there.", id="Markdown"),
    pytest.param("Sure! Here is my proposal:\n\nUse A.", "Use A.", id="words for whoever asked"),
    pytest.param("Certainly, here's a critique:\nUse A.", "Use A.", id="certainly"),
    pytest.param("```markdown\nUse A.\n```", "Use A.", id="a fence around all"),
    pytest.param("I'm sorry for the delay. I can recommend A: it keeps every job.",
                 "I'm sorry for the delay. I can recommend A: it keeps every job.",
                 id="an apology"),
    *(pytest.param(text, text, id=text[:24]) for text in (
        "Sure. We need A, and that is:\n- a queue",
        "We should look at three costs:\n\n- rent",
        "Absolutely not. It fails for two reasons:\n- cost",
        "I am not sure, but:\nStance: A, 70 %",
        "I cannot answer that from the record: nobody discussed the price.",
        "I can't help but notice that B has no numbers.",
    )),
    pytest.param("建议使用 A。", "建议使用 A。", id="Chinese"),
]  # fmt: skip


class Bench:
    """Calls through the SDK to a scripted server."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        server = ModelServer(name="workshop", base_url=f"{vendor.url}/v1")
        self.calls = ModelCalls(
            {"workshop": build_server(server)},
            SystemClock(),
            retries=RetryPolicy(tries=3, first_wait=0.001, longest_wait=0.001),
        )
        agent = a_setup().agents[0]
        self.agent: Agent = agent.model_copy(update={"provider": "workshop", "model": "llama-4"})
        self.request = ModelRequest(
            model="",
            act=Act.BALLOT,
            role="architect",
            system="You debate.",
            parts=(Part(kind=PartKind.TASK, label="Task", text="Vote."),),
            delimiter="k7f3q9",
        )

    async def value(self, form: type[BaseModel]) -> BaseModel:
        answer = await self.calls.ask_for(self.request, self.agent, form)
        return answer.value


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with Vendor() as vendor:
        bench = Bench(vendor)
        yield bench
        await bench.calls.close()


BALLOT_FORM = ballot_reply(("p1", "p2"), ("c1", "c2"), ("o1", "o2"))
VERDICT_FORM = verdict_reply((), ("o1", "o2"))


@pytest.mark.parametrize("reply", READ)
async def test_a_clear_answer_is_read_at_once(bench: Bench, reply: str) -> None:
    bench.vendor.script = in_turn(Say(text=reply), Say(text="{}"))

    value = await bench.value(BALLOT_FORM)

    assert len(bench.vendor.asked) == 1
    ballot = value.model_dump()
    assert (ballot["ranking"], ballot["probabilities"], ballot["moved_by"]) == (
        *(["p1", "p2"], [70.0, 30.0], "c1"),
    )
    assert len(ballot["reasons"]) == 2
    json.dumps(ballot, ensure_ascii=False).encode()


@pytest.mark.parametrize(("reply", "problem"), ASKED_AGAIN)
async def test_an_unclear_answer_is_asked_for_again_with_all_its_faults(
    bench: Bench, reply: str, problem: str
) -> None:
    bench.vendor.script = in_turn(Say(text=reply), Say(text=GOOD))

    await bench.value(BALLOT_FORM)

    assert len(bench.vendor.asked) == 2
    repair = bench.vendor.asked[1].body["messages"][-1]["content"]
    assert re.search(problem, repair)


@pytest.mark.parametrize(("reply", "problem"), UNUSABLE)
async def test_an_unusable_reply_is_named_by_its_fault(
    bench: Bench, reply: str, problem: str
) -> None:
    bench.vendor.script = in_turn(Say(text=reply))

    with pytest.raises(ReplyUnusable, match=problem):
        await bench.calls.ask(bench.request, bench.agent)


async def test_a_repeated_task_is_an_echo(bench: Bench) -> None:
    task = Part(kind=PartKind.TASK, label="Task", text="Propose one solution. " * 10)
    bench.vendor.script = always(Say(text="I am to do this: " + "Propose  one\nsolution. " * 10))

    with pytest.raises(ReplyUnusable, match="repeated its prompt") as caught:
        await bench.calls.ask(replace(bench.request, parts=(task,)), bench.agent)
    assert caught.value.usage.attempts == 2, "it is asked for once more"
    await bench.calls.close()


@pytest.mark.parametrize(("reply", "text"), TEXTS)
async def test_polite_words_around_a_text_are_removed(bench: Bench, reply: str, text: str) -> None:
    bench.vendor.script = in_turn(Say(text=reply))

    answer = await bench.calls.ask(bench.request, bench.agent)

    assert answer.value == text


async def test_an_inner_object_of_a_cut_verdict_is_no_answer(bench: Bench) -> None:
    bench.vendor.script = in_turn(Say(text=WHOLE_VERDICT[:320]))

    with pytest.raises(ReplyUnreadable, match=r"ends in the middle of its JSON object"):
        await bench.value(VERDICT_FORM)


class Outcome(BaseModel):
    note: str
    used: bool


class ShortVerdictReply(BaseModel):
    """What a judge says."""

    decision: str = Field(description="One sentence.", min_length=1)
    tradeoffs: list[str] = Field(default_factory=list)
    outcomes: list[Outcome] = []
    confidence: int = Field(50, ge=0, le=100)
    dissent: str | None = None


def test_the_schema_is_flat_strict_and_without_bounds() -> None:
    form = answer_form(ShortVerdictReply)

    assert form.name == "short_verdict"
    outcome = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "used": {"type": "boolean"}},
        "required": ["note", "used"],
        "additionalProperties": False,
    }
    assert form.schema == {
        "type": "object",
        "description": "What a judge says.",
        "properties": {
            "decision": {"type": "string", "description": "One sentence."},
            "tradeoffs": {"type": "array", "items": {"type": "string"}},
            "outcomes": {"type": "array", "items": outcome},
            "confidence": {"type": "integer"},
            "dissent": {"type": "string"},
        },
        "required": ["decision", "tradeoffs", "outcomes", "confidence", "dissent"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("{" * 5000, "ends in the middle"),
        ('{"a":' * 5000, "ends in the middle"),
        ('{"a":' + "1" * 5000, "ends in the middle"),
        ('{"decision": "A"', "ends in the middle"),
        ('{"decision": "A", "confidence": "the merger"}', '"confidence" must be a whole number'),
        ('{"decision": "A", "confidence": 101}', '"confidence" must be 100 or less'),
    ],
)
def test_faults_are_named_without_quoting_the_reply(reply: str, problem: str) -> None:
    with pytest.raises(ReplyUnreadable, match=problem) as caught:
        read_answer(reply, ShortVerdictReply)

    assert "merger" not in str(caught.value), "nothing of the reply is quoted"
