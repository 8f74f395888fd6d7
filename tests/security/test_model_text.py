"""Text of a model pings nobody, and the text of a link never hides its address."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from bot.slack.mrkdwn import bare, bare_gist, gist, mrkdwn, plain, split

#: Active text in Slack: mentions, channels, groups, dates, and words that ping without brackets.
ACTIVE = re.compile(r"<[!@#]|(?<![\w])@(?:channel|here|everyone|group)(?![a-z0-9])", re.IGNORECASE)
LINK = re.compile(r"<([^<>]*)>")
PIECES = [
    "<!channel>",
    "<!here|x>",
    "<!subteam^S0|@t>",
    "<!date^1^{date}^https://evil.example|x>",
    "<@U0ADA0001>",
    "<#C0ARCH001|x>",
    "@channel",
    "@here",
    "@EVERYONE",
    "&lt;!channel&gt;",
    "&#60;!channel&#62;",
    "&amp;lt;!here&amp;gt;",
    "[https://bank.example](https://evil.example)",
    "[bank.example](https://evil.example/x)",
    "[bank。example](https://evil.example)",
    "[x](https://bank.example@evil.example)",
    "[x](javascript:alert(1))",
    "[x](data:text/html,x)",
    "[x](slack://channel?id=C1)",
    "<https://evil.example|https://bank.example>",
    "https://evil.example|bank.example",
    "![x](https://evil.example/pixel.png)",
    "[![a](https://a.example)](https://evil.example)",
    "[x]: https://evil.example\n\n[x]",
    "<https://evil.example>",
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "| a | b |\n|---|---|\n",
    "|",
    "\\",
    "<",
    ">",
    "!",
    "@",
    "#",
    "&",
    "*",
    "_",
    "~",
    "(",
    ")",
    "[",
    "]",
    "\u200b",
    "\u202e",
    "\U000e0041",
    "\ufeff",
    "channel",
    "here",
    "https://",
    "mailto:a@bank.example",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).map("".join)


def host(url: str) -> str:
    return re.sub(r"^(?:https?://|mailto:[^@]*@)(?:www\.)?", "", url.casefold()).split("/")[0]


def check(text: str) -> None:
    """Check that only links are active, and that their text does not hide the address."""
    assert not ACTIVE.search(text), text
    for inside in LINK.findall(text):
        url, _, label = inside.partition("|")
        assert re.match(r"(?:https?://|mailto:)", url), text
        claimed = re.findall(r"(?:https?://)?((?:[\w-]+\.)+[a-z]{2,})", label.casefold())
        assert all(link.removeprefix("www.") == host(url).split(":")[0] for link in claimed), text
    assert "<" not in LINK.sub("", text), text


@given(texts)
@example("".join(PIECES))
def test_no_markdown_of_a_model_becomes_active(text: str) -> None:
    check(mrkdwn(text))


@given(texts, st.integers(41, 300))
@example("".join(PIECES), 200)
def test_no_gist_and_no_typed_text_becomes_active(text: str, limit: int) -> None:
    for shortened in (gist, bare_gist):
        check(shortened(text, limit))
    check(plain(text))


@given(texts, st.integers(40, 300))
@example("x" * 27 + "(@channelchannel", 40)
@example("x" * 27 + "(@HERE" + "e" * 300, 40)
def test_no_cut_makes_anything_active(text: str, limit: int) -> None:
    for piece in split(mrkdwn(text), limit):
        check(piece)


@given(texts, st.integers(1, 80))
@example("@EVERYONE00", 10)
def test_names_hold_nothing_active(text: str, limit: int) -> None:
    name = bare(text, limit)
    assert not ACTIVE.search(name)
    assert "<" not in name
    assert "\n" not in name
