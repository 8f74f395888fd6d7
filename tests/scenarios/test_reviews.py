"""A review in Slack: found, answered in the thread, a changed file, a second look, a verdict."""

import json

from bot.testing import BotSpec, team_at_work
from core.debate.contributions import FindingStatus
from core.debate.state import Status
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider, a_finding_reply, a_verdict_reply, plausible_reply
from tests.seen import seen_in

PLAN = b"# One queue\n\nWe drop the old queue on Monday. Jobs that are in it are lost.\n"
CHANGED = b"# One queue\n\nWe drop the old queue on Monday, once it is drained.\n"
LOST = "Jobs that are in it are lost"


def reviewing(request: ModelRequest) -> str:
    """The architect finds a blocker and invents a quote; the changed text settles it."""
    if request.act is Act.REVIEW and request.role == "architect":
        findings = [
            a_finding_reply(LOST, severity="blocker", wrong="Orders <!channel> vanish."),
            a_finding_reply("Root runs it", severity="major", wrong="Root may do all."),
            a_finding_reply("One queue", severity="minor", wrong="Which one?"),
        ]
        return json.dumps({"findings": findings, "summary": "It loses jobs.", "verdict": "o3"})
    if request.act is Act.REVIEW:
        return json.dumps({"findings": [], "summary": "Fine by me.", "verdict": "o1"})
    if request.act is Act.SECOND_LOOK:
        text = "\n".join(part.text for part in request.parts)
        is_mended = "once it is drained" in text and "moved by hand" in text
        status = "resolved" if is_mended else "open"
        looks = [{"finding": "f1", "why": "It is drained first.", "status": status}]
        reply = {"looks": looks, "new": [], "summary": "It can go.", "verdict": "o2"}
        return json.dumps(reply)
    if request.act is Act.SYNTHESIS:
        reply = a_verdict_reply(option="o2", decision="It goes once the name is clear.")
        return json.dumps(reply | {"reasons": ["No job is lost any more."]})
    return plausible_reply(request)


async def test_an_author_answers_hands_in_a_change_and_gets_a_verdict() -> None:
    spec = BotSpec(provider=ScriptedProvider(reviewing), rounds=1)
    async with team_at_work(spec=spec) as team:
        await team.workspace.share_file(
            "dana", team.channel, "plan.md", PLAN, text="@Moot --format review"
        )
        board = await team.new_board()
        card = await team.wait_for_card(board)
        card_text = "\n".join(seen_in([card], opened=True))
        await team.workspace.share_file("dana", team.channel, "plan-2.md", CHANGED, thread_ts=board)
        await team.workspace.wait_for(lambda: "plan-2.md" in str(team.replies(board)))
        await team.say("1: They are moved by hand on Sunday.", board)
        debate = await team.wait_for_end(board)
        text = "\n".join(seen_in(team.replies(board), opened=True))
        top = "\n".join(seen_in([team.thread(board)[0]], opened=True))
        posts = len(team.replies(board))

    assert "1 finding" in card_text
    assert f"blocker: “{LOST}” (e1, line 3)" in card_text
    assert "attach it to a reply" in card_text
    assert "Root may do all" not in card_text
    assert "<!channel>" not in card_text

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.decision == "Ready with changes: 1 minor"
    assert [finding.status for finding in debate.verdict.findings] == [
        FindingStatus.RESOLVED,
        FindingStatus.OPEN,
    ]
    assert "Ready with changes: 1 minor" in top
    assert "*Subject*" in top
    assert "*Findings*: 1 minor; 1 finding resolved; 1 struck out" in top
    assert "Struck out, because the words they are about are not in the subject" in text
    assert "It is drained first." in text
    assert posts <= 12
    names = [file["name"] for reply in team.replies(board) for file in reply.get("files", [])]
    assert any(name.endswith("-review.md") for name in names)
