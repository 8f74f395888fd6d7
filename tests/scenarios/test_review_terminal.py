"""A review in the terminal: real changes of git, a real process, answers typed, a real SDK."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.testing import a_finding_reply, a_verdict_reply
from tests.frame.files import ROOT
from tests.vendor_replies import good_reply
from tests.vendors.script import Say, VendorRequest
from tests.vendors.server import Vendor

BEFORE = "def run(queue):\n    for job in queue:\n        work(job)\n"
AFTER = "def run(queue):\n    queue.clear()\n    for job in queue:\n        work(job)\n"
MENDED = "def run(queue):\n    for job in queue:\n        work(job)\n    queue.clear()\n"


def reviewing(request: VendorRequest) -> Say:
    """Everybody finds that the queue is emptied, and one thing that stands nowhere."""
    prompt = json.dumps(request.body)
    if '"looks"' in prompt:
        mended = "changes HEAD" in prompt and "We call it late" in prompt
        status = "resolved" if mended else "open"
        words = "work(job) queue.clear()"
        look = {"finding": "f1", "why": "It is cleared at the end.", "status": status}
        looks = [look | {"words": words}]
        reply = {"looks": looks, "new": [], "summary": "It keeps its jobs.", "verdict": "o1"}
        return Say(text=json.dumps(reply))
    if '"same_as"' in prompt:
        return Say(text=json.dumps({"same_as": [1, 1]}))
    if '"findings"' in prompt and '"severity"' in prompt:
        lost = a_finding_reply("queue.clear()", severity="blocker", wrong="No job @team runs.")
        nowhere = a_finding_reply("import pickle", severity="major", wrong="It is unsafe.")
        reply = {"findings": [lost, nowhere], "summary": "It runs nothing.", "verdict": "o3"}
        return Say(text=json.dumps(reply))
    if '"solution"' in prompt:
        return Say(text=json.dumps(a_verdict_reply(option="o1", decision="It can go.")))
    return good_reply(request)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def git(*words: str) -> str:
        who = ("-c", "user.name=Dana", "-c", "user.email=dana@example.test")
        command = ["git", *who, *words]
        run = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)  # noqa: S603 - git
        return run.stdout

    git("init", "-q", "-b", "main")
    (tmp_path / "work.py").write_text(BEFORE, encoding="utf-8")
    git("add", "work.py")
    git("commit", "-q", "-m", "First")
    (tmp_path / "work.py").write_text(AFTER, encoding="utf-8")
    (tmp_path / "change.diff").write_text(git("diff"), encoding="utf-8")
    return tmp_path


async def started(folder: Path, url: str, *words: str) -> asyncio.subprocess.Process:
    """A process of the terminal's program."""
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - a child process needs them
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from bot.cli import main; main()"),
        *words,
        cwd=folder,
        env={
            **base,
            "PYTHONPATH": str(ROOT),
            "MOOT_DATABASE": "moot.db",
            "OPENAI_API_KEY": "sk-proj-ACCEPTED1111",
            "OPENAI_BASE_URL": f"{url}/v1",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def moot(
    folder: Path, url: str, *words: str, typed: Mapping[str, str] | None = None
) -> tuple[int | None, str, str]:
    """Run it; each line is typed once its question was asked, after the change to the file."""
    process = await started(folder, url, *words)
    assert process.stdin
    assert process.stderr
    output = b""
    for question, line in (typed or {}).items():
        async for chunk in process.stderr:
            output += chunk
            if question.encode() in chunk:
                break
        (folder / "work.py").write_text(MENDED, encoding="utf-8")
        process.stdin.write(line.encode() + b"\n")
    process.stdin.close()  # nobody types any more
    out, err = await process.communicate()
    return process.returncode, out.decode(), (output + err).decode()


@pytest.mark.slow
async def test_a_review_that_was_left_goes_on_with_the_changed_file(folder: Path) -> None:
    plan = folder / "plan.md"
    plan.write_text("We call queue.clear() first.\n", encoding="utf-8")
    async with Vendor(reviewing) as vendor:
        command = ("debate", "--format", "review", "--source", "plan.md", "--agents")
        process = await started(folder, vendor.url, *command, "architect,security", "--yes")
        assert process.stderr
        async for chunk in process.stderr:
            if b"Enter alone: no" in chunk:
                break
        process.terminate()
        output = (await process.communicate())[1].decode()
        match = re.search(r"--resume (d\w{7})", output)
        assert match, output
        plan.write_text("We call it once all jobs are done.\n", encoding="utf-8")
        _, _, refused = await moot(folder, vendor.url, "review", match[1], "--revised", "no.md")
        code, out, err = await moot(folder, vendor.url, "review", match[1], "--revised", "plan.md")
        _, tasks, _ = await moot(folder, vendor.url, "report", match[1], "--github")

    assert "no.md" in refused
    assert code == 0, err
    assert "Ready" in out
    assert "  > `- We call queue.clear() first.`" in tasks
    assert "  > `+ We call it once all jobs are done.`" in tasks


@pytest.mark.slow
async def test_changes_of_git_are_reviewed_answered_for_changed_and_exported(folder: Path) -> None:
    async with Vendor(reviewing) as vendor:
        code, out, err = await moot(
            folder,
            vendor.url,
            *("debate", "--format", "review", "--diff", "HEAD", "--agents"),
            *("architect,security", "--yes"),
            typed={"Enter alone: no": "HEAD", "Enter alone: the": "We call it late now."},
        )
        match = re.search(r"moot show (d\w{7})", err)
        assert match, err
        _, tasks, _ = await moot(folder, vendor.url, "report", match[1], "--github")
        _, text, _ = await moot(folder, vendor.url, "explain", match[1])

    assert code == 0, err
    assert "Ready" in out.splitlines()
    assert "Put to the author: 1 finding" in err
    assert "; then the findings stand." in err
    assert "the assumptions hold" not in err
    assert "1. blocker: “queue.clear()” (e1, work.py:2): No job @team runs." in err
    assert "import pickle" not in tasks
    assert "- [x] **blocker** `work.py:2`: No job @\u2060team runs." in tasks
    assert "  > `queue.clear()`" in tasks
    assert "second look" in text.lower()


@pytest.mark.slow
async def test_without_anybody_to_answer_the_findings_stand(folder: Path) -> None:
    async with Vendor(reviewing) as vendor:
        code, out, err = await moot(
            folder,
            vendor.url,
            *("debate", "--format", "review", "--diff", "change.diff"),
            *("--agents", "architect,security"),
        )

    assert code == 0, err
    assert "Ready with changes: 1 blocker" in out
    assert "What was found stands unanswered, so there was no second look." in out
    assert "Findings struck out" not in out
    assert "2 findings struck out: not about words of the subject." in out
