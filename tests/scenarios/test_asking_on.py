"""After the verdict people ask on, and get answers from the debate's record."""

from pathlib import Path

from bot.slack.ids import ActionId, FieldId
from bot.testing import BotSpec, Message, Team, quick_workspace, running_bot, team_at_work
from core.debate.agents import OFFLINE
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.turn import Act
from core.errors import ProviderDown
from core.request import ModelRequest
from core.testing import ScriptedProvider, plausible_reply
from core.use_cases.limits import Bounds
from slack_on_loopback import run_workspace
from tests.scenarios.test_whole_debate import QUESTION

ASKED = "What would make you choose Kafka instead?"
ANSWER = (
    'More load: [r1: "More than 50,000 jobs per second"]. '
    'Nobody said that [r1: "Kafka is cheaper than ever"].'
)


def answering(request: ModelRequest) -> str:
    """Answers questions after the verdict with a true quote and a false one."""
    return ANSWER if request.act is Act.FOLLOW_UP else plausible_reply(request)


async def log_of(team: Team, debate: Debate) -> Debate:
    return fold(await team.moot.store.events(debate.id))


async def answers(team: Team, board: str, count: int = 1) -> list[Message]:
    """Wait for so many answers in the thread."""

    def there() -> list[Message]:
        replies = [reply for reply in team.replies(board) if "asked: “" in str(reply["text"])]
        return replies if len(replies) >= count else []

    return await team.workspace.wait_for(there, timeout=300)


async def test_a_mention_in_the_thread_is_answered_from_the_record_with_checked_quotes() -> None:
    provider = ScriptedProvider(answering)
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board = await team.debate(QUESTION)
        ended = await team.wait_for_end(board)
        question = await team.say(f"@Moot {ASKED}", board, user="alex")
        (answer,) = await answers(team, board)
        await team.wait_until_sent()
        debate = await log_of(team, ended)
        message = next(message for message in team.thread(board) if message["ts"] == question["ts"])
        headline = team.verdict(board)
        text = str(answer["text"])
    assert f"“{ASKED}”" in text
    assert "“More than 50,000 jobs per second” (r1)" in text
    assert "~“Kafka is cheaper than ever”~" in text
    assert headline.replace(".", "") in str(answer["blocks"])  # r1 leads to the verdict
    assert [reaction["name"] for reaction in message["reactions"]] == ["eyes"]
    assert not team.ephemeral_texts("alex")
    (request,) = provider.requests_of(Act.FOLLOW_UP)
    prompt = "\n".join(f"{part.label}\n{part.text}" for part in request.parts)
    assert ASKED in prompt
    assert "r1: the verdict" in prompt
    assert "Position of Architect" in prompt
    assert debate.follow_ups[0].by.name == "alex"
    assert debate.usage.attempts == ended.usage.attempts + 1
    assert debate.status == ended.status


async def test_a_question_reaches_the_judge_though_it_begins_like_a_command() -> None:
    provider = ScriptedProvider(answering)
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        await team.say("@Moot :tada:", board, user="alex")
        await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
        question = "show me the open questions"
        await team.say(f"@Moot {question}", board)
        await answers(team, board)
        await team.say("@Moot Would you accept this?", board)
        await answers(team, board, 2)
        texts = team.ephemeral_texts("alex")
    assert "Mention me with a question" in texts[-1]
    prompts = [str(request.parts) for request in provider.requests_of(Act.FOLLOW_UP)]
    assert len(prompts) == 2
    assert question in prompts[0]
    assert "Would you accept this?" in prompts[1]


async def test_a_question_without_a_mention_is_offered_to_the_judge_and_asked_once() -> None:
    provider = ScriptedProvider(answering)
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board = await team.debate(QUESTION)
        ended = await team.wait_for_end(board)
        await team.say(ASKED, board, user="alex")
        await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
        (offer,) = team.workspace.ephemeral("alex", team.channel)
        assert (
            f"Shall its judge answer, from what was said in the debate?\n> {ASKED}" in offer["text"]
        )
        assert offer["thread_ts"] == board
        assert (await log_of(team, ended)).follow_ups == ()
        await team.workspace.click("alex", team.channel, offer["ts"], ActionId.ASK_THIS.value)
        (answer,) = await answers(team, board)
        assert f"“{ASKED}”" in answer["text"]
        assert team.ephemeral_texts("alex") == ["The judge answers in the thread."]
        await team.say("@Moot Thanks!", board, user="alex")
        await team.workspace.wait_for(lambda: "Mention me" in team.ephemeral_texts("alex")[-1])
        assert len(provider.requests_of(Act.FOLLOW_UP)) == 1
        await team.workspace.share_file(
            "alex", team.channel, "load.csv", b"1", text=f"@Moot {ASKED}", thread_ts=board
        )
        await answers(team, board, 2)
        unread = "do not read what you attached. Press *Debate it on*"
        await team.workspace.wait_for(lambda: unread in team.ephemeral_texts("alex")[-1])


async def test_an_answer_may_quote_the_debates_sources() -> None:
    quotes = (
        'It is [e1: "costs $1,840 per month"], not [e1: "costs $840 per month"]: '
        '[r1: "More than 50,000 jobs per second"].'
    )

    def quoting(request: ModelRequest) -> str:
        return quotes if request.act is Act.FOLLOW_UP else plausible_reply(request)

    async with team_at_work(spec=BotSpec(provider=ScriptedProvider(quoting), rounds=1)) as team:
        root = await team.say("The offer costs $1,840 per month.", user="alex")
        await team.say(f"@Moot {QUESTION}", root["ts"])
        board = await team.new_board()
        ended = await team.wait_for_end(board)
        await team.say(f"@Moot {ASKED}", board)
        (answer,) = await answers(team, board)
        debate = await log_of(team, ended)
    text = str(answer["text"])
    assert f"/archives/{root['channel']}/p{root['ts'].replace('.', '')}" in text
    assert "“costs $1,840 per month” (<" in text
    assert "~“costs $840 per month”~" in text
    assert "“More than 50,000 jobs per second” (r1)" in text
    assert list(debate.follow_up_answers[1].entries) == ["r1"]


async def test_the_button_asks_too_and_each_answer_sees_the_ones_before() -> None:
    provider = ScriptedProvider(answering)
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        await team.click(team.verdict(board), ActionId.ASK.value)
        views = await team.workspace.wait_for(lambda: team.workspace.views(team.user))
        field = FieldId.QUESTION.value
        typed = {field: {field: {"value": ASKED}}}
        await team.workspace.submit(team.user, views[0]["id"], typed)
        await answers(team, board)
        await team.say("And who disagreed, @Moot?", board)
        await answers(team, board, 2)
        posts = [str(reply["text"]) for reply in team.replies(board)]
    assert any("asks: What would make you" in text for text in posts)
    first, second = provider.requests_of(Act.FOLLOW_UP)
    before = [part for part in second.parts if part.label == "What was asked after the verdict"]
    assert "More than 50,000" in before[0].text
    assert not any(part.label == before[0].label for part in first.parts)


async def test_where_no_model_can_be_asked_the_record_itself_is_shown() -> None:
    def away(request: ModelRequest) -> str | ProviderDown:
        return ProviderDown("It is away.") if request.act is Act.FOLLOW_UP else answering(request)

    async with team_at_work(spec=BotSpec(provider=ScriptedProvider(away), rounds=1)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        await team.say("@Moot How deep does the queue's depth go?", board)
        (answer,) = await answers(team, board)
    assert "The judge could not be asked" in str(answer["text"])
    assert "Watch the queue's depth" in str(answer["text"])


async def test_without_a_model_nobody_pretends_to_answer() -> None:
    provider = ScriptedProvider(name=OFFLINE)
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        await team.say("@Moot What about the queue's depth?", board)
        (answer,) = await answers(team, board)
        await team.say("@Moot Zebras, quaggas?", board)
        nothing = (await answers(team, board, 2))[-1]
    assert "No model was asked" in str(answer["text"])
    assert "Answered from the record" in str(answer["blocks"])
    assert "No text in the record has words of the question." in str(nothing["text"])
    assert "No answer was found in the record of this debate." in str(nothing["blocks"])
    assert "Answered from the record" not in str(nothing["blocks"])
    assert not provider.requests_of(Act.FOLLOW_UP)


async def test_a_debate_takes_so_many_questions_and_no_more() -> None:
    bounds = Bounds(questions_per_debate=1)
    spec = BotSpec(provider=ScriptedProvider(answering), rounds=1, bounds=bounds)
    async with team_at_work(spec=spec) as team:
        board = await team.debate(QUESTION)
        await team.wait_for_end(board)
        await team.say(f"@Moot {ASKED}", board)
        await answers(team, board)
        await team.say("@Moot And now?", board, user="alex")
        texts = await team.workspace.wait_for(lambda: team.ephemeral_texts("alex"))
    assert "as many as one takes" in texts[0]


async def test_a_question_outlives_a_stop_while_it_is_answered(tmp_path: Path) -> None:
    slow = ScriptedProvider(answering)
    async with run_workspace(quick_workspace()) as workspace:
        spec = BotSpec(provider=slow, rounds=1)
        async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
            board = await team.debate(QUESTION)
            ended = await team.wait_for_end(board)
            slow.latency = 60
            await team.say(f"@Moot {ASKED}", board)
            await slow.wait_until_asked(Act.FOLLOW_UP)
        slow.latency = 0
        for _ in range(2):
            async with running_bot(workspace, database=tmp_path / "moot.db", spec=spec) as team:
                await answers(team, board)
                await team.wait_until_sent()
                debate = await log_of(team, ended)
                assert len(debate.follow_ups) == len(debate.follow_up_answers) == 1
                assert len(await answers(team, board)) == 1
    assert len(slow.requests_of(Act.FOLLOW_UP)) == 2
