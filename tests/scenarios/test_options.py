"""Options as people meet them: skipped and debated anyway, edited, voted on by people."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.slack.ids import ActionId, FieldId, name_field, rank_field
from bot.testing import BotSpec, Message, Team, key_of, quick_workspace, running_bot, team_at_work
from core.debate.people_events import DebateWanted, OptionEdited
from core.debate.rules import When
from core.debate.state import Status
from core.debate.turn import Act
from core.debate.turn_events import OptionsMerged
from core.debate.vote import GateReason
from core.request import ModelRequest
from core.rules.options import NONE_OF_THESE, options_of
from core.rules.schedule import rounds_held
from core.testing import ScriptedProvider, options_in, plausible_reply
from slack_on_loopback import run_workspace
from tests.scenarios.test_board import board_saying, buttons
from tests.scenarios.test_starting import form_of

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
#: Agents who all give PostgreSQL 80 %.
AGREEING = BotSpec(rounds=2, when=When.SPLIT)
#: The buttons below a verdict.
DECIDING = ("Accept", "Reject", "Revisit", "Supersede")
AFTER = ("Ask about it", "Debate it on")
#: Above them, as long as the team has not decided.
BALLOT = "Cast or change your ballot"


def split(request: ModelRequest) -> str:
    """Two hold PostgreSQL best; security holds Kafka best."""
    if request.act is not Act.BALLOT:
        return plausible_reply(request)
    by_option = {"o1": 20, "o2": 80} if request.role == "security" else {"o1": 80, "o2": 20}
    shares = [by_option.get(option, 0) for option in options_in(request)]
    return json.dumps(json.loads(plausible_reply(request)) | {"probabilities": shares})


def posts(team: Team, board: str, name: str) -> Sequence[Message]:
    return [reply for reply in team.replies(board) if key_of(reply).partition("/")[2] == name]


async def the_post(team: Team, board: str, name: str, words: str = "") -> Message:
    def match() -> Any:
        return next((post for post in posts(team, board, name) if words in post["text"]), None)

    return await team.workspace.wait_for(match, timeout=300)


def buttons_of(message: Message) -> Sequence[str]:
    rows = (block["elements"] for block in message["blocks"] if block["type"] == "actions")
    return [element["text"]["text"] for elements in rows for element in elements]


def typed(field: str, value: str) -> Mapping[str, Any]:
    return {field: {field: {"value": value}}}


def choice_of(field: str, value: str) -> Mapping[str, Any]:
    return {field: {field: {"selected_option": {"value": value}}}}


def _files_with(team: Team, board: str, words: str) -> Sequence[str]:
    """The names of the thread's files once one of them has these words; else nothing."""
    messages = team.thread(board)
    names = [file["name"] for message in messages for file in message.get("files", ())]
    return names if any(words in name for name in names) else []


async def test_all_agree_so_it_is_skipped_and_debated_anyway_to_a_second_verdict():
    async with team_at_work(spec=AGREEING) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        assert [gate.reason for gate in debate.gates.values()] == [GateReason.AGREED]
        assert rounds_held(debate) == 0
        await board_saying(team, board, "the debate was skipped")
        await board_saying(team, board, "*Summary after proposals*")
        assert buttons(team, board) == ["Debate anyway"]
        first = await the_post(team, board, "headline", "the debate was skipped")
        assert "Debate anyway" in buttons_of(first)
        assert "*PostgreSQL*: 3 of 3 agents, mean probability 80%" in first["text"]

        # A double click has one effect.
        await asyncio.gather(
            team.workspace.click(
                team.user, team.channel, first["ts"], ActionId.DEBATE_ANYWAY.value
            ),
            team.click(board, ActionId.DEBATE_ANYWAY.value),
        )
        second = await the_post(team, board, "headline/2")
        await team.wait_until_sent()

        debate = await team.debate_at(board)
        assert (debate.status, debate.edition) == (Status.CONCLUDED, 2)
        assert rounds_held(debate) == 2
        log = await team.moot.store.events(debate.id)
        assert sum(isinstance(entry.event, DebateWanted) for entry in log) == 1
        # The board is edited after the verdict is posted: both stand there once it is up to date.
        text = "wanted the debate all the same"
        root = await board_saying(team, board, "The agents' verdict", text)
        assert root["text"].startswith("The agents' verdict")
        assert "Debate anyway" not in buttons(team, board)
        old = await the_post(team, board, "headline", "Counts no more")
        assert buttons_of(old) == []
        assert second["subtype"] == "thread_broadcast"
        assert buttons_of(second) == [*DECIDING, BALLOT, *AFTER]
        assert "*PostgreSQL*: 3 of 3 agents" in old["text"]
        assert len(posts(team, board, "report/2")) <= 1
        # Each edition has names of its own: a file in doubt is looked for by its name.
        names = await team.workspace.wait_for(lambda: _files_with(team, board, "edition-2-report"))
        assert names.count(f"moot-{debate.id}-report.md") == 1
        assert names.count(f"moot-{debate.id}-edition-2-report.md") == 1


async def test_wanted_before_the_judge_has_written_there_is_one_verdict():
    provider = ScriptedProvider()
    provider.hold(Act.SYNTHESIS)
    spec = BotSpec(rounds=1, when=When.SPLIT, provider=provider)
    async with team_at_work(spec=spec) as team:
        board = await team.debate(QUESTION)
        await team.workspace.wait_for(lambda: "Debate anyway" in buttons(team, board), timeout=300)
        await team.click(board, ActionId.DEBATE_ANYWAY.value)
        await team.wait_for_log(board, lambda debate: debate.edition == 2)
        provider.let_go()
        await the_post(team, board, "headline/2")
        await team.wait_until_sent()
        debate = await team.debate_at(board)
        assert debate.status is Status.CONCLUDED
        assert posts(team, board, "headline") == []
        assert rounds_held(debate) == 1


async def test_a_debate_wanted_after_its_verdict_goes_on_after_a_restart(tmp_path: Path):
    database = tmp_path / "moot.db"
    models = ScriptedProvider()
    spec = BotSpec(rounds=1, when=When.SPLIT, provider=models)
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=database, spec=spec) as team:
            board = await team.debate(QUESTION)
            await team.wait_for_end(board)
            await board_saying(team, board, "the debate was skipped")
            models.hold(Act.CRITIQUE)
            await team.click(board, ActionId.DEBATE_ANYWAY.value)
            await board_saying(team, board, "Debate running")
        models.let_go()
        async with running_bot(workspace, database=database, spec=spec) as team:
            await the_post(team, board, "headline/2")
            await board_saying(team, board, "The agents' verdict")
            assert (await team.debate_at(board)).status is Status.CONCLUDED


async def test_what_the_team_has_accepted_is_not_debated_anyway():
    async with team_at_work(spec=AGREEING) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        verdict = await the_post(team, board, "headline")
        await team.workspace.click(team.user, team.channel, verdict["ts"], ActionId.ACCEPT.value)
        view = await form_of(team, team.user)
        await team.workspace.submit(team.user, view["id"], {})
        verdict = await the_post(team, board, "headline", "*Accepted*")
        assert buttons_of(verdict) == [*DECIDING[1:], *AFTER]
        await board_saying(team, board, "*Accepted*")
        assert buttons(team, board) == []


async def test_people_add_rename_and_merge_options_and_the_final_ballot_has_them():
    models = ScriptedProvider(split)
    models.hold(Act.REFINEMENT)
    async with team_at_work(spec=BotSpec(rounds=2, provider=models)) as team:
        board = await team.debate(QUESTION)
        await team.workspace.wait_for(lambda: "Options" in buttons(team, board), timeout=300)

        await team.click(board, ActionId.OPTIONS.value, user="alex")
        await team.workspace.wait_for(
            lambda: [
                text for text in team.ephemeral_texts("alex") if "can change its options" in text
            ],
            timeout=300,
        )

        await team.click(board, ActionId.OPTIONS.value)
        view = await form_of(team, team.user)
        twice = {**typed(name_field("o1"), "PostgreSQL"), **typed("new_option", "kafka")}
        answer = await team.workspace.submit(team.user, view["id"], twice)
        assert "“Kafka” already" in answer["errors"][FieldId.NEW_OPTION.value]
        fields = {
            **typed(name_field("o1"), "PostgreSQL"),
            **typed(name_field("o2"), "Kafka, managed"),
            **typed(FieldId.NEW_OPTION.value, "Redis streams"),
        }
        await team.workspace.submit(team.user, view["id"], fields)
        await board_saying(team, board, "*Redis streams*")
        await team.workspace.wait_for(
            lambda: any(
                'added the option "Redis streams"' in m["text"] for m in team.replies(board)
            )
        )
        renamed = [reply["text"] for reply in team.replies(board) if "renamed" in reply["text"]]
        assert 'renamed "Kafka" to "Kafka, managed"' in renamed[0]

        models.let_go()
        debate = await team.wait_for_end(board)
        names = {item.id: item.name for item in options_of(debate).items}
        named = {"o1": "PostgreSQL", "o2": "Kafka, managed", "t1": "Redis streams"}
        assert names == named | {"o3": NONE_OF_THESE}
        log = await team.moot.store.events(debate.id)
        assert sum(isinstance(entry.event, OptionEdited) for entry in log) == 2
        ballots = models.requests_of(Act.BALLOT)
        final = [request for request in ballots if len(options_in(request)) == len(names)]
        assert len(final) == 3
        assert all("Redis streams" in str(request.parts) for request in final)
        assert debate.tally is not None
        assert {score.option for score in debate.tally.options} == set(names)
        headline = (await the_post(team, board, "headline"))["text"]
        assert "probability 60%; *Kafka, managed*: 1 of 3, mean 40%; 1 more option" in headline


async def test_two_options_that_are_the_same_are_merged_and_count_as_one():
    models = ScriptedProvider(split)
    models.hold(Act.REFINEMENT)
    async with team_at_work(spec=BotSpec(rounds=2, provider=models)) as team:
        board = await team.debate(QUESTION)
        await team.workspace.wait_for(lambda: "Options" in buttons(team, board), timeout=300)
        await team.click(board, ActionId.OPTIONS.value)
        view = await form_of(team, team.user)
        merge = {
            **typed(name_field("o1"), "PostgreSQL"),
            **typed(name_field("o2"), "Kafka"),
            **choice_of(FieldId.MERGED.value, "o2"),
            **choice_of(FieldId.MERGED_INTO.value, "o1"),
        }
        await team.workspace.submit(team.user, view["id"], merge)
        models.let_go()
        debate = await team.wait_for_end(board)
        assert [item.id for item in options_of(debate).items] == ["o1", "o3"]
        assert team.has_replied(board, "they count as one")
        assert debate.tally is not None
        assert [option.option for option in debate.tally.options] == ["o1", "o3"]
        assert [round(option.mean_probability, 2) for option in debate.tally.options] == [0.6, 0.0]


async def test_people_vote_on_options_beside_the_agents_and_the_gap_is_named():
    async with team_at_work(spec=BotSpec(rounds=1, provider=ScriptedProvider(split))) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        assert any(
            isinstance(e.event, OptionsMerged) for e in await team.moot.store.events(debate.id)
        )
        vote = await the_post(team, board, "headline")
        assert "*PostgreSQL*: 2 of 3 agents, mean probability 60%" in vote["text"]
        # Who ranks which text best depends on the letters of the debate.
        assert "points: " in json.dumps(vote["blocks"]).lower()
        await team.workspace.click("alex", team.channel, vote["ts"], ActionId.BALLOT.value)
        view = await form_of(team, "alex")
        both = {**choice_of(rank_field(0), "o2"), **choice_of(rank_field(1), "o2")}
        answer = await team.workspace.submit("alex", view["id"], both)
        assert rank_field(1) in answer["errors"]
        once = {**choice_of(rank_field(0), "o2"), **choice_of(rank_field(1), "o1")}
        await team.workspace.submit("alex", view["id"], once)
        headline = (await the_post(team, board, "headline", "(1 ballot)"))["text"]
        assert "*The team's vote (1 ballot)*: Kafka 1 of 1, PostgreSQL 0 of 1." in headline
        # Nobody gave it anything.
        assert NONE_OF_THESE not in headline
        assert "the team is for Kafka, the agents are for PostgreSQL" in headline
        await board_saying(team, board, "Team and agents differ")
