"""Records in a Git repository: a real one, served by git's own backend over the loopback."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.landing.repository_receiver import RepositoryReceiver, suggested_link
from core.debate.follow_up import DecisionKind, DecisionOutcome, OutcomeKind
from core.debate.log import fold
from core.debate.people_events import OutcomeGiven
from core.landing import RecordPlace
from tests.bot.landing.git_server import TOKEN, GitServer, git, running_git_server
from tests.bot.landing.office import DANA, FIRST, SECOND, Office, open_office

BRANCH = f"moot/{FIRST}"
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
        records=place.model_copy(update=changes), token=TOKEN, usual={"PATH": "/usr/bin:/bin"}
    )


@pytest.fixture
async def office(server: GitServer, tmp_path: Path) -> AsyncGenerator[Office]:
    location = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with open_office([repository(server)], location) as office:
        yield office


async def test_an_accepted_decision_becomes_a_commit_on_a_branch_of_its_own(
    server: GitServer, office: Office
) -> None:
    await office.debated()
    await office.decide(why="We know it.")
    await office.settle()

    assert server.branches() == ["main", BRANCH]
    assert server.files(BRANCH) == [
        "docs/decisions/0001-use-git.md",
        "docs/decisions/0007-use-python.md",
        RECORD,
    ]
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
    landed = office.told.landings[0]
    assert (landed.place, landed.branch) == (RECORD, BRANCH)
    assert git(server.bare, "rev-parse", BRANCH).startswith(landed.commit)


@pytest.mark.slow
async def test_an_attempt_that_nobody_remembers_is_not_pushed_again(
    server: GitServer, office: Office, tmp_path: Path
) -> None:
    await office.debated()
    await office.decide()
    await office.settle()
    first = git(server.bare, "rev-parse", BRANCH)
    location = f"sqlite+aiosqlite:///{tmp_path}/restored.db"
    async with open_office([repository(server)], location, office.store) as restored:
        log = await office.store.events(FIRST)
        await restored.queue.publish(fold(log), log[-1])
        await restored.settle()
        landed = restored.told.landings[0]

    assert git(server.bare, "rev-parse", BRANCH) == first
    assert server.pushes == 1
    assert (landed.place, landed.branch) == (RECORD, BRANCH)


@pytest.mark.slow
async def test_a_changed_decision_renews_the_same_file_on_the_same_branch(
    server: GitServer, office: Office
) -> None:
    await office.debated()
    await office.decide()
    await office.settle()
    await office.decide(DecisionKind.REJECT, why="Too dear.")
    await office.settle()

    assert [name for name in server.files(BRANCH) if "0008" in name] == [RECORD]
    assert "- Status: rejected" in server.show(f"{BRANCH}:{RECORD}")
    assert len(server.commits(BRANCH)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("squash", [False, True])
async def test_after_a_merge_the_branch_goes_on_from_the_base_and_merges_again(
    server: GitServer,
    office: Office,
    squash: bool,  # noqa: FBT001 - a parameter of tests
) -> None:
    await office.debated()
    await office.decide()
    await office.settle()
    server.merge(BRANCH, squash=squash)
    outcome = DecisionOutcome(
        kind=OutcomeKind.HELD,
        by=DANA,
        origin="o",
        decision=fold(await office.store.events(FIRST)).decisions[0].origin,
    )
    await office.happen(OutcomeGiven(outcome=outcome))
    await office.settle()
    server.merge(BRANCH, squash=squash)

    assert "How it turned out" in server.show(f"main:{RECORD}")
    assert len(server.files("main")) == 3


@pytest.mark.slow
async def test_numbers_of_branches_that_are_not_merged_are_taken(
    server: GitServer, office: Office
) -> None:
    await office.debated()
    await office.decide()
    await office.debated("Which cache?", "Use no cache.", SECOND)
    await office.decide(debate_id=SECOND)
    await office.settle()

    assert "docs/decisions/0009-use-no-cache.md" in server.files(f"moot/{SECOND}")


@pytest.mark.slow
async def test_what_was_superseded_changes_in_a_pull_request_of_its_own(
    server: GitServer, office: Office
) -> None:
    await office.debated()
    await office.decide()
    await office.settle()
    server.merge(BRANCH)
    await office.debated("Kafka after all?", "Use Kafka.", SECOND)
    await office.decide(DecisionKind.SUPERSEDE, by=SECOND)
    await office.decide(debate_id=SECOND)
    await office.settle()

    newer = f"moot/{SECOND}"
    assert "- Status: superseded" in server.show(f"{BRANCH}:{RECORD}")
    assert "- Status: accepted" in server.show(f"{newer}:docs/decisions/0009-use-kafka.md")
    assert server.pushes == 3
    server.merge(BRANCH)
    server.merge(newer)
    assert len(server.files("main")) == 4


async def test_a_wrong_token_is_said_and_not_tried_again(server: GitServer, tmp_path: Path) -> None:
    wrong = replace(repository(server), token="another-token")
    async with open_office([wrong], f"sqlite+aiosqlite:///{tmp_path}/moot.db") as office:
        await office.debated()
        await office.decide()
        await office.settle()
        [(why, again)] = office.told.failures
        dead = (await office.landings.backlog_rows(5)).rows

    assert "refused the token in ADR_TOKEN" in why
    assert again is None
    assert [row.error for row in dead] == [why]
    assert "another-token" not in why
    assert server.branches() == ["main"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"base": "trunk"}, "has no branch trunk"),
        ({"path": "README.md"}, "README.md is no folder in"),
        ({"branch": "moot/{debate}/x"}, ""),
    ],
)
async def test_a_repository_that_cannot_take_it_is_said(
    server: GitServer, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    receiver = repository(server, **change)
    async with open_office([receiver], f"sqlite+aiosqlite:///{tmp_path}/moot.db") as office:
        await office.debated()
        await office.decide()
        await office.settle()

        assert [words in why for why, _ in office.told.failures] == ([True] if words else [])


@pytest.mark.slow
async def test_a_server_that_hangs_is_given_up_in_time_and_asked_again(
    server: GitServer, tmp_path: Path
) -> None:
    impatient = repository(server, seconds=3.0)
    async with open_office([impatient], f"sqlite+aiosqlite:///{tmp_path}/moot.db") as office:
        server.awake.clear()
        await office.debated()
        await office.decide()
        await office.until("failed")
        server.awake.set()
        await office.settle()

    assert server.branches() == ["main", BRANCH]


@pytest.mark.slow
async def test_a_protected_branch_is_said(server: GitServer, office: Office) -> None:
    hook = server.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed'\nexit 1\n")
    hook.chmod(0o755)
    await office.debated()
    await office.decide()
    await office.settle()

    [(why, again)] = office.told.failures
    assert "does not let Moot push" in why
    assert again is None


@pytest.mark.slow
async def test_a_link_in_the_repository_leads_nowhere(server: GitServer, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    work = server.folder / "work"
    git(work, "rm", "--quiet", "-r", "docs")
    (work / "docs").mkdir()
    (work / "docs" / "decisions").symlink_to(outside)
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "Link")
    git(work, "push", "--quiet", "origin", "HEAD:main")
    async with open_office([repository(server)], f"sqlite+aiosqlite:///{tmp_path}/x.db") as office:
        await office.debated()
        await office.decide()
        await office.settle()

        assert "is no folder in" in office.told.failures[0][0]
    assert list(outside.iterdir()) == []


async def test_hostile_titles_make_plain_names_and_plain_messages(
    server: GitServer, office: Office
) -> None:
    await office.debated(decision="Closes #1 @all ../../etc/passwd $(reboot) `x` ; rm -rf\n\n# H")
    await office.decide()
    await office.settle()

    names = [name for name in server.files(BRANCH) if "/0008-" in name]
    assert names == ["docs/decisions/0008-closes-1-all-etc-passwd-reboot-x-rm-rf-h.md"]
    message = git(server.bare, "log", "-1", "--format=%B", BRANCH)
    assert "#1" not in message
    assert "@" not in message


@pytest.mark.parametrize(
    ("said", "link"),
    [
        (
            "remote: visit\nremote:      https://git.example.com/acme/adr/pull/new/moot/d1\n",
            "https://git.example.com/acme/adr/pull/new/moot/d1",
        ),
        ("remote: See https://elsewhere.example.com/acme/adr/pull/new/moot/d1\n", ""),
        ("", ""),
    ],
)
def test_a_pull_request_is_opened_where_the_server_says(said: str, link: str) -> None:
    assert suggested_link("https://git.example.com/acme/adr.git", said) == link
