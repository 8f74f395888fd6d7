"""Playbooks in Slack: chosen in the form, by a flag, and for a channel."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.testing import BotSpec, Message, Team, team_at_work
from core.config.playbooks import built_in
from core.debate.evidence import SourceKind
from core.debate.state import Debate

QUESTION = "Kafka or PostgreSQL for our jobs?"
#: Nobody is asked, so that nobody has to answer.
QUIET = {
    name: playbook.model_copy(update={"questions": (), "evidence": (), "rounds": 1})
    for name, playbook in built_in().items()
}


async def form_with(team: Team, name: str) -> Mapping[str, Any]:
    """The form once the playbook has filled it."""

    def match() -> Any:
        views = team.workspace.views("dana")
        return views[-1] if views and f"format{name}" in views[-1]["state"]["values"] else None

    return await team.workspace.wait_for(match)


def state_of(view: Mapping[str, Any], field: str) -> Any:
    return next(actions[field] for actions in view["state"]["values"].values() if field in actions)


def typed(**fields: str) -> dict[str, Any]:
    return {name: {name: {"value": value}} for name, value in fields.items()}


async def ended(team: Team) -> tuple[Debate, Sequence[Message]]:
    board = await team.new_board()
    return await team.wait_for_end(board), team.thread(board)


async def test_a_playbook_chosen_in_the_form_fills_it_and_holds_but_for_what_is_changed_by_hand():
    async with team_at_work(spec=BotSpec(playbooks=QUIET)) as team:
        await team.type("")
        view = await form_with(team, "")
        assert state_of(view, "playbook")["selected_option"]["value"] == "-"
        await team.workspace.click_view(
            *("dana", view["id"], "playbook"),
            block_id="playbook",
            selected_option={"value": "vendor-choice"},
            values=typed(question=QUESTION),
        )
        view = await form_with(team, "~vendor-choice")
        agents = [item["value"] for item in state_of(view, "agents")["selected_options"]]
        assert tuple(agents) == QUIET["vendor-choice"].agents
        assert state_of(view, "rounds")["selected_option"]["value"] == "1"
        assert state_of(view, "question")["value"] == QUESTION
        two = {"selected_options": [{"value": "legal"}, {"value": "finance"}]}
        values = {"agents~vendor-choice": {"agents": two}}
        await team.workspace.submit("dana", view["id"], values)
        debate, posts = await ended(team)

    assert debate.setup.playbook == QUIET["vendor-choice"]
    assert [agent.id for agent in debate.setup.agents] == ["legal", "finance"]
    assert debate.setup.rounds == 1
    assert "Playbook: Vendor choice" in str(posts[0])
    assert "Ranking of the vendors" in str(posts)


async def test_a_playbook_named_by_a_flag_asks_people_before_anything_else():
    async with team_at_work(spec=BotSpec(playbooks=built_in())) as team:
        await team.type(f"--playbook vendor-chioce {QUESTION}")
        refused = str(team.workspace.ephemeral(team.user, team.channel))
        assert 'Did you mean "vendor-choice"?' in refused
        await team.type(f"—playbook “incident-follow-up” {QUESTION}")

        def cards() -> Any:
            text = str(team.workspace.messages(team.channel))
            threads = [
                str(team.workspace.thread(team.channel, message["ts"]))
                for message in team.workspace.messages(team.channel)
            ]
            return [item for item in (text, *threads) if "asked by the playbook" in item]

        card = (await team.workspace.wait_for(cards))[0]

    assert "please answer this before the agents begin" in card
    assert "When did it begin, when was it noticed" in card
    assert "No source given so far holds this: a timeline, log or chat of it" in card


async def test_a_review_by_a_playbook_is_refused_without_a_proposal_and_held_with_one():
    async with team_at_work(spec=BotSpec(playbooks=QUIET)) as team:
        await team.type("--playbook rfc-review Should we drop the old queue?")
        refused = team.ephemeral_texts()[-1]
        await team.say("Drop the old queue?", user="alex")
        message = team.workspace.messages(team.channel)[-1]
        await team.workspace.shortcut(team.user, "debate_this", team.channel, message["ts"])
        view = await form_with(team, "")
        await team.workspace.click_view(
            *("dana", view["id"], "playbook"),
            block_id="playbook",
            selected_option={"value": "rfc-review"},
            values=typed(question="Drop the old queue?"),
        )
        view = await form_with(team, "~rfc-review")
        await team.workspace.submit("dana", view["id"], {})
        link_alone = str(team.workspace.views("dana")) + str(team.ephemeral_texts())
        await team.type("--playbook rfc-review We drop the old queue on Monday. Jobs are lost.")
        board = await team.new_board()
        await team.wait_for_card(board)
        await team.say("1: skip", board)
        debate = await team.wait_for_end(board)

    assert "There is nothing to review." in refused
    assert "links under Sources or the text under Context in the form" in refused
    assert link_alone.count("There is nothing to review.") >= 2, "a link alone is no proposal"
    assert debate.setup.format == "review"
    assert debate.setup.question == "Is this ready, and what has to change? the proposal"
    assert debate.verdict


async def test_debate_this_on_a_proposal_has_the_message_itself_reviewed():
    proposal = "We drop the old queue on Monday.\nJobs that are in it are lost. Nobody was asked."
    async with team_at_work(spec=BotSpec(playbooks=QUIET)) as team:
        await team.say(proposal, user="alex")
        message = team.workspace.messages(team.channel)[-1]
        await team.workspace.shortcut(team.user, "debate_this", team.channel, message["ts"])
        view = await form_with(team, "")
        await team.workspace.click_view(
            *("dana", view["id"], "playbook"),
            block_id="playbook",
            selected_option={"value": "rfc-review"},
        )
        view = await form_with(team, "~rfc-review")
        await team.workspace.submit("dana", view["id"], {})
        board = await team.new_board()
        await team.wait_for_card(board)
        await team.say("1: skip", board)
        debate = await team.wait_for_end(board)

    assert debate.setup.playbook == QUIET["rfc-review"]
    (subject,) = [source for source in debate.evidence if source.reference.kind is SourceKind.TEXT]
    assert "Jobs that are in it are lost." in subject.text
    assert debate.verdict
