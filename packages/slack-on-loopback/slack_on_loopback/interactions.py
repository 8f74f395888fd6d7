"""Interactions of people with the app: commands, clicks, forms, shortcuts, the Home tab.

Source: https://docs.slack.dev/reference/interaction-payloads
"""

from slack_on_loopback import channels, events, modals, responses
from slack_on_loopback.call_log import LoggedCall
from slack_on_loopback.delivery import Acknowledgement, Envelope
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json, child, copy, text_at
from slack_on_loopback.rules import as_typed, check_view
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, User
from slack_on_loopback.surfaces import SurfaceRef, find_surface, take_action
from slack_on_loopback.triggers import ResponseUrl, Trigger

_NOT_UNDERSTOOD = "The app's answer was not understood."


async def command(runtime: Runtime, user: User, channel: Channel, typed: str) -> None:
    """Run a slash command.

    Args:
        runtime: the workspace.
        user: the person.
        channel: the channel; Slack refuses commands in threads.
        typed: the full line, for example `/echo hello`.

    Raises:
        PersonRefusal: unknown_command, command_failed, invalid_response.
    """
    word, _, rest = typed.partition(" ")
    state, app = runtime.state, runtime.app
    known = {text_at(entry, "command"): entry for entry in app.commands}
    if word not in known or app.revoked or "commands" not in app.scopes:
        raise PersonRefusal("unknown_command", f"{word} is not a valid command.")
    names = state.names() if known[word].get("should_escape") else {}
    url = _response_url(runtime, user, channel)
    channel_names = {"im": "directmessage", "group": "privategroup", "channel": channel.name}
    payload: Json = {
        "token": app.verification_token,
        "team_id": state.team_id,
        "team_domain": state.team_domain,
        "channel_id": channel.id,
        "channel_name": channel_names[channel.kind()],
        "user_id": user.id,
        "user_name": user.name,
        "command": word,
        "text": as_typed(rest.strip(), names),
        "api_app_id": app.id,
        **({"enterprise_id": state.enterprise_id} if state.enterprise_id else {}),
        "is_enterprise_install": str(state.is_org_wide).lower(),
        "response_url": _address(runtime, url),
        "trigger_id": _trigger(runtime, user),
    }
    acknowledgement = await runtime.dispatcher.ask(Envelope("slash_commands", payload))
    if not acknowledgement.acked:
        words = f"{word} failed: the app {_why(acknowledgement)}"
        runtime.feed.tell_user(user.id, {"type": "command_failed", "text": words})
        raise PersonRefusal("command_failed", words)
    if responses.has_message(acknowledgement.body):
        try:
            responses.respond(runtime, url, acknowledgement.body)
        except SlackRefusal as refusal:
            _log_bad_answer(runtime, "slash_commands", acknowledgement.body, refusal)
            raise PersonRefusal("invalid_response", _NOT_UNDERSTOOD) from refusal


async def click(runtime: Runtime, user: User, where: SurfaceRef, choice: Json) -> None:
    """Use a button, or an input with `dispatch_action`.

    Args:
        runtime: the workspace.
        user: who.
        where: the message or view.
        choice: block_id, action_id, and the value unless it is a button; `values` may
            contain the other values of a view.

    Raises:
        PersonRefusal: not_found, no_such_element, no_such_option, action_failed.
    """
    surface = find_surface(runtime, user, where)
    action = take_action(runtime, surface, choice)
    payload = {
        "type": "block_actions",
        **_base(runtime, user),
        **surface.payload(),
        "actions": [action],
    }
    if surface.channel is not None:
        url = _response_url(runtime, user, surface.channel, surface.source)
        payload["response_url"] = _address(runtime, url)
    await _ask(runtime, payload, "action_failed")


async def submit(runtime: Runtime, user: User, view_id: str, values: Json) -> Json:
    """Submit a form.

    Returns:
        The `response_action` and `errors` for the page; empty when the form closed.

    Raises:
        PersonRefusal: not_found, submit_failed, invalid_response.
    """
    view = _open_view(runtime, user, view_id)
    modals.keep_typed(view, values)
    if missing := modals.missing_answers(view):
        return {"response_action": "errors", "errors": missing}
    payload: Json = {
        "type": "view_submission",
        **_base(runtime, user),
        "view": copy(view),
        "response_urls": [],
    }
    body = (await _ask(runtime, payload, "submit_failed")).body
    try:
        return _after_submit(runtime, user, view, body)
    except SlackRefusal as refusal:
        _log_bad_answer(runtime, "view_submission", body, refusal)
        raise PersonRefusal("invalid_response", _NOT_UNDERSTOOD) from refusal


def _after_submit(runtime: Runtime, user: User, view: Json, body: Json) -> Json:
    match text_at(body, "response_action"):
        case "errors":
            errors = child(body, "errors")
            inputs = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
            if not errors or not set(errors) <= inputs:
                words = f"errors must name input blocks: {sorted(errors)}"
                raise SlackRefusal("invalid_errors", [words])
            return {"response_action": "errors", "errors": errors}
        case "update":
            modals.replace_view(runtime, user.id, view, check_view(body.get("view"), "modal"))
            return {"response_action": "update"}
        case "":
            modals.close(runtime, user.id)
            return {}
        case _:
            raise SlackRefusal("invalid_response_action")


def close(runtime: Runtime, user: User, view_id: str) -> None:
    _open_view(runtime, user, view_id)
    modals.close(runtime, user.id)


async def shortcut(runtime: Runtime, user: User, callback_id: str, message: Json) -> None:
    """Use a message shortcut.

    Raises:
        PersonRefusal: unknown_shortcut, shortcut_failed.
    """
    if callback_id not in {text_at(item, "callback_id") for item in runtime.app.shortcuts}:
        raise PersonRefusal("unknown_shortcut", "The app has no such shortcut.")
    channel = runtime.state.channels[message["channel"]]
    payload: Json = {
        "type": "message_action",
        **_base(runtime, user),
        "callback_id": callback_id,
        "action_ts": runtime.new_ts(),
        "channel": {"id": channel.id, "name": channel.name},
        "message": copy(message),
        "message_ts": message["ts"],
        "response_url": _address(runtime, _response_url(runtime, user, channel, message)),
    }
    await _ask(runtime, payload, "shortcut_failed")


def open_home(runtime: Runtime, user: User) -> Json | None:
    """Open the app's Home: send the event; return the view published last."""
    channel = channels.direct(runtime, user, runtime.state.users[runtime.app.bot_user])
    view = runtime.state.homes.get(user.id)
    event: Json = {
        "type": "app_home_opened",
        "user": user.id,
        "channel": channel.id,
        "tab": "home",
        "event_ts": runtime.new_ts(),
        **({"view": copy(view)} if view else {}),
    }
    if runtime.app.has_home and events.is_subscribed(runtime.app, event):
        events.send(runtime, event)
    return copy(view) if view else None


async def _ask(runtime: Runtime, payload: Json, code: str) -> Acknowledgement:
    app = runtime.app
    if app.revoked:
        raise PersonRefusal("no_app", "The app is not installed any more.")
    acknowledgement = await runtime.dispatcher.ask(Envelope("interactive", payload))
    if not acknowledgement.acked:
        raise PersonRefusal(code, f"{app.name} {_why(acknowledgement)}. Try again.")
    return acknowledgement


def _why(acknowledgement: Acknowledgement) -> str:
    if acknowledgement.reason == "connection_failed":
        return "is not connected"
    return "did not answer within 3 seconds"


def _log_bad_answer(runtime: Runtime, kind: str, body: Json, refusal: SlackRefusal) -> None:
    arguments = {"answer": copy(body), "messages": refusal.messages}
    runtime.calls.add(LoggedCall(f"ack:{kind}", arguments, refusal.code, runtime.now()))


def _open_view(runtime: Runtime, user: User, view_id: str) -> Json:
    view = runtime.modals.get(user.id)
    if view is None or view["id"] != view_id:
        raise PersonRefusal("not_found", "This form is not open any more.")
    return view


def _base(runtime: Runtime, user: User) -> Json:
    state = runtime.state
    return {
        "user": {
            "id": user.id,
            "username": user.name,
            "name": user.name,
            "team_id": user.home or state.team_id,
        },
        "api_app_id": state.app.id,
        "token": state.app.verification_token,
        "team": {"id": state.team_id, "domain": state.team_domain},
        "enterprise": {"id": state.enterprise_id} if state.enterprise_id else None,
        "is_enterprise_install": state.is_org_wide,
        "trigger_id": _trigger(runtime, user),
    }


def _trigger(runtime: Runtime, user: User) -> str:
    expires = runtime.now() + runtime.config.pace.trigger_seconds
    return runtime.triggers.issue(Trigger(user.id, expires))


def _response_url(
    runtime: Runtime, user: User, channel: Channel, source: Json | None = None
) -> ResponseUrl:
    pace = runtime.config.pace
    return ResponseUrl(
        channel=channel.id,
        user=user.id,
        expires=runtime.now() + pace.response_seconds,
        left=pace.response_posts,
        source_ts=text_at(source or {}, "ts"),
    )


def _address(runtime: Runtime, url: ResponseUrl) -> str:
    return f"{runtime.base_url}/response/{runtime.response_urls.issue(url)}"
