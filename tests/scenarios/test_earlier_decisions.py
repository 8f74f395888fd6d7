"""What a team decided earlier in a channel is a source of its next debates there, nowhere else."""

import json

from bot.slack.ids import ActionId
from bot.testing import BotSpec, Team, team_at_work
from core.debate.evidence import SourceKind
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.turn import Act
from core.request import ModelRequest, PartKind
from core.testing import ScriptedProvider, a_verdict_reply, plausible_reply
from core.transcript.report import report
from tests.scenarios.test_deciding import decide

CITED = '[d1: "Decision: Use PostgreSQL."]'


def quoting(request: ModelRequest) -> str:
    """Quotes the earlier decision wherever there is a source."""
    has_source = any(part.kind is PartKind.SOURCE for part in request.parts)
    text = plausible_reply(request)
    return f"{text} {CITED}" if has_source and not text.startswith("{") else text


async def decided(team: Team, question: str) -> Debate:
    """Hold a debate and accept its verdict."""
    board = await team.debate(question)
    debate = await team.wait_for_end(board)
    await decide(team, board, ActionId.ACCEPT)
    await team.wait_until_sent()
    return debate


async def test_an_accepted_decision_is_a_source_of_the_next_debate_with_a_link() -> None:
    async with team_at_work(spec=BotSpec(provider=ScriptedProvider(quoting))) as team:
        first = await decided(team, "Which database should keep our job queue?")
        assert not first.sources
        board = await team.debate("Where do queued tasks live from now on?")
        second = await team.wait_for_end(board)
        text = str(team.thread(board)[0]["blocks"])
        assert "Decided here earlier" not in str(team.replies(board))
    (source,) = second.evidence
    assert source.reference.kind is SourceKind.DECISION
    assert source.id == "d1"
    assert source.reference.fetch == first.id
    section = text.partition("Decided here earlier")[2]
    assert "d1: <http" in section
    assert "decided on" in section
    assert "Which database should keep our job queue?" in source.text
    assert "Decision: Use PostgreSQL." in source.text
    assert "It was accepted by dana." in source.text
    cited = second.contributions["r1/proposal/architect"].citations[0]
    assert cited.status.value == "verified"
    assert first.id in cited.place
    assert "/archives/" in cited.address


def contradicting(request: ModelRequest) -> str:
    """Judges that an earlier decision, where one is known, cannot stand."""
    labels = [part.label for part in request.parts if part.label.startswith("Source d1")]
    if request.act is Act.SYNTHESIS and labels:
        stands = {"source": "d1", "why": "Kafka is there now.", "relation": "contradicts"}
        return json.dumps(a_verdict_reply(decision="Use Kafka.", earlier=[stands]))
    return plausible_reply(request)


async def test_a_verdict_that_contradicts_an_earlier_one_says_so_and_supersedes_it() -> None:
    async with team_at_work(spec=BotSpec(provider=ScriptedProvider(contradicting))) as team:
        first = await decided(team, "Which database should keep our job queue?")
        board = await team.debate("Do queued tasks stay where they are?")
        second = await team.wait_for_end(board)
        headline = next(
            reply for reply in team.replies(board) if reply["ts"] == team.verdict(board)
        )
        await team.click(str(headline["ts"]), f"{ActionId.SUPERSEDE_EARLIER.value}-d1")
        view = await team.workspace.wait_for(
            lambda: [view for view in team.workspace.views(team.user) if "newer" in str(view)]
        )
        newer = {"newer": {"newer": {"selected_option": {"value": second.id}}}}
        await team.workspace.submit(team.user, view[-1]["id"], newer)
        await team.wait_until_sent()
        superseded = fold(await team.moot.store.events(first.id))
        await team.click(str(headline["ts"]), f"{ActionId.SUPERSEDE_EARLIER.value}-d1")
        (answer,) = await team.workspace.wait_for(
            lambda: [text for text in team.ephemeral_texts() if "already" in text]
        )
    assert "*Contradicts d1*: <http" in str(headline["text"])
    assert "Kafka is there now." in json.dumps(headline["blocks"])
    assert second.verdict
    assert second.verdict.earlier[0].debate == first.id
    assert "Contradicts d1" in report(second)
    assert superseded.decision
    assert superseded.decision.superseded_by == second.id
    assert answer == f"Debate `{first.id}` is superseded by debate `{second.id}` already."


async def test_debated_on_begins_with_the_old_verdict_and_both_lead_to_each_other() -> None:
    async with team_at_work(spec=BotSpec(rounds=1)) as team:
        board = await team.debate("Kafka or PostgreSQL for our jobs?")
        first = await team.wait_for_end(board)
        await team.click(team.verdict(board), ActionId.DEBATE_ON.value)
        view = (await team.workspace.wait_for(lambda: team.workspace.views(team.user)))[0]
        values = view["state"]["values"]
        new = {"context": {"context": {"value": "We now have 60,000 jobs per second."}}}
        await team.workspace.submit(team.user, view["id"], {**values, **new})
        newer = await team.new_board([board])
        second = await team.wait_for_end(newer)
        old = fold(await team.moot.store.events(first.id))
        texts = [str(reply["text"]) for reply in team.replies(board)]
        blocks = str(team.thread(newer)[0]["blocks"])
    assert second.setup.continues == first.id
    assert second.setup.question == first.setup.question
    assert "60,000 jobs" in second.setup.context
    (source,) = second.evidence
    assert source.id == "d1"
    assert "Nobody has accepted or rejected it yet." in source.text
    assert old.continued_in == (second.id,)
    links = [text for text in texts if "has it debated on: <http" in text]
    assert len(links) == 1
    assert f"/p{newer.replace('.', '')}|" in links[0]
    assert "Goes on from <http" in blocks


async def test_decisions_of_another_channel_stay_there() -> None:
    async with team_at_work() as team:
        await decided(team, "Which salaries should we pay?")
        other = Team(workspace=team.workspace, moot=team.moot, channel="general")
        await other.wait_for_end(await other.debate("Kafka or PostgreSQL for our jobs?"))
        second = await other.wait_for_end(await other.debate("Redis or Kafka for our jobs?"))
    assert not second.evidence
