"""Log lines: one form for ours and the libraries', never with a secret."""

import asyncio
import io
import json
import logging

import pytest

from bot.log import bind_debate, logger, redactor, set_up_logs
from bot.running.keyed_tasks import KeyedTasks
from bot.settings import LogFormat, LogLevel


@pytest.fixture
def lines() -> io.StringIO:
    stream = io.StringIO()
    set_up_logs(LogLevel.INFO, LogFormat.JSON, ["my-own-secret"], stream)
    return stream


def test_a_line_is_json_with_the_debate_it_belongs_to(lines: io.StringIO) -> None:
    bind_debate("dabc")
    logger("bot.test").info("posted", key="dabc/board")
    line = json.loads(lines.getvalue())
    assert (line["event"], line["debate"], line["key"]) == ("posted", "dabc", "dabc/board")
    assert line["level"] == "info"


async def test_a_task_that_a_debate_woke_does_not_name_that_debate(lines: io.StringIO) -> None:
    async def send(post: str) -> None:
        logger("bot.test").info("sent", post=post)
        sent.set()

    sent, tasks = asyncio.Event(), KeyedTasks[str](send)
    bind_debate("dabc")
    tasks.wake("dxyz/board")
    await sent.wait()
    await tasks.close(1.0)
    line = json.loads(lines.getvalue())
    assert (line["post"], line.get("debate")) == ("dxyz/board", None)


def test_secrets_are_blanked_even_in_tracebacks(lines: io.StringIO) -> None:
    try:
        raise ValueError("key sk-abcdefgh12345 and my-own-secret")  # noqa: TRY301
    except ValueError:
        logger("bot.test").exception("failed", token="xoxb-123-456-abc", key="my-own-secret")
    text = lines.getvalue()
    assert "ValueError" in text
    assert not any(secret in text for secret in ("abcdefgh12345", "my-own-secret", "123-456"))
    assert redactor(("ab",))("about") == "about", "a short one would blank ordinary words"


def test_library_loggers_stay_quiet_below_warning(lines: io.StringIO) -> None:
    logging.getLogger("slack_bolt.AsyncRequestVerification").info("body with everything")
    logging.getLogger("slack_sdk.web").warning("odd")
    assert "everything" not in lines.getvalue()
    assert "odd" in lines.getvalue()


def test_the_console_form_is_plain_text() -> None:
    stream = io.StringIO()
    set_up_logs(LogLevel.INFO, LogFormat.CONSOLE, (), stream)
    logger("bot.test").info("hello", n=1)
    assert "hello" in stream.getvalue()
    assert "{" not in stream.getvalue()
