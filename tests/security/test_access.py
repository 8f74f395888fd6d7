"""A person who guesses an id sees and changes nothing, by any command, button or form."""

import json
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from bot.listeners.context import place
from bot.settings import PageSettings
from bot.slack.ids import ActionId, CallbackId, FieldId
from bot.testing import BotSpec, Team, key_of
from core.debate.evidence import SourceKind
from core.debate.log import event_to_json
from core.debate.state import Debate, Status
from core.ports import DebateFilter
from core.use_cases.choices import NO_PLAYBOOK
from tests.scenarios.test_deciding import chosen_why, decide
from tests.security.sending import ANY_PACE, a_command, example, http_team, send

#: All tests share one bot and one debate, because no attempt changes anything.
pytestmark = pytest.mark.asyncio(loop_scope="module")
#: A word used in the private channel only.
SECRET = "wombat"
QUESTION = f"Should we sell the {SECRET} project or keep it for our job queue?"
PAGES = PageSettings(base="https://moot.example.com", holds=timedelta(days=14))
#: In a file of its thread, and in the reason for accepting its verdict.
IN_FILE, IN_DECISION = f"{SECRET}budget", f"{SECRET}board"


@dataclass(frozen=True)
class Intruder:
    """A person who knows the id of a debate, with the identity they claim."""

    team: Team
    debate_id: str
    private: str
    #: Evidence in the private channel: a file, and a thread by its first post.
    file: str
    thread: str
    user: str
    workspace: str
    #: The response URL for clicks and commands, and the texts posted to it.
    answers: str
    heard: list[str]

    async def events(self) -> int:
        return len(await self.team.moot.store.events(self.debate_id))

    async def clicks(self, action: str, value: str) -> str:
        body = example("block_actions") | self._who()
        body["actions"] = [{"action_id": action, "block_id": "b", "type": "button", "value": value}]
        body["channel"] = {"id": self.team.workspace.channel(self.team.channel).id}
        return await self._sends("block_actions", body) + self._said_since()

    async def submits(self, callback: str, metadata: dict[str, str], sources: str = "") -> str:
        field = FieldId.SOURCES.value
        body = example("view_submission") | self._who()
        body["view"] |= {
            # A form starts one debate, so each is another form.
            "id": f"V{secrets.token_hex(4)}",
            "callback_id": callback,
            "private_metadata": json.dumps(metadata),
            "state": {"values": {**FILLED, field: {field: {"value": sources}}}},
        }
        return await self._sends("view_submission", body)

    async def types(self, words: str, channel: str = "") -> str:
        self.heard.clear()  # late changes of an earlier form
        changes = {
            "user_id": self.user,
            "team_id": self.workspace,
            "response_url": self.answers,
        }
        body = a_command(
            self.team, words, **changes, **({"channel_id": channel} if channel else {})
        )
        return await self._sends("command", body) + self._said_since()

    async def _sends(self, name: str, body: object) -> str:
        status, answer = await send(self.team, name, body)
        assert status != 429, "what is not looked at shows nothing"
        assert "at once, so this one was not done" not in answer
        return answer

    def _who(self) -> dict[str, Any]:
        who = {"team": {"id": self.workspace}, "user": {"id": self.user, "name": "x"}}
        return {**who, "response_url": self.answers}

    def _said_since(self) -> str:
        text = "".join(self.heard)
        self.heard.clear()
        return text


FILLED: dict[str, Any] = {
    field.value: {
        field.value: {
            "value": {FieldId.COST_CAP: "2", FieldId.SOURCES: ""}.get(
                field, "Should we do it or not?"
            ),
            "selected_option": {
                "value": {FieldId.PLAYBOOK: NO_PLAYBOOK, FieldId.FORMAT: "panel"}.get(
                    field, "reject"
                )
            },
            "selected_options": [],
            "selected_date": "2999-01-01",
        }
    }
    for field in FieldId
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def team() -> AsyncGenerator[Team]:
    spec = BotSpec(http=True, pages=PAGES, token_lifetime=timedelta(days=1), burst_limits=ANY_PACE)
    async with http_team(spec) as team:
        yield team


@asynccontextmanager
async def listening() -> AsyncGenerator[tuple[str, list[str]]]:
    """An address on the loopback, and the texts posted to it."""
    texts = list[str]()

    async def hear(request: web.Request) -> web.Response:
        texts.append(await request.text())
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_post("/", hear)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/", texts
    finally:
        await runner.cleanup()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outsider(team: Team) -> AsyncGenerator[Intruder]:
    """alex, who is not in the private channel of the debate."""
    await team.workspace.channel_action(
        "dana", "create", name="board-room", is_private=True, members=["dana"]
    )
    await team.workspace.channel_action("dana", "invite", channel="board-room", member="moot")
    room = replace(team, channel="board-room")
    root = await room.say(f"The {SECRET} loses money.")
    content = f"The {IN_FILE} is 40 crowns.".encode()
    shared = await team.workspace.share_file(
        "dana", "board-room", "plan.txt", content, thread_ts=root["ts"]
    )
    await room.say(f"@Moot {QUESTION}", root["ts"])
    board = await room.new_board()
    debate = await room.wait_for_end(board)
    assert debate.status is Status.CONCLUDED
    assert IN_FILE in debate.evidence[1].text
    await decide(room, board, ActionId.ACCEPT, chosen_why(f"The {IN_DECISION} wants it."))
    await room.wait_until_sent()
    await room.type(f"export {debate.id} page")
    assert PAGES.base in room.ephemeral_texts()[-1]
    async with listening() as (answers, texts):
        yield Intruder(
            team=team,
            debate_id=debate.id,
            private=team.workspace.channel("board-room").id,
            file=shared["files"][0]["id"],
            thread=root["ts"],
            user=team.workspace.user("alex").id,
            workspace=team.workspace.state.team_id,
            answers=answers,
            heard=texts,
        )


@pytest.fixture
def stranger(outsider: Intruder) -> Intruder:
    """The starter's own id, in another workspace."""
    dana = outsider.team.workspace.user("dana").id
    return replace(outsider, user=dana, workspace="T0STRANGE")


async def try_buttons(who: Intruder) -> None:
    before = await who.events()
    for action in ActionId:
        for rest in ("", "/1", "/good", "/verdict", "/r1/proposal/architect"):
            answer = await who.clicks(action.value, f"{who.debate_id}{rest}")
            assert SECRET not in answer
            assert PAGES.base not in answer
    assert await who.events() == before
    opened = [
        entry.args for entry in who.team.workspace.calls.entries if entry.method[:6] == "views."
    ]
    mine = {who.team.workspace.user("dana").id}  # they opened one to accept the verdict
    assert SECRET not in json.dumps(
        [message for message in opened if message.get("user_id") not in mine]
    )


async def try_forms(who: Intruder) -> None:
    before = await who.events()
    for callback in CallbackId:
        for kind in ("accept", "reject", "revisit", "supersede", "nonsense"):
            metadata = {"debate": who.debate_id, "kind": kind, "channel": who.private}
            assert SECRET not in await who.submits(callback.value, metadata)
    assert await who.events() == before
    stored = await who.team.moot.store.unfinished_ids()
    assert not stored


async def try_commands(who: Intruder) -> None:
    before = await who.events()
    words = ("show {0}", "stop {0}", "show `{0}`", "list", "search project", "search sell keep")
    words += ("export {0} page", "export {0} page off", "export {0}")
    for word in (*words, "search crowns", "search wants", "search loses money"):
        answer = await who.types(word.format(who.debate_id))
        assert SECRET not in answer
        assert PAGES.base not in answer
    assert await who.events() == before
    assert await who.team.moot.context.records.grants.grant_of(
        who.debate_id
    )  # nor was it taken back


async def test_no_button_opens_a_debate_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    await try_buttons(outsider)


async def test_no_form_reaches_a_debate_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    await try_forms(outsider)


async def test_no_command_shows_a_debate_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    await try_commands(outsider)


async def test_no_button_works_from_another_workspace(stranger: Intruder) -> None:
    await try_buttons(stranger)


async def test_no_form_works_from_another_workspace(stranger: Intruder) -> None:
    await try_forms(stranger)


async def test_no_command_works_from_another_workspace(stranger: Intruder) -> None:
    await try_commands(stranger)


async def test_no_number_ends_or_shows_somebody_elses_token(outsider: Intruder) -> None:
    context, dana = outsider.team.moot.context, outsider.team.workspace.user("dana").id
    await outsider.team.type("token new keep")
    for who in (outsider, replace(outsider, user=dana, workspace="T0STRANGE")):
        for words in ("token list", "token revoke 1", "token revoke all"):
            answer = await who.types(words)
            assert "keep" not in answer
            assert "ended" not in answer
    workspace, now = outsider.workspace, context.clock.now()
    assert len(await context.records.tokens.of(workspace, dana, now)) == 1


async def test_an_unknown_id_and_a_forbidden_one_are_answered_alike(outsider: Intruder) -> None:
    forbidden = await outsider.types(f"show {outsider.debate_id}")
    unknown = await outsider.types("show dzzzzzz2")

    assert forbidden.replace(outsider.debate_id, "dzzzzzz2") == unknown


async def test_who_is_in_the_channel_does_see_it(outsider: Intruder) -> None:
    insider = replace(outsider, user=outsider.team.workspace.user("dana").id)

    assert SECRET in await insider.types(f"show {outsider.debate_id}")


async def test_settings_of_a_channel_one_is_not_in_stay(outsider: Intruder) -> None:
    team, here = outsider.team, place(outsider.workspace, outsider.private)

    async def notices() -> list[str]:
        """Keys of the posts about the channel's settings; a member may have changed some."""
        await team.wait_until_sent()
        posts = [key_of(message) for message in team.workspace.messages(outsider.private)]
        assert posts, "the channel was looked at"
        return [key for key in posts if key.startswith("settings/")]

    before = await team.moot.context.records.channels.get(here), await notices()
    answer = await outsider.submits("settings_form", {"channel": outsider.private})

    assert "Not done" in answer
    assert (await team.moot.context.records.channels.get(here), await notices()) == before


async def test_home_shows_nothing_of_a_channel_one_is_not_in(outsider: Intruder) -> None:
    work = outsider.team.workspace
    await work.open_home("alex")
    await work.wait_for(lambda: work.home("alex"))
    assert SECRET not in json.dumps(work.home("alex"))
    await work.open_home("dana")
    await work.wait_for(lambda: SECRET in json.dumps(work.home("dana")))


async def newest_record(team: Team) -> tuple[Debate, str]:
    """Wait until the newest debate has ended; return it with all of its log."""
    newest = (await team.moot.store.find(DebateFilter(limit=1)))[0].debate_id
    debate = await team.wait_for_end(await team.board_of(newest))
    log = await team.moot.store.events(newest)
    return debate, "".join([event_to_json(entry.event) for entry in log])


async def test_no_debate_elsewhere_reads_the_decisions_of_a_private_channel(
    outsider: Intruder,
) -> None:
    """Neither the same question nor a search for decisions shows them."""
    assert SECRET not in await outsider.types("What was decided on selling the project?")
    await outsider.team.debate("Should we sell the project or keep it?", user="alex")
    debate, record = await newest_record(outsider.team)
    assert SECRET not in record
    assert not debate.evidence


async def test_no_words_of_a_question_name_a_source(outsider: Intruder) -> None:
    """Files of the machine, addresses inside, a file and a thread of the private channel."""
    team = outsider.team
    address = f"{team.workspace.url}/archives/{outsider.private}/p{outsider.thread}"
    named = f"{outsider.file} {address} --source /etc/passwd --source http://169.254.169.254/"
    await team.debate(f"Is this right? {named} --source=file:///etc/hosts", user="alex")
    debate, record = await newest_record(team)
    assert SECRET not in record
    assert "root:" not in record
    assert {source.reference.kind for source in debate.sources} <= {SourceKind.REGISTER}
    assert not debate.evidence


@pytest.mark.parametrize("kind", SourceKind)
async def test_no_form_brings_evidence_of_a_channel_one_is_not_in(
    outsider: Intruder, kind: SourceKind
) -> None:
    """A form returns the metadata that Moot wrote into it; a changed form gets no evidence."""
    team, public = outsider.team, outsider.team.workspace.channel(outsider.team.channel).id
    fetches = {
        SourceKind.FILE: [outsider.file, "/etc/passwd"],
        SourceKind.THREAD: [f"{outsider.private}/{outsider.thread}/"],
        SourceKind.LINK: ["http://169.254.169.254/", f"{team.workspace.url}/archives"],
    }.get(kind, [QUESTION])
    by = {"id": outsider.user, "name": "alex"}
    evidence = [{"kind": kind.value, "title": "x", "fetch": fetch, "by": by} for fetch in fetches]
    metadata = {
        "channel": public,
        "evidence": json.dumps(evidence),
        "message": outsider.thread,
        "thread": outsider.thread,
    }
    before = len(await team.moot.store.find(DebateFilter(limit=100)))
    answer = await outsider.submits(CallbackId.START_FORM.value, metadata)
    assert SECRET not in answer
    if len(await team.moot.store.find(DebateFilter(limit=100))) > before:
        _, record = await newest_record(team)
        assert SECRET not in record
        assert "root:" not in record


async def test_no_link_typed_into_the_form_brings_evidence_of_another_channel(
    outsider: Intruder,
) -> None:
    team = outsider.team
    public = team.workspace.channel(team.channel).id
    url, stamp = team.workspace.url.rstrip("/"), outsider.thread.replace(".", "")
    message = f"{url}/archives/{outsider.private}/p{stamp}"
    moved = f"{url}/archives/{public}/p{stamp}?thread_ts={outsider.thread}&cid={outsider.private}"
    file = f"{url}/files/U1/{outsider.file}/plan.txt"
    metadata = {"channel": public}

    refused = await outsider.submits(CallbackId.START_FORM.value, metadata, message)
    before = len(await team.moot.store.find(DebateFilter(limit=100)))
    await outsider.submits(CallbackId.START_FORM.value, metadata, f"{moved}\n{file}")

    assert "message of another channel" in refused
    assert len(await team.moot.store.find(DebateFilter(limit=100))) == before + 1
    debate, record = await newest_record(team)
    assert SECRET not in record
    assert [bool(source.fault) for source in debate.sources[:2]] == [True, True]
    assert not debate.evidence
