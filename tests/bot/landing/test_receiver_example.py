"""The receiver in docs/landing.md, as it stands there."""

import asyncio
import os
import re
import sys
from asyncio import subprocess
from pathlib import Path

from bot.landing.webhooks import WebhookReceiver, parse_secret
from core.clock import SystemClock
from tests.bot.landing.office import open_office
from tests.bot.landing.test_webhooks import OLD_SECRET, SECRET, a_webhook
from tests.frame.files import read
from tests.free_port import free_port

EXAMPLE = re.findall(r"```python\n(.*?)```", read("docs/landing.md"), re.DOTALL)[0]


async def test_the_receiver_of_the_documents_takes_each_message_once_and_only_from_moot(
    tmp_path: Path,
) -> None:
    port, program = free_port(), tmp_path / "receiver.py"
    program.write_text(EXAMPLE)
    environment = {"PATH": os.defpath, "WEBHOOK_SECRET": SECRET, "PORT": str(port)}
    process = await subprocess.create_subprocess_exec(
        sys.executable, program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    async with asyncio.timeout(300):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                break
            except OSError:  # it does not listen yet
                await asyncio.sleep(0.01)
    writer.close()

    def receiver(name: str, secret: str) -> WebhookReceiver:
        return WebhookReceiver(
            webhook=a_webhook(f"http://127.0.0.1:{port}/", name=name),
            secrets=[parse_secret(secret, "X_SECRET")],
            clock=SystemClock(),
            may_call=lambda _: True,
        )

    receivers = [
        *(receiver("one", SECRET), receiver("again", SECRET)),
        receiver("forged", OLD_SECRET),
    ]
    async with open_office(receivers, f"sqlite+aiosqlite:///{tmp_path}/moot.db") as office:
        await office.decided()
        dead = (await office.backlog()).rows
    process.terminate()
    texts = (await process.communicate())[0].decode().split()

    assert texts == ["debate.started", "debate.decided", "debate.accepted"]
    why = f"127.0.0.1:{port} answered with the code 401."
    assert {(row.channel, row.error) for row in dead} == {("forged", why)}
