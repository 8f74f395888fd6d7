"""Keys say what a post is and tell posts apart."""

import pytest

from bot.slack.ids import (
    address_keys,
    address_of,
    fill_in,
    note_id,
    note_ts,
)
from bot.slack.mrkdwn.convert import gist, mrkdwn
from bot.slack.mrkdwn.escape import bare, plain


def test_a_note_that_is_a_message_gives_its_timestamp_back():
    assert note_ts(note_id("C0AB12", "1700000000.000100")) == "1700000000.000100"


def test_a_link_to_a_post_of_ours_is_filled_in():
    text = f"<{address_of('d1/vote')}|Vote> · <{address_of('d1/t.1/0')}>"
    assert address_keys(text) == {"d1/vote", "d1/t.1/0"}
    addresses = {"d1/vote": "https://a.example/1", "d1/t.1/0": "https://a.example/2"}
    assert fill_in(text, addresses) == "<https://a.example/1|Vote> · <https://a.example/2>"


@pytest.mark.parametrize(
    "template",
    [
        "See {}.",
        "See <{}>.",
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
def test_what_others_write_is_no_link_to_a_post_of_ours(template: str):
    text = template.format(address_of("dotherone/vote"))
    texts = [mrkdwn(text), plain(text), gist(text, 300), bare(text, 300)]
    assert not address_keys("\n".join(texts))
