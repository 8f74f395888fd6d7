"""Faults in what Moot is and shows: its image, its health, its documents, its rights."""

import asyncio
import json
import os
import pty
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import httpx2
from cryptography.fernet import Fernet

from slack_on_loopback import run_oauth_server
from slack_on_loopback.http_mode import signed_headers
from tests.drill.drill import town_for, what_is_down
from tests.drill.faults import TROUBLES, Trouble
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.frame.test_image import SLACK, filled_as_docker_does, installed, run
from tests.outside.stand import (
    CHANNEL,
    QUESTION,
    Fault,
    Ground,
    Seen,
    Stand,
    a_stand,
    a_workspace,
    settings_with,
)
from tests.scenarios.test_installing import link_in
from tests.security.test_inert import BAD, PARSER, all_tokens
from tests.vendor_replies import good_reply
from tests.vendors.script import Asked, Say
from tests.vendors.server import Vendor

_NOTE = "We are only two people."
#: Seconds after which the health page has told: a token is tried once a minute.
_LONGEST = 75.0
#: Times that each wrong request is sent.
_WRONG = 100


async def image(ground: Ground) -> Seen:
    """Build and install what the Dockerfile copies; run the bot, and the demonstration."""
    sources, wheel, demo = (ground.folder / one for one in ("sources", "wheel", "demo"))
    for folder in (sources, wheel, demo):
        folder.mkdir()
    filled_as_docker_does(sources)
    program = str(await asyncio.to_thread(installed, wheel, sources))

    def of_the_wheel(machine: Machine) -> None:
        machine.program = (program,)
        machine.variables["PYTHONPATH"] = ""

    async with a_stand(ground.folder, prepare=of_the_wheel) as stand:
        await stand.ask()
        await stand.decided()
        health = await stand.machine.health()
        code, _ = await stand.machine.stop()
    with_demo = await asyncio.to_thread(installed, demo, sources, SLACK)
    shown = await asyncio.to_thread(
        run, with_demo, "demo", "--once", "--fast", "--port", "0", cwd=demo
    )
    return Seen(
        now=f"built; `moot run` of the wheel decides, /health {health.get('status')}, ends with "
        f"code {code}; `moot demo` ends with code {shown.returncode}",
        mended=health.get("code") == 200 and not code and not shown.returncode,
    )


async def unknown_identity(ground: Ground) -> Seen:
    """Type and write while `auth.test` fails from the first request after a start."""
    heard: list[str] = []
    async with (
        a_stand(ground.folder / "socket", wait=3.0) as socket,
        _installed_by_oauth(ground.folder / "oauth") as oauth,
    ):
        for name, stand in (("socket", socket), ("OAuth", oauth)):
            board = await stand.ask()
            await stand.machine.stop()
            await stand.machine.start()
            stand.workspace.faults.server_error("auth.test", times=None)
            await stand.workspace.say("alex", CHANNEL, _NOTE, board)
            told = await stand.typed_until_heard("Rust or Go for the importer?", "sam")
            await asyncio.sleep(3)
            stand.workspace.faults.clear()
            stand.models.wait = 0.3
            if "begins" in told:
                await stand.decided(2)
            await stand.at_rest()
            notes = [note.text for debate in await stand.debates() for note in debate.notes]
            heard.append(f"{name}: note {notes.count(_NOTE)}, command {int('begins' in told)}")
    wanted = ["socket: note 1, command 1", "OAuth: note 1, command 1"]
    return Seen(now="; ".join(heard), mended=heard == wanted)


@asynccontextmanager
async def _installed_by_oauth(folder: Path) -> AsyncGenerator[Stand]:
    """A bot for many workspaces, and the one that installed it."""
    models = DrillModels(wait=3.0)
    config = replace(a_workspace(socket_mode=False), signing_secret="0123456789abcdef" * 2)
    async with run_oauth_server(config) as slack, Vendor(models) as vendor:
        (workspace,) = slack.workspaces
        machine = Machine(folder / "machine", workspace, vendor.url, http=True)
        machine.variables |= {
            "SLACK_BOT_TOKEN": "",
            "SLACK_CLIENT_ID": slack.app.client_id,
            "SLACK_CLIENT_SECRET": slack.app.client_secret,
            "SLACK_API_URL": slack.api_url,
            "MOOT_TOKEN_KEYS": Fernet.generate_key().decode(),
            "MOOT_PUBLIC_URL": machine.url,
        }
        try:
            await machine.start()
            await _install(slack.url, machine.url)
            yield Stand(workspace=workspace, machine=machine, models=models)
        finally:
            await machine.close()


async def _install(slack: str, moot: str) -> None:
    """Go through the pages as a browser does."""
    async with aiohttp.ClientSession() as browser:
        async with browser.get(f"{moot}/slack/install") as page:
            cookie = page.headers["Set-Cookie"].partition(";")[0]
            to_slack = link_in(await page.text(), 0)
        async with browser.get(to_slack) as page:
            chosen = f"{slack}{link_in(await page.text(), 0)}"
        async with browser.get(chosen, allow_redirects=False) as page:
            back = page.headers["Location"]
        async with browser.get(back, headers={"Cookie": cookie}) as page:
            assert page.status == 200, await page.text()


async def unhealthy(ground: Ground) -> Seen:
    """Hurt the database of a running bot; ask its health page until it says so."""
    said = [
        await _told_of(TROUBLES[name], ground.folder / name)
        for name in ("full", "locked", "deleted")
    ]
    return Seen(
        now="; ".join(words for words, _ in said), mended=all(is_told for _, is_told in said)
    )


async def revoked(ground: Ground) -> Seen:
    """Revoke the token of a bot to which nobody writes."""
    words, is_told = await _told_of(TROUBLES["token"], ground.folder)
    return Seen(now=words, mended=is_told)


async def _told_of(trouble: Trouble, folder: Path) -> tuple[str, bool]:
    """What the health page says, and whether that is it."""
    async with town_for(trouble, folder, 1.0, None) as town:
        await town.machine.start()
        assert not what_is_down(await town.machine.health())
        async with trouble.hurt(town):
            began, down = time.monotonic(), ""
            while not down and time.monotonic() - began < _LONGEST:
                down = what_is_down(await town.machine.health())
            taken = time.monotonic() - began
    words = f"{trouble.what.partition(',')[0]}: {down or 'ok'} after {taken:.1f} s"
    return words, bool(down) and down in trouble.health


async def refused(ground: Ground) -> Seen:
    """Send a hundred wrong requests of each kind to a bot in HTTP mode."""
    body = urlencode({"command": "/debate", "text": QUESTION})
    form = "application/x-www-form-urlencoded"
    kinds = {
        "it is not signed": {"Content-Type": form},
        "wrong signature": dict(signed_headers("another secret", time.time(), body, form)),
    }
    async with (
        a_stand(ground.folder, http=True, config=a_workspace(socket_mode=False)) as stand,
        httpx2.AsyncClient(timeout=10) as client,
    ):
        kinds["its signature is old"] = dict(
            signed_headers(stand.workspace.signing_secret, time.time() - 3600, body, form)
        )
        url = f"{stand.machine.url}/slack/events"
        for headers in list(kinds.values()) * _WRONG:
            answer = await client.post(url, content=body, headers=headers)
            assert answer.status_code == 401
        lines = Counter(
            str(one["reason"])
            for one in stand.machine.logged()
            if one["event"] == "request refused"
        )
    told = ", ".join(f"{reason} {count}" for reason, count in sorted(lines.items()))
    return Seen(
        now=f"log lines for {_WRONG} requests of each: {told}", mended=lines == Counter(list(kinds))
    )


async def documents(ground: Ground) -> Seen:
    """Have models write what terminals and readers of Markdown obey; read report and terminal."""

    def script(asked: Asked) -> Say:
        say = replace(good_reply(asked), wait=0.1)
        if say.text[:1] != "{":
            return replace(say, text=f"{say.text}\n\n{BAD}")
        body = json.loads(say.text)
        named = ("decision", "solution", "implementation", "dissent")
        return replace(
            say, text=json.dumps(body | {one: f"{body[one]} {BAD}" for one in named if one in body})
        )

    def with_two_rounds(machine: Machine) -> None:
        settings_with(machine, debate="{rounds: 2, when: always, clarifications: {enabled: false}}")

    async with a_stand(ground.folder, script=script, prepare=with_two_rounds) as stand:
        await stand.ask()
        await stand.decided()
        await stand.at_rest()
        (debate,) = await stand.debates()
        await stand.machine.stop()
        said = [await stand.machine.moot(*words, debate.id) for words in (("report",), ("show",))]
        on_screen = await _on_a_terminal(stand.machine, "debate", QUESTION)
    markdown = said[0].text
    kinds = Counter(token.type for token in all_tokens(markdown))
    active = kinds["image"] + kinds["html_block"] + kinds["html_inline"]
    headings = [one.content for one in PARSER.parse(markdown) if one.type == "inline"]
    titles = [f"{agent.name} ({agent.role}): " for agent in debate.setup.agents]
    shown = sum(heading.startswith(tuple(titles)) for heading in headings)
    obeyed = [sign for sign in ("\x1b[2J", "\x1b]0", "\x07") if sign in on_screen]
    raw = sum(one.text.count("\x1b") for one in said)
    return Seen(
        now=f"{shown} of {len(debate.contributions)} contributions; {active} images or HTML, {raw} "
        f"ESC in report and record; {len(obeyed)} sequences obeyed by a terminal",
        mended=shown == len(debate.contributions) > 10
        and not active + raw + len(obeyed)
        and "owned" in on_screen
        and "owned" in markdown,
    )


async def _on_a_terminal(machine: Machine, *words: str) -> str:
    """What a command writes on a terminal."""
    ours, its = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *machine.program, *words, cwd=machine.folder, env=machine.environment | {"TERM": "xterm"},
        stdin=its, stdout=its, stderr=its,
    )  # fmt: skip
    os.close(its)

    def read() -> bytes:
        found = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody writes any more
                return found
            if not piece:
                return found
            found += piece

    written = await asyncio.to_thread(read)
    os.close(ours)
    assert await process.wait() == 0, written[-2000:]
    return written.decode()


async def doctor(ground: Ground) -> Seen:
    """Type `/debate doctor` as anybody, then as an admin."""
    async with a_stand(ground.folder) as stand:
        anybody = await stand.typed_until_heard("doctor", "alex")
        await stand.typed_until_heard("doctor", "dana")
        found: Sequence[str] = await stand.until(
            lambda: [
                str(one["text"])
                for one in stand.workspace.ephemeral("dana", CHANNEL)
                if "✓" in str(one["text"])
            ]
        )
    return Seen(
        now=f"anybody is told: {anybody[:60]}…; an admin gets {found[0].count('✓')} findings",
        mended="admins" in anybody and "✓" not in anybody,
    )


FAULTS = (
    Fault(number=1, what="the container's image", before="could not be built", attempt=image),
    Fault(
        number=3,
        what="a note and a command while `auth.test` fails after a start",
        before="acknowledged and lost",
        attempt=unknown_identity,
    ),
    Fault(
        number=8,
        what="/health with disk full, database locked or deleted",
        before="ok",
        attempt=unhealthy,
    ),
    Fault(number=8, what="/health with the token revoked", before="ok", attempt=revoked),
    Fault(
        number=8,
        what="refused requests in the log",
        before="a line each",
        attempt=refused,
    ),
    Fault(
        number=10,
        what="escape sequences, images, HTML and an open fence in reports and on the terminal",
        before="all active; 12 of 24 contributions swallowed",
        attempt=documents,
    ),
    Fault(
        number=12,
        what="`/debate doctor`",
        before="open to everybody",
        attempt=doctor,
    ),
)
