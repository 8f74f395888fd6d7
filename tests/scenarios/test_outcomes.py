"""90 days after the team accepted: the thread asks how it turned out, once, and anybody answers."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.slack.ids import ActionId
from bot.testing import BotSpec, Message, Team, quick_workspace, running_bot, team_at_work
from core.debate.log import fold
from core.debate.people_events import OutcomeGiven
from core.debate.state import Debate
from core.debate.verdict import OutcomeKind
from core.testing import ManualClock
from core.transcript.decision import adr
from core.transcript.report import report
from core.use_cases.remind import RemindPeople
from slack_on_loopback import PersonRefusal, run_workspace
from tests.command_line import moot
from tests.scenarios.test_board import board_saying
from tests.scenarios.test_deciding import chosen_why, decide, ended, planned, post_saying
from tests.scenarios.test_starting import form_of

SPEC = BotSpec(rounds=1)
ASKS = "*How did it turn out?*"


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=SPEC) as team:
        yield team


async def accepted(team: Team, *, user: str = "alex") -> tuple[str, Debate]:
    board, _ = await ended(team)
    await decide(team, board, ActionId.ACCEPT, chosen_why("We know it."), user=user)
    await board_saying(team, board, "*Accepted*")
    await team.wait_until_sent()
    return board, await team.debate_at(board)


def remind_in(team: Team, debate: Debate, days: float) -> RemindPeople:
    """The bot's own reminders, so many days after the debate."""
    remind = team.moot.context.acts.remind
    clock = ManualClock(debate.now + timedelta(days=days))
    return replace(remind, facts=replace(remind.facts, clock=clock))


def asking(team: Team, board: str) -> list[Message]:
    return [reply for reply in team.replies(board) if ASKS in reply["text"]]


async def outcome_question(team: Team, board: str, debate: Debate, days: float = 91) -> Message:
    await planned(team)
    await remind_in(team, debate, days).look()
    await team.workspace.wait_for(lambda: asking(team, board))
    return asking(team, board)[-1]


def outcome(kind: str, why: str) -> dict[str, Any]:
    fields = {"outcome": {"outcome": {"selected_option": {"value": kind}}}}
    return {**fields, **chosen_why(why)}


async def test_the_thread_asks_who_decided_and_who_asked_once_on_the_morning(team: Team):
    board, debate = await accepted(team)
    days = (debate.now.astimezone(ZoneInfo("UTC")) + timedelta(days=90)).date()
    zone = ZoneInfo(team.workspace.user("alex").tz)
    assert await planned(team) == [datetime.combine(days, time(8), zone)]
    await remind_in(team, debate, 88).look()
    post = await outcome_question(team, board, debate)
    await remind_in(team, debate, 92).look()
    await team.wait_until_sent()
    assert len(asking(team, board)) == 1
    await planned(team, 0)
    for name in ("alex", "dana"):
        assert f"<@{team.workspace.user(name).id}>" in post["text"]
    assert "Use PostgreSQL." in post["text"]


async def test_one_click_records_it_and_a_reason_can_be_given_and_changed(team: Team):
    board, debate = await accepted(team)
    post = await outcome_question(team, board, debate)
    await team.workspace.click("alex", team.channel, post["ts"], ActionId.OUTCOME_PARTLY.value)
    await board_saying(team, board, "*It held in part*, says")  # before the form is sent
    view = await form_of(team, "alex")
    await team.workspace.submit("alex", view["id"], outcome("partly", "Latency needed kiwisearch."))
    message = await board_saying(team, board, "Why: Latency needed kiwisearch.")
    assert message["text"].count("*It held in part*") == 1

    await team.wait_until_sent()
    await team.workspace.click("dana", team.channel, post["ts"], ActionId.OUTCOME_CHANGE.value)
    view = await form_of(team, "dana")
    assert "Latency needed kiwisearch." in str(view)
    await team.workspace.submit("dana", view["id"], outcome("reversed", "It was kiwireversed."))
    await board_saying(team, board, "*It was reversed*")
    await post_saying(team, board, "headline", "*It was reversed*")
    await team.wait_until_sent()
    assert asking(team, board) == []  # the question became the answer

    debate = await team.debate_at(board)
    assert [item.kind for item in debate.outcomes] == [
        OutcomeKind.PARTLY,
        OutcomeKind.PARTLY,
        OutcomeKind.REVERSED,
    ]
    await team.type(f"show {debate.id}")
    assert "Why: It was kiwireversed." in team.ephemeral_texts()[-1]
    await team.type("search kiwireversed")
    assert debate.id in team.ephemeral_texts()[-1]
    await team.type("list")
    assert "accepted, reversed" in team.ephemeral_texts()[-1]
    assert "How it turned out: reversed, says" in report(debate)
    assert "## How it turned out\n\nreversed, says" in adr(debate)


async def test_a_double_click_is_one_answer(team: Team):
    board, debate = await accepted(team)
    post = await outcome_question(team, board, debate)
    click = partial(team.workspace.click, "alex", team.channel, post["ts"])
    await click(ActionId.OUTCOME_HELD.value)
    with suppress(PersonRefusal):  # the first one may have taken the button away already
        await click(ActionId.OUTCOME_HELD.value)
    await board_saying(team, board, "*It held*, says")
    await team.wait_until_sent()
    log = await team.moot.store.events(debate.id)
    assert sum(isinstance(entry.event, OutcomeGiven) for entry in log) == 1


async def test_too_early_is_asked_again_and_every_question_shows_the_answer(team: Team):
    board, debate = await accepted(team)
    post = await outcome_question(team, board, debate)
    await team.workspace.click("alex", team.channel, post["ts"], ActionId.OUTCOME_TOO_EARLY.value)
    await board_saying(team, board, "*Too early to say*")
    await team.workspace.wait_for(lambda: "Asked again after 30 days" in str(views(team, "alex")))
    await remind_in(team, debate, 200).look()
    await team.workspace.wait_for(lambda: len(asking(team, board)) == 2)
    again = asking(team, board)[-1]
    await team.workspace.click("alex", team.channel, again["ts"], ActionId.OUTCOME_HELD.value)
    await team.workspace.wait_for(
        lambda: sum("*It held*, says" in reply["text"] for reply in team.replies(board)) >= 2
    )
    await team.wait_until_sent()
    assert asking(team, board) == []


def views(team: Team, user: str) -> Any:
    return team.workspace.views(user)


async def test_a_decision_accepted_again_is_asked_about_in_a_post_of_its_own(team: Team):
    board, debate = await accepted(team)
    post = await outcome_question(team, board, debate)
    await decide(team, board, ActionId.REJECT, chosen_why("It cannot be run."))
    await board_saying(team, board, "*Rejected*")
    await team.wait_until_sent()
    await decide(team, board, ActionId.ACCEPT, chosen_why("Once more."))
    await board_saying(team, board, "Once more.")
    again = await outcome_question(team, board, await team.debate_at(board), 182)
    assert again["ts"] != post["ts"]
    await team.workspace.click("alex", team.channel, again["ts"], ActionId.OUTCOME_HELD.value)
    await board_saying(team, board, "*It held*, says")
    await team.wait_until_sent()
    assert asking(team, board) == []
    closed = next(reply for reply in team.replies(board) if reply["ts"] == post["ts"])
    assert not any(block["type"] == "actions" for block in closed["blocks"])
    texts = {reply["ts"]: reply["text"] for reply in team.replies(board)}
    assert "*It held*" in texts[again["ts"]]
    assert "replaced since" in texts[post["ts"]]
    assert "*It held*" not in texts[post["ts"]]
    await decide(team, board, ActionId.REJECT, chosen_why("Not any more."))
    await board_saying(team, board, "*Rejected*", "Accepted before: :white_check_mark: *It held*")
    await team.type("list")
    assert ":x: rejected, accepted before: held" in team.ephemeral_texts()[-1]


async def test_it_can_be_said_before_anybody_asks_and_then_nobody_does(team: Team):
    board, _ = await ended(team)
    debate = await team.debate_at(board)
    await team.type(f"outcome {debate.id}")
    said = team.ephemeral_texts()[-1]
    assert "has not accepted the verdict" in said
    assert "press *Accept*" in said
    assert "moot accept" not in said
    assert views(team, "dana") == []
    await decide(team, board, ActionId.ACCEPT)
    await board_saying(team, board, "*Accepted*")
    await team.type(f"outcome {debate.id}")
    view = await form_of(team)
    await team.workspace.submit("dana", view["id"], outcome("held", "It simply works."))
    await board_saying(team, board, "*It held*")
    await team.workspace.wait_for(lambda: team.has_replied(board, "*How it turned out*"))
    await remind_in(team, debate, 100).look()
    await team.wait_until_sent()
    assert asking(team, board) == []


async def test_where_the_channel_was_archived_nobody_is_asked_and_nothing_is_told(team: Team):
    board, debate = await accepted(team)
    await planned(team)
    team.workspace.archive(team.channel)
    before = len(team.replies(board))
    await remind_in(team, debate, 100).look()
    await team.wait_until_sent()
    await planned(team, 0)
    assert (await team.debate_at(board)).outcomes_asked == {}
    assert len(team.replies(board)) == before


async def test_home_counts_outcomes_for_who_may_see_them_only(team: Team):
    board, _ = await accepted(team)
    await team.workspace.open_home("alex")
    await home_saying(team, "alex", "1 accepted decision: 1 that nobody was asked about.")
    debate = await team.debate_at(board)
    await team.type(f"outcome {debate.id}")
    view = await form_of(team)
    await team.workspace.submit("dana", view["id"], outcome("held", ""))
    await team.workspace.open_home("alex")
    await home_saying(team, "alex", "No evidence yet: 1 outcome is too few.")
    await team.workspace.channel_action("sam", "leave", channel=team.channel)
    await team.workspace.open_home("sam")
    text = await home_saying(team, "sam", "Nothing here yet")
    assert "How decisions turned out" not in text


async def home_saying(team: Team, user: str, words: str) -> str:
    def match() -> Any:
        text = str(team.workspace.home(user))
        return text if words in text else None

    return await team.workspace.wait_for(match, timeout=300)


async def test_on_a_terminal_it_is_said_with_a_command(tmp_path: Path):
    env = {"MOOT_DATABASE": str(tmp_path / "m.db")}
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=tmp_path / "m.db", spec=SPEC) as team:
            board, debate = await accepted(team)
            words = ("outcome", debate.id, "held")
            refused = await asyncio.to_thread(moot, *words, folder=tmp_path, env=env)

        async def typed(*words: str) -> Any:
            return await asyncio.to_thread(moot, "outcome", *words, folder=tmp_path, env=env)

        nothing = await typed(debate.id)
        process = await typed(debate.id, "reversed", "--because", "Nobody could run it.")
        answer = await typed(debate.id)
        unknown = await typed("dzzzzzzz", "held")
        wrong = await typed(debate.id, "--because", "So.")
        counted = await calibration_of(tmp_path, env)
        show = await asyncio.to_thread(moot, "show", debate.id, folder=tmp_path, env=env)
        async with running_bot(workspace, database=tmp_path / "m.db", spec=SPEC) as again:
            await board_saying(again, board, "*It was reversed*")
            log = await again.moot.store.events(debate.id)
    assert refused.returncode == 1
    assert f"type `/debate outcome {debate.id}` in Slack" in " ".join(refused.stderr.split())
    assert f"moot outcome {debate.id} held" in nothing.stderr
    assert "Recorded: reversed, says" in process.stderr
    assert "reversed, says" in answer.stdout
    assert "Nobody could run it." in answer.stdout
    assert (unknown.returncode, "There is no debate" in unknown.stderr) == (1, True)
    assert (wrong.returncode, "Say how it turned out" in wrong.stderr) == (2, True)
    assert "The team's decision: accepted." in show.stdout
    assert "How it turned out: reversed, says" in show.stdout
    table, decisions = counted
    assert "No evidence yet: 1 outcome is too few." in table
    assert "| all decisions | 0 | 0 | 1 | 0% (0–79%) |" in table
    (decision,) = json.loads(decisions)["decisions"]
    assert (decision["debate"], decision["outcome"]) == (debate.id, "reversed")
    outcome_after = fold(log).outcome
    assert outcome_after is not None
    assert (outcome_after.kind, outcome_after.why) == (OutcomeKind.REVERSED, "Nobody could run it.")


async def calibration_of(folder: Path, env: dict[str, str]) -> tuple[str, str]:
    """What `moot calibration` prints, as tables and as JSON."""
    words = ((), ("--json",))
    ended = [
        await asyncio.to_thread(moot, "calibration", *more, folder=folder, env=env)
        for more in words
    ]
    assert [end.returncode for end in ended] == [0, 0]
    return ended[0].stdout, ended[1].stdout
