"""How the page reads mrkdwn and Markdown, in a real browser."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.browser.page_server import PageServer

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
]

OUT = 'target="_blank" rel="noopener noreferrer"'
#: Draws text with one of the page's modules and gives back the HTML of the nodes.
DRAW = """async ([module, name, text]) => {
  const draw = (await import(`/page/${module}.js`))[name];
  const users = new Map([["U1", {real_name: "Ann Lee", name: "ann"}]]);
  const channels = new Map([["C1", {id: "C1", name: "general"}]]);
  const box = document.createElement("div");
  const emoji = {tada: "T", mask: "\\u{10FFFD}"};
  box.append(draw(text, {store: {users, channels, emoji, me: "U9"}}));
  return box.innerHTML;
}"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def page(browser: Browser) -> AsyncIterator[Page]:
    server = PageServer()
    await server.start()
    opened = await browser.new_page()
    await opened.goto(server.url)
    yield opened
    await opened.close()
    await server.stop()


async def draw(page: Page, module: str, text: str) -> str:
    """Return the HTML that the page makes of a text."""
    name = {"mrkdwn": "drawMrkdwn", "markdown": "drawMarkdown"}[module]
    html = await page.evaluate(DRAW, [module, name, text])
    return str(html).replace(OUT, "{OUT}")


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
    assert await draw(page, "mrkdwn", text) == f'<span class="run">{html}</span>'


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
    assert await draw(page, "mrkdwn", text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "# Title\n\n**b** *i* ~~s~~",
            '<h2 class="md-h1">Title</h2><p><strong>b</strong> <em>i</em> <s>s</s></p>',
        ),
        ("- a\n  - b\n- c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("1. a\n\n   more\n2. b", "<ol><li><p>a</p><p>more</p></li><li><p>b</p></li></ol>"),
        ("3) a\n4) b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("> q\n> - x", "<blockquote><p>q</p><ul><li>x</li></ul></blockquote>"),
        (
            "```sql\nselect *\n```",
            '<pre tabindex="0" data-language="sql"><code>select *</code></pre>',
        ),
        ("Head\n---\nx\n\n***", '<h2 class="md-h2">Head</h2><p>x</p><hr>'),
        (
            "***all*** snake_case_name \\*star\\*",
            "<p><strong><em>all</em></strong> snake_case_name *star*</p>",
        ),
        (
            "[t](https://a.example/b_(c)) <b>",
            '<p><a href="https://a.example/b_(c)" {OUT}>t</a> &lt;b&gt;</p>',
        ),
    ],
)
async def test_markdown_reads_as_written(page: Page, text: str, html: str) -> None:
    assert await draw(page, "markdown", text) == html


async def test_a_markdown_table_keeps_its_columns(page: Page) -> None:
    text = "| a | b |\n|:-:|--:|\n| `x|y` | |\n| \\| | 2 |"
    html = await draw(page, "markdown", text)
    cells = re.findall(r'<t[dh] class="align-(\w+)">(.*?)</t[dh]>', html)
    assert cells == [
        ("center", "a"),
        ("right", "b"),
        ("center", "<code>x|y</code>"),
        ("right", ""),
        ("center", "|"),
        ("right", "2"),
    ]


@pytest.mark.timeout(300)  # quadratic, it takes minutes
@pytest.mark.parametrize("module", ["mrkdwn", "markdown"])
@pytest.mark.parametrize(
    "piece", ["*a ", "[", "_a*", "`", "[`", "<http://", "> ", "~~a", "![x](", "|-"]
)
async def test_hostile_text_is_drawn_in_time(page: Page, module: str, piece: str) -> None:
    assert await draw(page, module, piece * (12_000 // len(piece)))


@pytest.mark.parametrize("module", ["mrkdwn", "markdown"])
async def test_deep_nesting_is_drawn(page: Page, module: str) -> None:
    html = await draw(page, module, "*_" * 3000 + "x" + "_*" * 3000)
    assert "x" in html
