"""A process that stood still does not do what Slack has told people failed."""

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from bot.testing import key_of, quick_workspace
from slack_on_loopback import QUICK, PersonRefusal
from tests.scenarios.program import CHANNEL, at_work
from tests.scenarios.test_http_mode import without_socket_mode


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("http", [False, True], ids=["socket", "http"])
async def test_a_command_that_was_typed_while_it_was_frozen_is_not_done_after_all(
    tmp_path: Path, *, http: bool
) -> None:
    config = replace(
        without_socket_mode() if http else quick_workspace(), pace=replace(QUICK, ack_seconds=3.0)
    )
    async with at_work(tmp_path, http=http, config=config) as site:
        assert site.machine.process
        site.machine.process.send_signal(signal.SIGSTOP)
        with pytest.raises(PersonRefusal):
            await site.workspace.command("dana", CHANNEL, "/debate", "Kafka or SQS?")
        site.machine.process.send_signal(signal.SIGCONT)
        await site.ask("Kafka, SQS or a table?")  # its words are others by now
        await site.decided(1)
        messages = site.workspace.messages(CHANNEL)
        log = site.machine.log
    assert [key_of(one).endswith("/board") for one in messages].count(True) == 1
    assert "this process stood still" in log
