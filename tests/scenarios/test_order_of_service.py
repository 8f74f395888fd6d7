"""Boards, cards and private answers are sent before turns of other debates; threads keep order."""

from dataclasses import replace

import pytest

from bot.queue.rate_limits import FAST
from bot.queue.rows import PostState
from bot.testing import BotSpec, Team, key_of, team_at_work
from core.debate.turn import Act
from core.testing import ScriptedProvider
from tests.scenarios.test_clarifications import QUESTION, spec

SLOW = BotSpec(rounds=6, pace=replace(FAST, post=0.4))


async def keys_in_line(team: Team) -> list[str]:
    """Keys of the posts that wait for the first debate's thread, oldest first."""
    rows = await team.moot.context.posts.rows_of_debate(team.debate_id(team.boards()[0]))
    return [row.key for row in rows if row.method == "post" and row.ts is None]


@pytest.mark.slow
async def test_a_board_and_a_word_to_a_person_overtake_the_turns_of_another_debate():
    async with team_at_work(spec=SLOW) as team:
        first = await team.debate(QUESTION)
        while len(await keys_in_line(team)) < 12:
            await team.moot.context.clock.sleep(0.05)
        second = await team.debate("And which cloud?")
        await team.say("@Moot")
        await team.workspace.wait_for(lambda: team.has_told("Mention me"))
        assert await keys_in_line(team)
        await team.wait_for_end(first, seconds=60)
        rows = await team.moot.context.posts.rows_of_debate(team.debate_id(first))
        queued = [row.key for row in rows if row.method == "post" and row.key != rows[0].key]
        assert [key_of(reply) for reply in team.replies(first) if key_of(reply)] == queued
        assert second


async def test_a_card_with_questions_overtakes_the_turns_of_another_debate():
    async with team_at_work(spec=replace(spec(), pace=replace(FAST, post=1.0), rounds=6)) as team:
        first = await team.debate(QUESTION)
        card = await team.wait_for_card(first)
        assert card
        await team.say("skip all", first)
        while len(await keys_in_line(team)) < 10:
            await team.moot.context.clock.sleep(0.05)
        second = await team.debate("And which cloud?", user="alex")
        await team.wait_for_card(second)
        assert await keys_in_line(team)


@pytest.mark.slow
async def test_many_notes_delay_no_verdict():
    """Each note gets a reaction, and a reaction takes five seconds of the rate limit here."""
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    spec = BotSpec(provider=models, pace=replace(FAST, react=5))
    async with team_at_work(spec=spec) as team:
        board = await team.debate(QUESTION)
        for number in range(25):
            await team.say(f"Mind point {number}.", board)
        await team.wait_for_log(board, lambda debate: len(debate.notes) == 25)
        models.let_go()
        await team.workspace.wait_for(lambda: team.posts(board, "headline"), timeout=300)
        rows = await team.moot.context.posts.rows_of_debate(team.debate_id(board))
    waiting = [row for row in rows if row.state is PostState.WAITING]
    assert len([row for row in waiting if row.method == "react"]) > 10
