"""A Git server on the loopback: git's own `http-backend`, behind a check of a token."""

import asyncio
import base64
import os
import subprocess
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

TOKEN = "ghs-of-a-test-0123456789"
_QUIET = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Dana",
    "GIT_AUTHOR_EMAIL": "dana@example.com",
    "GIT_COMMITTER_NAME": "Dana",
    "GIT_COMMITTER_EMAIL": "dana@example.com",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git as a person of the team does."""
    process = subprocess.run(  # noqa: S603 - git
        ["git", *arguments],  # noqa: S607 - whichever there is
        cwd=folder,
        env=_QUIET,
        check=True,
        capture_output=True,
        text=True,
    )
    return process.stdout.strip()


@dataclass
class GitServer:
    """A bare repository that can be fetched from and pushed to with the token."""

    folder: Path
    url: str = ""
    #: Pushes that were taken.
    pushes: int = 0
    #: Answers nothing while it is not set.
    awake: asyncio.Event = field(default_factory=asyncio.Event)
    #: Set once a push is in the repository, where its answer is held back.
    pushed: asyncio.Event = field(default_factory=asyncio.Event)
    #: Answers no push while it is not set.
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.awake.set()
        self.answers.set()

    @property
    def bare(self) -> Path:
        return self.folder / "adr.git"

    def branches(self) -> list[str]:
        return git(self.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def show(self, name: str) -> str:
        return git(self.bare, "show", name)

    def files(self, branch: str, path: str = "docs/decisions/") -> list[str]:
        return git(self.bare, "ls-tree", "--name-only", branch, path).split()

    def merge(self, branch: str, *, squash: bool = False) -> None:
        """Merge a branch into main as a person does on a server, and keep it."""
        work = self.folder / "work"
        git(work, "fetch", "--quiet", "origin")
        git(work, "checkout", "--quiet", "-B", "main", "origin/main")
        if squash:
            git(work, "merge", "--quiet", "--squash", f"origin/{branch}")
            git(work, "commit", "--quiet", "-m", "Squashed")
        else:
            git(work, "merge", "--quiet", "--no-ff", "-m", "Merged", f"origin/{branch}")
        git(work, "push", "--quiet", "origin", "main")

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer a request as CGI asks (RFC 3875)."""
        await self.awake.wait()
        text = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {text}":
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="git"'})
        head, body = await self._backend(request)
        if request.path.endswith("/git-receive-pack"):
            self.pushes += 1
            self.pushed.set()
            await self.answers.wait()
        status = int(head.pop("Status", "200").split()[0])
        return web.Response(status=status, headers=head, body=body)

    async def _backend(self, request: web.Request) -> tuple[dict[str, str], bytes]:
        variables: Mapping[str, str] = {
            **_QUIET,
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "moot",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        process = await asyncio.create_subprocess_exec(
            "git", "http-backend", env=variables, stdin=PIPE, stdout=PIPE
        )
        out, _ = await process.communicate(await request.read())
        top, _, body = out.partition(b"\r\n\r\n")
        lines = (line.split(": ", 1) for line in top.decode().split("\r\n") if line)
        return {name: value for name, value in lines}, body  # noqa: C416 - pairs of a list


@asynccontextmanager
async def running_git_server(folder: Path) -> AsyncGenerator[GitServer]:
    """Serve a repository with two records and a README for as long as the block lasts."""
    server = GitServer(folder)
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "adr.git")
    git(server.bare, "config", "http.receivepack", "true")
    git(server.bare, "config", "uploadpack.allowFilter", "true")
    work = folder / "work"
    git(folder, "clone", "--quiet", "adr.git", "work")
    (work / "README.md").write_text("# Ours\n")
    records = work / "docs" / "decisions"
    records.mkdir(parents=True)
    (records / "0001-use-git.md").write_text("# Use Git\n\n- Status: accepted\n")
    (records / "0007-use-python.md").write_text("# Use Python\n")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "Begin")
    git(work, "push", "--quiet", "origin", "HEAD:main")
    app = web.Application(client_max_size=2**26)
    app.router.add_route("*", "/{path:.*}", server.answer)
    # aiohttp decompresses bodies that git sends compressed; git's backend is told so no more.
    runner = web.AppRunner(app, auto_decompress=False, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    server.url = f"http://{host}:{port}/adr.git"
    try:
        yield server
    finally:
        server.awake.set()
        server.answers.set()
        await runner.cleanup()
