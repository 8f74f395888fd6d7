"""What a model writes reaches people readable, and reaches nobody by ping or by trick."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.slack.mrkdwn.convert import bare_gist, gist, mrkdwn
from bot.slack.mrkdwn.escape import GAP, LINK, clean, link, plain
from bot.slack.mrkdwn.split import SMALLEST_LIMIT, split
from core import redaction

MENTION = re.compile(r"<[!@#][^>]*>|@(?:channel|here|everyone|group)(?![a-z0-9])", re.IGNORECASE)

TRICKS = [
    "<!channel>",
    "<!here|here>",
    "<!subteam^S1|@x>",
    "<@U123>",
    "<#C1|general>",
    "@channel",
    "@Here",
    "@everyone",
    "&lt;!channel&gt;",
    "[x](<!here>)",
    "<https://a.example/x|<!channel>>",
    "[https://bank.example](https://evil.example)",
    "![p](https://evil.example/p.png)",
    "`<!here>`",
    "```\n<!channel>\n```",
    "@\u200bchannel",
    "<!chan\u200bnel>",
    "\u202e<!channel>",
    "<!date^1^x|y>",
    "| a | b |\n|---|---|\n| <!here> | @channel |",
    "> <!here>",
    "- <@U1>",
    "# <!channel>",
    "\\<!here>",
    "[@channel](https://a.example/@channel)",
    "https://a.example/<!here>",
    "<mailto:a@b.example>",
    "``` \n`` ` ```` <!here>",
    "**@channel**",
    "**",
    "~~~\n```\n~~~",
    "&amp;",
    "&",
    "<",
    ">",
    "|",
    "\\",
]
WORDS = [
    "Queue.",
    "The cost is 3 €!",
    "naïve",
    "日本語。",
    "👩‍👩‍👧",
    "a" * 90,
    "\n",
    "\n\n",
    " ",
    "# ",
    "- ",
    "1. ",
    "> ",
    "```py\nx = 1\n\ny = 2\n```\n",
    "**bold**",
    "_it_",
    "~~no~~",
    "`c`",
    "    code\n",
    "[docs](https://docs.example/a?b=1&c=2)",
    "https://a.example/x.",
    "---\n",
    "<br>",
    "\t",
]
texts = st.lists(st.sampled_from(TRICKS + WORDS) | st.text(max_size=12), max_size=40).map("".join)
limits = st.integers(min_value=SMALLEST_LIMIT, max_value=400)


def pings(text: str) -> list[str]:
    return MENTION.findall(text)


def strays(text: str) -> str:
    """Signs with a meaning to Slack that are left when links and entities are taken away."""
    return re.sub(r"[^<&]", "", re.sub(r"&(?:amp|lt|gt);", "", LINK.sub("", text)))


@given(texts)
@example("".join(TRICKS))
def test_no_model_text_mentions_anybody_or_breaks_out_of_escaping(text: str):
    for output in (mrkdwn(text), plain(text), gist(text, 200)):
        assert not pings(output)
        assert not strays(output)


@given(texts)
def test_blocks_of_code_are_always_closed(text: str):
    assert mrkdwn(text).count("```") % 2 == 0


def is_within(needle: str, hay: str) -> bool:
    signs = iter(hay)
    return all(sign in signs for sign in needle)


def content(text: str) -> str:
    return re.sub(r"\s", "", text)


@given(texts, limits)
def test_split_keeps_everything_in_order_within_the_limit(text: str, limit: int):
    whole = mrkdwn(text)
    pieces = split(whole, limit)
    assert all(len(piece) <= limit for piece in pieces)
    joined = "".join(pieces)
    assert is_within(content(re.sub("[<>|]", "", whole)), content(joined))
    for piece in pieces:
        assert not pings(piece)
        assert not strays(piece)
        assert piece.count("```") % 2 == 0


@given(st.text(alphabet="ab `\n<>&;|*", max_size=300), limits)
def test_split_of_any_text_stays_within_the_limit_and_loses_nothing(text: str, limit: int):
    pieces = split(text, limit)
    assert all(len(piece) <= limit for piece in pieces)
    assert is_within(content(text), content("".join(pieces)))


def test_split_cuts_at_paragraphs_before_lines_before_sentences():
    first, second = "One two three. Four five.", "Six seven\neight nine."
    assert split(f"{first}\n\n{second}", 45) == [first, second]
    assert split("one two three four\nfive six seven eight nine ten", 40) == [
        "one two three four",
        "five six seven eight nine ten",
    ]
    assert split("This is a first sentence. And this is the second.", 40) == [
        "This is a first sentence.",
        "And this is the second.",
    ]


def test_split_closes_and_reopens_code_and_keeps_its_indentation():
    code = "```\n" + "\n".join(f"    line {n}" for n in range(6)) + "\n```"
    pieces = split(code, 50)
    assert len(pieces) > 1
    assert all(piece.startswith("```\n    line") for piece in pieces)
    assert all(piece.endswith("\n```") for piece in pieces)


def test_code_that_is_cut_has_room_for_the_fence_that_closes_it():
    code = "```\n" + "word " * 40 + "\n```"

    assert max(map(len, split(code, 60))) <= 60


def test_split_leaves_entities_and_links_whole():
    text = "&lt;" * 30 + " <https://a.example/x|y>" * 10
    for piece in split(text, 41):
        assert not strays(piece)
        assert not re.search(r"&(?!lt;)", piece)


def test_split_of_short_text_is_the_text_and_of_nothing_nothing():
    assert split("short", 40) == ["short"]
    assert split(" \n", 40) == []


def test_split_refuses_a_limit_that_holds_nothing():
    with pytest.raises(ValueError, match="at least 40"):
        split("text", 10)


@pytest.mark.parametrize(
    ("markdown", "output"),
    [
        ("# Title **x**\n\ntext", "*Title x*\n\ntext"),
        ("**b** *i* ~~s~~ `c<d`", "*b* _i_ ~s~ `c&lt;d`"),
        ("***both***", "_*both*_"),
        ("foo**bar**baz", f"foo{GAP}*bar*{GAP}baz"),
        ("- a\n- b\n  - c\n    more\n\n1. d\n2. e", "• a\n• b\n    ◦ c\n        more\n\n1. d"),
        ("3. x\n4. y", "3. x\n4. y"),
        ("> quoted\n> twice", "> quoted\n> twice"),
        ("```py\nif a < b:\n    pass\n```", "```\nif a &lt; b:\n    pass\n```"),
        ("a\nb<br>c", "a\nb\nc"),
        ("| A | B |\n|---|---|\n| 1 | two |", "```\nA | B\n--+----\n1 | two\n```"),
        ("![a cat](https://x.example/c.png)", "[image: a cat]"),
        ("[docs](https://d.example/?a=1&b=2)", "<https://d.example/?a=1&amp;b=2|docs>"),
        ("see https://d.example/x.", "see <https://d.example/x>."),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("x ``` y", f"x `{GAP}`` y"),
        ("~~~\n```\n~~~", f"```\n`{GAP}``\n```"),
        ("<b>html</b>", "&lt;b&gt;html&lt;/b&gt;"),
    ],
)
def test_markdown_becomes_mrkdwn(markdown: str, output: str):
    assert mrkdwn(markdown).startswith(output)


@pytest.mark.parametrize(
    ("markdown", "output"),
    [
        ("**Risks**\n\n- a\n- b\n\nend", "*Risks*\n• a\n• b\n\nend"),
        ("**Risks**:\n1. a", "*Risks*:\n1. a"),
        ("## Risks\n\n- a", "*Risks*\n• a"),
        ("The **risks**:\n\n- a", "The *risks*:\n\n• a"),
        ("**Risks**\n\nmany", "*Risks*\n\nmany"),
    ],
)
def test_a_line_that_heads_a_list_stands_right_above_it(markdown: str, output: str):
    assert mrkdwn(markdown) == output


def test_code_inside_a_list_stays_at_the_edge():
    assert mrkdwn("- run\n\n  ```\n  make\n  ```\n") == "• run\n```\nmake\n```"


def test_wide_tables_become_lists_that_name_each_column():
    table = f"| Name | Why |\n|---|---|\n| queue | {'long ' * 30}|\n| **lock** | short |"
    assert mrkdwn(table).splitlines()[1] == "• Name: *lock*; Why: short"


def test_columns_of_wide_letters_are_aligned():
    lines = mrkdwn("| 日本 | b |\n|---|---|\n| x | y |").splitlines()
    assert lines[3] == "x    | y"


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


def test_invisible_signs_are_dropped_and_emoji_stay_whole():
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
    hidden = "a\u200bb\u202ec\U000e0041d\u200de\x07\ud800"
    assert clean(f"{hidden} 👩‍👩‍👧 ❤️‍🔥 {flag}\r\n") == f"abcde\ufffd 👩‍👩‍👧 ❤️‍🔥 {flag}\n"


def test_what_people_type_is_shown_as_typed():
    assert plain(" Is *a* < b & c? see https://x.example/q?a=1 ") == (
        "Is *a* &lt; b &amp; c? see <https://x.example/q?a=1>"
    )


CODE = "```\ndef f(a):\n    return a &lt; 3\n```"


@pytest.mark.parametrize(
    ("typed", "output"),
    [
        ("```\ndef f(a):\n    return a < 3\n```", CODE),
        (
            "Is this right?\n```\ndef f(a):\n    return a < 3\n```\nOr not?",
            f"Is this right?\n{CODE}\nOr not?",
        ),
        ("Use ```x``` here", "Use\n```\nx\n```\nhere"),
        ("``````", ""),
        ("one ``` alone", f"one `{GAP}`` alone"),
        ("```a``` and ``` alone", f"```\na\n```\nand `{GAP}`` alone"),
        (
            "```\n<!channel> @here https://x.example\n```",
            f"```\n&lt;!channel&gt; @{GAP}here https://x.example\n```",
        ),
    ],
)
def test_blocks_of_code_that_people_type_stay_blocks_of_code(typed: str, output: str):
    assert plain(typed) == output


@given(st.text("`ab\n <", max_size=40))
def test_blocks_of_code_that_people_type_are_closed(typed: str):
    output = plain(typed)
    assert output.count("```") % 2 == 0
    assert "````" not in output
    assert all(line == "```" for line in output.splitlines() if "```" in line)


def test_a_gist_is_one_line_without_headings_and_formatting():
    text = "## Proposal\n\nUse **one** queue,\nnot `two`.\n\n- cheap"
    assert gist(text, 100) == "Use one queue, not two. cheap"
    assert gist("word " * 50, 60).endswith("word…")
    assert gist("# Only a title", 60) == "Only a title"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("- one\n- two", "one two"),
        ("**Risk**: none", "Risk: none"),
        ("", ""),
        ("word " * 30, "word " * 8 + "word…"),
    ],
)
def test_a_gist_of_any_text_is_its_beginning(text: str, output: str):
    assert gist(text, 50) == output


def test_a_gist_for_options_is_not_escaped_and_pings_nobody():
    assert (
        bare_gist("**R & D** says\n\n- `a` <!channel> @here", 60)
        == "R & D says a !channel @\u200bhere"
    )
    assert bare_gist("Tom & Jerry " * 50, 60).endswith("…")
    assert len(bare_gist("Tom & Jerry " * 50, 60)) <= 60


def test_a_table_that_would_be_filled_up_with_thousands_of_cells_is_shown_as_it_is():
    text = "a|" * 200 + "\n" + "-|" * 200 + "\n" + "a\n" * 700

    assert mrkdwn(text).startswith("a|a|a|")


def test_a_table_of_a_hundred_rows_is_one():
    text = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 100

    assert mrkdwn(text).count("1 | 2") == 100
    assert mrkdwn(text).startswith("```")


def test_a_gist_of_a_text_with_many_signs_is_made_of_its_beginning():
    assert gist("*a* " * 900, 2000).startswith("a a a a")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("**结论：**用PostgreSQL", f"*结论：*{GAP}用PostgreSQL"),  # noqa: RUF001 - as it is written
        ("**「推荐」**方案", f"*「推荐」*{GAP}方案"),
        ("这是**「推荐」**方案", f"这是{GAP}*「推荐」*{GAP}方案"),
        ("**결론:**은 PostgreSQL", f"*결론:*{GAP}은 PostgreSQL"),
        ("用 ** 号", "用 ** 号"),
        ("**Note:**this", "**Note:**this"),
    ],
)
def test_emphasis_ends_beside_letters_of_scripts_without_spaces(text: str, output: str) -> None:
    assert mrkdwn(text) == output


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("می\u200cشود", "می\u200cشود"),
        ("ශ්\u200dරී", "ශ්\u200dරී"),
        ("pass\u200cword\u200d", "password"),
        ("می\u200c\u200dخ", "میخ"),
    ],
)
def test_joiners_stay_where_a_script_spells_words_with_them(text: str, output: str) -> None:
    assert clean(text) == output == redaction.clean(text)
