"""Mentions: edits, answers in the same thread, and the thread as a source."""

from collections.abc import Sequence

from bot.slack.ids import asking_thread_key
from bot.testing import Message, Team, key_of, team_at_work
from core.debate.log import fold
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.ports import DebateFilter
from core.testing import ScriptedProvider

QUESTION = "Kafka or PostgreSQL for our jobs?"


async def debates(team: Team) -> Sequence[Debate]:
    entries = await team.moot.store.find(DebateFilter(limit=100))
    return [fold(await team.moot.store.events(entry.debate_id)) for entry in entries]


async def acknowledged(team: Team, count: int) -> None:
    """Wait until `count` mentions were delivered and acknowledged."""

    def is_acknowledged() -> bool:
        mentions = [
            delivery for delivery in team.workspace.deliveries if delivery.name == "app_mention"
        ]
        return len(mentions) >= count and all(mention.acked for mention in mentions)

    await team.workspace.wait_for(is_acknowledged)


async def said_in(team: Team, root: Message, key: str) -> Message:
    """Wait for the bot's post with this key in people's thread."""
    matches = await team.workspace.wait_for(
        lambda: [message for message in team.thread(root["ts"]) if key_of(message) == key],
        timeout=45,
    )
    return matches[0]


async def test_an_edited_mention_starts_nothing_more(team: Team):
    message = await team.say(f"@Moot {QUESTION}")
    await acknowledged(team, 1)
    edited = f"@Moot {QUESTION} Or Redis?"
    await team.workspace.edit(team.user, team.channel, message["ts"], edited)
    await acknowledged(team, 2)
    assert [debate.setup.question for debate in await debates(team)] == [QUESTION]


async def test_people_channels_and_links_in_a_question_are_read_by_name(team: Team):
    await team.say("@Moot should @alex or @sam own #general and <https://example.com|the plan>?")
    await acknowledged(team, 1)
    await team.workspace.wait_for(lambda: len(team.workspace.messages(team.channel)) > 1)
    (debate,) = await debates(team)
    question = "should @alex or @sam own #general and the plan (https://example.com)?"
    assert debate.setup.question == question


async def test_a_note_keeps_whom_it_speaks_to(team: Team, models: ScriptedProvider):
    models.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    await team.say("@alex what do you think of @sam's plan?", board)
    await team.say("@Moot @alex is away until June.", board)
    await team.wait_for_log(board, lambda debate: len(debate.notes) == 2)
    models.let_go()
    debate = await team.wait_for_end(board)
    assert {note.text for note in debate.notes} == {
        "@alex what do you think of @sam's plan?",
        "@alex is away until June.",
    }


async def test_a_line_of_its_own_in_the_thread_does_what_the_button_does(
    team: Team, models: ScriptedProvider
):
    models.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    await team.say("pause", board)
    await team.wait_for_log(board, lambda debate: debate.paused_by)
    await team.say("@Moot resume", board)
    await team.wait_for_log(board, lambda debate: not debate.paused_by)
    # A person without permission is refused; the other lines of a message are a note.
    await team.say("stop", board, user="sam")
    refused = await team.workspace.wait_for(lambda: team.ephemeral_texts("sam"))
    await team.say("The budget was cut.\nvote now", board)
    await team.wait_for_log(board, lambda debate: debate.vote_called_by and debate.notes)
    models.let_go()
    debate = await team.wait_for_end(board)
    assert "Only <@" in refused[-1]
    assert "can stop it" in refused[-1]
    assert "/debate" not in refused[-1]  # Slack takes no commands in threads
    assert [note.text for note in debate.notes] == ["The budget was cut."]
    assert not debate.stop


async def test_a_stop_in_the_thread_ends_the_debate_once(team: Team, models: ScriptedProvider):
    models.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    await team.say("@Moot stop", board)
    await team.wait_for_log(board, lambda debate: debate.stop)
    models.let_go()
    debate = await team.wait_for_end(board)
    texts = team.ephemeral_texts()
    assert debate.verdict
    assert debate.verdict.partial
    assert debate.notes == ()
    assert texts[1:] == ["The debate stops; the judge decides on what is there."]


async def test_words_that_only_look_like_a_command_are_a_note_in_the_thread(
    team: Team, models: ScriptedProvider
):
    models.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    await team.say("@Moot skip redis", board)
    await team.wait_for_log(board, lambda debate: len(debate.notes) == 1)
    await team.say("@Moot stop worrying about cost: we pay for it anyhow.", board)
    await team.wait_for_log(board, lambda debate: len(debate.notes) == 2)
    await team.say("@Moot help", board)
    answers = await team.workspace.wait_for(lambda: team.ephemeral_texts()[1:])
    models.let_go()
    debate = await team.wait_for_end(board)
    assert "How to use Moot" in answers[-1]
    assert [note.text for note in debate.notes] == [
        "skip redis",
        "stop worrying about cost: we pay for it anyhow.",
    ]
    assert not debate.stop


async def press(team: Team, label: str) -> None:
    """Press a button of the newest message that only this person sees."""
    card = team.workspace.ephemeral(team.user, team.channel)[-1]
    buttons = {
        element["text"]["text"]: element["action_id"] for element in card["blocks"][-1]["elements"]
    }
    await team.workspace.click(team.user, team.channel, card["ts"], buttons[label])


async def test_a_mention_that_asks_nothing_is_shown_first_and_debated_with_a_click():
    remark = "good morning everyone, see you at lunch"
    async with team_at_work() as team:
        await team.say(f"@Moot {remark}")
        answers = await team.workspace.wait_for(team.ephemeral_texts)
        assert await debates(team) == []
        await press(team, "Debate it")
        (debate,) = await debates(team)
        texts = team.ephemeral_texts()
    assert "Shall the agents debate this? Nothing was started yet." in answers[-1]
    assert debate.setup.question == remark
    assert texts[-1].startswith(f"Debate `{debate.id}` begins.")


async def test_a_mention_of_emoji_alone_is_greeted_and_starts_nothing(team: Team):
    await team.say("@Moot :thumbsup:")
    answers = await team.workspace.wait_for(team.ephemeral_texts)
    assert await debates(team) == []
    await press(team, "Open the form")
    (form,) = await team.workspace.wait_for(lambda: team.workspace.views(team.user))
    assert ":wave:" in answers[-1]
    assert form["callback_id"] == "start_form"


async def test_a_text_between_a_command_and_a_question_is_settled_by_one_click(team: Team):
    await team.type("stop using Kafka?")
    answer = team.ephemeral_texts()[-1]
    assert await debates(team) == []
    await press(team, "Debate it")
    (debate,) = await debates(team)
    await team.type("list all please")
    await press(team, "/debate list")
    (listed,) = await team.workspace.wait_for(
        lambda: [
            text for text in team.ephemeral_texts() if debate.id in text and "begins" not in text
        ]
    )
    assert "“stop using Kafka?”: nothing was started yet. What did you mean?" in answer
    assert debate.setup.question == "stop using Kafka?"
    assert debate.id in listed


async def test_a_mention_that_was_no_question_starts_nothing_when_it_is_edited(team: Team):
    message = await team.say("@Moot")
    await team.workspace.wait_for(team.ephemeral_texts)
    await team.workspace.edit(team.user, team.channel, message["ts"], f"@Moot {QUESTION}")
    await acknowledged(team, 2)
    assert await debates(team) == []
    assert len(team.ephemeral_texts()) == 1


async def test_a_mention_in_peoples_own_thread_is_answered_there_and_gets_the_verdict_there(
    team: Team,
):
    root = await team.say("We lose jobs when Redis restarts.", user="alex")
    await team.say("About 2000 a day, @alex counted <https://x.example/1|them>", root["ts"])
    mention = await team.say(f"@Moot {QUESTION}", root["ts"])
    board = await team.new_board()
    debate = await team.wait_for_end(board)
    link = await said_in(team, root, asking_thread_key(debate.id, "link"))
    verdict = await said_in(team, root, asking_thread_key(debate.id, "verdict"))
    mine = next(message for message in team.thread(root["ts"]) if message["ts"] == mention["ts"])
    assert [reaction["name"] for reaction in mine["reactions"]] == ["eyes"]
    assert board.replace(".", "") in link["text"]
    assert debate.verdict
    assert debate.verdict.decision[:40] in verdict["text"]
    assert "Read it all" in verdict["text"]
    assert "moot.invalid" not in verdict["text"]
    (thread,) = debate.evidence
    assert "alex: We lose jobs when Redis restarts." in thread.text
    assert "About 2000 a day, @alex counted them (https://x.example/1)" in thread.text
    assert QUESTION not in thread.text
    assert thread.marks[0].label.startswith("alex, ")
    assert root["ts"].replace(".", "") in thread.marks[0].address
    assert debate.setup.mention
    assert debate.setup.mention.thread == root["ts"]


async def test_where_slack_does_not_show_the_thread_the_debate_is_held_and_says_so(team: Team):
    root = await team.say("It began with an outage.", user="alex")
    team.workspace.faults.server_error("conversations.replies", status=500, times=None)
    await team.say(f"@Moot {QUESTION}", root["ts"])
    board = await team.new_board()
    debate = await team.wait_for_end(board)
    texts = [reply["text"] for reply in team.replies(board)]
    assert debate.status is Status.CONCLUDED
    assert not debate.evidence
    assert any("I could not read the thread" in text for text in texts)


async def test_a_usage_error_in_a_thread_is_told_in_that_thread(team: Team):
    root = await team.say("We lose jobs.", user="alex")
    await team.say("@Moot votes?", root["ts"])
    answers = await team.workspace.wait_for(
        lambda: team.workspace.ephemeral(team.user, team.channel)
    )
    assert answers[0]["thread_ts"] == root["ts"]
    assert "“votes?”: nothing was started yet. What did you mean?" in answers[0]["text"]
    assert "`/debate" not in answers[0]["text"]  # Slack takes no commands in threads
