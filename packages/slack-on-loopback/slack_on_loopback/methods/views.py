"""views.*: opening, updating and publishing.

Source: https://docs.slack.dev/surfaces/modals
"""

from slack_on_loopback import access, modals
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy, text_at
from slack_on_loopback.rules import check_view
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.triggers import Trigger


def open_view(runtime: Runtime, call: ApiCall) -> Json:
    """views.open."""
    view = check_view(call.args.structure("view"), "modal")
    trigger = _exchange(runtime, call)
    opened = modals.new_view(runtime, call.app, view)
    modals.show(runtime, trigger.user, opened)
    return {"view": copy(opened)}


def update_view(runtime: Runtime, call: ApiCall) -> Json:
    """views.update."""
    view = check_view(call.args.structure("view"), "modal")
    user, stored = modals.find_own(runtime, call.app, call.args.required("view_id"))
    _check_hash(call, stored)
    return {"view": copy(modals.replace_view(runtime, user, stored, view))}


def publish_view(runtime: Runtime, call: ApiCall) -> Json:
    """views.publish: an app's Home for one user."""
    user = access.known_user(runtime, call.args.required("user_id"))
    view = check_view(call.args.structure("view"), "home")
    if not call.app.has_home:
        raise SlackRefusal("not_enabled")
    key = modals.home_key(call.app, user.id)
    before = runtime.state.homes.get(key)
    if before is not None:
        _check_hash(call, before)
    published = modals.new_view(runtime, call.app, view)
    if before is not None:
        published["id"] = published["root_view_id"] = before["id"]
    runtime.state.homes[key] = published
    runtime.feed.tell_user(user.id, {"type": "home", "app": call.app.id, "view": copy(published)})
    runtime.notify_change()
    return {"view": copy(published)}


def _exchange(runtime: Runtime, call: ApiCall) -> Trigger:
    trigger_id = call.args.required("trigger_id")
    return runtime.triggers.exchange(trigger_id, call.app.id, runtime.now())


def _check_hash(call: ApiCall, stored: Json) -> None:
    view_hash = call.args.text("hash")
    if view_hash and view_hash != text_at(stored, "hash"):
        raise SlackRefusal("hash_conflict")


METHODS: Methods = {
    "views.open": Method(open_view, tier=4),
    "views.update": Method(update_view, tier=4),
    "views.publish": Method(publish_view, tier=4),
}
