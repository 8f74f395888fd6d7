"""A review of a real design document over `moot mcp`, killed three times on its way to Ready."""

import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from core.testing import a_finding_reply, a_verdict_reply
from tests.bot.mcp.at_work import Editor, text_of
from tests.bot.mcp.test_stdio import ROOT, server
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

DOCUMENT = ROOT / "docs/decisions/0035-mcp-tools-return-at-once.md"
#: What agents find in it, whose finding it is, and what its author writes instead.
LOCK = "Who does not get it reads, and takes it later"
BELOW = "and sources lie below it"
MENDED = {
    LOCK: "Who does not get it reads, and tries for it every two seconds",
    BELOW: "and sources lie below it, where no link leads out",
}
FOUND = {
    "Architect": a_finding_reply(
        LOCK, wrong='Nobody knows when: [e1: "takes it later"] is no bound.', mend="Name `seconds`."
    ),
    "Security": a_finding_reply(
        BELOW,
        severity="blocker",
        wrong='A link leads out of it, and [e1: "links are followed"].',
        mend="Say that links are refused.",
    ),
}


def kind_of(request: VendorRequest) -> str:
    """What a request asks for: a review, a merging, a second look, or something else."""
    prompt = json.dumps(request.body)
    if '"looks"' in prompt:
        return "look"
    if '"same_as"' in prompt:
        return "merging"
    return "review" if '"findings"' in prompt and '"severity"' in prompt else "other"


def whose(request: VendorRequest) -> str:
    """The agent who is asked."""
    is_security = "You are a security engineer" in json.dumps(request.body)
    return "Security" if is_security else "Architect"


def mended(text: str) -> str:
    """The document as its author changes it."""
    for old, new in MENDED.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def reviewing(request: VendorRequest) -> Say:
    finding, number = FOUND[whose(request)], {"Security": 1, "Architect": 2}[whose(request)]
    match kind_of(request):
        case "review":
            reply = {"findings": [finding], "summary": "It leaves a hole.", "verdict": "o3"}
        case "merging":
            reply = {"same_as": [1, 2]}
        case "look":
            words = MENDED[str(finding["words"])]
            look = {"finding": f"f{number}", "why": f'It says [e2: "{words}"].', "words": words}
            looks = [look | {"status": "resolved"}]
            reply = {"looks": looks, "new": [], "summary": "It is closed.", "verdict": "o1"}
        case _:
            if '"solution"' not in json.dumps(request.body):
                return good_reply(request)
            reply = a_verdict_reply(
                option="o1",
                decision="It can go ahead.",
                reasons=["Both gaps are closed."],
                requirements=[],
                dissent="",
                tradeoffs=["Polling costs tokens."],
                overturned_by=["Clients serve tasks."],
                recommendations=["Measure how often a window waits."],
                open_questions=[],
                implementation="",
            )
    return Say(text=json.dumps(reply))


@dataclass(frozen=True)
class Play:
    """A person's editor whose server is killed now and then; all that was said is on disk."""

    folder: Path
    vendor: Vendor

    @asynccontextmanager
    async def session(self) -> AsyncGenerator[Editor]:
        """An editor with a server of its own."""
        url = f"{self.vendor.url}/v1"
        keys = {"OPENAI_API_KEY": "sk-none-123456", "OPENAI_BASE_URL": url}
        async with Client(server(self.folder, **keys)) as client:
            yield Editor(client)

    async def calls(self, kim: Editor, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await kim.client.call_tool(tool, arguments)
        text = json.dumps(answer.structured_content, indent=1)
        self.note(f"## {tool} {json.dumps(arguments)}", text_of(answer), text)
        assert not answer.is_error, text_of(answer)
        assert answer.structured_content is not None
        return answer.structured_content

    async def until_asked(self, kim: Editor, debate_id: str) -> dict[str, Any]:
        """Wait until agents ask something."""
        while True:
            now = await self.calls(kim, "debate_status", debate_id=debate_id, wait_seconds=5)
            if now["open_questions"]:
                return now

    def note(self, *texts: str) -> None:
        with (self.folder / "transcript.md").open("a", encoding="utf-8") as transcript:
            transcript.write("\n\n".join((*texts, "")))

    def asked(self, what: str) -> int:
        """How many requests of that kind have arrived."""
        return [kind_of(question) for question in self.vendor.asked].count(what)

    async def kill_when_asked(self, what: str, times: int) -> None:
        """End the server the hard way once the model was asked so often."""
        while self.asked(what) < times:
            await self.vendor.asked_for(len(self.vendor.asked) + 1)
        os.kill(int((self.folder / "moot.db.lock").read_text(encoding="utf-8")), signal.SIGKILL)
        self.note("# kill -9")


@pytest.mark.slow
async def test_a_review_gets_from_a_blocker_to_ready_though_its_server_is_killed_three_times(
    tmp_path: Path,
) -> None:
    plan = tmp_path / "0035.md"
    plan.write_text(DOCUMENT.read_text(encoding="utf-8"), encoding="utf-8")
    async with Vendor(reviewing) as vendor:
        play = Play(tmp_path, vendor)
        # One agent has spoken, the other is asked: killed.
        vendor.hold(
            lambda question: kind_of(question) == "review" and whose(question) == "Architect"
        )
        async with play.session() as kim:
            begun = await play.calls(
                kim,
                "start_debate",
                question="Can we go ahead with this decision?",
                format="review",
                sources=["0035.md"],
                agents=["architect", "security"],
                clarify=False,
            )
            which = {"debate_id": begun["debate_id"]}
            while not (await play.calls(kim, "debate_status", **which, wait_seconds=2))[
                "turns_done"
            ]:
                pass
            await play.kill_when_asked("review", 2)
        vendor.let_go()
        # The author is asked: killed.
        async with play.session() as kim:
            status = await play.until_asked(kim, begun["debate_id"])
            await play.kill_when_asked("review", 3)
        # The changed text was read, and the agents look again: killed.
        plan.write_text(mended(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
        vendor.hold(lambda question: kind_of(question) == "look" and whose(question) == "Security")
        async with play.session() as kim:
            again = await play.until_asked(kim, begun["debate_id"])
            assert again["open_questions"] == status["open_questions"]
            await play.calls(kim, "submit_revision", **which, sources=["0035.md"])
            await play.kill_when_asked("look", 2)
        vendor.let_go()
        async with play.session() as kim:
            ended = await kim.follows(begun["debate_id"])
            verdict = await play.calls(kim, "get_verdict", **which)

    assert [question["finding"] for question in status["open_questions"]] == [1, 2]
    assert (ended["state"], verdict["decision"]) == ("concluded", "Ready")
    assert [(source["label"], source["role"]) for source in verdict["sources"]] == [
        ("e1", "the subject"),
        ("e2", "the changed text"),
    ]
    blocker, major = verdict["findings"]
    assert (blocker["status"], major["status"]) == ("resolved", "resolved")
    assert (blocker["quoted"], blocker["mended_by"]) == (BELOW, MENDED[BELOW])
    # Quotes within findings are checked, too.
    assert major["wrong"] == "Nobody knows when: “takes it later” (e1) is no bound."
    assert blocker["wrong"].endswith("~~“links are followed”~~ (not found in e1).")
    assert "read it and looked again." in verdict["text"]
    # What was recorded was asked for once; what was under way when it was killed, twice. Whether
    # the look of the other was on disk by then nobody knows.
    assert [play.asked(what) for what in ("review", "merging", "look")] in ([3, 1, 3], [3, 1, 4])
