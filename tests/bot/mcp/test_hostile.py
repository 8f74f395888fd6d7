"""Whatever a program sends: a clear error, no traceback, nothing started and nothing read."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.testing import ScriptedProvider
from tests.bot.mcp.at_work import QUESTION, Window, editor, text_of

#: Tool, arguments, and the beginning of what is said.
HOSTILE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("start_debate", {"question": "Is it? " * 150_000}, "question: must have at most"),
    ("start_debate", {"question": QUESTION, "context": "x" * 10**6}, "context: must have at most"),
    ("start_debate", {"question": QUESTION, "rounds": "many"}, "rounds: must be a whole number"),
    ("start_debate", {"question": ["Kafka", "SQS"]}, "question: must be text"),
    ("start_debate", {}, "question: is needed"),
    ("start_debate", {"question": QUESTION, "shell": "rm -rf /"}, "shell: is no argument"),
    ("start_debate", {"question": "Kafka\x00 or SQS?"}, "control character U+0000 at posit"),
    ("start_debate", {"question": "\x1b[2JKafka or SQS?"}, "control character U+001B"),
    ("start_debate", {"question": " \n "}, "question is blank"),
    ("start_debate", {"question": QUESTION, "format": "brawl"}, "There is no format"),
    ("start_debate", {"question": QUESTION, "agents": ["nobody-known"]}, "nobody-known"),
    ("start_debate", {"question": QUESTION, "channel": "#general"}, "in no channel"),
    ("start_debate", {"question": QUESTION, "sources": ["../outside.txt"]}, "outside of the"),
    ("start_debate", {"question": QUESTION, "sources": ["/etc/passwd"]}, "outside of the"),
    ("start_debate", {"question": QUESTION, "sources": ["link.txt"]}, "outside of the"),
    ("start_debate", {"question": QUESTION, "sources": [".secrets/key.txt"]}, "is hidden or"),
    ("start_debate", {"question": QUESTION, "sources": ["none.txt"]}, "There is no file"),
    ("start_debate", {"question": QUESTION, "sources": ["a" * 1500]}, "cannot be looked at"),
    (
        "start_debate",
        {"question": QUESTION, "sources": ["x.md"] * 51},
        "must have at most 50",
    ),
    ("debate_status", {"debate_id": "dnone234"}, "There is no debate dnone234 here"),
    ("debate_status", {"debate_id": "../../etc"}, "debate_id: must fit the pattern"),
    ("debate_status", {"debate_id": "d1", "wait_seconds": -1}, "wait_seconds: must be 0 or"),
    ("debate_status", {"debate_id": "d1", "wait_seconds": 3600}, "wait_seconds: must be 50"),
    ("debate_status", {"debate_id": "d1", "wait_seconds": float("nan")}, "wait_seconds: must be"),
    ("get_verdict", {"debate_id": "d'; DROP TABLE debates--"}, "debate_id: must fit"),
    (
        "answer_question",
        {"debate_id": "dnone234", "answers": []},
        "answers: must have at least 1",
    ),
    ("add_note", {"debate_id": "dnone234", "text": "\ud800"}, "text: must be"),
    ("search_decisions", {"query": ""}, "query: must have at least 1 character"),
    ("list_debates", {"limit": 10**9}, "limit: must be 50 or less"),
    ("drop_tables", {}, "There is no tool"),
)


@asynccontextmanager
async def at_a_project(folder: Path) -> AsyncGenerator[Window]:
    """A server in a project's folder, with files beside it that are none of its business."""
    project = folder / "project"
    (project / ".secrets").mkdir(parents=True)
    (project / ".secrets" / "key.txt").write_text("hidden", encoding="utf-8")
    (folder / "outside.txt").write_text("outside", encoding="utf-8")
    (project / "link.txt").symlink_to(folder / "outside.txt")
    async with editor(project, ScriptedProvider()) as program:
        yield program


async def test_it_ends_in_a_clear_error(tmp_path: Path) -> None:
    async with at_a_project(tmp_path) as kim:
        for tool, arguments, text in HOSTILE:
            answer = await kim.client.call_tool(tool, arguments)
            words = text_of(answer)
            assert answer.is_error, arguments
            assert text in words
            assert len(words) < 500
            assert "Traceback" not in words
            assert "\x1b" not in words
        assert not (await kim.calls("list_debates"))["debates"]
