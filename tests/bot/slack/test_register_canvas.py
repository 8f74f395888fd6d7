"""The register's canvas, written with Slack's own client against the local Slack."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.clients import SingleWorkspaceClient, WorkspaceClient
from bot.slack.payloads import Identity, MadeCanvas
from bot.slack.register_canvas import RegisterReceiver
from bot.store.refused_features import RefusedFeatures
from bot.store.registers import Registers
from bot.store.tables import prepare
from bot.testing import CHANNEL, quick_workspace
from core.events import DebateConcluded, DebateStarted, VerdictReached
from core.landing import RegisterPlace
from core.models import Debate, DecisionKind, Place
from core.store.database import Database
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup
from slack_on_loopback import Workspace, run_workspace
from tests.bot.landing.office import FIRST, SECOND, Office, open_office
from tests.bot.plays import a_verdict
from tests.scenarios.test_missing_scopes import a_workspace_without

TITLE = "Decisions"


async def _link(debate: Debate) -> str:
    return f"https://slack.example.com/{debate.id}"


@dataclass
class Hall:
    """A channel of the local Slack, and the queue that brings decisions into its canvas."""

    workspace: Workspace
    office: Office
    client: AsyncWebClient
    place: Place

    async def accepted(self, debate_id: str = FIRST, title: str = "Use PostgreSQL.") -> None:
        """Hold a debate in the channel, and accept its verdict."""
        setup = a_setup().model_copy(update={"place": self.place})
        await self.office.happen(DebateStarted(setup=setup), debate_id)
        await self.office.happen(VerdictReached(verdict=a_verdict(decision=title)), debate_id)
        await self.office.happen(DebateConcluded(), debate_id)
        await self.office.decide(debate_id=debate_id)
        await self.office.settle()

    def canvases(self) -> Sequence[str]:
        """Return what stands in the canvases of the channel."""
        return [one.markdown for one in self.workspace.canvases(CHANNEL)]

    def lines(self) -> Sequence[str]:
        """Return the lines of the only canvas."""
        [text] = self.canvases()
        return [line for line in text.splitlines() if line.startswith("- ")]


@asynccontextmanager
async def open_hall(
    folder: Path, workspace: Workspace, *, database: str = "queue.db"
) -> AsyncGenerator[Hall]:
    """Run the queue with a database of its own: what another one remembers is not in it."""
    location = f"sqlite+aiosqlite:///{folder / database}"
    async with await Database.open(f"sqlite+aiosqlite:///{folder / database}.own") as own:
        await prepare(own)
        client = AsyncWebClient(workspace.bot_token, base_url=workspace.api_url, retry_handlers=[])
        who = await client.auth_test()
        there = WorkspaceClient(client, Identity.model_validate(who.data))
        store = InMemoryStore()
        place = Place(
            surface="slack",
            workspace=workspace.state.team_id,
            channel=workspace.channel(CHANNEL).id,
        )
        receiver = RegisterReceiver(
            register=RegisterPlace(name="register", title=TITLE),
            clients=SingleWorkspaceClient(there),
            store=store,
            registers=Registers(own),
            refused=RefusedFeatures(own),
            clock=ManualClock(),
            link_of=_link,
        )
        async with open_office([receiver], location, store) as office:
            yield Hall(workspace, office, client, place)


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    async with run_workspace(quick_workspace()) as running:
        yield running


async def test_an_accepted_decision_is_a_line_of_the_channels_canvas(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        await hall.accepted()
        [line] = hall.lines()
        assert "**Use PostgreSQL**: accepted by Dana. [Thread](https://slack.example.com/" in line
        await hall.office.decide()
        await hall.accepted(SECOND, "Use Redis.")
        assert ["Redis" in one for one in hall.lines()] == [True, False]
        await hall.office.decide(DecisionKind.SUPERSEDE, by=SECOND)
        await hall.office.settle()
        assert "~~Use PostgreSQL~~" in hall.lines()[1]
        assert "superseded by “Use Redis”" in hall.lines()[1]
        assert hall.office.told.failures == []


async def test_nothing_is_written_before_members_can_only_read(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        await hall.accepted()
        called = [one.method for one in workspace.calls.entries if "canvases" in one.method]
        assert called == ["canvases.create", "canvases.access.set", "canvases.edit"]
        [canvas] = workspace.canvases(CHANNEL)
        assert canvas.channels == {hall.place.channel: "read"}


async def test_where_slack_keeps_it_open_for_all_nothing_is_written(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        await hall.accepted()
        [canvas] = workspace.canvases(CHANNEL)
        canvas.owner = workspace.user("dana").id
        await hall.accepted(SECOND, "Use Redis.")
        assert len(hall.lines()) == 1
        assert [again for _, again in hall.office.told.failures] == [None]


async def test_what_people_wrote_in_canvases_stays(workspace: Workspace, tmp_path: Path) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        channel, words = hall.place.channel, {"type": "markdown", "markdown": "- Ours."}
        await hall.client.conversations_canvases_create(channel_id=channel, document_content=words)
        await hall.client.canvases_create(title=TITLE, channel_id=channel, document_content=words)
        for canvas in workspace.canvases(CHANNEL):
            canvas.owner = workspace.user("dana").id
        await hall.accepted()
        assert hall.canvases()[:2] == ["- Ours.", "- Ours."]
        assert "Use PostgreSQL" in hall.canvases()[2]


async def test_the_register_of_another_channel_that_somebody_brought_here_is_left_alone(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        channel, words = hall.place.channel, {"type": "markdown", "markdown": "- Theirs."}
        made = await hall.client.canvases_create(
            title=TITLE, channel_id=channel, document_content=words
        )
        receiver = hall.office.queue.receivers["register"]
        assert isinstance(receiver, RegisterReceiver)
        elsewhere = hall.place.model_copy(update={"channel": "C0ELSEWHERE"})
        await receiver.registers.keep(elsewhere, MadeCanvas.model_validate(made.data).canvas_id)
        await hall.accepted()
        assert hall.canvases()[0] == "- Theirs."
        assert "Use PostgreSQL" in hall.canvases()[1]


@pytest.mark.parametrize("lost", ["canvases.create", "canvases.access.set", "canvases.edit"])
async def test_an_answer_that_is_lost_makes_no_second_canvas_and_no_second_line(
    workspace: Workspace, tmp_path: Path, lost: str
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        workspace.faults.drop_after(lost)
        await hall.accepted()
        assert len(hall.lines()) == 1
        assert hall.office.outcomes == ["failed", "landed"]


async def test_a_process_that_died_before_its_note_is_taken_up_by_the_next(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        await hall.accepted()
    # The next one has the logs, and does not know of any canvas.
    async with open_hall(tmp_path, workspace, database="restored.db") as hall:
        await hall.accepted()
        assert len(hall.lines()) == 1


async def test_a_canvas_that_somebody_deleted_is_made_anew(
    workspace: Workspace, tmp_path: Path
) -> None:
    async with open_hall(tmp_path, workspace) as hall:
        await hall.accepted()
        [canvas] = workspace.canvases(CHANNEL)
        await hall.client.canvases_delete(canvas_id=canvas.id)
        await hall.accepted(SECOND, "Use Redis.")
        assert len(hall.lines()) == 2


async def test_slack_is_asked_again_when_it_wants_patience(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.faults.rate_limit("canvases.edit", seconds=2)
    async with open_hall(tmp_path, workspace) as hall:
        await hall.accepted()
        assert len(hall.lines()) == 1
        assert hall.office.outcomes == ["failed", "landed"]


async def test_a_scope_that_lacks_is_said_once_and_mended_by_another_try(
    tmp_path: Path,
) -> None:
    async with (
        run_workspace(a_workspace_without("canvases:write")) as workspace,
        open_hall(tmp_path, workspace) as hall,
    ):
        await hall.accepted()
        await hall.accepted(SECOND, "Use Redis.")
        assert hall.office.outcomes == ["dead", "dead"]
        [(why, again)] = hall.office.told.failures
        assert "lacks the permission canvases:write" in why
        assert again is None
        workspace.app.scopes.append("canvases:write")
        assert await hall.office.queue.retry("register") == 2
        await hall.office.settle()
        assert len(hall.lines()) == 2
