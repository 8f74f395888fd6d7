"""A debate as a person sees it: the real bot, the local Slack, a real browser."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from bot.testing import BotSpec, Team, team_at_work
from core.debate.turn import Act
from core.testing import ScriptedProvider

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
]

QUESTION = "PostgreSQL or Kafka for our background jobs?"
#: Milliseconds a part of the debate may take to appear on a busy machine.
PATIENCE = 300_000


@pytest.fixture
def models() -> ScriptedProvider:
    models = ScriptedProvider()
    models.hold(Act.PROPOSAL)  # a debate that has begun stays at its beginning
    return models


@pytest_asyncio.fixture(loop_scope="module")
async def team(models: ScriptedProvider) -> AsyncIterator[Team]:
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        yield team


async def start(page: Page, team: Team) -> str:
    area = page.get_by_label(f"Message #{team.channel}")
    await area.fill(f"/debate {QUESTION}")
    await area.press("Enter")
    board = page.locator("#main .row", has_text="At work").last
    await expect(board).to_be_visible(timeout=PATIENCE)
    return await board.get_attribute("data-ts") or ""


async def test_typing_the_command_leads_to_a_pinned_board_and_a_decision(
    page: Page, team: Team, models: ScriptedProvider
):
    ts = await start(page, team)
    board = page.locator(f'#main .row[data-ts="{ts}"]').first
    await expect(board).to_contain_text(QUESTION)
    await expect(page.locator("#main")).to_contain_text("pinned", ignore_case=True)
    models.let_go()
    await board.get_by_role("link", name=re.compile("repl")).click(timeout=PATIENCE)
    thread = page.locator("#thread")
    await expect(thread).to_contain_text("On Architect: ", timeout=PATIENCE)
    await expect(board).to_contain_text("The agents' verdict", timeout=PATIENCE)
    broadcast = page.locator("#main .row", has_text="What would overturn it").last
    await expect(broadcast).to_contain_text("Use PostgreSQL.", timeout=PATIENCE)
    await team.workspace.wait_for(lambda: ts not in team.workspace.pins(team.channel))


@pytest.mark.slow
async def test_the_stop_button_ends_it_with_a_partial_decision(
    page: Page, team: Team, models: ScriptedProvider
):
    ts = await start(page, team)
    models.let_go()
    models.hold(Act.REFINEMENT)  # there are positions to decide on, and time to press the button
    await models.wait_until_asked(Act.REFINEMENT)
    board = page.locator(f'#main .row[data-ts="{ts}"]').first
    await board.get_by_role("button", name="Stop").click(timeout=PATIENCE)
    dialog = page.locator("dialog")
    await dialog.get_by_role("button").last.click(timeout=PATIENCE)
    await expect(board).to_contain_text("Partial result", timeout=PATIENCE)
    debate = await team.wait_for_end(ts)
    assert debate.stop is not None
    assert debate.stop.by.id == team.workspace.user("dana").id


@pytest.mark.slow
async def test_a_reply_in_the_thread_is_seen_by_the_bot(
    page: Page, team: Team, models: ScriptedProvider
):
    ts = await start(page, team)
    board = page.locator(f'#main .row[data-ts="{ts}"]').first
    await board.get_by_role("button", name="Pause").click(timeout=PATIENCE)
    await expect(board).to_contain_text("Debate paused", timeout=PATIENCE)
    await board.get_by_role("link", name=re.compile("repl")).click(timeout=PATIENCE)
    await page.locator("#thread textarea").fill("We are only two people.")
    await page.locator("#thread textarea").press("Enter")
    note = page.locator("#thread .row", has_text="We are only two people.").first
    await expect(note.locator('.reaction[title^="eyes"]')).to_be_visible(timeout=PATIENCE)
    models.let_go()
    await board.get_by_role("button", name="Resume").click(timeout=PATIENCE)
    debate = await team.wait_for_end(ts)
    assert [note.text for note in debate.notes] == ["We are only two people."]
