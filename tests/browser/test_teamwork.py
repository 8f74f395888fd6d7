"""What a team does in Slack, in a real browser: forms, answers, ballots, decisions, Home."""

import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from bot.testing import BotSpec, Team, team_at_work
from core.debate.rules import Clarifying
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider, plausible_reply

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
]

QUESTION = "PostgreSQL or Kafka for our background jobs? Jobs must never be lost."
#: Milliseconds a part of the debate may take to appear on a busy machine.
PATIENCE = 300_000
ASKED = {
    "architect": [("How many jobs a second?", "A thousand"), ("Who runs it?", "Two people")],
    "security": [("Which data is in a job?", "No personal data")],
}


def asking(request: ModelRequest) -> str:
    if request.act is not Act.QUESTIONS:
        return plausible_reply(request)
    questions = [{"question": q, "assumption": a} for q, a in ASKED.get(request.role, [])]
    return json.dumps({"questions": questions})


@pytest_asyncio.fixture(loop_scope="module")
async def team() -> AsyncIterator[Team]:
    spec = BotSpec(
        provider=ScriptedProvider(asking, latency=0.2),
        rounds=1,
        clarifying=Clarifying(enabled=True, wait_seconds=600),
    )
    async with team_at_work(spec=spec) as team:
        yield team


async def type_command(page: Page, team: Team, words: str) -> None:
    area = page.get_by_label(f"Message #{team.channel}")
    await area.fill(f"/debate {words}".strip())
    await area.press("Enter")


async def board_of(page: Page) -> Locator:
    board = page.locator("#main .row", has_text="Asked by").last
    await expect(board).to_be_visible(timeout=PATIENCE)
    return board


async def open_thread(page: Page, board: Locator) -> Locator:
    await board.get_by_role("link", name=re.compile("repl")).first.click(timeout=PATIENCE)
    thread = page.locator("#thread")
    await expect(thread).to_be_visible(timeout=PATIENCE)
    return thread


async def start_by_form(page: Page, team: Team) -> Locator:
    await type_command(page, team, "")
    form = page.get_by_role("dialog")
    await expect(form.get_by_text("Estimated:")).to_be_visible(timeout=PATIENCE)
    await form.get_by_label("Question", exact=True).fill(QUESTION)
    await form.get_by_role("button", name="Start", exact=True).click()
    return await board_of(page)


async def test_a_team_goes_from_the_form_to_an_accepted_decision(page: Page, team: Team):
    board = await start_by_form(page, team)
    thread = await open_thread(page, board)
    await answer_in_thread_and_form(page, thread)
    await expect(page.locator("#main").get_by_text("The agents' verdict").first).to_be_visible(
        timeout=PATIENCE
    )
    await vote(page, thread)
    await say_why(page)
    await accept(page)


async def answer_in_thread_and_form(page: Page, thread: Locator) -> None:
    await expect(thread).to_contain_text("3 questions", timeout=PATIENCE)
    reply = thread.locator("textarea")
    await reply.fill("2: two of us, part time")
    await reply.press("Enter")
    await expect(thread).to_contain_text("2 questions still open", timeout=PATIENCE)
    await thread.get_by_role("button", name="Answer the questions in a form").click()
    form = page.get_by_role("dialog")
    await form.get_by_label(re.compile(r"1\. How many jobs")).fill("About 10k")
    await form.get_by_label(re.compile("Skip it")).check()
    await form.get_by_role("button", name="Send answers").click()
    await expect(thread).to_contain_text("Questions: closed", timeout=PATIENCE)


async def say_why(page: Page) -> None:
    """Press the thumb down, and type the reason; the form then shows it."""
    main, form = page.locator("#main"), page.get_by_role("dialog")
    await main.get_by_role("button", name="This verdict was not helpful").first.click()
    await main.get_by_role("button", name="Say why in a few words").last.click(timeout=PATIENCE)
    await form.get_by_label("What was wrong or missing?").fill("Nothing on cost.")
    await form.get_by_role("button", name="Send", exact=True).click()
    await expect(form).to_be_hidden(timeout=PATIENCE)
    await main.get_by_role("button", name="Say why in a few words").last.click()
    again = form.get_by_label("What was wrong or missing?")
    await expect(again).to_have_value("Nothing on cost.", timeout=PATIENCE)
    await form.get_by_role("button", name="Cancel", exact=True).click()


async def vote(page: Page, thread: Locator) -> None:
    await thread.get_by_role("button", name="your ballot").last.click()
    await cast_ballot(page)
    await expect(thread).to_contain_text("(1 ballot)", timeout=PATIENCE)
    # In one step, because the post may be redrawn in between.
    await thread.get_by_text("The team's vote").first.evaluate("found => found.scrollIntoView()")


async def accept(page: Page) -> None:
    main = page.locator("#main")
    await main.get_by_role("button", name="Accept this verdict").first.click()
    form = page.get_by_role("dialog")
    await form.get_by_label(re.compile("Why")).fill("We know it, and it keeps every job.")
    await form.get_by_role("button", name="Accept", exact=True).click()
    await expect(main.get_by_text("Accepted").first).to_be_visible(timeout=PATIENCE)


async def cast_ballot(page: Page) -> None:
    form = page.get_by_role("dialog")
    for place, option in (("First", "Kafka"), ("Second", "PostgreSQL")):
        choices = form.get_by_label(re.compile(f"{place} choice"))
        value = await choices.locator("option", has_text=option).first.get_attribute("value")
        await choices.select_option(value)
    await form.get_by_role("button", name="Cast ballot").click()
    await expect(form).to_be_hidden(timeout=PATIENCE)


async def test_stop_asks_first_and_leads_to_a_partial_decision(page: Page, team: Team):
    await type_command(page, team, "Kafka or SQS for events?")
    board = await board_of(page)
    await board.get_by_role("button", name=re.compile("Stop this debate")).click()
    await page.get_by_role("dialog").get_by_role("button", name="Stop it").click()
    await expect(board.get_by_text(re.compile("stopped, with"))).to_be_visible(timeout=PATIENCE)


async def test_home_teaches_and_lists(page: Page, team: Team):
    await page.get_by_role("link", name=re.compile("Moot")).first.click()
    await expect(page.get_by_text("Nothing here yet")).to_be_visible(timeout=PATIENCE)
