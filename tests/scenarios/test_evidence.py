"""Evidence in Slack: threads and files become sources, quotes are checked, and what cannot be read
is said to who brought it. Real files over real HTTP."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.slack.access import WorkspaceDirectories
from bot.slack.client import SingleWorkspaceClient, WorkspaceClient, slack_client
from bot.slack.evidence import SlackSources, file_references, thread_reference
from bot.slack.manifest import manifest
from bot.slack.payloads import Identity, SharedFile, body_of
from bot.testing import BotSpec, Message, Team, quick_workspace, team_at_work
from core.debate.log import event_to_json
from core.debate.state import Status
from core.debate.turn import Act
from core.errors import BadInput
from core.evidence.reading import FetchedFile
from core.request import ModelRequest
from core.testing import ScriptedProvider, a_verdict_reply, plausible_reply
from slack_on_loopback import WorkspaceConfig
from tests.core.evidence.office import a_pdf, an_excel_file
from tests.seen import seen_in

QUESTION = "Kafka or PostgreSQL for our jobs?"
PDF = a_pdf(["Cover page", "The managed offer costs $1,840 per month."])
CSV = b"month,jobs\nMarch,2000\nApril,2500\n"


def quoting(*citations: str) -> ScriptedProvider:
    """A model that puts these citations into every speech and into the verdict's reasons."""

    def script(request: ModelRequest) -> str:
        if request.act is Act.SYNTHESIS:
            return json.dumps(
                a_verdict_reply(reasons=[f"So it is {citation}." for citation in citations])
            )
        text = plausible_reply(request)
        is_speech = request.act in {Act.PROPOSAL, Act.CRITIQUE, Act.REFINEMENT}
        return f"{text}\n\n{' '.join(citations)}" if is_speech else text

    return ScriptedProvider(script)


async def asked_in_thread(team: Team, root: Message) -> str:
    """Mention the bot in people's thread; return the board's timestamp."""
    await team.say(f"@Moot {QUESTION}", root["ts"])
    return await team.new_board()


def texts(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(message["text"]) for message in messages)


async def test_a_thread_with_files_becomes_sources_whose_quotes_lead_to_message_and_page() -> None:
    model = quoting(
        '[e1: "We lose about 20 jobs a week"]',
        '[e2: "costs $1,840 per month"]',
        '[e3: "April,2500"]',
        '[e2: "costs $1,480 per month"]',
    )
    async with team_at_work(spec=BotSpec(provider=model)) as team:
        root = await team.say("Redis restarts too often.", user="alex")
        for number in range(57):
            await team.say(f"Remark {number}", root["ts"], user="priya")
        lost = await team.say("We lose about 20 jobs a week.", root["ts"], user="alex")
        share = team.workspace.share_file
        await share("alex", team.channel, "offer.pdf", PDF, thread_ts=root["ts"])
        await share("dana", team.channel, "load.csv", CSV, text="the load", thread_ts=root["ts"])
        board = await asked_in_thread(team, root)
        debate = await team.wait_for_end(board)
        text = "\n".join(seen_in(team.replies(board), opened=True))

    assert debate.status is Status.CONCLUDED
    assert [source.reference.title for source in debate.evidence] == [
        "the thread in which the debate was asked for",
        "offer.pdf",
        "load.csv",
    ]
    assert debate.evidence[1].reference.by.name == "alex"
    assert debate.verdict
    citations = [(citation.status.value, citation.place) for citation in debate.verdict.citations]
    assert citations == [
        ("verified", debate.evidence[0].marks[58].label),
        ("verified", "page 2"),
        ("verified", "row 3"),
        ("unverified", ""),
    ]
    link = debate.verdict.citations[0]
    assert f"/archives/{lost['channel']}/p{lost['ts'].replace('.', '')}" in link.address
    # In Slack: a link to the message and to the file, and the fake struck out.
    assert link.address.replace("&", "&amp;") in text
    assert "|e2, page 2>" in text
    assert "~“costs $1,480 per month”~ (not found in e2)" in text
    # A reason is whole, with its quotes in place, and is never called verified itself.
    assert "Only quotes were checked" in text
    assert "verified*" not in text


async def test_a_file_at_the_question_and_one_in_the_thread_are_read() -> None:
    models = ScriptedProvider()
    models.hold(Act.CRITIQUE)
    async with team_at_work(spec=BotSpec(provider=models)) as team:
        await team.workspace.share_file(
            "dana", team.channel, "load.xlsx", an_excel_file(), text=f"@Moot {QUESTION}"
        )
        board = await team.new_board()
        await team.workspace.share_file("alex", team.channel, "load.csv", CSV, thread_ts=board)
        await team.wait_for_log(board, lambda debate: len(debate.evidence) == 2)
        models.let_go()
        debate = await team.wait_for_end(board)
        marked = [
            message
            for message in team.thread(board)
            if message.get("files") and message.get("user")
        ]
        text = texts(team.replies(board))
    assert [source.reference.title for source in debate.evidence] == ["load.xlsx", "load.csv"]
    assert [note.text for note in debate.notes] == ["[Attached as evidence: load.csv]"]
    assert "eyes" in [item["name"] for item in marked[0].get("reactions", [])]
    assert "as `e1`: " in text


async def test_debate_this_takes_the_messages_files_and_its_thread() -> None:
    async with team_at_work() as team:
        root = await team.say("Redis loses jobs.", user="alex")
        message = await team.workspace.share_file(
            "alex", team.channel, "load.csv", CSV, text=QUESTION, thread_ts=root["ts"]
        )
        await team.workspace.shortcut(team.user, "debate_this", team.channel, message["ts"])
        (view,) = await team.workspace.wait_for(lambda: team.workspace.views(team.user))
        assert "The agents will read: load.csv" in str(view["blocks"])
        ticked = {"selected_options": [{"value": "yes"}]}
        await team.workspace.submit(team.user, view["id"], {"thread": {"thread": ticked}})
        board = await team.new_board()
        debate = await team.wait_for_end(board)
    titles = [source.reference.title for source in debate.evidence]
    assert titles == ["the thread in which the debate was asked for", "load.csv"]
    assert debate.setup.question == QUESTION


async def test_links_pasted_into_the_form_become_sources() -> None:
    model = quoting('[e1: "We lose about 20 jobs a week"]', '[e2: "April,2500"]')
    async with team_at_work(spec=BotSpec(provider=model)) as team:
        work = team.workspace
        session = slack_client(work.bot_token, work.api_url)
        root = await team.say("Redis restarts too often.", user="alex")
        lost = await team.say("We lose about 20 jobs a week.", root["ts"], user="alex")
        shared = await work.share_file("alex", team.channel, "load.csv", CSV)
        response = await session.chat_getPermalink(channel=lost["channel"], message_ts=lost["ts"])
        reply = str(body_of(response)["permalink"])
        await team.type("")
        (view,) = await work.wait_for(lambda: work.views(team.user))

        async def submitted(*links: object) -> Mapping[str, str]:
            sources = {"sources": {"sources": {"value": "\n".join(map(str, links))}}}
            question = {"question": {"question": {"value": QUESTION}}}
            return (await work.submit(team.user, view["id"], {**question, **sources})) or {}

        refused = await submitted("https://docs.example.com/queues")
        await submitted(reply, shared["files"][0]["permalink"])
        board = await team.new_board()
        debate = await team.wait_for_end(board)

    assert "Pages of docs.example.com are not read here" in str(refused)
    # The whole thread, though the link leads to its second message.
    titles = [source.reference.title for source in debate.evidence]
    assert titles == ["a thread of this channel", "load.csv"]
    assert "Redis restarts too often." in debate.evidence[0].text
    assert debate.verdict
    assert {citation.status.value for citation in debate.verdict.citations} == {"verified"}


async def test_what_cannot_be_read_is_said_to_who_brought_it() -> None:
    async with team_at_work() as team:
        root = await team.say("See this.", user="alex")
        await team.workspace.share_file(
            "alex", team.channel, "plan.png", b"\x89PNG\r\n", thread_ts=root["ts"]
        )
        board = await asked_in_thread(team, root)
        debate = await team.wait_for_end(board)
        text = texts(team.replies(board))
        alex = team.workspace.user("alex").id
    assert debate.status is Status.CONCLUDED
    assert f"<@{alex}>, I could not read plan.png: it is a picture" in text


def without_files_read() -> WorkspaceConfig:
    base = quick_workspace()
    scopes = [item for item in manifest()["oauth_config"]["scopes"]["bot"] if item != "files:read"]
    return replace(base, manifest={**base.manifest, "oauth_config": {"scopes": {"bot": scopes}}})


async def test_without_the_permission_the_bot_says_what_it_could_not_read() -> None:
    async with team_at_work(config=without_files_read()) as team:
        root = await team.say("See this.", user="alex")
        await team.workspace.share_file("alex", team.channel, "load.csv", CSV, thread_ts=root["ts"])
        board = await asked_in_thread(team, root)
        debate = await team.wait_for_end(board)
        text = texts(team.replies(board))
        decided = texts(team.workspace.messages(team.channel))
    assert [source.fault == "" for source in debate.sources] == [True, False]
    assert "A source that was given could not be read: load.csv" in decided
    assert "I could not read load.csv: Moot lacks the permission files:read" in text


SECRET = b"The salaries are 100 and 200."


async def test_a_file_or_thread_of_another_channel_is_never_read() -> None:
    """Whoever knows a file's id or addresses, or names it in a question or note, gets nothing."""
    async with team_at_work() as team:
        work = team.workspace
        # The bot is in both channels.
        await work.channel_action("dana", "create", name="board", is_private=True)
        bot = work.app.bot_user
        await work.channel_action("dana", "invite", channel="board", member=bot)
        root = await work.say("dana", "board", "Pay")
        hidden = await work.share_file("dana", "board", "pay.txt", SECRET, thread_ts=root["ts"])
        file = hidden["files"][0]
        named = f"{file['permalink']} {file['url_private']} {file['id']}"
        await team.say(f"@Moot Is {named} right? Read it.")
        board = await team.new_board()
        await team.say(f"See {named}", board)
        debate = await team.wait_for_end(board)
        record = [event_to_json(event.event) for event in await team.moot.store.events(debate.id)]

        session = slack_client(work.bot_token, work.api_url)
        identity = Identity.model_validate((await session.auth_test()).data)
        clients = SingleWorkspaceClient(WorkspaceClient(session, identity))
        sources = SlackSources(clients, WorkspaceDirectories(clients))
        here, by = debate.setup.place, debate.setup.asked_by
        forged = SharedFile(
            id=file["id"], channels=(here.channel,), url_private=file["url_private"]
        )
        (reference,) = file_references([forged], by)
        board = work.channel("board").id
        thread = thread_reference(board, root["ts"], without="", by=by)
        moved = thread.model_copy(update={"fetch": f"{here.channel}/{root['ts']}/"})
        refused = list[str]()
        for fetch, reference_of in (
            (sources.fetch_file, reference),
            (sources.fetch_thread, thread),
            (sources.fetch_thread, moved),
        ):
            with pytest.raises(BadInput) as error:
                await fetch(reference_of, here, 10**6)
            refused.append(str(error.value))
        elsewhere = here.model_copy(update={"channel": board})
        own_file = await sources.fetch_file(reference, elsewhere, 10**6)
    read = [(source.text, source.fault) for source in debate.sources]
    assert (debate.status, read) == (Status.CONCLUDED, [("", refused[0])])
    assert "salaries" not in "".join(record)
    assert refused[:2] == ["it was not shared in this channel", "it is in another channel"]
    assert "not there any more" in refused[2]
    assert isinstance(own_file, FetchedFile)
    assert own_file.content == SECRET


async def test_where_slack_asks_for_patience_a_thread_is_read_a_little_later() -> None:
    async with team_at_work() as team:
        root = await team.workspace.say("dana", team.channel, "Jobs: 2000 per second.")
        team.workspace.faults.rate_limit("conversations.replies", seconds=0.1)
        # As long as Slack asks for, not the most that Slack is waited for.
        async with asyncio.timeout(300):
            board = await asked_in_thread(team, root)
            debate = await team.wait_for_end(board)

    assert ["2000 per second" in source.text for source in debate.sources] == [True]
