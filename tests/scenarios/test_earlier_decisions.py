"""What a team decided earlier in a channel is a source of its next debates there, nowhere else."""

from bot.slack.ids import ActionId, headline_key
from bot.testing import BotSpec, Team, key_of, team_at_work
from core.models import Debate, SourceKind
from core.request import ModelRequest, PartKind
from core.testing import ScriptedProvider, plausible_reply

CITED = '[e1: "Decision: Use PostgreSQL."]'


def quoting(request: ModelRequest) -> str:
    """Quotes the earlier decision wherever there is a source."""
    has_source = any(part.kind is PartKind.SOURCE for part in request.parts)
    said = plausible_reply(request)
    return f"{said} {CITED}" if has_source and not said.startswith("{") else said


async def decided(team: Team, question: str) -> Debate:
    """Hold a debate and accept its verdict."""
    board = await team.debate(question)
    debate = await team.wait_for_end(board)
    headline = [one for one in team.replies(board) if key_of(one) == headline_key(debate.id)]
    await team.click(headline[0]["ts"], ActionId.ACCEPT.value)
    views = await team.workspace.wait_for(lambda: team.workspace.views(team.user))
    await team.workspace.submit(team.user, views[0]["id"], {})
    await team.wait_until_sent()
    return debate


async def test_an_accepted_decision_is_a_source_of_the_next_debate_with_a_link() -> None:
    async with team_at_work(spec=BotSpec(provider=ScriptedProvider(quoting))) as team:
        first = await decided(team, "Which database should keep our job queue?")
        assert not first.sources
        board = await team.debate("Where do queued tasks live from now on?")
        second = await team.wait_for_end(board)
    (source,) = second.evidence
    assert source.reference.kind is SourceKind.REGISTER
    assert "Which database should keep our job queue?" in source.text
    assert "Decision: Use PostgreSQL." in source.text
    assert "It was accepted by dana." in source.text
    cited = second.contributions["r1/proposal/architect"].citations[0]
    assert cited.status.value == "verified"
    assert first.id in cited.place
    assert "/archives/" in cited.address


async def test_a_verdict_nobody_decided_on_is_no_earlier_decision() -> None:
    async with team_at_work() as team:
        await team.wait_for_end(await team.debate("Kafka or PostgreSQL for our jobs?"))
        board = await team.debate("Redis or PostgreSQL for our jobs?")
        second = await team.wait_for_end(board)
        said = "\n".join(str(one["text"]) for one in team.replies(board))
    assert not second.evidence
    assert "could not read" not in said


async def test_decisions_of_another_channel_stay_there() -> None:
    async with team_at_work() as team:
        await decided(team, "Which salaries should we pay?")
        other = Team(workspace=team.workspace, moot=team.moot, channel="general")
        await other.wait_for_end(await other.debate("Kafka or PostgreSQL for our jobs?"))
        second = await other.wait_for_end(await other.debate("Redis or Kafka for our jobs?"))
    assert not second.evidence
