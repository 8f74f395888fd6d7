"""Typed text: Slack's markup becomes names and addresses that people and models can read."""

from typing import Any, cast

import pytest

from bot.slack.payloads import SlackUser
from bot.slack.typed_text import (
    has_words,
    links_in,
    names_of,
    readable,
    split_addressee,
    without_bot_mention,
)
from bot.timeouts import DEFAULT_TIMEOUTS

A, B = "https://a.example/x", "https://b.example/y"


@pytest.mark.parametrize(
    ("typed", "output"),
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
        ("a &lt; b &amp;&amp; `c &gt; d` &amp;lt;", "a < b && `c > d` &lt;"),
        # Slack escapes markup that a person types.
        ("&lt;@U0ALEX&gt;", "<@U0ALEX>"),
    ],
)
def test_markup_becomes_names_and_addresses(typed: str, output: str) -> None:
    assert readable(typed, {"U0ALEX": "Alex"}) == output


@pytest.mark.parametrize(
    ("typed", "links"),
    [
        (f"see <{A}|the plan> and <{A}>", [A]),
        (f"see <{A}?a=1&amp;b=2>", [f"{A}?a=1&b=2"]),
        # Slack turns names into links by itself; only with a path was a page meant.
        ("use <http://socket.io|socket.io> or <mailto:a@example.com|a@example.com>", []),
        ("use <http://example.com/|example.com/>", []),
        ("<http://example.com/docs/x|example.com/docs/x>", ["http://example.com/docs/x"]),
        # Commands and forms have no markup.
        ("see https://a.example/x, (https://b.example/y).", [A, B]),
        ("<https://a.example/x b> is https:// nothing", [A]),
        ("(https://a.example/Rust_(language)).", ["https://a.example/Rust_(language)"]),
        ("https://a.example/Rust_(language)", ["https://a.example/Rust_(language)"]),
        (f"({A}),({B})", [A, B]),
        (f"{A},{B}", [A, B]),
        (f'{{"a":"{A}","b":["{B}"]}}', [A, B]),
        (f"&lt;{A}&gt;,&lt;{B}?c=1&amp;d=2&gt;", [A, f"{B}?c=1&d=2"]),
    ],
)
def test_links_in_a_text(typed: str, links: list[str]) -> None:
    assert links_in(typed) == links


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<@U0MOOT|moot>: Kafka?", "Kafka?"),
        ("Kafka? <@U0MOOT>", "Kafka?"),
        ("<@U0ALEX> <@U0MOOT> list", "list"),
        ("<@U0MOOT> <@U0ALEX> should own it?", "<@U0ALEX> should own it?"),
        ("<@U0ALEX> what do you think?", "<@U0ALEX> what do you think?"),
        ("does <@U0MOOT> know <@U0ALEX>", "does <@U0MOOT> know <@U0ALEX>"),
        (" <@U0MOOT>  ", ""),
    ],
)
def test_the_mention_of_the_bot_is_removed(text: str, message: str) -> None:
    assert without_bot_mention(text, "U0MOOT") == message


@pytest.mark.parametrize(
    ("line", "addressees", "text"),
    [
        ("<@U0ALEX> 2: ten", "<@U0ALEX>", "2: ten"),
        ("<@U0ALEX>, <@U0SAM|sam>: thanks!", "<@U0ALEX>, <@U0SAM|sam>", "thanks!"),
        ("Ask <@U0ALEX>", "", "Ask <@U0ALEX>"),
        ("<@U0ALEX> <@U0SAM> ", "<@U0ALEX> <@U0SAM>", ""),
    ],
)
def test_mentions_before_a_text_are_its_addressees(line: str, addressees: str, text: str) -> None:
    assert split_addressee(line) == (addressees, text)
    assert has_words(line) is bool(text)


class Profiles:
    """Profiles of two people, one of them malformed."""

    timeouts = DEFAULT_TIMEOUTS

    async def name_of(self, person: str) -> str:
        return SlackUser.model_validate({"name": None if person == "U0ODD" else person}).name


async def test_a_malformed_profile_leaves_out_only_that_name() -> None:
    assert await names_of(cast("Any", Profiles()), ["U0ODD", "U0ANN"]) == {"U0ANN": "U0ANN"}
