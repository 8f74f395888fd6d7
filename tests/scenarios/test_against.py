"""`moot eval --against single`: a finished debate beside one model's answer, as people run it."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.testing import a_verdict_reply
from tests.scenarios.test_bench import preferring
from tests.vendors.script import Asked, Counts, Say
from tests.vendors.server import Vendor

ROOT = Path(__file__).parents[2]
MOOT = (sys.executable, "-c", "from bot.cli import main; main()")
SERVERS = ("lab", "ann", "bob", "cem")
EVALUATORS = ("--evaluators", "ann/reader,bob/reader,cem/reader")
QUESTION = "Kafka or PostgreSQL as our job queue?"
ALONE: Mapping[str, object] = {
    "options": ["PostgreSQL", "Kafka"],
    "reasons": ["Everybody has it."],
    "risks": ["It may be slow."],
    "overturned_by": ["A tenfold load"],
    "decision": "Take PostgreSQL.",
    "solution": "One table.",
}


def answering(asked: Asked) -> Say:
    """Answers every act of a debate, and judges texts like somebody who knows."""
    body, form = str(asked.body), str(asked.body.get("response_format", ""))
    counts = Counts(input=900, output=100)
    reply: dict[str, Any] | None = None
    if "'better'" in form:
        reply = preferring(json.dumps(asked.body, ensure_ascii=False))
    elif "stands_for" in form:
        labels = set(re.findall(r"<<<\w+ (p\d+)", body))
        stands = [1, *[2] * (len(labels) - 1)]
        reply = {"options": ["PostgreSQL", "Kafka"], "stands_for": stands, "kind": "choice"}
    elif "ranking" in form:
        labels = list(dict.fromkeys(re.findall(r"<<<\w+ (p\d+)", body)))
        reasons = [f"{label}: it is clear." for label in labels]
        reply = {"reasons": reasons, "ranking": labels, "probabilities": [80, 20]}
        reply["moved_by"] = "none"
    elif "dissent" in form:
        reply = a_verdict_reply()
    elif "'risks'" in form:
        reply = dict(ALONE)
    elif "'option'" in form:
        reply = {"reason": "It says so.", "option": "o1"}
    text = json.dumps(reply) if reply else "**Take PostgreSQL.**\n\nStance: o1 80 %, o2 20 %"
    return Say(text=text, counts=counts)


def configured(folder: Path, url: str) -> None:
    servers = ", ".join(f"{{name: {name}, base_url: {url}/v1}}" for name in SERVERS)
    price = "{input: 1, output: 1}"
    (folder / "moot.yaml").write_text(
        f"servers: [{servers}]\ndefault_model: {{provider: lab, model: strong}}\n"
        f"debate: {{rounds: 1, when: never}}\nprices: {{strong: {price}, reader: {price}}}\n",
        encoding="utf-8",
    )


async def moot(folder: Path, *words: str) -> tuple[int | None, str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - a child process needs them
    process = await asyncio.create_subprocess_exec(
        *(*MOOT, *words, "--config", "moot.yaml"),
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def debated(folder: Path, *words: str) -> str:
    """Hold a debate; its id."""
    code, _, err = await moot(folder, "debate", QUESTION, "--agents", "security,finance", *words)
    assert code == 0, err
    return re.findall(r"moot show (d\w+)", err)[-1]


@pytest.mark.slow
@pytest.mark.timeout(300)  # four processes, one after the other
async def test_a_debates_text_is_judged_beside_the_answer_given_unseen(tmp_path: Path) -> None:
    async with Vendor(answering) as vendor:
        configured(tmp_path, vendor.url)
        debate_id = await debated(tmp_path, "--shadow", "--yes")
        before = len(vendor.asked)
        code, out, err = await moot(tmp_path, "eval", debate_id, "--against", "single", *EVALUATORS)
        assert code == 0, err
        asked = len(vendor.asked)
        # 16 known pairs and this one, three evaluators, both orders; the answer is there already.
        assert asked - before == 17 * 3 * 2
        again, data, _ = await moot(
            tmp_path, "eval", debate_id, "--against", "single", *EVALUATORS, "-f", "json"
        )
        assert (again, len(vendor.asked)) == (0, asked)  # everything is kept
    assert (
        "Of 3 evaluators, each asked in both orders, 3 preferred the debate's text, 0 the single "
        "answer, and 0 neither." in out
    )
    assert "It was given while the debate ran, unseen." in out
    assert "right on 100% of 16 known pairs in both orders" in out
    assert "A single answer would have said: the same. The debate added: " in out
    assert "One question says nothing about debates in general" in out
    found = json.loads(data)
    assert found["is_recorded"] is True
    assert found["single_answer"]["agrees"] is True
    assert [one["score"] for one in found["judgments"]] == [1, 1, 1]


@pytest.mark.slow
@pytest.mark.timeout(300)  # four processes, one after the other
async def test_where_no_model_answered_alone_one_is_asked_now_within_the_cap(
    tmp_path: Path,
) -> None:
    async with Vendor(answering) as vendor:
        configured(tmp_path, vendor.url)
        debate_id = await debated(tmp_path, "--no-shadow", "--yes")
        words = ("eval", debate_id, "--against", "single", *EVALUATORS)
        code, out, err = await moot(tmp_path, *words, "--max-usd", "0.02")
        assert code != 0
        assert "cap" in err
        assert "Traceback" not in err
        code, out, err = await moot(tmp_path, *words)
        assert code == 0, err
    assert "Asked now." in out
    assert "3 preferred the debate's text" in out
    # Nothing of it is written to the debate's log.
    _, shown, _ = await shown_of(tmp_path, debate_id)
    assert "single answer" not in shown


async def shown_of(folder: Path, debate_id: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(*MOOT, "show", debate_id),
        cwd=folder,
        env={"PATH": "/usr/bin", "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_evaluators_of_a_makers_own_family_are_refused(tmp_path: Path) -> None:
    async with Vendor(answering) as vendor:
        configured(tmp_path, vendor.url)
        debate_id = await debated(tmp_path, "--shadow", "--yes")
        words = ("eval", debate_id, "--against", "single", "--evaluators")
        code, _, err = await moot(tmp_path, *words, "ann/reader,bob/reader,lab/reader")
        assert code == 2
        assert "Name at least 3 evaluators" in err
        assert "(lab)" in err
        code, _, err = await moot(tmp_path, *words, "sceptic,finance")
        assert code == 2
        assert "Write an evaluator as provider/model" in err
