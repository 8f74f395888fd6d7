"""The receiver in docs/landing.md, as it stands there."""

import asyncio
import os
import re
import sys
from asyncio import subprocess
from pathlib import Path

from bot.landing.webhooks import WebhookReceiver, secret_of
from core.clock import SystemClock
from tests.bot.landing.office import open_office
from tests.bot.landing.test_webhooks import OLD_SECRET, SECRET, a_webhook
from tests.frame.files import read
from tests.scenarios.test_installing import free_port

EXAMPLE = re.findall(r"```python\n(.*?)```", read("docs/landing.md"), re.DOTALL)[0]


async def listening(port: int) -> None:
    """Wait until a program listens."""
    for _ in range(1000):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
            continue
        writer.close()
        return
    raise AssertionError("the receiver does not listen")


async def test_the_receiver_of_the_documents_takes_each_message_once_and_only_from_moot(
    tmp_path: Path,
) -> None:
    port = free_port()
    program = tmp_path / "receiver.py"
    program.write_text(EXAMPLE)
    environment = {"PATH": os.defpath, "WEBHOOK_SECRET": SECRET, "PORT": str(port)}
    process = await subprocess.create_subprocess_exec(
        sys.executable, program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    await listening(port)
    webhook = a_webhook(f"http://127.0.0.1:{port}/")

    def receiver(name: str, secret: str) -> WebhookReceiver:
        return WebhookReceiver(
            webhook=webhook.model_copy(update={"name": name}),
            secrets=[secret_of(secret, "X_SECRET")],
            clock=SystemClock(),
            may_call=lambda _: True,
        )

    twice = [receiver("one", SECRET), receiver("again", SECRET)]
    forged = receiver("forged", OLD_SECRET)
    location = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with open_office([*twice, forged], location) as office:
        await office.debated()
        await office.decide()
        await office.settle()
        dead = (await office.landings.backlog_rows(5)).rows
    process.terminate()
    assert process.stdout
    texts = (await process.stdout.read()).decode().split()
    await process.wait()

    assert texts == ["debate.started", "debate.decided", "debate.accepted"]
    assert {(row.channel, row.error) for row in dead} == {
        ("forged", f"127.0.0.1:{port} answered with the code 401.")
    }
