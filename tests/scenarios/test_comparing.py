"""`moot eval --against single`: a debate, then evaluators of other makers, in real processes."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frame.files import ROOT
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

#: What only the single answer says.
RISK = "Throughput may not last."


def reply(request: VendorRequest) -> Say:
    """Evaluators like the text that names this risk, wherever it stands."""
    body = json.dumps(request.body)
    if "compare two answers" not in body:
        return good_reply(request)
    parts = re.split(r"<<<\w+ [A-Z-]+ \\\"p[12]", body)
    likes = [(RISK in part) for part in parts[1:3]]
    better = "neither" if likes[0] == likes[1] else ("p1" if likes[0] else "p2")
    names = re.findall(r"- \\\"(\w+)\\\": ", body)
    choices = [{"criterion": name, "reason": "It is.", "better": better} for name in names]
    return Say(text=json.dumps({"choices": choices}))


def config(folder: Path, url: str, *makers: str) -> None:
    named = ("lab", "ann", "bob")
    servers = ", ".join(f"{{name: {name}, base_url: {url}/v1}}" for name in named)
    # Servers of this machine are free unless a model of theirs has a price: then the others' are
    # unknown.
    prices = ", ".join(f"{name}/dear: {{input: 1, output: 1}}" for name in named)
    agents = ", ".join(f"{{role: sceptic, id: {m}, provider: {m}, model: {m}-1}}" for m in makers)
    (folder / f"{makers[0] if makers else 'debate'}.yaml").write_text(
        f"servers: [{servers}]\ndefault_model: {{provider: lab, model: lab-1}}\n"
        f"prices: {{{prices}}}\n"
        + (f"agents: [{agents}]\n" if makers else "debate: {rounds: 1}\n"),
        encoding="utf-8",
    )


def moot(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - a child process needs them
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", "from bot.cli import main; main()", *words],
        cwd=folder,
        env={**base, "PYTHONPATH": str(ROOT), "MOOT_DATABASE": "moot.db"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
async def test_a_debate_is_compared_with_the_single_answer_beside_it(tmp_path: Path) -> None:
    async with Vendor(reply) as vendor:
        config(tmp_path, vendor.url)
        config(tmp_path, vendor.url, "ann", "bob")
        process = await asyncio.to_thread(
            moot, tmp_path, "debate", "Kafka or SQS?", "-c", "debate.yaml", "--shadow", "--yes"
        )
        assert process.returncode == 0, process.stderr
        debate_id = re.findall(r"\bd[a-z0-9]{7}\b", process.stderr)[-1]
        words = ("eval", debate_id, "--against", "single", "-e", "ann,bob")
        before = len(vendor.asked)
        compared = await asyncio.to_thread(moot, tmp_path, *words, "-c", "ann.yaml")
        count = len(vendor.asked) - before
        own = await asyncio.to_thread(
            moot, tmp_path, *(*words[:-1], "generalist"), "-c", "debate.yaml"
        )
    assert compared.returncode == 0, compared.stderr
    phrase = "2 evaluators, 4 calls each. Their cost comes beside the debate's: n/a."
    assert phrase in " ".join(compared.stderr.split())
    assert count == 8
    assert "| Overall | single | single |" in compared.stdout
    phrase = "All 2 evaluators prefer the single answer, in either order."
    assert compared.stdout.rstrip().endswith(phrase)
    # Nobody knows what these models cost.
    assert "Cost: n/a" in compared.stdout
    assert own.returncode == 3
    assert "lab made one of the texts." in own.stdout
