"""After the agents' vote: people's ballots, the report, the team's decision, reminders."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.queue.rows import NewPost
from bot.slack.ids import ActionId, board_key, rank_field, vote_key
from bot.testing import (
    WAIT_SECONDS,
    BotSpec,
    Message,
    Team,
    quick_workspace,
    running_bot,
    team_at_work,
)
from core.debate.log import fold
from core.debate.people import Person
from core.debate.people_events import DecisionRecorded, FeedbackGiven, PeopleBallotCast
from core.debate.rules import When
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import Decision, DecisionKind
from core.request import ModelRequest, PartKind
from core.testing import ScriptedProvider, plausible_reply
from core.transcript.report import report
from slack_on_loopback import run_workspace
from tests.locked import change
from tests.scenarios.test_board import board_saying, buttons
from tests.scenarios.test_starting import form_of
from tests.seen import seen_in

QUESTION = "Should we use Kafka or PostgreSQL as our job queue?"
SPEC = BotSpec(rounds=1)


@pytest.fixture
async def team() -> AsyncGenerator[Team]:
    async with team_at_work(spec=SPEC) as team:
        yield team


def ranking(*options: str) -> dict[str, Any]:
    ranks = {rank_field(place): option for place, option in enumerate(options)}
    return {field: {field: {"selected_option": {"value": item}}} for field, item in ranks.items()}


def post(team: Team, board: str, name: str) -> Message:
    return team.posts(board, name)[0]


async def post_saying(team: Team, board: str, name: str, words: str) -> Message:
    def match() -> Any:
        message = post(team, board, name)
        return message if words in message["text"] else None

    return await team.workspace.wait_for(match)


async def ballot(team: Team, board: str, user: str, *options: str) -> Any:
    vote = post(team, board, "headline")
    await team.workspace.click(user, team.channel, vote["ts"], ActionId.BALLOT.value)
    view = await form_of(team, user)
    return await team.workspace.submit(user, view["id"], ranking(*options))


async def decide(
    team: Team,
    board: str,
    action: ActionId,
    values: dict[str, Any] | None = None,
    *,
    user: str = "dana",
) -> Any:
    await team.click(team.verdict(board), action.value, user=user)
    view = await form_of(team, user)
    return await team.workspace.submit(user, view["id"], values or chosen_why(""))


def chosen_why(text: str) -> dict[str, Any]:
    return {"why": {"why": {"value": text}}}


async def ended(team: Team, question: str = QUESTION) -> tuple[str, Debate]:
    board = await team.debate(question)
    return board, await team.wait_for_end(board)


# --- ballots --------------------------------------------------------------------------------------


async def chosen_in_form(team: Team, board: str, user: str) -> Sequence[str]:
    """Open the ballot; return what is chosen in it already, best first."""
    vote = post(team, board, "headline")
    await team.workspace.click(user, team.channel, vote["ts"], ActionId.BALLOT.value)
    fields = [block for block in (await form_of(team, user))["blocks"] if block["type"] == "input"]
    options = [field["element"].get("initial_option") for field in fields]
    return [option["value"] for option in options if option]


async def test_a_ballot_can_be_changed_the_last_one_counts_and_both_are_in_the_log(team: Team):
    board, _ = await ended(team)
    refused = await ballot(team, board, "alex", "o1", "o1")
    assert refused["response_action"] == "errors"
    assert rank_field(1) in refused["errors"]
    first, last = ("o1", "o2"), ("o2", "o1")
    await ballot(team, board, "alex", *first)
    headline = await post_saying(team, board, "headline", "(1 ballot)")
    assert "PostgreSQL 1 of 1, Kafka 0 of 1" in headline["text"]
    assert await chosen_in_form(team, board, "alex") == list(first)
    view = await form_of(team, "alex")
    assert view["submit"]["text"] == "Change ballot"
    await team.workspace.submit("alex", view["id"], ranking(*last))
    headline = await post_saying(team, board, "headline", "(1 ballot, 1 changed)")
    assert "Kafka 1 of 1, PostgreSQL 0 of 1" in headline["text"]
    await board_saying(team, board, "(1 ballot, 1 changed)")
    debate = await team.debate_at(board)
    alex = team.workspace.user("alex").id
    assert {who: item.options for who, item in debate.people_ballots.items()} == {alex: last}
    log = await team.moot.store.events(debate.id)
    cast = [
        entry.event.ballot.options for entry in log if isinstance(entry.event, PeopleBallotCast)
    ]
    assert cast == [first, last]


async def test_a_vote_that_an_earlier_version_posted_goes_on_being_brought_up_to_date() -> None:
    async with team_at_work(spec=BotSpec(rounds=1, when=When.SPLIT)) as team:
        board, debate = await ended(team)  # all agreed: it can be wanted all the same
        assert debate.setup.quiet
        assert debate.tally
        place = debate.setup.place
        posted = NewPost(
            key=vote_key(debate.id, debate.edition),
            workspace=place.workspace,
            channel=place.channel,
            method="post",
            payload={},
            debate_id=debate.id,
            thread_key=board_key(debate.id),
            post="vote",
        )
        await team.moot.context.outbox.post([posted])
        await team.wait_until_sent()
        await ballot(team, board, "alex", "o1")
        await post_saying(team, board, "vote", "(1 ballot)")
        await post_saying(team, board, "headline", "(1 ballot)")
        await team.click(board, ActionId.DEBATE_ANYWAY.value)
        await post_saying(team, board, "vote", "Counts no more")


async def test_the_same_ballot_again_and_the_same_form_again_change_nothing(team: Team):
    board, _ = await ended(team)
    order = ("o1", "o2")
    await ballot(team, board, "alex", *order)
    await post_saying(team, board, "headline", "(1 ballot)")
    await ballot(team, board, "alex", *order)
    await team.wait_until_sent()
    debate = await team.debate_at(board)
    cast_ballot = debate.people_ballots[team.workspace.user("alex").id]
    log = await team.moot.store.events(debate.id)
    assert len([entry for entry in log if isinstance(entry.event, PeopleBallotCast)]) == 1
    await ballot(team, board, "alex", *reversed(order))
    await post_saying(team, board, "headline", "1 changed")
    await team.moot.context.acts.decide.facts.record(
        debate.id, PeopleBallotCast(ballot=cast_ballot)
    )
    last = (await team.debate_at(board)).people_ballots[cast_ballot.by.id]
    assert last.options == tuple(reversed(order))


async def test_when_the_team_has_decided_the_vote_is_closed_and_a_ballot_stands(team: Team):
    board, debate = await ended(team)
    order = ("o1", "o2")
    await ballot(team, board, "alex", *order)
    await post_saying(team, board, "headline", "(1 ballot)")
    vote = post(team, board, "headline")
    await team.workspace.click("alex", team.channel, vote["ts"], ActionId.BALLOT.value)
    view = await form_of(team, "alex")
    await decide(team, board, ActionId.ACCEPT)
    await board_saying(team, board, "*Accepted*")
    await team.wait_until_sent()
    assert ActionId.BALLOT.value not in str(post(team, board, "headline")["blocks"])
    await team.workspace.submit("alex", view["id"], ranking(*reversed(order)))
    answer = json.dumps(await form_of(team, "alex"))
    assert "Your ballot stands: PostgreSQL, Kafka" in answer
    after = await team.debate_at(board)
    assert after.people_ballots[team.workspace.user("alex").id].options == order
    assert after.id == debate.id


async def test_nobody_is_invited_to_a_vote_that_the_team_has_closed(team: Team):
    board, _ = await ended(team)
    assert "Anybody here can vote" in post(team, board, "headline")["text"]
    await decide(team, board, ActionId.ACCEPT)
    headline = await post_saying(team, board, "headline", "nobody cast a ballot before the team")
    assert "Anybody here can vote" not in headline["text"]


async def test_a_decision_put_off_to_a_date_leaves_the_vote_open(team: Team):
    board, debate = await ended(team)
    day = (debate.now.date() + timedelta(days=40)).isoformat()
    await decide(team, board, ActionId.REVISIT, {"date": {"date": {"selected_date": day}}})
    await board_saying(team, board, "To be revisited")
    await team.wait_until_sent()
    await ballot(team, board, "alex", "o1")
    await post_saying(team, board, "headline", "(1 ballot)")


async def test_people_can_vote_while_the_debate_runs():
    models = ScriptedProvider()
    models.hold(Act.REFINEMENT)
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        board = await team.debate(QUESTION)
        await team.workspace.wait_for(lambda: "Cast your ballot" in buttons(team, board), 300)
        await team.click(board, ActionId.BALLOT.value, user="alex")
        view = await form_of(team, "alex")
        order = ("o2", "o1")
        await team.workspace.submit("alex", view["id"], ranking(*order))
        models.let_go()
        debate = await team.wait_for_end(board)
        assert debate.people_ballots[team.workspace.user("alex").id].options == order
        assert "(1 ballot)" in post(team, board, "headline")["text"]


def changing(request: ModelRequest) -> str:
    """Everybody is for Kafka before the debate, and for PostgreSQL after it."""
    if request.act is not Act.BALLOT:
        return plausible_reply(request)
    ballot = json.loads(plausible_reply(request))
    critiques = [part.label for part in request.parts if part.kind is PartKind.CRITIQUE]
    shares = [80, 20, 0] if critiques else [30, 70, 0]
    moved = critiques[0] if critiques else "none"
    return json.dumps(ballot | {"probabilities": shares, "moved_by": moved})


async def test_who_changed_their_mind_is_shown_with_a_link_to_what_moved_them():
    async with team_at_work(spec=BotSpec(provider=ScriptedProvider(changing), rounds=1)) as team:
        board, debate = await ended(team)
        text = post(team, board, "headline")["text"]
        moved = ": from Kafka (70%) to PostgreSQL (80%), moved by "
        assert text.count(moved) == text.count("'s critique of ") == 3
        final = next(ballot for ballot in debate.ballots.values() if ballot.turn.round)
        # A critique is in its author's post of that round.
        number, _, author, *_ = str(final.moved_by).split("/")
        critique = post(team, board, f"{number}/proposal/{author}/0")
        critique_text = debate.contributions[str(final.moved_by)].text
        assert critique_text.split("\n")[0].strip("*") in "\n".join(
            seen_in([critique], opened=True)
        )
        assert f"p{critique['ts'].replace('.', '')}?thread_ts={board}" in text


# --- the report -----------------------------------------------------------------------------------


def files_of(team: Team, board: str) -> Sequence[Message]:
    return [file for message in team.thread(board) for file in message.get("files", ())]


async def test_report_decision_record_and_whole_record_are_attached_once_though_an_answer_was_lost(
    team: Team,
):
    team.workspace.faults.drop_after("files.completeUploadExternal")
    board, debate = await ended(team)
    await team.wait_until_sent()
    files = files_of(team, board)
    assert [file["name"] for file in files] == [
        f"moot-{debate.id}-report.md",
        f"moot-{debate.id}-decision.md",
        f"moot-{debate.id}-record.json",
    ]
    report = team.workspace.file(files[0]["id"]).decode()
    assert "Use PostgreSQL." in report
    record = json.loads(team.workspace.file(files[2]["id"]))
    assert record["debate_id"] == debate.id
    assert record["events"][-1]["event"]["kind"] == "debate_concluded"


async def test_the_decision_record_is_renewed_at_accept_with_who_when_and_why(team: Team):
    board, debate = await ended(team)
    await decide(team, board, ActionId.ACCEPT, chosen_why("We know it."), user="alex")
    name = f"moot-{debate.id}-"
    renewed = await team.workspace.wait_for(
        lambda: [
            file
            for file in files_of(team, board)
            if file["name"].startswith(name) and file["name"][len(name)].isdigit()
        ]
    )
    text = team.workspace.file(renewed[0]["id"]).decode()
    assert "- Status: accepted" in text
    assert f"- Decided by: alex, {debate.ended_at:%Y-%m-%d}" in text
    assert "- Why: We know it." in text
    assert team.has_replied(board, "(ADR), renewed: accepted.")


async def test_export_puts_the_files_as_they_stand_into_the_thread_once(team: Team):
    board, debate = await ended(team)
    count = len(files_of(team, board))
    await team.type(f"export {debate.id}")
    files = await team.workspace.wait_for(
        lambda: files_of(team, board)[count:] if len(files_of(team, board)) > count else []
    )
    assert [file["name"].rpartition("-")[2] for file in files] == [
        "report.md",
        "decision.md",
        "record.json",
    ]
    assert "come into" in team.ephemeral_texts()[-1]
    assert board.replace(".", "") in team.ephemeral_texts()[-1]
    await team.type(f"export {debate.id}")
    await team.wait_until_sent()
    assert "already" in team.ephemeral_texts()[-1]
    assert len(files_of(team, board)) == count + 3
    await team.type("export dabcdefg")
    assert "There is no debate" in team.ephemeral_texts()[-1]


# --- the team's decision --------------------------------------------------------------------------


async def test_accepting_is_recorded_with_who_and_why_and_shown_everywhere(team: Team):
    board, debate = await ended(team)
    assert buttons(team, board) == []
    refused = await decide(team, board, ActionId.REJECT, chosen_why("  "))
    assert refused["errors"] == {"why": "Write something here."}
    await decide(team, board, ActionId.ACCEPT, chosen_why("We know it."), user="alex")
    alex = team.workspace.user("alex").id
    root = await board_saying(team, board, f"*Accepted* by <@{alex}>")
    assert "not yet the team's decision" not in json.dumps(root["blocks"])
    await post_saying(team, board, "headline", "*Accepted* by")
    assert team.has_replied(board, "Why: We know it.")
    decision = (await team.debate_at(board)).decision
    assert decision is not None
    assert (decision.kind, decision.by.id, decision.why) == (
        DecisionKind.ACCEPT,
        alex,
        "We know it.",
    )
    assert debate.verdict is not None


async def opened(team: Team, board: str, action: ActionId, user: str) -> str:
    """Open the form of a button below the verdict; return its id."""
    await team.click(team.verdict(board), action.value, user=user)
    return str((await form_of(team, user))["id"])


async def test_of_two_who_decide_at_once_the_second_is_told_and_confirms(team: Team):
    board, _ = await ended(team)
    accepts = await opened(team, board, ActionId.ACCEPT, "dana")
    rejects = await opened(team, board, ActionId.REJECT, "alex")
    submit = team.workspace.submit
    await submit("dana", accepts, chosen_why("We know it."))
    answer = await submit("alex", rejects, chosen_why("Too slow."))
    assert answer["response_action"] == "update"
    text = json.dumps(team.workspace.views("alex")[-1])
    dana = team.workspace.user("dana").id
    assert f"*Accepted* by <@{dana}>" in text
    assert "That was decided just now. Nothing of yours was recorded yet." in text
    assert "Too slow." in text
    assert [decision.kind for decision in (await team.debate_at(board)).decisions] == [
        DecisionKind.ACCEPT
    ]
    await submit("alex", rejects, chosen_why("Too slow."))
    board_message = await board_saying(team, board, "*Rejected*")
    assert "*Accepted*" not in board_message["text"]
    decisions = (await team.debate_at(board)).decisions
    assert [decision.kind for decision in decisions] == [DecisionKind.ACCEPT, DecisionKind.REJECT]


async def test_the_same_decision_of_two_is_one_post_and_one_record(team: Team):
    board, _ = await ended(team)
    first = await opened(team, board, ActionId.ACCEPT, "dana")
    second = await opened(team, board, ActionId.ACCEPT, "alex")
    await team.workspace.submit("dana", first, chosen_why("We know it."))
    await board_saying(team, board, "*Accepted*")
    await team.workspace.submit("alex", second, chosen_why("It is cheap."))
    text = json.dumps(team.workspace.views("alex")[-1])
    assert "already: nothing more was recorded" in text
    assert "It is cheap." in text
    await team.wait_until_sent()
    assert len((await team.debate_at(board)).decisions) == 1
    lines = [reply for reply in team.replies(board) if ":classical_building:" in reply["text"]]
    assert len(lines) == 1


async def planned(team: Team, count: int = 1) -> Sequence[datetime]:
    """Wait until so many dates are kept, which they are after the board says so; return them."""
    long_after = datetime(2100, 1, 1, tzinfo=UTC)

    async def dates() -> Sequence[datetime]:
        return [
            reminder.due_at
            for reminder in await team.moot.context.acts.remind.reminders.due(long_after)
        ]

    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while len(planned_dates := await dates()) != count:
                await team.moot.context.clock.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"{len(await dates())} dates are kept, not {count}")
    return planned_dates


async def put_off(team: Team, board: str, day: date) -> None:
    form = {"date": {"date": {"selected_date": day.isoformat()}}}
    await decide(team, board, ActionId.REVISIT, form, user="alex")
    await board_saying(team, board, f"To be revisited on {day.isoformat()}")


async def test_where_slack_does_not_say_a_reminder_is_for_the_morning_in_utc(team: Team):
    board, debate = await ended(team)
    team.workspace.user("alex").tz = "Asia/Tokyo"
    team.workspace.faults.server_error("users.info", times=None)
    day = debate.now.date() + timedelta(days=40)
    await put_off(team, board, day)
    assert await planned(team) == [datetime.combine(day, time(8), UTC)]


async def test_a_day_is_over_when_it_is_over_for_who_names_it(team: Team):
    board, debate = await ended(team)
    today = debate.now.astimezone(ZoneInfo("Pacific/Kiritimati")).date()  # UTC+14
    team.workspace.user("alex").tz = "Pacific/Kiritimati"
    form = {"date": {"date": {"selected_date": today.isoformat()}}}
    answer = await decide(team, board, ActionId.REVISIT, form, user="alex")
    assert answer["errors"]["date"] == "Choose a day after today."
    assert (await team.debate_at(board)).decision is None


async def test_only_a_debate_with_a_verdict_can_supersede_another():
    provider = ScriptedProvider()
    async with team_at_work(spec=BotSpec(provider=provider, rounds=1)) as team:
        board, _ = await ended(team)
        provider.hold(Act.PROPOSAL)
        without = team.debate_id(await team.debate("And what about SQS?"))
        await team.click(team.verdict(board), ActionId.SUPERSEDE.value)
        await team.workspace.wait_for(
            lambda: "no newer debate with a verdict" in team.ephemeral_texts()[-1]
        )
        await team.moot.context.acts.steer.give_up(without, "It broke.")
        provider.let_go()
        _, newer = await ended(team, "And what about RabbitMQ?")
        await team.click(team.verdict(board), ActionId.SUPERSEDE.value)
        form = await form_of(team, "dana")
        assert newer.id in json.dumps(form)
        assert without not in json.dumps(form)
        state = {"newer": {"newer": {"selected_option": {"value": without}}}}
        refused = await team.workspace.submit("dana", form["id"], state)
        assert f"Debate `{without}` cannot supersede" in refused["errors"]["newer"]


def revisit(debate: Debate, origin: str) -> DecisionRecorded:
    day = date(2020, 1, 1)
    by = Person(id=debate.setup.asked_by.id)
    decision = Decision(
        kind=DecisionKind.REVISIT, by=by, why="Traffic grows.", revisit_on=day, origin=origin
    )
    return DecisionRecorded(decision=decision)


async def damage(database: Path, debate_id: str) -> None:
    """Make a debate's first event one that this version does not know."""
    await change(
        database, "UPDATE events SET body = '{}' WHERE debate_id = ? AND seq = 1", (debate_id,)
    )


async def reminders_in(team: Team, board: str) -> Sequence[Message]:
    return [reply for reply in team.replies(board) if "Time to revisit" in reply["text"]]


async def test_a_bot_that_was_down_on_the_day_reminds_people_when_it_is_up_once(tmp_path: Path):
    async with run_workspace(quick_workspace()) as workspace:
        async with running_bot(workspace, database=tmp_path / "m.db", spec=SPEC) as team:
            board, debate = await ended(team)
            team.moot.reminders.cancel()
            await team.moot.context.acts.decide.facts.record(debate.id, revisit(debate, "V1"))
            await board_saying(team, board, "To be revisited on 2020-01-01")
            await planned(team)
            assert await reminders_in(team, board) == []
        async with running_bot(workspace, database=tmp_path / "m.db", spec=SPEC) as again:
            await again.workspace.wait_for(lambda: again.has_replied(board, "Time to revisit"))
            await again.moot.context.acts.remind.look()
            await again.wait_until_sent()
            reminders = await reminders_in(again, board)
            assert len(reminders) == 1
            assert "Why: Traffic grows." in reminders[0]["text"]


@pytest.mark.slow
async def test_a_debate_that_cannot_be_read_holds_up_nobody_elses_reminder(tmp_path: Path):
    path = tmp_path / "m.db"
    async with (
        run_workspace(quick_workspace()) as workspace,
        running_bot(workspace, database=path, spec=SPEC) as team,
    ):
        (_, broken), (board, debate) = await ended(team), await ended(team)
        team.moot.reminders.cancel()
        for item in (broken, debate):
            await team.moot.context.acts.decide.facts.record(item.id, revisit(item, f"V-{item.id}"))
        await planned(team, 2)
        await damage(path, broken.id)
        await team.moot.context.acts.remind.look()
        await team.workspace.wait_for(lambda: team.has_replied(board, "Time to revisit"))


# --- feedback -------------------------------------------------------------------------------------


async def judge(team: Team, board: str, user: str, thumb: str) -> Message:
    """Press a thumb under the verdict; return what only this person is told."""
    headline = post(team, board, "headline")
    button = next(block for block in headline["blocks"] if block["type"] == "context_actions")
    value = button["elements"][0][f"{thumb}_button"]["value"]
    before = len(team.ephemeral_texts(user))
    await team.workspace.click(
        user, team.channel, headline["ts"], ActionId.FEEDBACK.value, value=value
    )
    await team.workspace.wait_for(lambda: len(team.ephemeral_texts(user)) > before)
    return team.workspace.ephemeral(user, team.channel)[-1]


async def why_form(team: Team, user: str, thanks: Message) -> Any:
    await team.workspace.click(user, team.channel, thanks["ts"], ActionId.SAY_WHY.value)
    return await form_of(team, user)


async def test_why_a_verdict_was_of_no_use_is_kept_and_reported_without_secrets(team: Team):
    board, debate = await ended(team)
    thanks = await judge(team, board, "alex", "negative")
    assert "recorded as not helpful" in thanks["text"]
    form = await why_form(team, "alex", thanks)
    assert "What was wrong or missing?" in json.dumps(form)
    await team.workspace.close_view("alex", form["id"])  # that takes nothing back
    form = await why_form(team, "alex", thanks)
    comment = "Nothing on\ncost. See https://bob:hunter2@wiki.example"
    await team.workspace.submit("alex", form["id"], chosen_why(comment))
    log = await team.moot.store.events(debate.id)
    feedback = [entry.event.feedback for entry in log if isinstance(entry.event, FeedbackGiven)]
    assert [item.helpful for item in feedback] == [False, False]
    assert not feedback[0].comment
    line = "found it not helpful: Nothing on cost. See https://[redacted]@&#8203;wiki.example"
    assert line in report(fold(log))
