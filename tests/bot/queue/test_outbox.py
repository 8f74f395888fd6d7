"""The outbox against the local Slack: in order, at its pace, nothing lost, nothing twice."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from sqlalchemy import update

from bot.queue.outbox import Outbox
from bot.queue.outgoing import Outgoing, RenderedPosts
from bot.queue.rate_limits import FAST, Pace, RateLimits
from bot.queue.rows import DebateProgress, NewPost, PostRow, Posts, PostState
from bot.slack.client import SingleWorkspaceClient, WorkspaceClient, slack_client, slack_session
from bot.slack.ids import METADATA_EVENT, address_of
from bot.slack.payloads import Identity
from bot.store.leases import Leases
from bot.store.tables import QUEUE, prepare
from bot.testing import quick_workspace
from core.store.database import Database
from slack_on_loopback import Workspace, run_workspace


class Office:
    """An outbox, the workspace it posts to, its table, and what living posts show."""

    def __init__(self, workspace: Workspace, posts: Posts, pace: Pace) -> None:
        self.workspace = workspace
        self.posts = posts
        #: What living posts show, and up to which event.
        self.shown: dict[str, str] = {}
        #: Living posts whose view fails.
        self.broken: set[str] = set()
        self.seq = 1
        self.outbox = self.open(pace, "process-1")

    def open(self, pace: Pace, owner: str, session: aiohttp.ClientSession | None = None) -> Outbox:
        client = slack_client(self.workspace.bot_token, self.workspace.api_url, session)
        return Outbox(
            Outgoing(
                posts=self.posts,
                leases=Leases(self.posts.database, owner),
                clients=SingleWorkspaceClient(
                    WorkspaceClient(client, Identity(team_id="T1", user_id="U1"))
                ),
                pace=pace,
                render=self._render,
            )
        )

    async def _render(self, rows: Sequence[PostRow]) -> RenderedPosts:
        contents: dict[str, Mapping[str, Any]] = {}
        if self.broken & {row.key for row in rows}:
            raise KeyError("a fault of a view")
        for row in rows:
            text = self.shown.get(row.key, f"text of {row.key}")
            pinned = {"pinned": text != "unpinned"}
            session = {"status": text, "initiator_user_id": "U404"}
            kinds = {"pin": pinned, "session": session}
            contents[row.key] = kinds.get(row.method, {"text": text})
        return RenderedPosts(seq=self.seq, contents=contents)

    def living(self, key: str, method: str = "post", **changes: Any) -> NewPost:
        thread_key = None if method == "post" else "d1/board"
        new = self.new(key, method, thread_key=thread_key, payload={}, **changes)
        return replace(new, post="living")

    async def go_on(self, *, hurry: bool = True, debate: str = "d1", **texts: str) -> None:
        """The debate goes on: living posts show something else, by the end of their keys."""
        self.seq += 1
        self.shown |= {f"{debate}/{name}": text for name, text in texts.items()}
        hurried = ["living"] if hurry else []
        progress = DebateProgress(debate_id=debate, seq=self.seq, hurried=hurried)
        await self.outbox.post([], progress)

    async def until_shown(self, *keys: str) -> None:
        """Wait until living posts show the newest state."""
        async with asyncio.timeout(300):
            rows = [await self.posts.row_by_key(key) for key in keys]
            while not all(row and row.shown_seq >= self.seq for row in rows):
                await asyncio.sleep(0.02)
                rows = [await self.posts.row_by_key(key) for key in keys]

    def new(
        self, key: str, method: str = "post", channel: str = "general", **changes: Any
    ) -> NewPost:
        payload: Mapping[str, Any] = changes.pop("payload", {"text": f"text of {key}"})
        changes.setdefault("debate_id", key.partition("/")[0])
        place = {"workspace": "T1", "channel": self.workspace.channel(channel).id}
        return NewPost(key=key, method=method, payload=payload, **place, **changes)

    def texts(self, channel: str = "general") -> list[str]:
        return [message["text"] for message in self.workspace.messages(channel)]

    async def settled(self, *keys: str, state: PostState | None = None) -> list[PostRow]:
        async with asyncio.timeout(300):
            while True:
                rows = [row for key in keys if (row := await self.posts.row_by_key(key))]
                states = {state} if state else {PostState.SENT, PostState.FAILED}
                if len(rows) == len(keys) and all(row.state in states for row in rows):
                    return rows
                await asyncio.sleep(0.02)


@asynccontextmanager
async def an_office(
    folder: Path, pace: Pace = FAST, manifest: Mapping[str, Any] | None = None
) -> AsyncGenerator[Office]:
    location = f"sqlite+aiosqlite:///{folder / 'posts.db'}"
    config = quick_workspace()
    config = replace(config, manifest=manifest) if manifest else config
    async with run_workspace(config) as workspace, await Database.open(location) as db:
        await prepare(db)
        office = Office(workspace, Posts(db), pace)
        await office.outbox.start()
        yield office
        await office.outbox.close()


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    async with an_office(tmp_path) as office:
        yield office


async def test_no_session_is_set_again_where_the_app_is_no_agent(office: Office):
    await office.outbox.post([office.living("d1/board"), office.living("d1/session", "session")])
    await office.go_on(session="processing")
    await office.settled("d1/session", state=PostState.FAILED)
    await office.go_on(session="active", board="new")
    await office.until_shown("d1/board")
    assert len(office.workspace.calls.of("agents.sessions.setStatus")) == 1
    assert office.texts() == ["new"]


async def test_retry_after_holds_all_edits_and_what_is_sent_then_is_the_newest(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, edit=1.2)) as office:
        boards = [office.living("d1/board"), office.living("d2/board", channel="architecture")]
        await office.outbox.post(boards)
        await office.settled("d1/board", "d2/board")
        office.workspace.faults.rate_limit("chat.update", seconds=2)
        await office.go_on(board="older")
        await office.go_on(debate="d2", board="other")
        await office.workspace.wait_for(lambda: office.workspace.calls.of("chat.update"))
        await office.go_on(board="newest")
        await office.until_shown("d1/board")
        await office.workspace.wait_for(lambda: office.texts("architecture") == ["other"])
        refused, *later = [call.at for call in office.workspace.calls.of("chat.update")]
        assert [at - refused >= 1.9 for at in later] == [True] * len(later)
        assert office.texts() == ["newest"]
        assert len(later) == 2  # what was superseded meanwhile was never sent


async def test_posts_of_one_channel_keep_slacks_pace(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, post=0.3)) as office:
        keys = [f"d1/e{number}/0" for number in range(4)]
        began = time.monotonic()
        await office.outbox.post([office.new(key) for key in keys])
        await office.settled(*keys)
        assert time.monotonic() - began > 0.9


async def test_states_that_pile_up_are_sent_once_with_the_newest(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, edit=0.5)) as office:
        await office.outbox.post([office.living("d1/board")])
        (root,) = await office.settled("d1/board")
        for number in range(20):
            await office.go_on(board=f"state {number}")
        await office.until_shown("d1/board")
        assert office.texts() == ["state 19"]
        assert len(office.workspace.calls.of("chat.update")) < 10
        assert office.workspace.messages("general")[0]["ts"] == root.ts


async def test_what_looks_the_same_is_not_edited_and_what_nobody_waits_for_rests(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, rest=0.6)) as office:
        await office.outbox.post([office.living("d1/board"), office.living("d1/card")])
        await office.settled("d1/board", "d1/card")
        await office.go_on(hurry=False)
        await office.until_shown("d1/board", "d1/card")
        assert not office.workspace.calls.of("chat.update")
        began = time.monotonic()
        for number in range(5):
            await office.go_on(hurry=False, board=f"state {number}")
            await asyncio.sleep(0.05)
        await office.until_shown("d1/board")
        assert time.monotonic() - began < 20
        assert len(office.workspace.calls.of("chat.update")) <= 2
        assert sorted(office.texts()) == ["state 4", "text of d1/card"]


async def test_a_view_that_fails_holds_up_its_own_debate_only(office: Office):
    await office.outbox.post([office.living("d1/board"), office.living("d2/board")])
    await office.settled("d1/board", "d2/board")
    office.broken |= {"d1/board", "d1/vote"}
    await office.go_on(board="newer")
    await office.outbox.post([office.living("d1/vote"), office.new("d2/e1/0")])
    await office.go_on(debate="d2", board="newest")
    await office.until_shown("d2/board")
    (reply,) = await office.settled("d2/e1/0")
    assert reply.state is PostState.SENT
    office.broken.clear()
    await office.settled("d1/vote")
    await office.until_shown("d1/board")
    assert {"newer", "newest"} <= {*office.texts()}


async def test_a_living_post_found_by_a_search_is_not_trusted(office: Office):
    office.workspace.faults.drop_after("chat.postMessage")
    await office.outbox.post([office.living("d1/board")])
    await office.workspace.wait_for(office.texts)
    # It went out like this, and then the process that knew of it died.
    office.shown["d1/board"] = "newer"
    await office.settled("d1/board")
    await office.workspace.wait_for(lambda: office.texts() == ["newer"])
    await office.until_shown("d1/board")
    assert len(office.workspace.calls.of("chat.postMessage")) == 1


async def test_a_refused_token_loses_nothing(office: Office):
    office.workspace.revoke_token()
    await office.outbox.post([office.new("d1/e1/0")])
    await office.workspace.wait_for(lambda: office.workspace.calls.of("chat.postMessage"))
    for _ in range(2):  # it is tried again and again
        tried = len(office.workspace.calls.of("chat.postMessage"))
        await office.workspace.wait_for(
            lambda least=tried: len(office.workspace.calls.of("chat.postMessage")) > least
        )
    row = await office.posts.row_by_key("d1/e1/0")
    assert row is not None
    assert row.state in {PostState.WAITING, PostState.SENDING}
    assert "token" in (row.error or "")


async def begin(office: Office, key: str, attempted_at: float | None = None) -> None:
    """Another process begins to send a row, and dies."""
    row = await office.posts.row_by_key(key)
    assert row
    dead = Leases(office.posts.database, "another process")
    await dead.acquire(row.lane)
    assert await office.posts.claim(row, dead.owner)
    if attempted_at is not None:
        change = update(QUEUE).where(QUEUE.c.key == key).values(attempted_at=attempted_at)
        await office.posts.database.write(lambda c: c.execute(change))
    await dead.close()


SHORT_LEASE = replace(FAST, lease=0.3)


async def test_no_byte_goes_after_the_lease_of_its_lane_has_ended(tmp_path: Path):
    async with an_office(tmp_path) as office, slack_session() as session:
        await office.outbox.close()
        kinds: asyncio.Queue[str] = asyncio.Queue()

        async def stand_still(*_: object) -> None:
            """While a connection is made this process stands still, and is taken for dead."""
            await asyncio.sleep(SHORT_LEASE.lease + 0.1)

        slow = aiohttp.TraceConfig()
        slow.on_connection_create_end.append(stand_still)
        slow.freeze()
        session.trace_configs.append(slow)
        outbox = office.open(SHORT_LEASE, "process-2", session)
        outbox.outgoing.on_error = kinds.put_nowait
        await outbox.start()
        await outbox.post([office.new("d1/e1/0")])
        async with asyncio.timeout(300):
            assert await kinds.get() == "Unknown"
        assert office.texts() == []
        await outbox.close()


async def test_a_post_in_doubt_is_found_though_the_clock_was_set_back(office: Office):
    await office.outbox.close()  # else it may take the channel before the dead process does
    post = office.new("d1/e1/0")
    await office.posts.enqueue([post])
    await begin(office, post.key, attempted_at=time.time() + 86_400)
    metadata = {"event_type": METADATA_EVENT, "event_payload": {"key": post.key}}
    client = slack_client(office.workspace.bot_token, office.workspace.api_url)
    await client.chat_postMessage(channel=post.channel, text="sent", metadata=metadata)
    after = office.open(FAST, "process-2")
    await after.start()
    await office.settled(post.key)
    await after.close()
    assert office.texts() == ["sent"]


# --- pace -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lane", "a_minute"),
    [("post/T1/C1", 60), ("edit/T1", 50), ("look/T1", 50), ("react/T1", 50), ("pin/T1", 20)],
)
def test_the_usual_pace_is_what_slack_allows_a_minute(lane: str, a_minute: int) -> None:
    assert 60 / Pace().between(lane) == pytest.approx(a_minute)


def test_holding_a_lane_never_lets_anybody_through_sooner() -> None:
    limits = RateLimits(Pace())
    limits.hold("post/T1/C1", 70.0)
    limits.hold("post/T1/C1", 20.0)
    limits.count_call("post/T1/C1")
    assert 69 < limits.seconds_left("post/T1/C1") <= 70


@pytest.mark.parametrize("method", ["post", "upload"])
def test_a_post_in_doubt_is_looked_for_after_the_last_byte_of_its_call_can_have_left(
    method: str,
) -> None:
    assert Pace().lease_of(method) < Pace().grace_of(method)


async def test_what_belongs_to_a_message_that_was_never_posted_holds_nothing_up(
    office: Office,
) -> None:
    await office.outbox.post([office.new("d1/e1/0", thread_key="d1/board"), office.new("d1/e2/0")])
    rows = await office.settled("d1/e1/0", "d1/e2/0")
    assert [row.state for row in rows] == [PostState.FAILED, PostState.SENT]


async def test_a_post_waits_for_the_address_that_it_links_to(office: Office) -> None:
    board = office.new("d2/board", channel="architecture")
    office.outbox.outgoing.limits.hold(board.lane, 0.3)
    text = f"<{address_of(board.key)}|there>"
    await office.outbox.post([board, office.new("d1/e1/0", payload={"text": text})])
    linked, _ = await office.settled(board.key, "d1/e1/0")
    assert linked.ts
    assert linked.ts.replace(".", "") in office.texts()[0]


async def test_files_go_by_themselves_where_their_message_cannot_be_shown(office: Office):
    await office.outbox.post([office.living("d1/board")])
    await office.settled("d1/board")
    office.broken = {"d1/board"}
    file = {"filename": "report.md", "content": "The whole report."}
    payload = {"text": "The report", "files": [file], "target_key": "d1/board"}
    await office.outbox.post([office.new("d1/files", "upload", payload=payload)])
    (row,) = await office.settled("d1/files")
    assert row.state is PostState.SENT
    assert office.texts() == ["text of d1/board", "The report"]
