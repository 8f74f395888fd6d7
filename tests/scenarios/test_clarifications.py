"""Clarifications: answers in the thread, in the form, too late, or none."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.slack.ids import ActionId, FieldId, question_field
from bot.testing import BotSpec, Message, Team, quick_workspace, running_bot, team_at_work
from core.debate.log import fold
from core.debate.rules import Clarifying
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.request import ModelRequest
from core.testing import ScriptedProvider, plausible_reply
from slack_on_loopback import run_workspace
from tests.seen import seen_in

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
ASKED = {
    "architect": [("How many jobs a second?", "A thousand"), ("Who runs it?", "Two people")],
    "security": [("Which data is in a job?", "No personal data")],
    "simplicity": [("how many jobs a second", "Ten")],
}


def asking(request: ModelRequest) -> str:
    if request.act is not Act.QUESTIONS:
        return plausible_reply(request)
    questions = [{"question": q, "assumption": a} for q, a in ASKED.get(request.role, [])]
    return json.dumps({"questions": questions})


def spec(seconds: float = 600) -> BotSpec:
    clarifying = Clarifying(enabled=True, wait_seconds=seconds)
    return BotSpec(provider=ScriptedProvider(asking), rounds=1, clarifying=clarifying)


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=spec()) as team:
        yield team


async def questions_posted(team: Team) -> tuple[str, Message]:
    """Start a debate; return its board and the card with its questions."""
    board = await team.debate(QUESTION)
    return board, await team.wait_for_card(board)


def answers_of(debate: Debate) -> dict[int, str]:
    return {number: answer.text for number, answer in debate.answers.items()}


async def board_saying(team: Team, board: str, words: str) -> str:
    """Wait until the board has these words, perhaps after the card; return its text."""
    await team.workspace.wait_for(lambda: words in team.thread(board)[0]["text"])
    return str(team.thread(board)[0]["text"])


async def card_saying(team: Team, board: str, words: str) -> Message:
    """Wait until the card has these words."""
    await team.wait_for_card(board)
    cards = await team.workspace.wait_for(
        lambda: [card for card in team.posts(board, "card") if words in card["text"]]
    )
    return cards[0]


def reactions(team: Team, board: str, reply: Message) -> Sequence[str]:
    message = next(message for message in team.thread(board) if message["ts"] == reply["ts"])
    return [reaction["name"] for reaction in message.get("reactions", ())]


def filled(**answers: str) -> dict[str, Any]:
    """A form's state: `filled(q1="10k")`."""
    fields = {question_field(int(name[1:])): text for name, text in answers.items()}
    return {field: {field: {"value": text}} for field, text in fields.items()}


async def test_the_card_mentions_who_asked_and_the_board_begins_with_the_way_to_answer(team: Team):
    board, card = await questions_posted(team)
    assert f"<@{team.workspace.user('dana').id}>" in card["text"]
    await board_saying(team, board, "Waiting for answers")
    controls = next(
        message for message in team.thread(board)[0]["blocks"] if message["type"] == "actions"
    )
    labels = [button["text"]["text"] for button in controls["elements"]]
    assert labels[0] == "Answer 3 questions"
    await team.workspace.click("alex", team.channel, board, ActionId.ANSWER.value)
    assert team.workspace.views("alex")[-1]["callback_id"] == "answer_form"
    await team.say("1: ten", board)
    await card_saying(team, board, "ten")

    def fewer() -> Any:
        text = json.dumps(team.thread(board)[0]["blocks"])
        return "Answer 2 questions" in text

    await team.workspace.wait_for(fewer)


async def test_a_numbered_reply_answers_and_a_note_to_all_leaves_the_last_question_open(team: Team):
    board, _ = await questions_posted(team)
    numbered = await team.say("3: two of us, part time\n2: none", board, user="alex")
    await card_saying(team, board, "two of us, part time")
    plain = await team.say("note to all: budget was cut", board)
    prompt = await asked_which(team)
    assert [element["text"]["text"] for element in prompt["blocks"][-1]["elements"]] == [
        "Use it as the answer to 1"
    ]
    debate = await team.debate_at(board)
    assert sorted(debate.answers) == [2, 3]
    assert [note.text for note in debate.notes] == ["note to all: budget was cut"]
    await team.say("1: About 10k a second", board)
    debate = await team.wait_for_end(board)
    assert answers_of(debate) == {
        1: "About 10k a second",
        2: "none",
        3: "two of us, part time",
    }
    assert [note.text for note in debate.notes] == ["note to all: budget was cut"]
    assert reactions(team, board, numbered) == ["white_check_mark"]
    assert reactions(team, board, plain) == ["eyes"]


async def asked_which(team: Team, user: str = "") -> Message:
    """Wait for the private message that asks which question a reply answers."""

    def match() -> Sequence[Message]:
        replies = team.workspace.ephemeral(user or team.user, team.channel)
        return [message for message in replies if "Which question" in message["text"]]

    return (await team.workspace.wait_for(match))[-1]


async def test_a_reply_without_a_number_is_a_note_until_somebody_chooses_its_question(team: Team):
    board, _ = await questions_posted(team)
    plain = await team.say("About 10k a second", board)
    prompt = await asked_which(team)
    assert prompt["thread_ts"] == board
    buttons = prompt["blocks"][-1]["elements"]
    assert [button["text"]["text"] for button in buttons] == [
        "Use it as the answer to 1",
        "Use it as the answer to 2",
        "Use it as the answer to 3",
    ]
    debate = await team.debate_at(board)
    assert debate.answers == {}
    assert [note.text for note in debate.notes] == ["About 10k a second"]
    choice = buttons[0]["action_id"]
    await team.workspace.click(team.user, team.channel, prompt["ts"], choice)
    await card_saying(team, board, "About 10k a second")
    # The card may show the newest state of the log before the reaction is queued.
    await team.workspace.wait_for(lambda: "white_check_mark" in reactions(team, board, plain))
    await team.wait_until_sent()
    debate = await team.debate_at(board)
    assert (debate.answers[1].text, debate.notes) == ("About 10k a second", ())
    assert debate.answers[1].by.id == team.workspace.user("dana").id
    assert sorted(reactions(team, board, plain)) == ["eyes", "white_check_mark"]
    # The message with the buttons was replaced by the result.
    prompts = [text for text in team.ephemeral_texts() if "Which question" in text]
    assert (prompts, team.ephemeral_texts()[-1]) == (
        [],
        ":white_check_mark: Taken as the answer to question 1.",
    )


async def test_a_reply_to_somebody_answers_without_their_name(team: Team):
    board, _ = await questions_posted(team)
    await team.say("@alex 2: Three people\n1: ten", board)
    await team.say("@alex thanks!", board)
    await team.workspace.wait_for(
        lambda: [text for text in team.ephemeral_texts() if "thanks!" in text]
    )
    debate = await team.wait_for_log(
        board, lambda debate: len(debate.answers) == 2 and debate.notes
    )
    assert answers_of(debate) == {1: "ten", 2: "Three people"}
    assert [note.text for note in debate.notes] == ["@alex thanks!"]


async def test_what_asks_for_the_question_repeats_no_secret(team: Team):
    board, _ = await questions_posted(team)
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"
    await team.say(f"Use {secret}", board)
    assert secret not in json.dumps(await asked_which(team))


async def test_an_answer_is_corrected_by_naming_it_again_or_editing_and_reopened_by_deleting(
    team: Team,
):
    board, _ = await questions_posted(team)
    first = await team.say("1: ten", board)
    await card_saying(team, board, ": ten")
    again = await team.say("1: twenty", board, user="alex")
    await card_saying(team, board, ": twenty")
    await team.workspace.edit("alex", team.channel, again["ts"], "1: thirty")
    await card_saying(team, board, ": thirty")
    await team.workspace.edit("dana", team.channel, first["ts"], "2: none")
    await card_saying(team, board, ": none")
    assert answers_of(await team.debate_at(board)) == {
        1: "thirty",
        2: "none",
    }
    await team.workspace.delete("alex", team.channel, again["ts"])
    await card_saying(team, board, "2 questions still open")
    await team.say("1: forty\n3: us", board)
    debate = await team.wait_for_end(board)
    assert answers_of(debate) == {
        1: "forty",
        2: "none",
        3: "us",
    }
    assert debate.notes == ()


async def test_the_last_answer_can_be_edited_until_the_agents_go_on():
    clarifying = Clarifying(enabled=True, wait_seconds=600, correct_seconds=600)
    async with team_at_work(spec=replace(spec(), clarifying=clarifying)) as team:
        board, _ = await questions_posted(team)
        answer = await team.say("1: ten\n2: none\n3: us", board)
        await card_saying(team, board, ": answered")
        await team.workspace.edit("dana", team.channel, answer["ts"], "1: ten\n2: none\n3: them")
        card = await card_saying(team, board, ": them")
        debate = await team.debate_at(board)
    assert "can edit their message" in card["text"]
    assert answers_of(debate) == {1: "ten", 2: "none", 3: "them"}
    assert not debate.notes
    assert not debate.contributions


async def test_a_number_that_no_question_has_is_told_and_nothing_is_recorded(team: Team):
    board, _ = await questions_posted(team)
    await team.say("42: what", board)
    await team.workspace.wait_for(lambda: team.has_told("no question 42"))
    assert "Still open: 1, 2, 3." in team.ephemeral_texts()[-1]
    debate = await team.debate_at(board)
    assert not debate.answers
    assert not debate.notes
    await team.say("1: what", board)
    await card_saying(team, board, ": what")


async def test_one_reply_with_several_lines_answers_several_and_the_debate_begins(team: Team):
    board, _ = await questions_posted(team)
    await team.say("1: 10k\nat noon\n2: two people\n3: skip", board)
    debate = await team.wait_for_end(board)
    assert debate.answers[1].text == "10k\nat noon"
    assert debate.answers[3].text == ""
    assert debate.status is Status.CONCLUDED
    card = await card_saying(team, board, "closed")
    assert "Skipped by" in card["text"]
    whole = "\n".join(seen_in(team.replies(board), opened=True))
    assert re.search(r"Who runs it\?.{0,80}Skipped by .{1,20}; assumed: Two people", whole)
    assert "Which data is in a job? NA" not in whole


async def test_the_form_shows_all_questions_and_takes_all_answers(team: Team):
    board, card = await questions_posted(team)
    await team.workspace.click("alex", team.channel, card["ts"], ActionId.ANSWER.value)
    view = team.workspace.views("alex")[-1]
    labels = [block["label"]["text"] for block in view["blocks"] if block["type"] == "input"]
    assert [label[:2] for label in labels[:3]] == ["1.", "2.", "3."]
    rest = {FieldId.REST.value: {FieldId.REST.value: {"selected_options": [{"value": "yes"}]}}}
    values = {**filled(q1="10k", q3="Names and addresses"), **rest}
    await team.workspace.submit("alex", view["id"], values)
    debate = await team.wait_for_end(board)
    assert answers_of(debate) == {
        1: "10k",
        2: "",
        3: "Names and addresses",
    }
    assert debate.answers[1].by.id == team.workspace.user("alex").id


async def test_skip_lets_one_assumption_hold_and_skip_all_the_rest(team: Team):
    board, card = await questions_posted(team)
    block = next(block["block_id"] for block in card["blocks"] if block.get("accessory"))
    await team.workspace.click(
        "dana", team.channel, card["ts"], ActionId.SKIP.value, block_id=block
    )
    await card_saying(team, board, "Skipped by")
    await team.workspace.click("dana", team.channel, card["ts"], ActionId.SKIP_ALL.value)
    debate = await team.wait_for_end(board)
    assert [answer.text for answer in debate.answers.values()] == ["", "", ""]


async def test_when_the_time_is_up_the_assumptions_hold():
    async with team_at_work(spec=spec(seconds=0.5)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        assert debate.answers == {}
        assert len(debate.closed_cards) == 1
        card = await card_saying(team, board, "closed")
        assert "Nobody answered. Assumed: A thousand" in card["text"]
        whole = "\n".join(seen_in(team.replies(board), opened=True))
        pattern = r"How many jobs a second\?.{0,40} Nobody answered; assumed: A thousand"
        assert re.search(pattern, whole)


async def test_the_time_runs_out_for_a_bot_that_was_started_again(tmp_path: Any):
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=tmp_path / "m.db", spec=spec(1.5)) as team:
            board, _ = await questions_posted(team)
            assert await team.status(board) is Status.RUNNING
        async with running_bot(workspace, database=tmp_path / "m.db", spec=spec(1.5)) as again:
            debate = await again.wait_for_end(board)
            assert len(debate.closed_cards) == 1


async def test_the_first_answer_stands_and_the_second_is_a_note_that_its_author_hears_of(
    team: Team,
):
    board, card = await questions_posted(team)
    await team.workspace.click("alex", team.channel, card["ts"], ActionId.ANSWER.value)
    view = team.workspace.views("alex")[-1]
    await team.say("1: 10k", board)
    await card_saying(team, board, "10k")
    await team.workspace.submit("alex", view["id"], filled(q1="20k", q2="Us"))
    debate = await team.debate_at(board)
    assert (debate.answers[1].text, debate.answers[2].text) == ("10k", "Us")
    assert [note.text for note in debate.notes] == ["On question 1 (How many jobs a second?): 20k"]
    message = team.workspace.views("alex")[-1]
    assert "Somebody answered question 1 before you" in json.dumps(message)


async def test_a_card_that_was_open_when_the_bot_was_kicked_is_closed_once_it_is_back():
    models = ScriptedProvider(asking)
    models.hold(Act.PROPOSAL)
    async with team_at_work(spec=replace(spec(3), provider=models)) as team:
        board, card = await questions_posted(team)
        bot = team.workspace.app.bot_user
        await team.workspace.channel_action("dana", "kick", channel=team.channel, member=bot)
        models.let_go()
        models.hold(Act.SYNTHESIS)  # posts are due, but no verdict
        debate_id = (await team.debate_at(board)).id
        while fold(await team.moot.store.events(debate_id)).status is Status.RUNNING:
            await team.moot.context.clock.sleep(0.05)
        await team.workspace.channel_action("dana", "invite", channel=team.channel, member=bot)
        closed = await card_saying(team, board, "closed")
        root = await board_saying(team, board, "ended without a decision")
    assert closed["ts"] == card["ts"]
    assert "actions" not in [block["type"] for block in closed["blocks"]]
    assert "wait for answers" not in root


async def test_a_debate_that_is_stopped_while_it_waits_closes_its_card(team: Team):
    board, card = await questions_posted(team)
    await team.click(board)
    await team.wait_for_end(board)
    await card_saying(team, board, "closed")
    edited = next(message for message in team.thread(board) if message["ts"] == card["ts"])
    assert not any(block["type"] == "actions" for block in edited["blocks"])
    assert "read no answers any more" in edited["text"]
    assert "go on" not in edited["text"]
    text = "\n".join(reply["text"] for reply in team.replies(board))
    assert text.count("stopped the debate") == 1
    assert text.count("ended without a decision") == 1
    assert "before any agent had taken a position" in text
    assert "partial decision" not in text
    assert not team.workspace.pins(team.channel)
