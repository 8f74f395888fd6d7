"""The form to start a debate: prefilled values, estimate, errors at fields, repeated submission."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bot.slack.client import slack_client
from bot.slack.ids import FieldId
from bot.testing import BotSpec, Team, team_at_work
from core.ports import DebateFilter
from core.use_cases.limits import Bounds
from slack_on_loopback.channels import direct

QUESTION = "Kafka or PostgreSQL for our jobs?"


def form_values(**values: str | Sequence[str]) -> dict[str, Any]:
    """A form's state: `form_values(question="…", rounds="2", agents=["security"])`."""
    return {name: {name: _state(name, value)} for name, value in values.items()}


def _state(name: str, value: str | Sequence[str]) -> Mapping[str, Any]:
    if name == FieldId.STEWARDS:
        return {"selected_users": list(value)}
    if not isinstance(value, str):
        return {"selected_options": [{"value": text} for text in value]}
    if name in {FieldId.QUESTION, FieldId.CONTEXT, FieldId.COST_CAP}:
        return {"value": value}
    if name == FieldId.CHANNEL:
        return {"selected_conversation": value}
    return {"selected_option": {"value": value}}


async def form_of(team: Team, user: str = "dana") -> Mapping[str, Any]:
    await team.workspace.wait_for(lambda: team.workspace.views(user))
    return team.workspace.views(user)[-1]


async def estimated(team: Team, words: str = "Estimated:") -> Mapping[str, Any]:
    def match() -> Any:
        view = team.workspace.views("dana")[-1]
        return view if words in json.dumps(view) else None

    return await team.workspace.wait_for(match)


def estimate_in(view: Mapping[str, Any]) -> str:
    return next(block for block in view["blocks"] if block["block_id"] == "estimate")["elements"][
        0
    ]["text"]


async def test_the_estimate_follows_the_choices_and_what_was_typed_stays(team: Team):
    await team.type("")
    before = estimate_in(await estimated(team))
    view = await form_of(team)
    await team.workspace.click_view(
        "dana",
        view["id"],
        "rounds",
        block_id="rounds",
        selected_option={"value": "5"},
        values=form_values(question=QUESTION),
    )

    def follows() -> Any:
        return estimate_in(team.workspace.views("dana")[-1]) not in {before, ""}

    await team.workspace.wait_for(follows)
    view = await form_of(team)
    assert view["state"]["values"]["question"]["question"]["value"] == QUESTION
    assert view["state"]["values"]["rounds"]["rounds"]["selected_option"]["value"] == "5"


async def test_the_form_starts_the_debate_that_was_chosen_once_however_often_it_is_sent(team: Team):
    await team.type("")
    view = await estimated(team)
    values = form_values(
        question=QUESTION,
        context="We have 12 people.",
        format="panel",
        rounds="1",
        agents=["security", "finance"],
        cost_cap="2.50",
    )
    await team.workspace.submit("dana", view["id"], values)
    debate = await team.wait_for_end(await team.new_board())
    setup = debate.setup
    assert (setup.question, setup.context) == (QUESTION, "We have 12 people.")
    assert (setup.format, setup.rounds) == ("panel", 1)
    assert [agent.id for agent in setup.agents] == ["security", "finance"]
    assert str(setup.limits.debate_cost) == "2.50"
    assert team.workspace.views("dana") == []


async def test_what_cannot_be_used_is_said_at_its_field_and_nothing_starts(team: Team):
    await team.type("")
    view = await estimated(team)
    for field, value, words in (
        ("question", " ", "Write something here."),
        ("cost_cap", "a lot", "for example 2.50"),
        ("cost_cap", "-3", "from 0.01 to 1000"),
        ("agents", ["security"], "at least two"),
    ):
        values = form_values(**{"question": QUESTION, "cost_cap": "", field: value})
        answer = await team.workspace.submit("dana", view["id"], values)
        assert answer["response_action"] == "errors"
        assert words in answer["errors"][field]
    assert await team.moot.store.find(DebateFilter()) == []


async def test_a_messages_shortcut_debates_it_and_keeps_the_link(team: Team):
    message = await team.say("Should we split the billing service & its database?", user="alex")
    await team.workspace.shortcut("dana", "debate_this", team.channel, message["ts"])
    view = await estimated(team)
    question = view["state"]["values"]["question"]["question"]["value"]
    assert question == "Should we split the billing service & its database?"
    await team.workspace.submit("dana", view["id"], form_values(question=question))
    debate = await team.wait_for_end(await team.new_board())
    assert message["ts"].replace(".", "") in debate.setup.context


@pytest.mark.parametrize(
    ("rounds", "notices"), [("5", ("You asked for 5 rounds; a council has one round.",)), ("2", ())]
)
async def test_rounds_a_format_does_not_have_are_named_only_where_somebody_chose_them(
    team: Team, rounds: str, notices: Sequence[str]
):
    await team.type("")
    view = await estimated(team)
    values = form_values(question=QUESTION, format="council", rounds=rounds)
    await team.workspace.submit("dana", view["id"], values)
    debate = await team.wait_for_end(await team.new_board())
    texts = [warning for warning in debate.setup.warnings if "rounds" in warning]
    assert (debate.setup.rounds, texts) == (1, list(notices))


def typed_in(view: Mapping[str, Any], field: str) -> str:
    return view["state"]["values"][field][field]["value"] or ""


BACKGROUND = "We lose jobs when Redis restarts, and nobody noticed before billing did. "
ASKED = "Should we move the queue to PostgreSQL or to Kafka?"


async def test_a_long_message_is_context_as_a_whole_and_the_question_is_found_in_it(team: Team):
    text = f"{BACKGROUND * 6}Anybody awake? {ASKED} Sam has numbers. Any thoughts?"
    message = await team.say(text, user="alex")
    await team.workspace.shortcut("dana", "debate_this", team.channel, message["ts"])
    view = await estimated(team)
    assert (typed_in(view, "question"), typed_in(view, "context")) == (ASKED, text)


async def test_a_long_message_of_a_direct_message_is_in_the_form_whole_and_reaches_the_agents(
    team: Team,
):
    workspace = team.workspace
    talk = direct(workspace.runtime, workspace.user("dana"), workspace.user("alex"))
    text = f"{BACKGROUND * 60}\n{ASKED} The last word is Kiwi."
    assert len(text) > 4000
    message = await workspace.say("alex", talk.id, text)
    await workspace.shortcut("dana", "debate_this", talk.id, message["ts"])
    view = await estimated(team)
    parts = [typed_in(view, field) for field in ("context", "context-2")]
    assert " ".join(parts).split() == text.split()
    assert "Context, part 2" in json.dumps(view)
    here = workspace.channel(team.channel).id
    values = form_values(question=ASKED, channel=here, context=parts[0])
    values["context-2"] = {"context-2": {"value": f"{parts[1]} And this was added."}}
    await workspace.submit("dana", view["id"], values)
    debate = await team.wait_for_end(await team.new_board())
    assert debate.setup.context.split()[: len(text.split())] == text.split()
    assert "And this was added." in debate.setup.context


async def test_a_message_longer_than_a_context_may_be_is_cut_in_the_form_and_starts() -> None:
    spec = BotSpec(bounds=Bounds(context_characters=3500))
    async with team_at_work(spec=spec) as team:
        message = await team.say(f"{ASKED} {BACKGROUND * 60}", user="alex")
        await team.workspace.shortcut("dana", "debate_this", team.channel, message["ts"])
        view = await estimated(team)
        parts = {field: typed_in(view, field) for field in ("context", "context-2")}
        await team.workspace.submit("dana", view["id"], form_values(question=ASKED, **parts))
        debate = await team.wait_for_end(await team.new_board())
    assert parts["context-2"].endswith(" [… cut here]")
    assert " [… cut here]\n\nAsked about: http" in debate.setup.context


async def test_debate_this_on_any_post_of_a_debate_takes_the_question_of_that_debate(team: Team):
    root = await team.say("Our queue is slow.", user="alex")
    await team.say(f"@Moot {QUESTION}", root["ts"])
    board = await team.new_board()
    await team.wait_for_end(board)
    await team.workspace.wait_for(lambda: len(team.thread(root["ts"])) > 3 or None)
    own = [board, *(message["ts"] for message in team.replies(board) if message.get("bot_id"))]
    here = [message["ts"] for message in team.thread(root["ts"]) if message.get("bot_id")]
    assert len(own) > 3
    assert here
    for ts in (own[0], own[1], own[-1], *here):
        await team.workspace.shortcut("dana", "debate_this", team.channel, ts)
        view = team.workspace.views("dana")[-1]
        assert typed_in(view, "question") == QUESTION
        await team.workspace.close_view("dana", view["id"])


async def test_debate_this_on_an_alert_takes_the_text_of_its_attachment(team: Team):
    client = slack_client(team.workspace.bot_token, team.workspace.api_url)
    alert = {"title": "Disk full", "text": "db7 at 99 %", "fallback": "Disk full on db7"}
    await client.chat_postMessage(
        channel=team.workspace.channel(team.channel).id, text="", attachments=[alert]
    )
    (root,) = team.workspace.messages(team.channel)
    await team.workspace.shortcut("dana", "debate_this", team.channel, root["ts"])
    view = team.workspace.views("dana")[-1]
    assert typed_in(view, "question") == "Disk full\ndb7 at 99 %"


async def test_the_thread_of_a_message_is_offered_as_a_source(team: Team):
    root = await team.say("Our queue is slow.", user="alex")
    message = await team.say(ASKED, root["ts"])
    await team.say("Sam has the numbers: 2000 a day.", root["ts"], user="sam")
    await team.workspace.shortcut("dana", "debate_this", team.channel, message["ts"])
    view = await estimated(team)
    assert "The message's thread" in json.dumps(view)
    values = form_values(question=ASKED, thread=["yes"])
    await team.workspace.submit("dana", view["id"], values)
    debate = await team.wait_for_end(await team.new_board())
    (thread,) = debate.evidence
    assert thread.text == "alex: Our queue is slow.\nsam: Sam has the numbers: 2000 a day."


async def test_a_message_in_no_thread_offers_none_and_one_left_unticked_is_not_read(team: Team):
    root = await team.say("Our queue is slow.", user="alex")
    await team.workspace.shortcut("dana", "debate_this", team.channel, root["ts"])
    assert "The message's thread" not in json.dumps(await estimated(team))
    message = await team.say(ASKED, root["ts"])
    await team.workspace.shortcut("dana", "debate_this", team.channel, message["ts"])
    view = await estimated(team)
    await team.workspace.submit("dana", view["id"], form_values(question=ASKED))
    debate = await team.wait_for_end(await team.new_board())
    assert not debate.sources


async def test_where_the_bot_is_not_no_form_opens_and_the_shortcut_says_why(team: Team):
    message = await team.workspace.say("dana", "random", "Tabs or spaces?")
    await team.workspace.shortcut("dana", "debate_this", "random", message["ts"])
    view = await form_of(team)
    assert "/invite @Moot" in json.dumps(view)
    assert "submit" not in view


async def test_a_channels_settings_hold_for_its_debates_and_the_channel_is_told(team: Team):
    await team.type("settings")
    view = await form_of(team)
    alex = team.workspace.user("alex").id
    values = form_values(
        format="panel", rounds="1", agents=["finance", "product"], stewards=[alex], cost_cap="5"
    )
    await team.workspace.submit("dana", view["id"], values)
    notices = await team.workspace.wait_for(lambda: team.workspace.messages(team.channel))
    assert "changed what holds for debates in this channel: format panel" in notices[0]["text"]
    board = await team.debate(QUESTION)
    debate = await team.wait_for_end(board)
    assert (debate.setup.format, debate.setup.rounds) == ("panel", 1)
    assert [agent.id for agent in debate.setup.agents] == ["finance", "product"]
    await team.type("settings")
    state = (await form_of(team))["state"]["values"]
    assert state["format"]["format"]["selected_option"]["value"] == "panel"
    assert state["stewards"]["stewards"]["selected_users"] == [alex]


async def test_a_form_left_as_it_was_takes_the_channels_settings(team: Team):
    await team.type("settings")
    view = await form_of(team)
    await team.workspace.submit("dana", view["id"], form_values(rounds="1", cost_cap="0.75"))
    await team.type("")
    view = await estimated(team)
    state = view["state"]["values"]
    assert state["rounds"]["rounds"]["selected_option"]["value"] == "1"
    assert state["cost_cap"]["cost_cap"]["value"] == "0.75"
