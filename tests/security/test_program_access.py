"""A program with a token cannot reach debates that its person may not see, by any tool."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from bot.mcp.tools import TOOLS
from bot.testing import CHANNEL, BotSpec
from core.debate.log import fold
from core.ports import DebateFilter
from slack_on_loopback import run_oauth_server
from tests.bot.mcp.at_work import Editor, WaitingProvider, program_at
from tests.scenarios.test_installing import Hall, a_workspace, bot_of
from tests.scenarios.test_tokens import a_token

#: All tests share one bot and its debates, because no attempt changes anything.
pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOM = "board-room"
#: A word used in the private channel only.
SECRET = "wombat"
QUESTION = f"Should we sell the {SECRET} project or keep it?"
UNKNOWN, NO_ROOM, NO_CHANNEL = "dzzzzzz2", "no-such-room", "C0NOSUCHONE"
#: Further arguments of each tool that takes a debate.
OF_A_DEBATE: Mapping[str, Mapping[str, Any]] = {
    "debate_status": {},
    "get_verdict": {},
    "stop_debate": {},
    "add_note": {"text": "Sell."},
    "submit_revision": {"text": "Sell."},
    "decide_on_verdict": {"decision": "accept"},
    "answer_question": {"answers": [{"number": 1, "answer": "Sell."}]},
}
#: In no channel of the debates: of the workspace, of none of the bot's channels, of another one.
PEOPLE = ("outsider", "guest", "stranger")


@dataclass(frozen=True)
class Premises:
    """Two workspaces of one bot, debates in the first, and people's tokens."""

    hall: Hall
    tokens: Mapping[str, str]
    #: Id of the private channel.
    private: str
    #: In the private channel, decided and running; the last in a public channel.
    decided: str
    running: str
    open_to_all: str

    def program(self, who: str) -> AbstractAsyncContextManager[Editor]:
        """A program with this person's token."""
        return program_at(f"{self.hall.moot.http.address}/mcp", self.tokens[who])

    def hidden_from(self, who: str) -> Sequence[str]:
        """Debates that this person may not see: the outsider is in the open channel."""
        private = (self.decided, self.running)
        return private if who == "outsider" else (*private, self.open_to_all)

    async def done_by_people(self) -> Mapping[str, object]:
        """The facts of people in each debate, by its id."""
        store, facts = self.hall.moot.store, dict[str, object]()
        for entry in await store.find(DebateFilter(limit=100)):
            debate = fold(await store.events(entry.debate_id))
            facts[debate.id] = (debate.stop, debate.notes, debate.clarifications)
        return facts


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def premises(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Premises]:
    models = WaitingProvider()
    spec = BotSpec(provider=models, token_lifetime=timedelta(days=1))
    database = tmp_path_factory.mktemp("access") / "moot.db"
    async with (
        run_oauth_server(a_workspace("Riverside"), a_workspace("Lakeside")) as oauth_server,
        bot_of(oauth_server, database, spec=spec) as hall,
    ):
        here, there = await hall.connect(0), await hall.connect(1)
        work = here.workspace
        await work.channel_action("dana", "create", name=ROOM, is_private=True, members=["dana"])
        await work.channel_action("dana", "invite", channel=ROOM, member="moot")
        tokens = {
            "insider": await a_token(here, "dana"),
            "outsider": await a_token(here, "alex"),
            "guest": await a_token(here, "sam"),
            "stranger": await a_token(there, "dana"),
        }
        for channel in (CHANNEL, "general"):
            await work.channel_action("dana", "kick", channel=channel, member="sam")
        async with program_at(f"{hall.moot.http.address}/mcp", tokens["insider"]) as dana:
            models.go.set()
            decided = await begun(dana, QUESTION, ROOM)
            assert (await dana.follows(decided))["state"] == "concluded"
            models.go.clear()
            running = await begun(dana, f"And what of the {SECRET} team?", ROOM)
            open_to_all = await begun(dana, "Rust or Go for the workers?", CHANNEL)
        private = work.channel(ROOM).id
        yield Premises(hall, tokens, private, decided, running, open_to_all)


async def begun(program: Editor, question: str, channel: str) -> str:
    started = await program.calls("start_debate", question=question, channel=channel)
    return started["debate_id"]


@pytest.mark.parametrize("who", PEOPLE)
async def test_no_tool_tells_a_hidden_debate_from_one_that_is_not_there(
    premises: Premises, who: str
) -> None:
    async with premises.program(who) as program:
        before = await premises.done_by_people()
        for tool, rest in OF_A_DEBATE.items():
            unknown = await program.is_refused(tool, debate_id=UNKNOWN, **rest)
            for debate_id in premises.hidden_from(who):
                forbidden = await program.is_refused(tool, debate_id=debate_id, **rest)
                assert forbidden.replace(debate_id, UNKNOWN) == unknown
        assert await premises.done_by_people() == before


@pytest.mark.parametrize("who", PEOPLE)
async def test_no_list_and_no_search_shows_a_hidden_debate(premises: Premises, who: str) -> None:
    async with premises.program(who) as program:
        listed = [
            await program.calls("list_debates", limit=50),
            await program.calls("list_debates", limit=50, running_only=True),
            await program.calls("search_decisions", query=QUESTION),
        ]
        assert [text for text in premises.hidden_from(who) if text in str(listed)] == []
        assert SECRET not in str(listed)


@pytest.mark.parametrize("who", PEOPLE)
async def test_no_debate_is_started_in_a_hidden_channel_nor_is_it_told_from_none(
    premises: Premises, who: str
) -> None:
    async with premises.program(who) as program:
        before = await premises.done_by_people()
        for named, unknown in (
            (ROOM, NO_ROOM),
            (f"#{ROOM}", f"#{NO_ROOM}"),
            (premises.private, NO_CHANNEL),
        ):
            arguments = {"question": "Sell the house?"}
            forbidden = await program.is_refused("start_debate", channel=named, **arguments)
            assert forbidden == await program.is_refused(
                "start_debate", channel=unknown, **arguments
            )
        assert await premises.done_by_people() == before


async def test_who_is_in_the_channel_does_see_it(premises: Premises) -> None:
    async with premises.program("insider") as dana:
        assert (await dana.calls("get_verdict", debate_id=premises.decided))["decision"]
        listed = str(await dana.calls("list_debates", limit=50))
        assert all(text in listed for text in premises.hidden_from("stranger"))
        answer = await dana.calls("search_decisions", query=QUESTION)
        assert premises.decided in str(answer)


async def test_every_tool_is_tried(premises: Premises) -> None:
    async with premises.program("insider") as dana:
        tools = {tool.name for tool in (await dana.client.list_tools()).tools}
    others = {"start_debate", "search_decisions", "list_debates"}
    assert tools == set(TOOLS) == {*OF_A_DEBATE, *others}
