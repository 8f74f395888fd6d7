"""What people do that apps hear of at once: commands, clicks, forms, shortcuts, the Home tab.

Source: https://docs.slack.dev/reference/interaction-payloads
"""

from slack_on_loopback import channels, events, modals, responses
from slack_on_loopback.call_log import LoggedCall
from slack_on_loopback.delivery import Acknowledgement, Envelope
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.json_values import Json, child, copy, objects, text_at
from slack_on_loopback.rules import as_typed, check_view
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App, Channel, User
from slack_on_loopback.surfaces import SurfaceRef, find_app, find_command, find_surface, take_action
from slack_on_loopback.triggers import ResponseUrl, Trigger

_NO_ANSWER = "did not answer within 3 seconds"


async def command(runtime: Runtime, user: User, channel: Channel, typed: str) -> None:
    """Run a slash command.

    Args:
        runtime: the workspace.
        user: who typed it.
        channel: where; never in a thread, which Slack refuses.
        typed: the whole line, for example `/echo hello`.

    Raises:
        PersonRefusal: unknown_command, command_failed.
    """
    word, _, rest = typed.partition(" ")
    app, entry = find_command(runtime, word)
    names = runtime.state.names() if entry.get("should_escape") else {}
    url = ResponseUrl(
        app.id, channel.id, user.id, _response_end(runtime), runtime.config.pace.response_posts
    )
    payload: Json = {
        "token": app.verification_token,
        "team_id": runtime.state.team_id,
        "team_domain": runtime.state.team_domain,
        "channel_id": channel.id,
        "channel_name": _command_channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": word,
        "text": as_typed(rest.strip(), names),
        "api_app_id": app.id,
        **({"enterprise_id": runtime.state.enterprise_id} if runtime.state.enterprise_id else {}),
        "is_enterprise_install": str(runtime.state.is_org_wide).lower(),
        "response_url": _response_url(runtime, url),
        "trigger_id": _trigger(runtime, user, app),
    }
    acknowledgement = await runtime.connections[app.id].dispatcher.ask(
        Envelope("slash_commands", payload)
    )
    if not acknowledgement.acked:
        words = f"{word} failed: the app {_why(acknowledgement)}"
        runtime.feed.tell_user(user.id, {"type": "command_failed", "text": words})
        raise PersonRefusal("command_failed", words)
    if responses.has_message(acknowledgement.body):
        body = acknowledgement.body
        try:
            responses.respond(runtime, url, body)
        except SlackRefusal as refused:
            _log_bad_answer(runtime, "slash_commands", body, refused)
            words = "The app's answer was not understood."
            raise PersonRefusal("invalid_response", words) from refused


async def click(runtime: Runtime, user: User, where: SurfaceRef, choice: Json) -> None:
    """Use a button, menu or picker.

    Args:
        runtime: the workspace.
        user: who.
        where: the message or view.
        choice: block_id, action_id, and for anything but a button what was chosen; `values` may
            bring what else is typed in a view.

    Raises:
        PersonRefusal: no_such_element, no_such_option, action_failed.
    """
    surface = find_surface(runtime, user, where)
    action = take_action(runtime, surface, choice)
    app = find_app(runtime, surface.app_id)
    payload = {
        "type": "block_actions",
        **_base(runtime, app, user),
        **surface.payload(),
        "trigger_id": _trigger(runtime, user, app),
        "actions": [action],
    }
    if surface.channel is not None:
        url = _source_url(runtime, user, app, channel=surface.channel, source=surface.source)
        payload["response_url"] = url
    await _ask(runtime, app, payload, "action_failed")


async def submit(runtime: Runtime, user: User, view_id: str, values: Json) -> Json:
    """Submit a form.

    Returns:
        The `response_action` and `errors` for the page; empty when the form closed.

    Raises:
        PersonRefusal: not_found, submit_failed, invalid_response.
    """
    view = _open_view(runtime, user, view_id)
    modals.type_into(view, values)
    wrong = modals.missing_answers(view)
    if wrong:
        return {"response_action": "errors", "errors": wrong}
    app = find_app(runtime, text_at(view, "app_id"))
    payload: Json = {
        "type": "view_submission",
        **_base(runtime, app, user),
        "trigger_id": _trigger(runtime, user, app),
        "view": copy(view),
        "response_urls": [],
    }
    acknowledgement = await _ask(runtime, app, payload, "submit_failed")
    try:
        return _after_submit(runtime, user, view, acknowledgement.body)
    except SlackRefusal as refused:
        _log_bad_answer(runtime, "view_submission", acknowledgement.body, refused)
        raise PersonRefusal("invalid_response", "The app's answer was not understood.") from refused


def close(runtime: Runtime, user: User, view_id: str) -> None:
    """Close a form."""
    _open_view(runtime, user, view_id)
    modals.close(runtime, user.id)


async def shortcut(
    runtime: Runtime, user: User, callback_id: str, source: Json | None = None
) -> None:
    """Use a global shortcut, or a message shortcut on a message.

    Raises:
        PersonRefusal: unknown_shortcut, shortcut_failed.
    """
    scope = "global" if source is None else "message"
    app = next(iter(runtime.apps_where(lambda app: _has_shortcut(app, callback_id, scope))), None)
    if app is None:
        raise PersonRefusal("unknown_shortcut", "No app has this shortcut.")
    payload: Json = {
        "type": "shortcut" if source is None else "message_action",
        **_base(runtime, app, user),
        "callback_id": callback_id,
        "trigger_id": _trigger(runtime, user, app),
        "action_ts": runtime.state.new_ts(runtime.now()),
    }
    if source is not None:
        channel = runtime.state.channels[source["channel"]]
        payload |= {
            "channel": {"id": channel.id, "name": channel.name},
            "message": copy(source),
            "message_ts": source["ts"],
            "response_url": _source_url(runtime, user, app, channel=channel, source=source),
        }
    await _ask(runtime, app, payload, "shortcut_failed")


def open_home(runtime: Runtime, user: User, app: App) -> Json | None:
    """Open an app's Home: the app hears of it; return what it published last."""
    bot = runtime.state.users[app.bot_user]
    channel = channels.direct(runtime, user, bot)
    view = runtime.state.homes.get(modals.home_key(app, user.id))
    event: Json = {
        "type": "app_home_opened",
        "user": user.id,
        "channel": channel.id,
        "tab": "home",
        "event_ts": runtime.state.new_ts(runtime.now()),
    }
    if view is not None:
        event["view"] = copy(view)
    if app.has_home and events.is_subscribed(app, event, None):
        events.send(runtime, app, event)
    return copy(view) if view is not None else None


def _after_submit(runtime: Runtime, user: User, view: Json, body: Json) -> Json:
    action = text_at(body, "response_action")
    if action == "errors":
        return {"response_action": action, "errors": _checked_errors(view, body)}
    if action == "update":
        modals.replace_view(runtime, user.id, view, check_view(body.get("view"), "modal"))
    elif action:
        raise SlackRefusal("invalid_response_action")
    else:
        modals.close(runtime, user.id)
    return {"response_action": action} if action else {}


def _checked_errors(view: Json, body: Json) -> Json:
    errors = child(body, "errors")
    inputs = {
        block["block_id"] for block in objects(view.get("blocks")) if block["type"] == "input"
    }
    if not errors or not set(errors) <= inputs:
        raise SlackRefusal("invalid_errors", [f"errors must name input blocks: {sorted(errors)}"])
    return errors


async def _ask(runtime: Runtime, app: App, payload: Json, code: str) -> Acknowledgement:
    if not app.interactive:
        raise PersonRefusal("not_interactive", f"{app.name} has interactivity turned off.")
    acknowledgement = await runtime.connections[app.id].dispatcher.ask(
        Envelope("interactive", payload)
    )
    if not acknowledgement.acked:
        raise PersonRefusal(code, f"{app.name} {_why(acknowledgement)}. Try again.")
    return acknowledgement


def _why(acknowledgement: Acknowledgement) -> str:
    return "is not connected" if acknowledgement.reason == "connection_failed" else _NO_ANSWER


def _log_bad_answer(runtime: Runtime, kind: str, body: Json, refused: SlackRefusal) -> None:
    noted = {"answer": copy(body), "messages": refused.messages}
    runtime.calls.add(LoggedCall(f"ack:{kind}", noted, refused.code, runtime.now()))


def _open_view(runtime: Runtime, user: User, view_id: str) -> Json:
    view = runtime.modals.get(user.id)
    if view is None or view["id"] != view_id:
        raise PersonRefusal("not_found", "This form is not open any more.")
    return view


def _base(runtime: Runtime, app: App, user: User) -> Json:
    team = {"id": runtime.state.team_id, "domain": runtime.state.team_domain}
    return {
        "user": {
            "id": user.id,
            "username": user.name,
            "name": user.name,
            "team_id": user.home or runtime.state.team_id,
        },
        "api_app_id": app.id,
        "token": app.verification_token,
        "team": team,
        "enterprise": {"id": runtime.state.enterprise_id} if runtime.state.enterprise_id else None,
        "is_enterprise_install": runtime.state.is_org_wide,
    }


def _trigger(runtime: Runtime, user: User, app: App) -> str:
    expires = runtime.now() + runtime.config.pace.trigger_seconds
    return runtime.triggers.issue(Trigger(user.id, app.id, expires))


def _response_end(runtime: Runtime) -> float:
    return runtime.now() + runtime.config.pace.response_seconds


def _response_url(runtime: Runtime, url: ResponseUrl) -> str:
    return f"{runtime.base_url}/response/{runtime.response_urls.issue(url)}"


def _source_url(runtime: Runtime, user: User, app: App, *, channel: Channel, source: Json) -> str:
    url = ResponseUrl(
        app.id,
        channel.id,
        user.id,
        _response_end(runtime),
        runtime.config.pace.response_posts,
        source_ts=source["ts"],
        source_ephemeral=bool(source.get("is_ephemeral")),
        thread_ts=text_at(source, "thread_ts"),
    )
    return _response_url(runtime, url)


def _has_shortcut(app: App, callback_id: str, kind: str) -> bool:
    return any(
        item.get("callback_id") == callback_id and item.get("type") == kind
        for item in app.shortcuts
    )


def _command_channel_name(channel: Channel) -> str:
    names = {"im": "directmessage", "group": "privategroup", "channel": channel.name}
    return names[channel.kind()]
