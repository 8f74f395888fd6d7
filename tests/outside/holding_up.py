"""Faults that held everybody up: what was typed, what models answered, who connected, notes."""

import asyncio
import json
import time
from dataclasses import replace

import httpx2

from tests.drill.machine import Machine
from tests.drill.models import SHAKY
from tests.outside.stand import (
    CHANNEL,
    ELSEWHERE,
    Fault,
    Ground,
    Seen,
    Stand,
    Waits,
    a_stand,
    a_workspace,
)
from tests.vendor_replies import good_reply
from tests.vendors.script import Asked, Reject, Say

_DIGITS = "1" * 3900
_NOTES = 60


async def digits(ground: Ground) -> Seen:
    """Ask 3,900 digits of a bot without a key, then of one with a provider and four debates."""

    def without_provider(machine: Machine) -> None:
        machine.variables |= {"OPENAI_API_KEY": "", "OLLAMA_HOST": "http://127.0.0.1:9"}
        (machine.folder / "moot.yaml").write_text("debate: {rounds: 1}\n", encoding="utf-8")

    waits: list[Waits] = []
    async with a_stand(ground.folder / "idle", prepare=without_provider) as stand:
        waits.append(await _asked_digits(stand, "dana"))
    async with a_stand(ground.folder / "busy", wait=1.0) as stand:
        others = [("dana", CHANNEL), ("dana", ELSEWHERE), ("alex", CHANNEL), ("alex", ELSEWHERE)]
        for number, (user, channel) in enumerate(others):
            await stand.ask(f"Choice {number}: queue or table?", user, channel)
        waits.append(await _asked_digits(stand, "sam"))
        await stand.decided(len(others) + 1)
    return Seen(
        now=f"{waits[0].longest:.1f} s idle, "
        f"{waits[1].longest:.1f} s with a provider and four debates",
        mended=all(wait.are_short for wait in waits),
    )


async def _asked_digits(stand: Stand, user: str) -> Waits:
    """For how long somebody was held up until a debate about them had begun."""
    async with Waits(stand.machine.url) as waits:
        await stand.ask(_DIGITS, user)
        await asyncio.sleep(3)
    return waits


async def long_reply(ground: Ground) -> Seen:
    """One model of three answers 5 MB."""

    def script(asked: Asked) -> Say:
        say = replace(good_reply(asked), wait=0.3)
        return replace(say, text="words " * 900_000) if asked.body.get("model") == SHAKY else say

    async with a_stand(ground.folder, script=script, turn_seconds=20) as stand:
        async with Waits(stand.machine.url) as waits:
            board = await stand.ask()
            await stand.decided()
        posts = len(stand.workspace.thread(CHANNEL, board))
    return Seen(
        now=f"{waits.longest:.1f} s; {posts} posts in the thread",
        mended=waits.are_short and posts < 30,
    )


async def quoting_error(ground: Ground) -> Seen:
    """One vendor refuses every request with an error that quotes the whole of it, many times."""

    def script(asked: Asked) -> Say | Reject:
        if asked.body.get("model") == SHAKY:
            return Reject(status=400, message=f"unsupported: {json.dumps(asked.body) * 20}")
        return replace(good_reply(asked), wait=0.3)

    async with (
        a_stand(ground.folder, script=script, turn_seconds=20) as stand,
        Waits(stand.machine.url) as waits,
    ):
        await stand.ask("Kafka or PostgreSQL? " + "x " * 1900)
        await stand.decided()
    return Seen(now=f"{waits.longest:.1f} s", mended=waits.are_short)


async def figures_in_public(ground: Ground) -> Seen:
    """Figures have a port of their own."""
    async with a_stand(ground.folder, http=True, config=a_workspace(socket_mode=False)) as stand:
        async with httpx2.AsyncClient(timeout=10) as client:
            public = await client.get(f"{stand.machine.url}/metrics")
        own = await stand.machine.figures()
    return Seen(
        now=f"{public.status_code} there; {own.count('# TYPE')} figures on a port of their own",
        mended=public.status_code == 404 and "moot_" in own and "moot_" not in public.text,
    )


async def many_notes(ground: Ground) -> Seen:
    """The same debate without notes, then with sixty, at the pace of the real Slack."""
    async with a_stand(ground.folder, wait=2.0) as stand:
        taken: list[float] = []
        for number, notes in enumerate((0, _NOTES)):
            began = time.monotonic()
            board = await stand.ask(f"Choice {number}: queue or table?")
            for note in range(notes):
                await stand.workspace.say("alex", CHANNEL, f"Mind point {note}.", board)
            await stand.decided(number + 1)
            taken.append(time.monotonic() - began)
        recorded = len((await stand.debates())[0].notes) + len((await stand.debates())[1].notes)
    late = taken[1] - taken[0]
    return Seen(
        now=f"{late:+.0f} s ({taken[0]:.0f} s without, {taken[1]:.0f} s with {recorded} notes)",
        mended=recorded == _NOTES and late < _NOTES * 0.5,
    )


FAULTS = (
    Fault(
        number=2,
        what="3,900 digits in `/debate` block everybody",
        before="7 s idle, 26–31 s under load",
        attempt=digits,
    ),
    Fault(
        number=9,
        what="a reply of 5 MB blocks everybody and floods the thread",
        before="28 s; 1,520 posts queued",
        attempt=long_reply,
    ),
    Fault(
        number=9,
        what="a vendor's 400 that quotes the prompt blocks everybody",
        before="18.5 s",
        attempt=quoting_error,
    ),
    Fault(
        number=11,
        what="`/metrics` on the public port",
        before="answered",
        attempt=figures_in_public,
    ),
    Fault(
        number=12,
        what="60 notes delay the verdict",
        before="by 71 s",
        attempt=many_notes,
    ),
)
