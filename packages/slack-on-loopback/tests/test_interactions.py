"""Commands, clicks, forms, shortcuts, Home: what the app gets, and what becomes of its answer."""

from dataclasses import replace

import aiohttp
import pytest
from slack_sdk.webhook.async_client import AsyncWebhookClient

from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.workspace import Workspace, typed
from tests.bots import (
    PATIENT,
    Client,
    Recorder,
    actions,
    button,
    error_of,
    modal,
    text_input,
    text_section,
)

OPTIONS = [
    {"text": {"type": "plain_text", "text": letter}, "value": letter} for letter in ("a", "b")
]

ANSWER = typed(q__text="x")


async def posted(ws: Workspace, client: Client, *blocks: Json) -> str:
    channel = ws.channel("general").id
    return (await client.chat_postMessage(channel=channel, text="x", blocks=list(blocks)))["ts"]


async def opened(ws: Workspace, client: Client, bot: Recorder, view: Json) -> str:
    await ws.command("dana", "general", "/echo")
    await client.views_open(trigger_id=bot.last["trigger_id"], view=view)
    return ws.views("dana")[-1]["id"]


# Commands


async def test_a_command_brings_all_its_fields(ws: Workspace, bot: Recorder) -> None:
    await ws.command("dana", "general", "/echo", "ask @alex: A & B?")
    body = bot.last
    assert body["command"] == "/echo"
    assert body["text"] == f"ask <@{ws.user('alex').id}>: A &amp; B?"
    assert (body["user_name"], body["channel_name"]) == ("dana", "general")
    assert body["trigger_id"]
    assert body["response_url"].startswith(ws.url)
    ws.app.commands[0]["should_escape"] = False
    await ws.command("dana", "security-review", "/echo", "ask @alex & co")
    assert bot.last["text"] == "ask @alex &amp; co"
    assert bot.last["channel_name"] == "privategroup"


@pytest.mark.workspace(pace=replace(PATIENT, ack_seconds=0.5))
async def test_a_command_that_is_not_acknowledged_has_failed(
    ws: Workspace, bot: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    bot.silent = True
    with pytest.raises(PersonRefusal) as refused:
        await ws.command("dana", "general", "/echo", "x")
    assert refused.value.words == "/echo failed: the app did not answer within 3 seconds"
    assert [delivery.attempt for delivery in ws.deliveries] == [0]


async def test_without_an_app_a_command_has_failed(ws: Workspace) -> None:
    with pytest.raises(PersonRefusal) as refused:
        await ws.command("dana", "general", "/echo", "x")
    assert refused.value.words == "/echo failed: the app is not connected"
    with pytest.raises(PersonRefusal, match="unknown_command"):
        await ws.command("dana", "general", "/dance")


# Clicks


async def test_a_click_brings_the_message_and_the_action(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    ts = await posted(ws, client, actions(button(style="primary")))
    await ws.click("alex", "general", ts, "go")
    body = bot.last
    assert body["type"] == "block_actions"
    assert body["user"]["id"] == ws.user("alex").id
    assert body["container"] == {
        "type": "message",
        "message_ts": ts,
        "channel_id": ws.channel("general").id,
        "is_ephemeral": False,
    }
    assert body["message"]["ts"] == ts
    action = body["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"]) == ("go", "row", "v1")
    assert action["style"] == "primary"


async def test_only_what_is_there_can_be_clicked(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    ts = await posted(ws, client, actions(button()))
    with pytest.raises(PersonRefusal, match="no_such_element"):
        await ws.click("dana", "general", ts, "gone")
    with pytest.raises(PersonRefusal, match="not_found"):
        await ws.click("dana", "general", "1.000000", "go")
    assert bot.bodies == []


async def test_who_may_not_see_a_channel_may_not_click_there(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    await ws.channel_action("dana", "invite", channel="security-review", member="echo")
    channel = ws.channel("security-review").id
    answer = await client.chat_postMessage(channel=channel, text="x", blocks=[actions(button())])
    with pytest.raises(PersonRefusal, match="not_found"):
        await ws.click("alex", channel, answer["ts"], "go")


# response_url


async def test_a_response_url_answers_five_times_and_dies_after_half_an_hour(
    ws: Workspace, bot: Recorder, http: aiohttp.ClientSession
) -> None:
    await ws.command("dana", "general", "/echo", "x")
    webhook = AsyncWebhookClient(bot.last["response_url"], session=http)
    for n in range(5):
        assert (await webhook.send(text=str(n))).status_code == 200
    assert (await webhook.send(text="6")).status_code == 404
    assert [message["text"] for message in ws.ephemeral("dana")] == ["0", "1", "2", "3", "4"]
    name = bot.last["response_url"].rsplit("/", 1)[1]
    with pytest.raises(SlackRefusal, match="expired_url"):
        ws.runtime.response_urls.use(name, ws.runtime.now() + 1801)


async def test_a_click_can_replace_an_ephemeral_message(
    ws: Workspace, bot: Recorder, http: aiohttp.ClientSession
) -> None:
    bot.acks["command"] = {"text": "sure?", "blocks": [actions(button())]}
    await ws.command("dana", "general", "/echo", "x")
    ts = ws.ephemeral("dana")[0]["ts"]
    await ws.click("dana", "general", ts, "go")
    assert bot.last["container"]["is_ephemeral"]
    assert "message" not in bot.last
    webhook = AsyncWebhookClient(bot.last["response_url"], session=http)
    await webhook.send(text="done", replace_original=True)
    (message,) = ws.ephemeral("dana")
    assert (message["ts"], message["text"], "blocks" in message) == (ts, "done", False)


async def test_what_a_response_url_takes(
    ws: Workspace, bot: Recorder, http: aiohttp.ClientSession
) -> None:
    root = (await ws.say("dana", "general", "root"))["ts"]
    await ws.command("dana", "general", "/echo")
    errors: list[str | None] = []
    for body in (
        {},
        {"text": "x", "blocks": [{"type": "nothing"}]},
        {"text": "x", "thread_ts": "1.000000"},
        {"text": "x", "response_type": "in_channel"},
        {"text": "here", "replace_original": True, "thread_ts": root},
    ):
        async with http.post(bot.last["response_url"], json=body) as answer:
            errors.append((await answer.json()).get("error"))
            assert answer.status == (400 if errors[-1] else 200)
    refused = ["no_text", "invalid_blocks", "thread_not_found", "invalid_response_type"]
    assert errors == [*refused, None]
    assert [message["thread_ts"] for message in ws.ephemeral("dana")] == [root]


async def test_a_bad_answer_to_a_command_or_a_form_is_told_and_logged(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    view_id = await opened(ws, client, bot, modal())
    bot.acks["command"] = {"text": "x", "blocks": [{"type": "nothing"}]}
    with pytest.raises(PersonRefusal, match="invalid_response"):
        await ws.command("dana", "general", "/echo")
    bot.acks["submission"] = {"response_action": "errors", "errors": {"elsewhere": "no"}}
    with pytest.raises(PersonRefusal, match="invalid_response"):
        await ws.submit("dana", view_id, ANSWER)
    assert ws.calls.of("ack:slash_commands", "invalid_blocks")
    assert ws.calls.of("ack:view_submission", "invalid_errors")
    await ws.close_view("dana", view_id)
    with pytest.raises(PersonRefusal, match="not_found"):
        await ws.submit("dana", view_id, ANSWER)


# Trigger ids


async def test_a_trigger_works_once(ws: Workspace, client: Client, bot: Recorder) -> None:
    await ws.command("dana", "general", "/echo")
    trigger = bot.last["trigger_id"]
    # A refused view does not use it up.
    bad = client.views_open(trigger_id=trigger, view=modal(private_metadata="x" * 3001))
    assert await error_of(bad) == "invalid_arguments"
    await client.views_open(trigger_id=trigger, view=modal())
    again = client.views_open(trigger_id=trigger, view=modal())
    assert await error_of(again) == "exchanged_trigger_id"
    wrong = client.views_open(trigger_id="1.2.3", view=modal())
    assert await error_of(wrong) == "invalid_trigger_id"


async def test_a_trigger_that_is_too_old_opens_nothing(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    await ws.command("dana", "general", "/echo")
    (trigger,) = ws.runtime.triggers.issued.values()
    trigger.expires = 0
    late = client.views_open(trigger_id=bot.last["trigger_id"], view=modal())
    assert await error_of(late) == "expired_trigger_id"


# Forms


async def test_a_form_brings_what_was_typed(ws: Workspace, client: Client, bot: Recorder) -> None:
    select = {"type": "static_select", "action_id": "pick", "options": OPTIONS}
    label = {"type": "plain_text", "text": "Pick"}
    block = {"type": "input", "block_id": "p", "label": label, "element": select, "optional": True}
    acting = {**block, "block_id": "r", "dispatch_action": True}
    view = modal(text_input(), block, acting, private_metadata="secret")
    view_id = await opened(ws, client, bot, view)
    wrong = {**OPTIONS[0], "value": "c"}
    with pytest.raises(PersonRefusal, match="no_such_option"):
        await ws.click_view("dana", view_id, "pick", block_id="r", selected_option=wrong)
    await ws.click_view("dana", view_id, "pick", block_id="r", selected_option=OPTIONS[1])
    assert bot.last["actions"][0]["selected_option"] == OPTIONS[1]
    assert await ws.submit("dana", view_id, typed(q__text="why?")) == {}
    view = bot.last["view"]
    assert view["private_metadata"] == "secret"
    assert view["state"]["values"] == {
        "q": {"text": {"type": "plain_text_input", "value": "why?"}},
        "p": {"pick": {"type": "static_select", "selected_option": None}},
        "r": {"pick": {"type": "static_select", "selected_option": OPTIONS[1]}},
    }
    assert ws.views("dana") == []


@pytest.mark.parametrize(
    ("element", "value", "words"),
    [
        ({}, "", "Please complete this required field."),
        ({"max_length": 2}, "abc", "Please enter at most 2 characters."),
    ],
)
async def test_the_form_itself_refuses_what_is_not_filled_in(
    ws: Workspace,
    client: Client,
    bot: Recorder,
    *,
    element: Json,
    value: str,
    words: str,
) -> None:
    view_id = await opened(ws, client, bot, modal(text_input(**element)))
    count = len(bot.bodies)
    response = await ws.submit("dana", view_id, typed(q__text=value))
    assert response == {"response_action": "errors", "errors": {"q": words}}
    assert len(bot.bodies) == count


# The app still has to answer the command that opens the form.
@pytest.mark.workspace(pace=replace(PATIENT, ack_seconds=5.0))
async def test_a_form_that_is_not_acknowledged_stays_open(
    ws: Workspace, client: Client, bot: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    view_id = await opened(ws, client, bot, modal())
    bot.silent = True
    with pytest.raises(PersonRefusal, match="submit_failed"):
        await ws.submit("dana", view_id, ANSWER)
    assert len(ws.views("dana")) == 1


async def test_a_click_in_a_form_brings_what_is_typed_and_an_update_keeps_it(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    view_id = await opened(ws, client, bot, modal(actions(button()), text_input()))
    await ws.click_view("dana", view_id, "go", values=typed(q__text="half"))
    assert bot.last["container"] == {"type": "view", "view_id": view_id}
    assert bot.last["view"]["state"]["values"]["q"]["text"]["value"] == "half"
    assert "channel" not in bot.last
    old = ws.views("dana")[0]["hash"]
    more = modal(actions(button()), text_input(), text_section("more"))
    await client.views_update(view_id=view_id, hash=old, view=more)
    view = ws.views("dana")[0]
    assert view["state"]["values"]["q"]["text"]["value"] == "half"
    stale = client.views_update(view_id=view_id, hash=old, view=modal())
    assert await error_of(stale) == "hash_conflict"
    lost = client.views_update(view_id="V404", view=modal())
    assert await error_of(lost) == "not_found"


# Shortcuts and Home


async def test_a_shortcut_brings_a_trigger_and_its_message(ws: Workspace, bot: Recorder) -> None:
    message = await ws.say("alex", "general", "A or B?")
    await ws.shortcut("dana", "echo_this", "general", message["ts"])
    body = bot.last
    assert (body["type"], body["message"]["text"]) == ("message_action", "A or B?")
    assert (body["channel"]["id"], bool(body["trigger_id"])) == (message["channel"], True)
    with pytest.raises(PersonRefusal, match="unknown_shortcut"):
        await ws.shortcut("dana", "nothing", "general", message["ts"])


async def test_home_is_published_per_person(ws: Workspace, client: Client, bot: Recorder) -> None:
    view = {"type": "home", "blocks": [text_section("yours"), actions(button())]}
    first = await client.views_publish(user_id=ws.user("dana").id, view=view)
    assert ws.home("alex") is None
    home = await ws.open_home("dana")
    assert home is not None
    assert home["blocks"][0]["text"]["text"] == "yours"
    await ws.click_view("dana", home["id"], "go")
    assert bot.last["view"]["type"] == "home"
    again = await client.views_publish(user_id=ws.user("dana").id, view=view)
    assert again["view"]["id"] == first["view"]["id"]
    stale = client.views_publish(user_id=ws.user("dana").id, view=view, hash=first["view"]["hash"])
    assert await error_of(stale) == "hash_conflict"
    ws.app.has_home = False
    call = client.views_publish(user_id=ws.user("dana").id, view=view)
    assert await error_of(call) == "not_enabled"
