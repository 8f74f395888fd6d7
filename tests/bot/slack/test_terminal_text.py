"""Slack's messages as text for a terminal."""

import pytest

from bot.slack.mrkdwn.escape import GAP
from bot.slack.mrkdwn.terminal import message_text


def shown(text: str) -> str:
    return message_text(
        {"text": text},
        60,
        emoji=lambda name: {"shield": "S"}.get(name, ""),
        person=lambda who: {"U1": "dana"}.get(who, ""),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*Proposal* · round 1", "Proposal · round 1"),
        ("*_both_* and ~gone~ and `code`", "both and gone and code"),
        ("2 * 3 * 4, snake_case_name", "2 * 3 * 4, snake_case_name"),
        (":shield: Security at 12:30:45 :unheard_of:", "S Security at 12:30:45 :unheard_of:"),
        ("see <https://x.example/a>", "see https://x.example/a"),
        ("see <https://x.example/a|the paper>", "see the paper (https://x.example/a)"),
        ("see <https://x.example/archives/C1/p2?thread_ts=1&amp;cid=C1|Vote>", "see Vote"),
        ("by <@U1> and <@U2>", "by @dana and @U2"),
        ("until <!date^1^{date} {time}|2026-01-05 09:00 UTC>", "until 2026-01-05 09:00 UTC"),
        (f"a &lt;b&gt; &amp;amp; @{GAP}here", "a <b> &amp; @here"),
    ],
)
def test_marks_codes_and_entities_become_words(text: str, words: str):
    assert shown(text) == f"  {words}"


def test_lines_are_wrapped_and_points_of_lists_hang():
    lines = shown("• " + "word " * 30).split("\n")
    assert lines[0].startswith("  • word")
    assert all(line.startswith("    word") for line in lines[1:])
    assert all(len(line) <= 60 for line in lines)
    assert len(lines) > 2


def test_code_keeps_its_lines_and_signs():
    assert shown("Look:\n```\n  a * b *c* &lt;\n```\nso") == "  Look:\n    a * b *c* <\n  so"


def test_blocks_are_shown_instead_of_the_text_buttons_left_out():
    cells = [["Position", "Points"], ["Ann", "10"]]
    message = {
        "text": "not this",
        "blocks": [
            {"type": "header", "text": {"text": "The vote"}},
            {"type": "section", "text": {"text": "*Ann* wins"}},
            {"type": "table", "rows": [[{"text": cell} for cell in row] for row in cells]},
            {"type": "context", "elements": [{"text": "small"}, {"text": "print"}]},
            {"type": "actions", "elements": [{"text": {"text": "Accept"}}]},
        ],
    }
    lines = ["The vote", "Ann wins", "Position  Points", "Ann       10", "small", "print"]
    assert message_text(message, 60) == "\n".join(f"  {line}" for line in lines)
