"""What people typed: Slack's marks become names and addresses that people and models can read."""

import pytest

from bot.slack.typed_text import (
    has_words,
    links_in,
    mentioned_in,
    readable,
    split_addressee,
    told_bot,
)

NAMES = {"U0ALEX": "Alex"}


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Should <@U0ALEX> own it?", "Should @Alex own it?"),
        ("Should <@U0GONE|kim> or <@U0GONE2> own it?", "Should @kim or @U0GONE2 own it?"),
        ("as in <#C0GENERAL|general>", "as in #general"),
        ("<!subteam^S0OPS|@ops> and <!here>", "@ops and @here"),
        ("<!subteam^S1> or <!subteam^S2>?", "@group-S1 or @group-S2?"),
        ("by <!date^1700000000^{date}|14 November>?", "by 14 November?"),
        ("see <https://example.com/a|the plan>", "see the plan (https://example.com/a)"),
        ("see <https://example.com/a>", "see https://example.com/a"),
        ("see <http://example.com|example.com>", "see example.com"),
        ("ask <mailto:a@example.com|a@example.com>", "ask a@example.com"),
        ("a &lt; b &amp;&amp; `c &gt; d`", "a < b && `c > d`"),
        # What somebody typed in these very signs is no mark: Slack escaped them.
        ("&lt;@U0ALEX&gt;", "<@U0ALEX>"),
    ],
)
def test_marks_are_read_as_names_and_addresses(typed: str, read: str):
    assert readable(typed, NAMES) == read


@pytest.mark.parametrize(
    ("typed", "links"),
    [
        (
            "see <https://example.com/a|the plan> and <https://example.com/a>",
            "https://example.com/a",
        ),
        ("see <https://example.com/?a=1&amp;b=2>", "https://example.com/?a=1&b=2"),
        # In commands and forms Slack marks none.
        (
            "see https://example.com/a, (http://example.com/b).",
            "https://example.com/a http://example.com/b",
        ),
        # Slack makes links of names by itself.
        ("use <http://socket.io|socket.io> or <mailto:a@example.com|a@example.com>", ""),
        ("<https://example.com/a b> is https:// nothing", "https://example.com/a"),
        ("use <http://example.com/|example.com/>", ""),
        # What has a path was meant as a page.
        ("<http://example.com/docs/x|example.com/docs/x>", "http://example.com/docs/x"),
        ("(https://example.com/Rust_(language)).", "https://example.com/Rust_(language)"),
        ("https://example.com/Rust_(language)", "https://example.com/Rust_(language)"),
        ("(https://a.example/x),(https://b.example/y)", "https://a.example/x https://b.example/y"),
        ("https://a.example/x,https://b.example/y", "https://a.example/x https://b.example/y"),
        (
            '{"a":"https://a.example/x","b":["https://b.example/y"]}',
            "https://a.example/x https://b.example/y",
        ),
        (
            "&lt;https://a.example/x&gt;,&lt;https://b.example/?c=1&amp;d=2&gt;",
            "https://a.example/x https://b.example/?c=1&d=2",
        ),
    ],
)
def test_links_are_found_where_somebody_wrote_an_address(typed: str, links: str):
    assert list(links_in(typed)) == links.split()


def test_only_people_are_asked_for_by_name_each_once():
    texts = ["<@U0ALEX> <#C0GENERAL> <!here>", "<@U0SAM|sam> <@U0ALEX> &lt;@U0NO&gt;"]
    assert mentioned_in(texts) == ["U0ALEX", "U0SAM"]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<@U0MOOT> Kafka?", "Kafka?"),
        ("<@U0MOOT|moot>: Kafka?", "Kafka?"),
        ("Kafka? <@U0MOOT>", "Kafka?"),
        ("<@U0ALEX> <@U0MOOT> list", "list"),
        ("<@U0MOOT> <@U0ALEX> should own it?", "<@U0ALEX> should own it?"),
        ("<@U0ALEX> what do you think?", "<@U0ALEX> what do you think?"),
        ("does <@U0MOOT> know <@U0ALEX>", "does <@U0MOOT> know <@U0ALEX>"),
        (" <@U0MOOT>  ", ""),
    ],
)
def test_the_mention_that_calls_the_bot_is_no_part_of_what_it_is_told(text: str, rest: str):
    assert told_bot(text, "U0MOOT") == rest


@pytest.mark.parametrize(
    ("line", "to", "text"),
    [
        ("<@U0ALEX> 2: ten", "<@U0ALEX>", "2: ten"),
        ("<@U0ALEX>, <@U0SAM|sam>: thanks!", "<@U0ALEX>, <@U0SAM|sam>", "thanks!"),
        ("Ask <@U0ALEX>", "", "Ask <@U0ALEX>"),
        ("<@U0ALEX>", "<@U0ALEX>", ""),
    ],
)
def test_whom_a_text_is_for_stands_before_it(line: str, to: str, text: str):
    assert split_addressee(line) == (to, text)


@pytest.mark.parametrize(
    ("text", "has"), [("<@U0MOOT>  ", False), ("<@U0MOOT> <@U0ALEX>", False), ("<@U0MOOT> 2", True)]
)
def test_mentions_alone_say_nothing(text: str, has: bool):  # noqa: FBT001 - a table of cases
    assert has_words(text) is has
