"""People ask what was decided, and are told from the register, with links: only what is theirs."""

from collections.abc import Sequence

from bot.testing import BotSpec, team_at_work
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from tests.scenarios.test_finding import in_private

QUESTION = "Kafka or PostgreSQL as our job queue?"
ASKED = "why did we choose Postgres for background jobs?"


async def test_a_mention_and_a_command_are_answered_with_a_link_and_start_nothing() -> None:
    provider = ScriptedProvider()
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        calls = len(provider.requests)
        await team.say(f"@Moot {ASKED}", user="alex")
        (answer,) = await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
        count = len(team.ephemeral_texts())
        await team.type(ASKED)
        await team.workspace.wait_for(lambda: len(team.ephemeral_texts()) > count)
        typed = team.ephemeral_texts()[-1]
        assert len(await team.moot.store.find(DebateFilter(limit=10))) == 1
        assert len(provider.requests) == calls
    for text in (answer, typed):
        assert "No debate was started. To have it debated, ask it as a choice" in text
        assert (
            "What the agents recommended; your team has not decided yet" in text
            or "closest decisions" in text
        )
        assert "Use PostgreSQL." in text
        assert QUESTION in text
        assert board.replace(".", "") in text
        assert "The team runs PostgreSQL already." in text


class Alike:
    """Finds all texts alike, as an embedder that was told nothing would; keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        self.sent += texts
        return [[1.0, 0.0] for _ in texts]

    async def close(self) -> None:
        """Nothing is open."""


async def test_who_asks_is_told_whether_a_model_gets_the_question() -> None:
    embedder, texts = Alike(), dict[bool, str]()
    for by_meaning in (False, True):
        spec = BotSpec(rounds=1, embedder=embedder if by_meaning else None)
        async with team_at_work(spec=spec) as team:
            await team.wait_for_end(await team.debate(QUESTION))
            await team.type(ASKED)
            message = team.workspace.ephemeral(team.user, team.channel)[-1]
            texts[by_meaning] = str(message["blocks"])
    assert "found by their words; no model was asked" in texts[False]
    assert ASKED in embedder.sent
    assert "go to the embeddings model that is set up" in texts[True]
    assert "no model was asked" not in texts[True]


async def test_nobody_is_told_of_a_channel_they_are_not_in() -> None:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        secret = await in_private(team)
        await secret.wait_for_end(await secret.debate("Shall we sell the company to Globex?"))
        await team.say("@Moot What did we decide about selling the company?", user="alex")
        (answer,) = await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
        await team.say("@Moot What did we decide about selling the company?", user="dana")
        (mine,) = await team.workspace.wait_for(lambda: team.ephemeral_texts("dana"))
    assert "I know of no decision" in answer
    assert "Globex" not in answer
    assert "Globex" in mine
