"""What the page gets and does, as one user; and what it must not see."""

import asyncio
import base64

import aiohttp
import pytest

from slack_on_loopback import GuideButton, GuideLine
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.workspace import Workspace
from tests.bots import Client, Page


@pytest.fixture
def dana(ws: Workspace, http: aiohttp.ClientSession) -> Page:
    return Page(ws, http, "dana")


@pytest.fixture
def alex(ws: Workspace, http: aiohttp.ClientSession) -> Page:
    return Page(ws, http, "alex")


class Live:
    """The live events of one viewer."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse):
        self._socket = socket

    async def next(self, kind: str) -> Json:
        """Return the next event of a kind, skipping others."""
        while True:
            event = await self._socket.receive_json(timeout=300)
            if event["type"] == kind:
                return event

    async def first(self) -> Json:
        """Return the event that comes next, whatever it is."""
        return await self._socket.receive_json(timeout=300)


async def live(ws: Workspace, http: aiohttp.ClientSession, user: str) -> Live:
    socket = await http.ws_connect(f"{ws.url}page/ws", params={"user": ws.user(user).id})
    await ws.wait_for(lambda: any(v.user == ws.user(user).id for v in ws.runtime.feed.viewers))
    return Live(socket)


async def test_the_state_draws_the_page(dana: Page, ws: Workspace) -> None:
    state = await dana.get("state")
    assert (state["ok"], state["me"], state["team"]["name"]) == (True, dana.user, "Riverside")
    assert state["emoji"]["eyes"] == "👀"
    names = {channel["name"] for channel in state["channels"]}
    assert names == {"general", "architecture", "random", "security-review"}
    app = state["app"]
    assert (app["name"], app["connected"], app["has_home"]) == ("Echo", False, True)
    assert app["commands"] == ["/echo"]
    assert app["shortcuts"] == [{"name": "Echo this", "callback_id": "echo_this"}]


async def test_a_viewer_does_not_see_private_channels_of_others(alex: Page, ws: Workspace) -> None:
    secret = ws.channel("security-review").id
    await ws.say("dana", "security-review", "secret")
    state = await alex.get("state")
    assert secret not in {channel["id"] for channel in state["channels"]}
    for path in (f"channels/{secret}", f"channels/{secret}/threads/1.0"):
        assert (await alex.get(path))["error"] == "channel_not_found"
    message = await alex.post("say", channel=secret, text="let me in")
    assert (message["ok"], message["error"]) == (False, "channel_not_found")


async def test_live_events_reach_only_who_may_see_them(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    danas, alexs = await live(ws, http, "dana"), await live(ws, http, "alex")
    await ws.say("priya", "security-review", "secret")
    assert (await danas.next("message"))["message"]["text"] == "secret"
    await ws.say("priya", "general", "for all")
    assert (await alexs.first())["message"]["text"] == "for all"


async def test_ephemeral_messages_are_the_viewers_own(
    ws: Workspace, client: Client, http: aiohttp.ClientSession, dana: Page
) -> None:
    channel = ws.channel("general").id
    danas, alexs = await live(ws, http, "dana"), await live(ws, http, "alex")
    await client.chat_postEphemeral(channel=channel, user=dana.user, text="psst")
    assert (await danas.next("ephemeral"))["message"]["text"] == "psst"
    await ws.say("priya", "architecture", "for all")
    assert (await alexs.first())["message"]["text"] == "for all"
    assert len((await dana.get(f"channels/{channel}"))["messages"]) == 1
    assert (await Page(ws, http, "alex").get(f"channels/{channel}"))["messages"] == []


async def test_people_edit_and_delete_their_own_messages(ws: Workspace) -> None:
    ts = (await ws.say("dana", "general", "first"))["ts"]
    with pytest.raises(SlackRefusal, match="cant_update_message"):
        await ws.edit("alex", "general", ts, "no")
    await ws.edit("dana", "general", ts, "second")
    assert ws.messages("general")[0]["text"] == "second"
    with pytest.raises(SlackRefusal, match="cant_delete_message"):
        await ws.delete("alex", "general", ts)
    await ws.delete("dana", "general", ts)
    assert ws.messages("general") == []


async def test_channels_are_made_and_changed(
    ws: Workspace, http: aiohttp.ClientSession, dana: Page
) -> None:
    page = await live(ws, http, "alex")
    plans = await ws.channel_action("dana", "create", name="plans", is_private=True)
    channels = (await page.next("channels"))["channels"]
    assert plans.id not in [channel["id"] for channel in channels]
    for action in ("invite", "kick", "archive", "unarchive"):
        await ws.channel_action("dana", action, channel="plans", member="alex")
    assert plans.members == [dana.user]
    with pytest.raises(PersonRefusal, match="unknown_action"):
        await ws.channel_action("dana", "sing", channel="plans")
    with pytest.raises(SlackRefusal, match="name_taken"):
        await ws.channel_action("dana", "create", name="general")
    await ws.channel_action("dana", "leave", channel="random")
    random = ws.channel("random")
    outside = await dana.post("say", channel=random.id, text="x")
    assert outside["message"] == "You are not a member of this channel."
    assert (await dana.post("join", channel=random.id))["ok"]
    assert dana.user in random.members


async def test_a_message_may_have_files(ws: Workspace, dana: Page) -> None:
    content = base64.b64encode(b"hello").decode()
    answer = await dana.post("files", name="a.txt", mimetype="text/plain", content=content)
    where = {"channel": ws.channel("general").id, "text": ""}
    await dana.post("say", **where, files=[answer["file"]["id"]])
    (file,) = ws.messages("general")[0]["files"]
    assert (file["name"], ws.file(file["id"])) == ("a.txt", b"hello")
    assert (await dana.post("files", name="a", content="?"))["error"] == "invalid_file"
    assert (await dana.post("say", **where, files=["F404"]))["error"] == "file_not_found"


async def test_direct_messages_follow_the_manifest(
    ws: Workspace, client: Client, dana: Page
) -> None:
    channel = (await client.chat_postMessage(channel=dana.user, text="x"))["channel"]
    assert (await dana.post("say", channel=channel, text="hello"))["ok"]
    ws.app.messages_read_only = True
    refused = await dana.post("say", channel=channel, text="hello")
    assert refused["error"] == "messages_tab_read_only"


async def test_what_is_not_a_request_is_refused_in_words(
    ws: Workspace, http: aiohttp.ClientSession, dana: Page
) -> None:
    async with http.post(f"{ws.url}page/api/say", data="{") as answer:
        assert (await answer.json())["error"] == "invalid_json"
    nothing = await dana.post("say", channel=ws.channel("general").id, text="  ")
    assert nothing["message"] == "There is nothing to send."


@pytest.mark.parametrize(
    "path", ["page/../workspace.py", "page/%2e%2e/server.py", "page/nothing.js"]
)
async def test_only_files_of_the_page_are_served(
    ws: Workspace, http: aiohttp.ClientSession, path: str
) -> None:
    async with http.get(f"{ws.url}{path}") as answer:
        assert answer.status == 404


async def test_the_guide_is_told_and_only_its_buttons_are_heard(dana: Page, ws: Workspace) -> None:
    assert (await dana.get("state"))["guide"] is None
    buttons = [GuideButton(label="Watch another", name="another")]
    ws.show_guide(GuideLine(text="Look.", buttons=buttons))
    assert (await dana.get("state"))["guide"]["text"] == "Look."
    assert (await dana.post("guide", name="other"))["error"] == "no_button"
    assert (await dana.post("guide", name="another"))["ok"]
    assert await asyncio.wait_for(ws.guide_pressed(), 300) == "another"
