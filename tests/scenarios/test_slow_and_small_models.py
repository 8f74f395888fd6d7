"""Models as teams have them at home, in Slack: slow, hung, refusing, or with little room."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.app import Parts
from bot.testing import QUICK_RETRIES, BotSpec, quick_workspace, running_bot
from core.clock import SystemClock
from core.debate.agents import ModelChoice
from core.debate.rules import When
from core.debate.state import Status
from core.debate.verdict import VerdictSource
from core.llm.call import ModelCalls, Tables
from core.llm.providers.factory import build_server
from core.rules.formats import council, critique, panel
from core.settings import AllLimits, ModelServer, Settings, agent_for
from slack_on_loopback import Workspace, run_workspace
from tests.core.llm.test_home_models import holding
from tests.vendor_replies import good_reply
from tests.vendors.script import Fault, Reject, Say, VendorRequest
from tests.vendors.server import Vendor

#: Seconds of a turn where one model never answers: it is waited for so long.
_TURN_SECONDS = 8.0
_ODD = "odd"


@dataclass(frozen=True, kw_only=True)
class HomeSpec(BotSpec):
    """A bot whose models are all at one server of the team's own; one agent has the odd one."""

    vendor: Vendor
    tokens: int = 32_768
    limits: AllLimits

    def parts(self, workspace: Workspace, database: Path | str) -> Parts:
        records = ({"provider": "home", "context_tokens": self.tokens, "local": True},)
        server = ModelServer(name="home", base_url=f"{self.vendor.url}/v1")
        calls = ModelCalls(
            {"home": build_server(server, records=records)},
            SystemClock(),
            tables=Tables(models=records),
            retries=QUICK_RETRIES,
        )
        usual = ModelChoice(provider="home", model="small")
        odd = ModelChoice(provider="home", model=_ODD)
        settings = Settings(
            agents=(
                agent_for("architect", usual),
                agent_for("security", usual),
                agent_for("simplicity", odd),
            ),
            agent_model=usual,
            judge_model=usual,
            summary_model=usual,
            format=self.format,
            rounds=self.rounds,
            when=When.ALWAYS,
            limits=self.limits,
        )
        return replace(super().parts(workspace, database), calls=calls, settings=settings)


def of_odd(answer: Say | Reject) -> Callable[[VendorRequest], Say | Reject]:
    return lambda asked: answer if asked.body["model"] == _ODD else good_reply(asked)


#: What the server does, the format, its tokens, and whether the odd agent's turns fail.
KINDS: dict[str, tuple[Callable[[VendorRequest], Say | Reject], str, int, bool]] = {
    "4,096 tokens": (holding(4096), critique.NAME, 4096, False),
    "8,192 tokens": (holding(8192), council.NAME, 8192, False),
    "32,768 tokens": (holding(32_768), panel.NAME, 32_768, False),
    "silent at first": (lambda asked: replace(good_reply(asked), wait=0.5), "panel", 32_768, False),
    "trickling": (
        lambda asked: replace(good_reply(asked), pieces=8, pace=0.05),
        "council",
        32_768,
        False,
    ),
    "without usage": (
        lambda asked: replace(good_reply(asked), counts=None),
        "panel",
        32_768,
        False,
    ),
    "hung": (of_odd(Say(fault=Fault.STALL)), "critique", 32_768, True),
    "refused": (of_odd(Reject(status=404, message="No such model.")), "critique", 32_768, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_a_debate_in_slack_reaches_its_verdict_whatever_the_models_are_like(
    kind: str,
) -> None:
    script, form, tokens, fails = KINDS[kind]
    limits = AllLimits(turn_seconds=_TURN_SECONDS) if kind == "hung" else AllLimits()
    async with (
        Vendor(script) as vendor,
        run_workspace(quick_workspace()) as workspace,
        running_bot(
            workspace,
            spec=HomeSpec(vendor=vendor, format=form, rounds=1, tokens=tokens, limits=limits),
        ) as team,
    ):
        board = await team.debate("Kafka or PostgreSQL for the queue? It must keep every job.")
        debate = await team.wait_for_end(board)
        thread = team.thread(board)
        texts = "\n".join(str(message["text"]) for message in thread)

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    failed = {failure.turn.agent for failure in debate.failures.values()}
    assert failed >= {"simplicity"} if fails else not failed
    if kind != "hung":  # there, the time of a turn is short for everybody
        assert debate.verdict.source is VerdictSource.JUDGE
    assert "No model can be reached" not in texts
    if kind != "hung":  # there, begun replies were given up
        assert (kind == "without usage") == ("are estimated, because none" in str(thread))
