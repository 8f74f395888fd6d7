"""Events and actions that arrive twice have one effect."""

from collections import Counter
from contextlib import suppress

from bot.slack.ids import ActionId, note_id
from bot.testing import BotSpec, Team, team_at_work
from core.debate.log import fold
from core.debate.people_events import StopRequested
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import KeyRefused
from core.ports import DebateFilter
from core.testing import ScriptedProvider
from core.use_cases.messages import PersonsReply
from slack_on_loopback.errors import PersonRefusal
from tests.scenarios.test_edges import stale_click
from tests.scenarios.test_faults import failing

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"


async def open_debate(team: Team, models: ScriptedProvider) -> str:
    """Start a debate that waits after its proposals; return its board."""
    models.hold(Act.CRITIQUE)
    board = await team.debate(QUESTION)
    await models.wait_until_asked(Act.CRITIQUE)
    return board


async def reply_in_time(team: Team, models: ScriptedProvider, text: str, board: str) -> str:
    """Reply, let the debate go on after the reply is recorded, and return its timestamp."""
    ts = str((await team.say(text, board, user="alex"))["ts"])
    await team.workspace.wait_for(lambda: is_taken(team, board, ts))
    models.let_go()
    return ts


def is_taken(team: Team, board: str, ts: str) -> bool:
    message = next(message for message in team.thread(board) if message["ts"] == ts)
    return any(reaction["name"] == "eyes" for reaction in message.get("reactions", []))


async def test_the_same_question_of_two_people_is_one_debate_that_the_second_is_led_to(
    team: Team, models: ScriptedProvider
):
    models.hold(Act.PROPOSAL)
    board = await team.debate("Kafka or PostgreSQL for jobs?")
    await team.wait_until_sent()  # until then the board's address is not known
    for words in ("kafka or  PostgreSQL for jobs", "Kafka or PostgreSQL for jobs?!"):
        await team.type(words, user="alex")
        text = team.ephemeral_texts("alex")[-1]
        assert "The same question was asked here 1 minute ago, and debate `d" in text
        assert f"p{board.replace('.', '')}" in text  # the link to the board
        assert "Nothing was started." in text
    await team.say("@Moot Kafka or PostgreSQL for jobs?", user="sam")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("sam"))
    assert "The same question was asked here" in team.ephemeral_texts("sam")[-1]
    await team.type("Kafka or PostgreSQL for our jobs?", user="alex")
    assert "begins" in team.ephemeral_texts("alex")[-1]
    models.let_go()
    await team.wait_for_end(board)
    assert len(await team.moot.store.find(DebateFilter(limit=10))) == 2


async def test_who_asks_second_has_it_debated_all_the_same_with_a_button(
    team: Team, models: ScriptedProvider
):
    models.hold(Act.PROPOSAL)
    first = await team.debate(QUESTION)
    await team.type(f"--format council {QUESTION}", user="alex")
    await team.say(f"@Moot {QUESTION}", user="sam")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("sam"))
    for user in ("alex", "sam"):
        offer = team.workspace.ephemeral(user, team.channel)[-1]
        assert "Debate it all the same" in str(offer["blocks"])
        for _ in range(2):  # pressed twice
            with suppress(PersonRefusal):  # the message is replaced by then
                await team.workspace.click(
                    user, team.channel, offer["ts"], ActionId.DEBATE_IT.value
                )
    models.let_go()
    await team.wait_for_end(first)
    entries = await team.moot.store.find(DebateFilter(limit=10))
    setups = {entry.asked_by: entry for entry in entries}
    assert len(entries) == len(setups) == 3
    alex = team.workspace.user("alex").id
    log = await team.moot.store.events(setups[alex].debate_id)
    assert fold(log).setup.format == "council"
    assert fold(log).setup.question == QUESTION


async def test_who_asks_second_with_a_file_gets_no_button_that_would_lose_it(
    team: Team, models: ScriptedProvider
):
    models.hold(Act.PROPOSAL)
    await team.debate(QUESTION)
    text = f"@Moot {QUESTION}"
    await team.workspace.share_file("sam", team.channel, "load.csv", b"a,b", text=text)
    await team.workspace.wait_for(lambda: team.ephemeral_texts("sam"))
    refused = team.workspace.ephemeral("sam", team.channel)[-1]
    assert "The same question was asked here" in refused["text"]
    assert "Debate it all the same" not in str(refused)
    models.let_go()


async def test_a_reply_delivered_twice_is_one_note(team: Team, models: ScriptedProvider):
    board = await open_debate(team, models)
    team.workspace.faults.double_next_events(1)
    await reply_in_time(team, models, "Two people, six weeks.", board)
    debate = await team.wait_for_end(board)
    assert [note.text for note in debate.notes] == ["Two people, six weeks."]
    times = Counter(
        delivery.event_id for delivery in team.workspace.deliveries if delivery.name == "message"
    )
    assert max(times.values()) == 2


async def test_two_clicks_on_stop_are_one_stop(team: Team, models: ScriptedProvider):
    board = await open_debate(team, models)
    await team.click(board)
    await stale_click(team, board, ActionId.STOP)
    await team.wait_for_log(board, lambda debate: debate.stop)
    models.let_go()
    debate = await team.wait_for_end(board)
    log = await team.moot.store.events(debate.id)
    assert len([entry for entry in log if isinstance(entry.event, StopRequested)]) == 1
    assert debate.status is Status.CONCLUDED
    assert debate.verdict is not None
    assert debate.verdict.partial


async def test_stopping_by_command_leads_to_a_partial_decision(
    team: Team, models: ScriptedProvider
):
    board = await open_debate(team, models)
    entry = (await team.moot.store.find(DebateFilter()))[0]
    await team.type(f"stop {entry.debate_id}")
    await team.wait_for_log(board, lambda debate: debate.stop)
    models.let_go()
    debate = await team.wait_for_end(board)
    assert debate.stop is not None
    assert "stops" in team.ephemeral_texts()[-1]
    await team.type(f"stop {entry.debate_id}")
    assert "has ended already" in team.ephemeral_texts()[-1]


async def test_who_replies_after_the_end_is_told_once_how_to_go_on(team: Team):
    board = await team.debate(QUESTION)
    debate = await team.wait_for_end(board)
    posts = len(team.thread(board))
    team.workspace.faults.double_next_events(1)
    for words in ("Thanks!", "I like SQS more."):
        await team.say(words, board, user="alex")
    await team.say("Indeed.", board, user="sam")
    await team.workspace.wait_for(lambda: team.ephemeral_texts("sam"))
    await team.workspace.wait_for(
        lambda: all(delivery.acked for delivery in team.workspace.deliveries)
    )
    await team.wait_until_sent()
    assert (await team.moot.store.events(debate.id))[-1].seq == debate.seq
    assert len(team.thread(board)) == posts + 3
    texts = [words for words in team.ephemeral_texts("alex") if debate.id in words]
    assert len(texts) == 1
    assert "has ended" in texts[0]
    assert "*Revisit*" in texts[0]
    assert "`/debate <question>`" in texts[0]
    whispers = team.workspace.ephemeral("alex", team.channel)
    assert [whisper["thread_ts"] for whisper in whispers if debate.id in whisper["text"]] == [board]


async def test_after_a_debate_without_a_verdict_nothing_to_revisit_is_named():
    broken = failing("security", "architect", "simplicity", error=KeyRefused("No."))
    async with team_at_work(spec=BotSpec(provider=broken)) as team:
        board = await team.debate(QUESTION)
        debate = await team.wait_for_end(board)
        assert debate.verdict is None
        await team.say("What went wrong?", board)
        await team.workspace.wait_for(lambda: team.has_told("has ended"))
        assert "*Revisit*" not in team.ephemeral_texts()[-1]


async def test_a_reply_that_was_taken_in_time_and_comes_again_after_the_end_is_no_late_one(
    team: Team, models: ScriptedProvider
):
    board = await open_debate(team, models)
    text = await reply_in_time(team, models, "Two people.", board)
    debate = await team.wait_for_end(board)
    origin = note_id(team.workspace.channel(team.channel).id, text)
    again = PersonsReply(
        debate_id=debate.id, by=debate.notes[0].author, text="Two people.", origin=origin
    )
    assert [note.id for note in debate.notes] == [origin]
    assert await team.moot.context.acts.answer.take(again)
