"""How git is run: where the token is, and where it is not."""

import asyncio
import os
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.landing.git import Git, GitFailed
from bot.landing.receivers import LandingFailed

TOKEN = "ghs-of-a-test-0123456789"
ADDRESS = "https://git.example.com/a.git"


def git_in(folder: Path, url: str = ADDRESS, path: str = "/usr/bin:/bin") -> Git:
    return Git(folder=folder, usual={"PATH": path}, url=url, user="x", token=TOKEN)


def git_that(folder: Path, words: str) -> Git:
    """Git in an empty folder, where the program of that name does something else."""
    place, work = folder / "bin", folder / "work"
    place.mkdir()
    work.mkdir()
    program = place / "git"
    program.write_text(f"#!/bin/sh\n{words}\n")
    program.chmod(0o755)
    return git_in(work, path=f"{place}:/usr/bin:/bin")


async def test_a_token_is_in_no_argument_and_no_file(tmp_path: Path) -> None:
    git = git_that(tmp_path, 'echo "$@"; echo "$0" >&2')
    assert await git("fetch", "origin") == "fetch origin\n"
    assert TOKEN not in repr(git)
    assert list(git.folder.iterdir()) == []


async def test_a_token_is_sent_nowhere_else(tmp_path: Path) -> None:
    texts: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        texts.append(request.headers.get("Authorization", ""))
        if request.path.startswith("/here/"):
            raise web.HTTPFound(f"/elsewhere{request.path_qs}")
        return web.Response(status=404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        git = git_in(tmp_path, f"{server.make_url('/here/a.git')}")
        for path in ("/here/a.git", "/there/a.git"):
            with pytest.raises(GitFailed):
                await git("ls-remote", f"{server.make_url(path)}")

    assert texts[0].startswith("Basic ")
    assert [text for text in texts[1:] if text] == []


async def test_what_git_started_ends_with_it(tmp_path: Path) -> None:
    begun, alive = tmp_path / "begun", tmp_path / "alive"
    os.mkfifo(alive)
    # The program and what it starts hold the pipe open: its end is read when both are gone.
    end = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    git = git_that(tmp_path, f'exec 3> "{alive}"; sleep 1000 & echo > "{begun}"; wait')

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
        waiting.cancel()
        await asyncio.wait([waiting])
        while is_held():  # noqa: ASYNC110 - no event tells of another process's end
            await asyncio.sleep(0.01)
    os.close(end)


async def test_a_machine_without_git_is_said(tmp_path: Path) -> None:
    with pytest.raises(LandingFailed, match="not installed"):
        await git_in(tmp_path, path=str(tmp_path))("--version")
