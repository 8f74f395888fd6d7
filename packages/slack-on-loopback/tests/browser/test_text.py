"""How the page reads mrkdwn, in a real browser."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from slack_on_loopback.workspace import run_workspace

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
]

OUT = 'target="_blank" rel="noopener noreferrer"'
#: Draws mrkdwn and gives back the HTML of the nodes.
DRAW = """async (text) => {
  const {drawMrkdwn} = await import("/page/mrkdwn.js");
  const users = new Map([["U1", {real_name: "Ann Lee", name: "ann"}]]);
  const channels = new Map([["C1", {id: "C1", name: "general"}]]);
  const box = document.createElement("div");
  const emoji = {tada: "T", mask: "\\u{10FFFD}"};
  box.append(drawMrkdwn(text, {store: {users, channels, emoji, me: "U9"}}));
  return box.innerHTML;
}"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with run_workspace() as ws:
        opened = await browser.new_page()
        await opened.goto(ws.url)
        yield opened
        await opened.close()


async def draw(page: Page, text: str) -> str:
    """Return the HTML that the page makes of a text."""
    return str(await page.evaluate(DRAW, text)).replace(OUT, "{OUT}")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "*bold* _it_ ~no~ `co*de*`",
            "<strong>bold</strong> <em>it</em> <s>no</s> <code>co*de*</code>",
        ),
        ("_*both*_ a*b*c snake_case_name", "<em><strong>both</strong></em> a*b*c snake_case_name"),
        ("* not * _ not _ **x**", "* not * _ not _ **x**"),
        ("*two\nlines*", "*two\nlines*"),
        ("a &amp; b &lt;b&gt; &quot;", "a &amp; b &lt;b&gt; &amp;quot;"),
        (
            "<@U1> <#C1> :tada: :nope:",
            (
                '<span class="mention" title="ann">@Ann Lee</span> '
                '<a class="mention" href="#/C1">#general</a> '
                '<span class="emoji" role="img" aria-label="tada" title=":tada:">T</span> :nope:'
            ),
        ),
        (
            ":mask:",  # no font has it
            (
                '<span class="emoji sign" role="img" aria-label="mask" title=":mask:" '
                'data-sign="●"></span>'
            ),
        ),
        ("<!here>", '<span class="mention mention-me">@here</span>'),
        (
            "<https://a.example/?x=1&amp;y=2|see>",
            '<a href="https://a.example/?x=1&amp;y=2" {OUT}>see</a>',
        ),
        (
            "go https://a.example/x.",
            'go <a href="https://a.example/x" {OUT}>https://a.example/x</a>.',
        ),
        ("<javascript:alert(1)|x>", "&lt;javascript:alert(1)|x&gt;"),
        ("• one\n• two", "• one\n• two"),
    ],
)
async def test_mrkdwn_reads_as_in_slack(page: Page, text: str, html: str) -> None:
    assert await draw(page, text) == f'<span class="run">{html}</span>'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("```a *b*\n<c>```", '<pre tabindex="0">a *b*\n&lt;c&gt;</pre>'),
        (
            "&gt; q\n&gt; *r*\nafter",
            '<blockquote>q\n<strong>r</strong></blockquote><span class="run">after</span>',
        ),
        (">>> all\nof it", "<blockquote>all\nof it</blockquote>"),
        (
            "an open ``` fence",
            '<span class="run">an open </span><span class="run">``` fence</span>',
        ),
    ],
)
async def test_mrkdwn_has_quotes_and_preformatted_text(page: Page, text: str, html: str) -> None:
    assert await draw(page, text) == html


@pytest.mark.timeout(300)  # quadratic, it takes minutes
@pytest.mark.parametrize("piece", ["*a ", "[", "_a*", "`", "[`", "<http://", "> ", "~a"])
async def test_hostile_text_is_drawn_in_time(page: Page, piece: str) -> None:
    assert await draw(page, piece * (12_000 // len(piece)))


async def test_deep_nesting_is_drawn(page: Page) -> None:
    html = await draw(page, "*_" * 3000 + "x" + "_*" * 3000)
    assert "x" in html
