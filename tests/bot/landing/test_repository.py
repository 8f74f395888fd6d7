"""Records in a Git repository: a real one, served by git's own backend over the loopback."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.landing.git import Git, GitFailed, RepositoryReceiver, suggested_link
from bot.landing.receivers import LandingFailed
from core.debate.log import fold
from core.debate.people_events import OutcomeGiven
from core.debate.verdict import DecisionKind, DecisionOutcome, OutcomeKind
from core.landing import RecordPlace
from tests.bot.landing.git_server import TOKEN, GitServer, git, running_git_server
from tests.bot.landing.office import FIRST, SECOND, Office, open_office
from tests.bot.plays import DANA

BRANCH, NEWER = f"moot/{FIRST}", f"moot/{SECOND}"
RECORD = "docs/decisions/0008-use-postgresql.md"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[GitServer]:
    async with running_git_server(tmp_path) as server:
        yield server


def repository(server: GitServer, **changes: object) -> RepositoryReceiver:
    place = RecordPlace(
        name="adr", repository=server.url, token_variable="ADR_TOKEN", author="Moot <m@example.com>"
    )
    return RepositoryReceiver(
        records=place.model_copy(update=changes), token=TOKEN, variables={"PATH": "/usr/bin:/bin"}
    )


@pytest.fixture
def location(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/moot.db"


@pytest.fixture
async def office(server: GitServer, location: str) -> AsyncGenerator[Office]:
    async with open_office([repository(server)], location) as office:
        yield office


async def test_an_accepted_decision_becomes_a_commit_on_a_branch_of_its_own(
    server: GitServer, office: Office, location: str
) -> None:
    await office.decided(why="We know it.")

    assert server.branches() == ["main", BRANCH]
    names = ["0001-use-git.md", "0007-use-python.md", "0008-use-postgresql.md"]
    assert server.files(BRANCH) == [f"docs/decisions/{name}" for name in names]
    content = server.show(f"{BRANCH}:{RECORD}")
    assert content.startswith("# Use PostgreSQL\n\n- Status: accepted")
    assert "- Why: We know it." in content
    assert server.show(f"{BRANCH}:README.md") == "# Ours"
    log = git(server.bare, "log", "-1", "--format=%an <%ae>%n%B", BRANCH)
    assert log.splitlines() == [
        "Moot <m@example.com>",
        "Record decision 0008-use-postgresql",
        "",
        f"Moot-Debate: {FIRST}",
        f"Moot-Record: {RECORD}",
    ]
    # An attempt that nobody remembers is not pushed again.
    async with open_office([repository(server)], f"{location}2", office.store) as restored:
        entries = await office.store.events(FIRST)
        await restored.queue.publish(fold(entries), entries[-1])
        await restored.settle()
    assert server.pushes == 1
    for landed in (*office.landed, *restored.landed):
        assert (landed.place, landed.branch) == (RECORD, BRANCH)
        assert git(server.bare, "rev-parse", BRANCH).startswith(landed.commit)
    # A changed decision renews the same file on the same branch.
    await office.decide(DecisionKind.REJECT, why="Too dear.")
    await office.settle()
    assert len(server.files(BRANCH)) == 3
    assert "- Status: rejected" in server.show(f"{BRANCH}:{RECORD}")


@pytest.mark.slow
@pytest.mark.parametrize("squash", [False, True])
async def test_after_a_merge_the_branch_goes_on_from_the_base_and_merges_again(
    server: GitServer,
    office: Office,
    squash: bool,  # noqa: FBT001 - a parameter of tests
) -> None:
    await office.decided()
    server.merge(BRANCH, squash=squash)
    decision = fold(await office.store.events(FIRST)).decisions[0].origin
    outcome = DecisionOutcome(kind=OutcomeKind.HELD, by=DANA, origin="o", decision=decision)
    await office.happen(OutcomeGiven(outcome=outcome))
    await office.settle()
    server.merge(BRANCH, squash=squash)

    assert "How it turned out" in server.show(f"main:{RECORD}")
    assert len(server.files("main")) == 3


@pytest.mark.slow
async def test_two_records_have_numbers_and_pull_requests_of_their_own(
    server: GitServer, office: Office
) -> None:
    await office.decided()
    await office.debated("Kafka after all?", "Use Kafka.", SECOND)
    await office.decide(debate_id=SECOND)
    await office.settle()
    server.merge(BRANCH)
    await office.decide(DecisionKind.SUPERSEDE, by=SECOND)
    await office.settle()

    assert "- Status: superseded" in server.show(f"{BRANCH}:{RECORD}")
    assert "- Status: accepted" in server.show(f"{NEWER}:docs/decisions/0009-use-kafka.md")
    assert server.pushes == 3
    server.merge(BRANCH)
    server.merge(NEWER)
    assert len(server.files("main")) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"base": "trunk"}, "has no branch trunk"),
        ({"path": "README.md"}, "README.md is no folder in"),
        ({"path": "linked"}, "linked is no folder in"),
        ({"branch": "protected/{debate}"}, "does not let Moot push"),
        ({"branch": "moot/{debate}/x"}, ""),
    ],
)
async def test_a_repository_that_refuses_a_push_is_reported(
    server: GitServer, location: str, change: dict[str, object], words: str
) -> None:
    outside, work = server.folder / "outside", server.folder / "work"
    outside.mkdir()
    (work / "linked").symlink_to(outside)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "Link")
    git(work, "push", "--quiet", "origin", "HEAD:main")
    hook = server.bare / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncase "$1" in */protected/*) echo GH006: Protected; exit 1;; esac\n')
    hook.chmod(0o755)
    async with open_office([repository(server, **change)], location) as office:
        await office.decided()
        told = [(words in why, again) for why, again in office.failures]
    assert told == ([(True, None)] if words else [])
    assert list(outside.iterdir()) == []


@pytest.mark.slow
async def test_a_server_that_hangs_is_given_up_in_time_and_asked_again(
    server: GitServer, location: str
) -> None:
    async with open_office([repository(server, seconds=3.0)], location) as office:
        server.awake.clear()
        await office.debated()
        await office.decide()
        await office.until("failed")
        server.awake.set()
        await office.settle()
    assert server.branches() == ["main", BRANCH]


async def test_hostile_titles_make_plain_names_and_plain_messages(
    server: GitServer, office: Office
) -> None:
    await office.decided(decision="Closes #1 @all ../../etc/passwd $(reboot) `x` ; rm -rf\n\n# H")

    name = "docs/decisions/0008-closes-1-all-etc-passwd-reboot-x-rm-rf-h.md"
    assert name in server.files(BRANCH)
    message = git(server.bare, "log", "-1", "--format=%B", BRANCH)
    assert "#1" not in message
    assert "@" not in message


def test_a_pull_request_is_opened_where_the_server_says() -> None:
    repository = "https://git.example.com/acme/adr.git"
    page = "https://git.example.com/acme/adr/pull/new/moot/d1"
    assert suggested_link(repository, f"remote: visit\nremote:      {page}\n") == page
    elsewhere = page.replace("git.", "elsewhere.")
    assert suggested_link(repository, f"remote: See {elsewhere}\n") == ""


ADDRESS = "https://git.example.com/a.git"


def git_in(folder: Path, url: str = ADDRESS, path: str = "/usr/bin:/bin") -> Git:
    return Git(folder=folder, variables={"PATH": path}, url=url, user="x", token=TOKEN)


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


async def test_a_machine_without_git_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LandingFailed, match="not installed"):
        await git_in(tmp_path, path=str(tmp_path))("--version")
