"""A program asks `moot run` for a debate over MCP, and kill -9 in a model call takes nothing."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bot.mcp.at_work import QUESTION, program_at
from tests.faults.audit import keys_by_debate
from tests.faults.models import MarkedModels
from tests.faults.site import CHANNEL, PATIENCE, at_work
from tests.scenarios.test_tokens import TOKEN
from tests.vendors.script import Fault, Reject, Say, VendorRequest

#: Calls that are answered before the death: the first of two rounds, and some of the second.
ANSWERED = 22
#: Posts by then: the board, and what two agents said in the first round.
POSTED = 3


class HalfAnswers:
    """Answers so many calls, then only the first half of each."""

    def __init__(self, models: MarkedModels) -> None:
        self.begun = asyncio.Event()
        self._models = models

    def __call__(self, request: VendorRequest) -> Say | Reject:
        """Answer as the models do, or break off in the middle."""
        answer = self._models(request)
        if isinstance(answer, Reject) or self._models.calls <= ANSWERED:
            return answer
        self.begun.set()
        return replace(answer, fault=Fault.STALL)


@pytest.mark.slow
async def test_a_program_gets_its_verdict_though_the_bot_was_killed_in_a_model_call(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path, mcp=True) as site, asyncio.timeout(PATIENCE):
        workspace, machine, models = site.workspace, site.machine, site.models
        models.wait = 0.05
        site.vendor.script = dying = HalfAnswers(models)
        await workspace.command("dana", CHANNEL, "/debate", "token")
        answers = await workspace.wait_for(lambda: workspace.ephemeral("dana", CHANNEL))
        token = TOKEN.findall(answers[-1]["text"])[0]
        async with program_at(f"{machine.url}/mcp", token) as program:
            arguments = {"question": QUESTION, "channel": f"#{CHANNEL}", "rounds": 2}
            debate_id = (await program.calls("start_debate", **arguments))["debate_id"]
            await dying.begun.wait()
            await workspace.wait_for(
                lambda: len(keys_by_debate(workspace, [CHANNEL])[debate_id]) >= POSTED,
                timeout=PATIENCE,
            )
            assert site.vendor.busy
            code, _ = await machine.stop(signal.SIGKILL)
            site.vendor.script = models
            await machine.start()
            # The program has not noticed: each of its requests stands for itself.
            assert (await program.follows(debate_id))["state"] == "concluded"
        async with program_at(f"{machine.url}/mcp", token) as program:
            verdict = await program.calls("get_verdict", debate_id=debate_id)
            listed = await program.calls("list_debates")
        while (report := await site.audited()).lost or report.stale:  # noqa: ASYNC110 - posts of another process
            await asyncio.sleep(0.1)
        await machine.stop()
        audit = await site.audited()
    assert code == -signal.SIGKILL
    assert verdict["decision"]
    assert [debate["debate_id"] for debate in listed["debates"]] == [debate_id]
    assert (audit.faults, audit.debates) == ({}, 1)
    assert audit.posts > POSTED
    # Only what had no answer, or none that was recorded, was asked again.
    assert {len(times) for times in models.asked.values()} == {1, 2}
