"""Models' Markdown is readable in Slack. tests/security/test_model_text.py: and harmless."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.ids import address_keys, address_of
from bot.slack.mrkdwn import GAP, bare, bare_gist, gist, link, mrkdwn, plain, split

CODE = "```\ndef f(a):\n    return a &lt; 3\n```"


@pytest.mark.parametrize(
    ("markdown", "output"),
    [
        ("# Title **x**\n\ntext", "*Title x*\n\ntext"),
        ("**b** *i* ~~s~~ `c<d`", "*b* _i_ ~s~ `c&lt;d`"),
        ("***both***", "_*both*_"),
        ("foo**bar**baz", f"foo{GAP}*bar*{GAP}baz"),
        ("3. x\n4. y", "3. x\n4. y"),
        ("> quoted\n> twice", "> quoted\n> twice"),
        ("```py\nif a < b:\n    pass\n```", "```\nif a &lt; b:\n    pass\n```"),
        ("a\nb<br>c", "a\nb\nc"),
        ("![a cat](https://x.example/c.png)", "[image: a cat]"),
        ("[docs](https://d.example/?a=1&b=2)", "<https://d.example/?a=1&amp;b=2|docs>"),
        ("see https://d.example/x.", "see <https://d.example/x>."),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("x ``` y", f"x `{GAP}`` y"),
        ("~~~\n```\n~~~", f"```\n`{GAP}``\n```"),
        # Lists and their titles.
        ("- a\n- b\n  - c\n    more\n\n1. d", "• a\n• b\n    ◦ c\n        more\n\n1. d"),
        ("- run\n\n  ```\n  make\n  ```\n", "• run\n```\nmake\n```"),
        ("**Risks**\n\n- a\n- b\n\nend", "*Risks*\n• a\n• b\n\nend"),
        ("**Risks**:\n1. a", "*Risks*:\n1. a"),
        ("The **risks**:\n\n- a", "The *risks*:\n\n• a"),
        ("**Risks**\n\nmany", "*Risks*\n\nmany"),
        # Tables: aligned code; wide ones become lists.
        ("| A | B |\n|---|---|\n| 1 | two |", "```\nA | B\n--+----\n1 | two\n```"),
        ("| 日本 | b |\n|---|---|\n| x | y |", "```\n日本 | b\n-----+--\nx    | y\n```"),
        (
            f"| Name | Why |\n|---|---|\n| **lock** | {'long ' * 20}|",
            f"• Name: *lock*; Why: {'long ' * 20}".rstrip(),
        ),
        # Emphasis beside letters of scripts without spaces.
        ("**结论：**用PostgreSQL", f"*结论：*{GAP}用PostgreSQL"),  # noqa: RUF001 - as it is written
        ("这是**「推荐」**方案", f"这是{GAP}*「推荐」*{GAP}方案"),
        ("用 ** 号", "用 ** 号"),
        ("**Note:**this", "**Note:**this"),
    ],
)
def test_markdown_becomes_mrkdwn(markdown: str, output: str) -> None:
    assert mrkdwn(markdown) == output


def test_a_table_that_would_get_thousands_of_empty_cells_is_not_formatted() -> None:
    assert mrkdwn("a|" * 200 + "\n" + "-|" * 200 + "\n" + "a\n" * 700).startswith("a|a|a|")
    assert mrkdwn("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 100).count("1 | 2\n") == 100


PIECES = [
    *(
        "<@U1>",
        "`<!here>`",
        "```",
        "```py\nx = 1\n\ny = 2\n```\n",
        "``",
        "~~~\n",
        "**bold**",
        "a" * 90,
    ),
    *(
        "\n",
        "\n\n",
        " ",
        "- ",
        "> ",
        "Queue.",
        "日本語。",
        "👩‍👩‍👧",
        "https://a.example/x.",
        "&",
        "<",
        "|",
    ),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=40).map("".join)
limits = st.integers(min_value=40, max_value=400)


def content(text: str) -> str:
    return re.sub(r"[\s<>|]", "", text)


@given(texts, limits)
def test_split_keeps_everything_in_order_within_the_limit(text: str, limit: int) -> None:
    pieces = split(mrkdwn(text), limit)
    assert all(len(piece) <= limit and piece.count("```") % 2 == 0 for piece in pieces)
    characters = iter(content("".join(pieces)))
    assert all(character in characters for character in content(mrkdwn(text)))


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        ("short", 40, ["short"]),
        (" \n", 40, []),
        ("Yes.\n\n" + "words " * 12, 60, ["Yes.\n\n" + "words " * 7 + "words", "words " * 4]),
        (
            "One two three. Four five.\n\nSix seven\neight nine.",
            45,
            ["One two three. Four five.", "Six seven\neight nine."],
        ),
        (
            "one two three four\nfive six seven eight nine",
            40,
            ["one two three four", "five six seven eight nine"],
        ),
        (
            "This is a first sentence. And this is the second.",
            40,
            ["This is a first sentence.", "And this is the second."],
        ),
        (
            "```\n    a = 1\n    b = 2\n    c = 33333333\n    d = 4\n```",
            50,
            ["```\n    a = 1\n    b = 2\n    c = 33333333\n```", "```\n    d = 4\n```"],
        ),
        (
            "&lt;" * 15 + " <https://a.example/x|y>",
            60,
            ["&lt;" * 14, "&lt; <https://a.example/x|y>"],
        ),
    ],
)
def test_cuts_are_at_ends_of_paragraphs_lines_sentences_or_words(
    text: str, limit: int, pieces: list[str]
) -> None:
    assert split(text, limit) == pieces


@pytest.mark.parametrize(
    ("url", "label", "output"),
    [
        ("https://evil.example/x", "https://bank.example", "<https://evil.example/x>"),
        ("https://evil.example/x", "www.bank.example", "<https://evil.example/x>"),
        ("https://evil.example/x", "bank\uff0eexample", "<https://evil.example/x>"),
        ("https://evil.example", "http://evil.example", "<https://evil.example>"),
        ("https://www.good.example/x", "good.example", "<https://www.good.example/x|good.example>"),
        ("https://good.example", "<!here>", "<https://good.example|&lt;!here&gt;>"),
        ("https://bank.example@evil.example", "bank", "bank (https://bank.example@evil.example)"),
        ("ftp://files.example", "files", "files (ftp://files.example)"),
        ("https://[broken", "x", "x (https://[broken)"),
        ("mailto:ann@firm.example", "Ann", "<mailto:ann@firm.example|Ann>"),
        ("mailto:eve@evil.example", "ann@firm.example", "<mailto:eve@evil.example>"),
        ("https://a.example/x|y", "", "<https://a.example/x%7Cy>"),
        ("https://a.example/" + "x" * 600, "far", "far (https://a.example/" + "x" * 600 + ")"),
    ],
)
def test_links_lead_where_they_say(url: str, label: str, output: str):
    assert link(url, label) == output


@pytest.mark.parametrize(
    ("typed", "output"),
    [
        (
            " Is *a* < b? see https://x.example/q?a=1 ",
            "Is *a* &lt; b? see <https://x.example/q?a=1>",
        ),
        (
            "Is this right?\n```\ndef f(a):\n    return a < 3\n```\nOr not?",
            f"Is this right?\n{CODE}\nOr not?",
        ),
        ("Use ```x``` here", "Use\n```\nx\n```\nhere"),
        ("``````", ""),
        ("```a``` and ``` alone", f"```\na\n```\nand `{GAP}`` alone"),
        (
            "```\n<!channel> @here https://x.example\n```",
            f"```\n&lt;!channel&gt; @{GAP}here https://x.example\n```",
        ),
    ],
)
def test_typed_text_is_shown_unchanged(typed: str, output: str) -> None:
    assert plain(typed) == output


@given(st.text("`ab\n <", max_size=40))
def test_blocks_of_code_that_people_type_are_closed(typed: str) -> None:
    lines = [line for line in plain(typed).splitlines() if "```" in line]
    assert lines == ["```"] * len(lines)
    assert len(lines) % 2 == 0


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (
            "## Proposal\n\nUse **one** queue,\nnot `two`.\n\n- cheap",
            "Use one queue, not two. cheap",
        ),
        ("# Only a title", "Only a title"),
        ("**Risk**: none", "Risk: none"),
        ("", ""),
        ("word " * 30, "word " * 8 + "word…"),
        ("*a* " * 900, "a " * 21 + "a…"),
    ],
)
def test_a_gist_is_one_line_without_headings_and_formatting(text: str, output: str) -> None:
    assert gist(text, 50) == output


def test_a_plain_gist_is_not_escaped_and_notifies_nobody() -> None:
    text = "**R & D** says\n\n- `a` <!channel> @here"
    assert bare_gist(text, 60) == f"R & D says a !channel @{GAP}here"
    assert bare_gist("Tom & Jerry " * 50, 60) == "Tom & Jerry " * 4 + "Tom &…"


@pytest.mark.parametrize(
    "template",
    [
        "See <{}|the vote>.",
        "[the vote]({})",
        "<https://a.example|<{}|x>>",
        "[{}](https://a.example)",
        "[x](<{}>)",
        "`<{}|x>`",
        "```\n<{}|x>\n```",
        "https://a.example/<{}",
        "[x](https://a.example/<{}>)",
        "&lt;{}&gt;",
        "&#60;{}&#62;",
        "\\<{}\\>",
        "| a |\n|---|\n| <{}> |",
    ],
)
def test_foreign_text_becomes_no_link_to_a_post(template: str) -> None:
    text = template.format(address_of("dotherone/vote"))
    texts = [mrkdwn(text), plain(text), gist(text, 300), bare(text, 300)]
    assert not address_keys("\n".join(texts))
