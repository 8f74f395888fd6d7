"""A file attached on the page, by its button, becomes a source; the thread shows the quote."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import FilePayload, Page, expect

from bot.testing import BotSpec, Team, team_at_work
from tests.scenarios.test_evidence import CSV, QUESTION, quoting

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
]
#: Milliseconds a part of the page may take to appear on a busy machine.
PATIENCE = 300_000


@pytest_asyncio.fixture(loop_scope="module")
async def team() -> AsyncIterator[Team]:
    model = quoting('[e1: "April,2500"]', '[e1: "April,9500"]')
    async with team_at_work(spec=BotSpec(provider=model)) as team:
        yield team


async def test_an_attached_file_is_quoted_in_the_thread(page: Page, team: Team) -> None:
    composer = page.locator("#main form, #main .composer").last
    async with page.expect_file_chooser() as choosing:
        await composer.get_by_role("button", name="Attach files").click()
    file = FilePayload(name="load.csv", mimeType="text/csv", buffer=CSV)
    await (await choosing.value).set_files(file)
    await expect(composer.get_by_text("load.csv")).to_be_visible(timeout=PATIENCE)
    area = page.get_by_label(f"Message #{team.channel}")
    await area.fill(f"@Moot {QUESTION}")
    await area.press("Enter")

    board = await team.new_board()
    debate = await team.wait_for_end(board)
    assert [source.reference.title for source in debate.evidence] == ["load.csv"]
    assert debate.evidence[0].text.splitlines()[2] == "April,2500"

    await (
        page.locator("#main .row", has_text="Asked by")
        .last.get_by_role("link", name="repl")
        .first.click(timeout=PATIENCE)
    )
    thread = page.locator("#thread")
    await expect(thread.get_by_text("load.csv").first).to_be_visible(timeout=PATIENCE)
    await expect(thread.locator("a", has_text="e1, row 3").first).to_be_attached()
    await expect(thread.locator("del, s", has_text="April,9500").first).to_be_attached()
