"""Points that only one agent raised are listed in the verdict."""

import json
import re

from bot.slack.ids import address_of, turn_key
from bot.views.message import full_blocks
from bot.views.verdict import full_verdict, verdict_posts
from core.debate.contributions import RaisedKind
from core.debate.rules import Clarifying, When
from core.debate.state import Debate
from core.debate.turn import Act
from core.request import ModelRequest
from core.rules.judging import raised_points
from core.testing import ScriptedProvider, a_setup, a_verdict_reply, plausible_reply
from core.transcript.decision import decision_text
from core.transcript.report import report
from tests.core.bench import Bench

#: Points of each agent alone, and a point of all agents.
LONE = {
    "architect": ["Idea: Let each tenant have a queue of its own.", "**Risk:** Vacuum stalls."],
    "security": ["- Risk: Payloads hold personal data.", "Fact: The audit is in May (context)."],
    "simplicity": ["Missing: The budget."],
}
SHARED = "Risk: Nobody has measured the load."


def an_agent_and_judge(request: ModelRequest) -> str:
    """Replies of three agents with lone points, and of a judge that names these."""
    match request.act:
        case Act.PROPOSAL:
            raised = "\n".join((*LONE[request.role], SHARED))
            return f"**PostgreSQL.** Because.\n\nIn short: PostgreSQL.\n- It is there.\n{raised}"
        case Act.QUESTIONS:
            return json.dumps({"facts": ["It must keep every job."], "questions": []})
        case Act.SYNTHESIS:
            text = next(part.text for part in request.parts if "What agents raised" in part.label)
            lines = [line.split(": ", 3) for line in text.splitlines()]
            texts = [text for *_, text in lines]
            lone = [label for label, *_, text in lines if texts.count(text) == 1]
            return json.dumps(a_verdict_reply(lone=[*lone, lone[0], "r99"]))
        case _:
            return plausible_reply(request)


async def debate_and_provider(**changes: object) -> tuple[Debate, ScriptedProvider]:
    provider = ScriptedProvider(an_agent_and_judge)
    setup = a_setup(rounds=1).model_copy(update={"when": When.ALWAYS, **changes})
    return await Bench(provider=provider).run(setup), provider


async def test_lone_points_are_in_every_form_of_the_verdict() -> None:
    debate, provider = await debate_and_provider()
    verdict = debate.verdict
    assert verdict

    planted = [re.sub(r"^\W*\w+:\W*", "", line) for lines in LONE.values() for line in lines]
    assert [point.text for point in verdict.lone] == planted
    assert {point.kind for point in verdict.lone} == set(RaisedKind)
    tasks = [request.parts[-1].text for request in provider.requests_of(Act.PROPOSAL)]
    assert all("`Fact:` or `Missing:`" in task for task in tasks), "agents asked nothing before"
    for line in planted:
        assert line in report(debate)
        assert line in decision_text(debate)
    assert "Idea, Architect: proposal, round 1: Let each tenant" in report(debate)
    first = debate.setup.agents[0]
    where = address_of(turn_key(debate.id, f"r1/proposal/{first.id}"))
    thread = "\n".join(post.text for post in verdict_posts(debate, verdict))
    assert "*Said by one agent only*\n• *Idea, Architect: proposal, round 1*: Let each" in thread
    assert f"(<{where}|{first.name}'s post>)" in thread
    window = json.dumps(full_blocks(full_verdict(debate, verdict), 90))
    assert "Let each tenant" in window
    assert "moot.invalid" not in window, "a modal has no placeholder for addresses"
    # Other agents do not read raised points.
    requests = provider.requests_of(Act.REFINEMENT)
    assert requests
    assert not any("Vacuum stalls" in part.text for r in requests for part in r.parts)


async def test_facts_are_asked_for_before_positions_and_count_as_raised() -> None:
    debate, provider = await debate_and_provider(
        clarifying=Clarifying(enabled=True, wait_seconds=60)
    )
    tasks = [request.parts[-1].text for request in provider.requests_of(Act.PROPOSAL)]
    assert not any("Missing:" in task for task in tasks), "agents have asked for missing facts"
    facts = [point for point in raised_points(debate).values() if "every job" in point.text]
    assert [point.agent for point in facts] == [agent.id for agent in debate.setup.agents]
    assert debate.verdict
    assert not any("every job" in point.text for point in debate.verdict.lone), "all raised it"
