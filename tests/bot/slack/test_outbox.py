"""The outbox against the local Slack: in order, at its pace, nothing lost, nothing twice."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from bot.slack.clients import NotInstalled, SingleWorkspaceClient, WorkspaceClient
from bot.slack.ids import METADATA_EVENT, address_of
from bot.slack.outbox.methods import SESSION, slack_client, slack_session
from bot.slack.outbox.outcomes import Rejected
from bot.slack.outbox.pace import FAST, Pace
from bot.slack.outbox.sender import Outbox
from bot.slack.payloads import Identity
from bot.store.posts import Channel, NewPost, PostRow, Posts, PostState
from bot.store.tables import prepare
from bot.testing import key_of, quick_workspace
from core.clock import SystemClock
from core.store.database import Database
from slack_on_loopback import Workspace, run_workspace

AGENT_MANIFEST = Path(__file__).parents[3] / "manifest.agent.yaml"


class Office:
    """An outbox, the workspace it posts to, and its table."""

    def __init__(
        self, workspace: Workspace, posts: Posts, pace: Pace, call_seconds: int = 30
    ) -> None:
        self.workspace = workspace
        self.call_seconds = call_seconds
        self.posts = posts
        self.refused: list[tuple[str, str]] = []
        self.outbox = self.open(pace, "process-1")

    def open(
        self, pace: Pace, process_token: str, session: aiohttp.ClientSession | None = None
    ) -> Outbox:
        client = slack_client(self.workspace.bot_token, self.workspace.api_url, session)
        client.timeout = self.call_seconds
        return Outbox(
            posts=self.posts,
            clients=SingleWorkspaceClient(
                WorkspaceClient(client, Identity(team_id="T1", user_id="U1"))
            ),
            clock=SystemClock(),
            process_token=process_token,
            pace=pace,
            on_refused=self._take,
        )

    async def _take(self, row: PostRow, refusal: Rejected) -> None:
        self.refused.append((row.key, refusal.code))

    def new(
        self, key: str, method: str = "post", channel: str = "general", **changes: Any
    ) -> NewPost:
        payload: Mapping[str, Any] = changes.pop("payload", {"text": f"text of {key}"})
        place = {"workspace": "T1", "channel": self.workspace.channel(channel).id}
        return NewPost(key=key, method=method, payload=payload, **place, **changes)

    def texts(self, channel: str = "general") -> list[str]:
        return [one["text"] for one in self.workspace.messages(channel)]

    async def settled(self, *keys: str, seconds: float = 45.0) -> list[PostRow]:
        async with asyncio.timeout(seconds):
            while True:
                rows = [row for key in keys if (row := await self.posts.row_by_key(key))]
                done = {PostState.SENT, PostState.FAILED}
                if len(rows) == len(keys) and all(row.state in done for row in rows):
                    return rows
                await asyncio.sleep(0.02)


class Uninstalled:
    """The clients of a bot that was removed from its only workspace."""

    async def of(self, team_id: str) -> WorkspaceClient:
        raise NotInstalled(f"Moot is not installed in {team_id}.")

    async def teams(self) -> Sequence[str]:
        return ()

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """There is nothing to forget."""


@asynccontextmanager
async def an_office(
    folder: Path, pace: Pace = FAST, call_seconds: int = 30
) -> AsyncGenerator[Office]:
    location = f"sqlite+aiosqlite:///{folder / 'posts.db'}"
    async with run_workspace(quick_workspace()) as workspace, await Database.open(location) as db:
        await prepare(db)
        office = Office(workspace, Posts(db), pace, call_seconds)
        await office.outbox.start()
        yield office
        await office.outbox.close()


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    async with an_office(tmp_path) as found:
        yield found


async def test_posts_of_a_channel_arrive_in_order_each_with_its_key(office: Office):
    keys = [f"d1/e{number}/0" for number in range(12)]
    await office.outbox.post([office.new(key) for key in keys])
    await office.settled(*keys)
    assert [key_of(one) for one in office.workspace.messages("general")] == keys


async def test_queueing_the_same_posts_again_changes_nothing(office: Office):
    for _ in range(3):
        await office.outbox.post([office.new("d1/e1/0")])
        await office.settled("d1/e1/0")
    assert len(office.texts()) == 1


async def test_a_reply_goes_into_the_thread_of_its_root_and_to_the_channel_if_asked(office: Office):
    reply = office.new(
        "d1/e1/0", thread_key="d1/board", payload={"text": "all done", "reply_broadcast": True}
    )
    await office.outbox.post([office.new("d1/board"), reply])
    root, answer = await office.settled("d1/board", "d1/e1/0")
    thread = office.workspace.thread("general", root.ts or "")
    assert [one["ts"] for one in thread] == [root.ts, answer.ts]
    assert thread[1]["subtype"] == "thread_broadcast"


async def test_links_to_our_posts_are_filled_in_but_not_in_files(office: Office):
    written = f"<{address_of('d1/board')}|the board>"
    file = {"filename": "report.md", "content": written}
    report = office.new("d1/report", "upload", payload={"text": written, "files": [file]})
    await office.outbox.post([office.new("d1/board"), report])
    root, _ = await office.settled("d1/board", "d1/report")

    shown = office.workspace.messages("general")[-1]
    assert f"p{(root.ts or '').replace('.', '')}|the board>" in shown["text"]
    assert office.workspace.file(shown["files"][0]["id"]) == written.encode()


async def test_what_is_wrong_with_one_session_turns_none_off(tmp_path: Path):
    location = f"sqlite+aiosqlite:///{tmp_path / 'posts.db'}"
    manifest = yaml.safe_load(AGENT_MANIFEST.read_text("utf-8"))
    config = replace(quick_workspace(), manifest=manifest)
    async with run_workspace(config) as workspace, await Database.open(location) as db:
        await prepare(db)
        office = Office(workspace, Posts(db), FAST)
        away = {"status": "processing", "initiator_user_id": "U404"}
        odd = {"status": "dancing"}
        await office.outbox.post([office.new("d1/board")])
        for key, payload in (("d1/session", away), ("d2/session", odd)):
            session = office.new(key, SESSION, payload=payload, thread_key="d1/board")
            await office.outbox.post([session])
        root, *_ = await office.settled("d1/board", "d1/session", "d2/session")
        made = workspace.session("general", root.ts or "")
        assert made is not None
        assert made.status == "processing"
        outcomes = [one.outcome for one in workspace.calls.of("agents.sessions.setStatus")]
        assert outcomes == ["user_not_in_channel", "ok", "invalid_arguments"]
        again = office.new(
            "d3/session", SESSION, payload={"status": "processing"}, thread_key="d1/board"
        )
        await office.outbox.replace(again)
        assert await office.posts.row_by_key("d3/session")
        await office.outbox.close()


async def test_no_session_is_queued_where_the_app_is_no_agent(office: Office):
    session = office.new(
        "d1/session", SESSION, payload={"status": "processing"}, thread_key="d1/board"
    )
    await office.outbox.post([office.new("d1/board"), session])
    await office.settled("d1/board", "d1/session")
    await office.outbox.replace(replace(session, key="d2/session"))
    assert await office.posts.row_by_key("d2/session") is None
    assert len(office.workspace.calls.of("agents.sessions.setStatus")) == 1


@pytest.mark.parametrize("fault", ["drop_after", "drop_before"])
@pytest.mark.parametrize("in_thread", [True, False])
async def test_a_post_whose_answer_is_lost_is_there_exactly_once(
    office: Office,
    fault: str,
    in_thread: bool,  # noqa: FBT001 - a table of cases
):
    await office.outbox.post([office.new("d1/board")])
    (root,) = await office.settled("d1/board")
    getattr(office.workspace.faults, fault)("chat.postMessage")
    post = office.new("d1/e1/0", thread_key="d1/board" if in_thread else None)
    await office.outbox.post([post, office.new("d1/e2/0", thread_key="d1/board")])
    row, _ = await office.settled("d1/e1/0", "d1/e2/0")
    shown = [
        *office.workspace.thread("general", root.ts or ""),
        *office.workspace.messages("general"),
    ]
    found = {one["ts"] for one in shown if key_of(one) == "d1/e1/0"}
    assert found == {row.ts}


async def test_a_post_in_doubt_is_looked_for_only_after_the_grace(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, grace=0.8)) as office:
        office.workspace.faults.drop_after("chat.postMessage")
        began = time.monotonic()
        await office.outbox.post([office.new("d1/e1/0")])
        await office.settled("d1/e1/0")
        assert time.monotonic() - began > 0.8
        assert len(office.texts()) == 1


async def test_a_slow_answer_counts_as_doubt_and_does_not_double_the_post(tmp_path: Path):
    async with an_office(tmp_path, call_seconds=1) as office:
        office.workspace.faults.delay("chat.postMessage", 60)
        await office.outbox.post([office.new("d1/e1/0")])
        await office.settled("d1/e1/0")
        # What a channel gets goes in order: a second copy would stand before the next post.
        await office.outbox.post([office.new("d1/e2/0")])
        await office.settled("d1/e2/0")
        assert office.texts() == ["text of d1/e1/0", "text of d1/e2/0"]


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_server_error_is_retried_without_doubling(office: Office, status: int):
    office.workspace.faults.server_error("chat.postMessage", status=status, times=2)
    await office.outbox.post([office.new("d1/e1/0"), office.new("d1/e2/0")])
    await office.settled("d1/e1/0", "d1/e2/0")
    assert office.texts() == ["text of d1/e1/0", "text of d1/e2/0"]


async def test_retry_after_is_honoured_and_the_order_kept(office: Office):
    office.workspace.faults.rate_limit("chat.postMessage", seconds=1)
    began = time.monotonic()
    await office.outbox.post([office.new("d1/e1/0"), office.new("d1/e2/0")])
    await office.settled("d1/e1/0", "d1/e2/0")
    assert time.monotonic() - began >= 1
    assert office.texts() == ["text of d1/e1/0", "text of d1/e2/0"]


async def test_a_blocked_channel_does_not_hold_up_another(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, longest_pause=60)) as office:
        office.workspace.faults.rate_limit("chat.postMessage", seconds=60)
        await office.outbox.post([office.new("d1/e1/0")])
        await office.workspace.wait_for(lambda: office.workspace.calls.of("chat.postMessage"))
        await office.outbox.post([office.new("d2/e1/0", channel="architecture")])
        await office.settled("d2/e1/0")
        assert office.texts() == []


async def test_retry_after_holds_edits_that_stand_in_line_already(tmp_path: Path):
    # Time enough between edits for a late refusal of the first to be known before the second.
    async with an_office(tmp_path, replace(FAST, edit=1.2)) as office:
        places = ("general", "architecture")
        boards = [f"{place}/board" for place in places]
        for place, key in zip(places, boards, strict=True):
            await office.outbox.post([office.new(key, channel=place)])
        await office.settled(*boards)
        office.workspace.faults.rate_limit("chat.update", seconds=2)
        for place, key in zip(places, boards, strict=True):
            payload = {"text": "edited", "target_key": key}
            edit = office.new(f"{key}/edit", "update", place, payload=payload)
            await office.outbox.post([edit])
        await office.settled(*(f"{key}/edit" for key in boards))
        refused, *later = [call.at for call in office.workspace.calls.of("chat.update")]
        assert [at - refused >= 1.9 for at in later] == [True, True]


async def test_posts_of_one_channel_keep_slacks_pace(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, post=0.3)) as office:
        keys = [f"d1/e{number}/0" for number in range(4)]
        began = time.monotonic()
        await office.outbox.post([office.new(key) for key in keys])
        await office.settled(*keys)
        assert time.monotonic() - began > 0.9


async def test_edits_that_pile_up_are_sent_once_with_the_newest_state(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, edit=0.5)) as office:
        await office.outbox.post([office.new("d1/board")])
        (root,) = await office.settled("d1/board")
        for number in range(20):
            payload = {"text": f"state {number}", "target_key": "d1/board"}
            await office.outbox.replace(office.new("d1/board/edit", "update", payload=payload))
            await asyncio.sleep(0.01)
        await office.workspace.wait_for(lambda: office.texts() == ["state 19"])
        await office.settled("d1/board/edit")
        assert len(office.workspace.calls.of("chat.update")) < 10
        assert office.workspace.messages("general")[0]["ts"] == root.ts


@pytest.mark.parametrize(
    ("mishap", "code"), [("remove_bot", "not_in_channel"), ("archive", "is_archived")]
)
async def test_a_refusal_for_good_fails_the_post_in_words_and_frees_the_queue(
    office: Office, mishap: str, code: str
):
    where = "architecture"
    getattr(office.workspace, mishap)(where)
    reply = office.new("d1/e1/0", channel=where, thread_key="d1/board")
    await office.outbox.post([office.new("d1/board", channel=where), reply])
    row, _ = await office.settled("d1/board", "d1/e1/0")
    assert (row.state, office.refused[0]) == (PostState.FAILED, ("d1/board", code))
    assert "channel" in (row.error or "")
    assert office.refused[1] == ("d1/e1/0", "root_missing")


async def test_an_edit_that_waited_when_the_workspace_was_left_is_refused_once(office: Office):
    await office.outbox.post([office.new("d1/board")])
    await office.settled("d1/board")
    await office.outbox.close()
    edit = office.new("d1/edit", "update", payload={"text": "one", "target_key": "d1/board"})
    now = SystemClock().now()
    await office.posts.hold(Channel(edit.workspace, edit.channel), "before")
    await office.posts.replace_or_enqueue(edit)
    sending = await office.posts.mark_sending("d1/edit", "before", now)
    await office.posts.postpone(sending, now, "Slack asks for a slower pace")
    await office.posts.replace_or_enqueue(replace(edit, payload={**edit.payload, "text": "two"}))
    left = office.open(FAST, "process-2")
    left.clients = Uninstalled()
    await left.start()
    (row,) = await office.settled("d1/edit")
    await left.close()
    assert row.state is PostState.FAILED
    assert office.refused == [("d1/edit", "not_installed")]


async def test_a_refused_pin_is_reported_and_later_posts_go_on(office: Office):
    office.workspace.fill_pins("general")
    pin = office.new("d1/board/pin", "pin", payload={"target_key": "d1/board"})
    await office.outbox.post([office.new("d1/board"), pin, office.new("d1/e1/0")])
    await office.settled("d1/board", "d1/board/pin", "d1/e1/0")
    assert office.refused == [("d1/board/pin", "too_many_pins")]


async def test_what_is_pinned_already_counts_as_done(office: Office):
    pin = office.new("d1/board/pin", "pin", payload={"target_key": "d1/board"})
    office.workspace.faults.drop_after("pins.add")
    await office.outbox.post([office.new("d1/board"), pin])
    root, row = await office.settled("d1/board", "d1/board/pin")
    assert row.state is PostState.SENT
    assert office.workspace.pins("general") == [root.ts]


async def test_an_edit_of_a_deleted_message_fails_and_the_thread_goes_on(office: Office):
    await office.outbox.post([office.new("d1/board"), office.new("d1/e1/0", thread_key="d1/board")])
    root, _ = await office.settled("d1/board", "d1/e1/0")
    client = slack_client(office.workspace.bot_token, office.workspace.api_url)
    channel = office.workspace.channel("general").id
    await client.chat_delete(channel=channel, ts=root.ts or "")
    edit = office.new("d1/edit", "update", payload={"text": "x", "target_key": "d1/board"})
    await office.outbox.replace(edit)
    await office.outbox.post([office.new("d1/e2/0", thread_key="d1/board")])
    failed, row = await office.settled("d1/edit", "d1/e2/0")
    assert (failed.state, row.state) == (PostState.FAILED, PostState.SENT)


async def test_what_a_dead_process_was_sending_is_looked_for_and_sent_if_absent(tmp_path: Path):
    async with an_office(tmp_path) as office:
        await office.outbox.post([office.new("d1/board")])
        await office.settled("d1/board")
        await office.outbox.close()
        await office.posts.enqueue([office.new("d1/e1/0", thread_key="d1/board")])
        await office.posts.hold(Channel("T1", office.new("").channel), "another process")
        await office.posts.mark_sending("d1/e1/0", "another process", SystemClock().now())
        again = office.open(FAST, "process-2")
        await again.start()
        (row,) = await office.settled("d1/e1/0")
        await again.close()
        assert (row.state, row.process_token, row.attempts) == (PostState.SENT, "process-2/1", 2)


async def test_a_channel_can_go_to_another_process_and_back_between_two_posts(tmp_path: Path):
    async with an_office(tmp_path) as office:
        other = office.open(FAST, "process-2")
        for number, outbox in enumerate([office.outbox, office.outbox, other, office.outbox]):
            await outbox.post([office.new(f"d1/e{number}/0")])
            (row,) = await office.settled(f"d1/e{number}/0")
            assert row.state is PostState.SENT
        await other.close()
        assert office.texts() == [f"text of d1/e{number}/0" for number in range(4)]


async def test_what_a_dead_process_had_posted_is_not_posted_again(tmp_path: Path):
    async with an_office(tmp_path) as office:
        await office.outbox.post([office.new("d1/board")])
        (row,) = await office.settled("d1/board")
        await office.outbox.close()
        async with await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'second.db'}") as db:
            await prepare(db)
            posts = Posts(db)  # a table that never learned of the answer
            await posts.enqueue([office.new("d1/board")])
            await posts.mark_sending("d1/board", "another process", SystemClock().now())
            office.posts = posts
            again = office.open(FAST, "process-2")
            await again.start()
            (found,) = await office.settled("d1/board")
            await again.close()
        assert found.ts == row.ts
        assert len(office.texts()) == 1


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


async def test_closing_lets_the_call_in_hand_end(office: Office):
    office.workspace.faults.delay("chat.postMessage", 0.5)
    await office.outbox.post([office.new("d1/e1/0"), office.new("d1/e2/0")])
    await office.workspace.wait_for(office.texts)  # Slack has it, and has not said so yet
    await office.outbox.close()
    row = await office.posts.row_by_key("d1/e1/0")
    assert row is not None
    assert row.state is PostState.SENT
    assert len(office.texts()) == 1


async def test_an_unknown_method_is_refused_and_does_not_block_the_queue(office: Office):
    await office.outbox.post([office.new("d1/odd", "dance"), office.new("d1/e1/0")])
    row, _ = await office.settled("d1/odd", "d1/e1/0")
    assert row.state is PostState.FAILED


SHORT_LEASE = replace(FAST, lease=0.3)


class FrozenOnce(Posts):
    """The process is frozen once, between noting that it sends a post and sending it."""

    thaw: Callable[[], Awaitable[None]] | None = None

    async def mark_sending(self, key: str, process_token: str, at: datetime) -> PostRow:
        row = await super().mark_sending(key, process_token, at)
        thaw, self.thaw = self.thaw, None
        if thaw:
            await asyncio.sleep(SHORT_LEASE.lease + 0.1)
            await thaw()
        return row


async def test_a_frozen_process_does_not_post_what_another_one_has_posted(tmp_path: Path):
    async with (
        run_workspace(quick_workspace()) as workspace,
        await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'posts.db'}") as database,
    ):
        await prepare(database)
        posts = FrozenOnce(database)
        office = Office(workspace, posts, SHORT_LEASE)
        post = office.new("d1/e1/0")

        async def another_posts() -> None:
            metadata = {"event_type": METADATA_EVENT, "event_payload": {"key": post.key}}
            client = slack_client(workspace.bot_token, workspace.api_url)
            await client.chat_postMessage(channel=post.channel, text="sent", metadata=metadata)

        posts.thaw = another_posts
        await office.outbox.post([post])
        await office.settled(post.key)
        await office.outbox.close()
        assert office.texts() == ["sent"]


async def test_no_byte_goes_once_another_process_sends_what_a_channel_gets(tmp_path: Path):
    async with an_office(tmp_path) as office, slack_session() as session:
        await office.outbox.close()
        kinds: asyncio.Queue[str] = asyncio.Queue()

        async def take_over(*_: object) -> None:
            """While a connection is made this process stands still, and is taken for dead."""
            await asyncio.sleep(SHORT_LEASE.lease + 0.1)
            await office.posts.hold(Channel("T1", office.new("").channel), "process-3")

        slow = aiohttp.TraceConfig()
        slow.on_connection_create_end.append(take_over)
        slow.freeze()
        session.trace_configs.append(slow)
        outbox = office.open(SHORT_LEASE, "process-2", session)
        outbox.on_error = kinds.put_nowait
        await outbox.start()
        await outbox.post([office.new("d1/e1/0")])
        async with asyncio.timeout(30):
            assert await kinds.get() == "Unknown"
        await outbox.close()
        assert office.texts() == []


async def test_a_clock_that_was_set_back_does_not_hold_up_a_channel(office: Office):
    await office.outbox.close()
    tomorrow = SystemClock().now() + timedelta(days=1)
    await office.posts.enqueue([office.new("d1/e1/0"), office.new("d1/e2/0")])
    first = await office.posts.row_by_key("d1/e1/0")
    assert first
    await office.posts.postpone(first, tomorrow, "too fast")
    impatient = office.open(replace(FAST, longest_pause=0.1), "process-2")
    await impatient.start()
    await office.settled("d1/e1/0", "d1/e2/0")
    await impatient.close()
    assert len(office.texts()) == 2


async def test_a_post_in_doubt_is_found_though_the_clock_was_set_back(office: Office):
    await office.outbox.close()  # else it may take the channel before the dead process does
    post = office.new("d1/e1/0")
    await office.posts.enqueue([post])
    await office.posts.hold(Channel("T1", post.channel), "before")
    await office.posts.mark_sending(post.key, "before", SystemClock().now() + timedelta(days=1))
    metadata = {"event_type": METADATA_EVENT, "event_payload": {"key": post.key}}
    client = slack_client(office.workspace.bot_token, office.workspace.api_url)
    await client.chat_postMessage(channel=post.channel, text="sent", metadata=metadata)
    after = office.open(FAST, "process-2")
    await after.start()
    await office.settled(post.key)
    await after.close()
    assert office.texts() == ["sent"]


async def test_something_urgent_does_not_wait_behind_a_pin_that_waits_for_its_turn(tmp_path: Path):
    async with an_office(tmp_path, replace(FAST, pin=60)) as office:
        first = [office.new("d1/board"), office.new("d2/board")]
        pins = [
            office.new(f"{one.key}/pin", "pin", payload={"target_key": one.key}) for one in first
        ]
        await office.outbox.post([*first, *pins])
        await office.settled("d1/board/pin")
        await office.outbox.post([office.new("d3/board", debate_id="d3", urgent=True)])
        await office.settled("d3/board")
        waiting = await office.posts.row_by_key("d2/board/pin")
        assert waiting
        assert waiting.state is PostState.WAITING


async def test_a_reply_can_go_into_a_thread_of_peoples_own(office: Office):
    said = await office.workspace.say("dana", "general", "Which one?")
    payload = {"text": "This one.", "thread_ts": said["ts"]}
    await office.outbox.post([office.new("d1/asked/link", payload=payload)])
    await office.settled("d1/asked/link")
    assert [one["text"] for one in office.workspace.thread("general", said["ts"])][1:] == [
        "This one."
    ]
