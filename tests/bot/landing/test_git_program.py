"""How git is run: where the token is, and where it is not."""

import asyncio
import os
import threading
from pathlib import Path

import pytest
from aiohttp import web

from bot.landing.git_program import Git, GitFailed
from bot.landing.receivers import LandingFailed

TOKEN = "ghs-of-a-test-0123456789"


def git_in(folder: Path, url: str, path: str = "/usr/bin:/bin") -> Git:
    return Git(folder=folder, usual={"PATH": path}, url=url, user="x", token=TOKEN)


def a_program(folder: Path, words: str) -> Path:
    """Put a program named git into a folder of its own."""
    place = folder / "bin"
    place.mkdir()
    program = place / "git"
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)
    return place


async def test_a_token_is_in_no_argument_and_no_file(tmp_path: Path) -> None:
    place = a_program(tmp_path, 'echo "$@"; echo "$0" >&2')
    work = tmp_path / "work"
    work.mkdir()
    git = git_in(work, "https://git.example.com/a.git", f"{place}:/usr/bin:/bin")

    text = await git("fetch", "origin")

    assert text == "fetch origin\n"
    assert TOKEN not in repr(git)
    assert list(work.iterdir()) == []


async def test_a_token_is_sent_nowhere_else(tmp_path: Path) -> None:
    texts: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        texts.append(request.headers.get("Authorization", ""))
        if request.path.startswith("/here/"):
            raise web.HTTPFound(f"/elsewhere{request.path_qs}")
        return web.Response(status=404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    root = f"http://127.0.0.1:{runner.addresses[0][1]}"
    git = git_in(tmp_path, f"{root}/here/a.git")
    with pytest.raises(GitFailed):
        await git("ls-remote", f"{root}/here/a.git")
    with pytest.raises(GitFailed):
        await git("ls-remote", f"{root}/there/a.git")
    await runner.cleanup()

    assert texts[0].startswith("Basic ")
    assert [text for text in texts[1:] if text] == []


@pytest.mark.parametrize("times", [1, 2])
async def test_what_git_started_ends_with_it(tmp_path: Path, times: int) -> None:
    begun, alive = tmp_path / "begun", tmp_path / "alive"
    os.mkfifo(alive)
    # The program and what it starts hold the pipe open: its end is read when both are gone.
    end = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    place = a_program(tmp_path, f'exec 3> "{alive}"; sleep 60 & echo > "{begun}"; wait')
    git = git_in(tmp_path, "https://git.example.com/a.git", f"{place}:/usr/bin:/bin")

    def is_held() -> bool:
        try:
            return os.read(end, 1) != b""
        except BlockingIOError:
            return True

    waiting = asyncio.create_task(git("fetch"))
    async with asyncio.timeout(300):
        while not begun.exists():
            assert not waiting.done()
            await asyncio.sleep(0.01)
    assert is_held()
    for _ in range(times):
        waiting.cancel()
        await asyncio.sleep(0)
    async with asyncio.timeout(300):
        await asyncio.wait([waiting])
        while is_held():  # noqa: ASYNC110 - no event tells of another process's end
            await asyncio.sleep(0.01)
        # Who was cancelled twice does not wait for git's end; the loop must know of it to close.
        while any(  # noqa: ASYNC110 - nor of this
            thread.name.startswith("asyncio-waitpid") for thread in threading.enumerate()
        ):
            await asyncio.sleep(0.01)
    await asyncio.sleep(0)
    os.close(end)


async def test_a_machine_without_git_is_said(tmp_path: Path) -> None:
    git = git_in(tmp_path, "https://git.example.com/a.git", str(tmp_path))
    with pytest.raises(LandingFailed, match="not installed"):
        await git("--version")
