"""Whatever a program sends: a clear error, no traceback, nothing started and nothing read."""

from pathlib import Path
from typing import Any

import pytest

from bot.mcp.this_machine import references_below
from core.debate.people import Person
from core.errors import BadInput
from core.testing import ScriptedProvider
from tests.bot.mcp.at_work import QUESTION, editor, text_of

#: Arguments of `start_debate` beside a good question, and the beginning of what is said.
STARTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"question": "Is it? " * 150_000}, "question: must have at most"),
    ({"question": ["Kafka", "SQS"]}, "question: must be text"),
    ({"question": "Kafka\x00 or SQS?"}, "control character U+0000 at posit"),
    ({"question": "\x1b[2JKafka or SQS?"}, "control character U+001B"),
    ({"question": " \n "}, "question is blank"),
    ({"context": "x" * 10**6}, "context: must have at most"),
    ({"rounds": "many"}, "rounds: must be a whole number"),
    ({"shell": "rm -rf /"}, "shell: is no argument"),
    ({"format": "brawl"}, "There is no format"),
    ({"agents": ["nobody-known"]}, "nobody-known"),
    ({"channel": "#general"}, "in no channel"),
    ({"sources": ["../outside.txt"]}, "outside of the"),
    ({"sources": ["/etc/passwd"]}, "outside of the"),
    ({"sources": ["link.txt"]}, "outside of the"),
    ({"sources": [".secrets/key.txt"]}, "is hidden or"),
    ({"sources": ["none.txt"]}, "There is no file"),
    ({"sources": ["a" * 1500]}, "cannot be looked at"),
    ({"sources": ["x.md"] * 51}, "must have at most 50"),
)
OTHERS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("start_debate", {}, "question: is needed"),
    ("debate_status", {"debate_id": "dnone234"}, "There is no debate dnone234 here"),
    ("debate_status", {"debate_id": "../../etc"}, "debate_id: must fit the pattern"),
    ("debate_status", {"debate_id": "d1", "wait_seconds": -1}, "wait_seconds: must be 0 or"),
    ("debate_status", {"debate_id": "d1", "wait_seconds": 3600}, "wait_seconds: must be 50"),
    ("debate_status", {"debate_id": "d1", "wait_seconds": float("nan")}, "wait_seconds: must be"),
    ("get_verdict", {"debate_id": "d'; DROP TABLE debates--"}, "debate_id: must fit"),
    ("answer_question", {"debate_id": "d1", "answers": []}, "answers: must have at least 1"),
    ("add_note", {"debate_id": "dnone234", "text": "\ud800"}, "text: must be"),
    ("search_decisions", {"query": ""}, "query: must have at least 1 character"),
    ("list_debates", {"limit": 10**9}, "limit: must be 50 or less"),
    ("drop_tables", {}, "There is no tool"),
)


async def test_it_ends_in_a_clear_error(tmp_path: Path) -> None:
    project = tmp_path / "project"  # with files beside it that are none of its business
    (project / ".secrets").mkdir(parents=True)
    (project / ".secrets" / "key.txt").write_text("hidden", encoding="utf-8")
    (tmp_path / "outside.txt").write_text("outside", encoding="utf-8")
    (project / "link.txt").symlink_to(tmp_path / "outside.txt")
    starts = [("start_debate", {"question": QUESTION, **more}, text) for more, text in STARTS]
    async with editor(project, ScriptedProvider()) as kim:
        for tool, arguments, text in (*starts, *OTHERS):
            answer = await kim.client.call_tool(tool, arguments)
            words = text_of(answer)
            assert answer.is_error, arguments
            assert text in words
            assert len(words) < 500
            assert "Traceback" not in words
            assert "\x1b" not in words
        assert not (await kim.calls("list_debates"))["debates"]


def test_where_an_editor_starts_the_server_nowhere_in_particular_no_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, by = tmp_path / "home", Person(id="dana", name="Dana")
    project = home / "project"
    project.mkdir(parents=True)
    for file in (home / "letter.txt", project / "notes.txt"):
        file.write_text("text", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))

    root = Path("/")
    places = [
        (home, "letter.txt"),
        (tmp_path, "home/letter.txt"),
        (root, "etc/passwd"),
        (root, "."),
    ]
    for folder, name in places:
        with pytest.raises(BadInput, match="is no project"):
            references_below(folder, [name], by)
    (notes,) = references_below(project, ["notes.txt"], by)
    assert notes.title == "notes.txt"
    page = "https://example.com/page"
    assert references_below(home, [page], by)[0].fetch == page
