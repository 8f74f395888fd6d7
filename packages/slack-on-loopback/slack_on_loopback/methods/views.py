"""views.*: opening, updating and publishing.

Source: https://docs.slack.dev/surfaces/modals
"""

from slack_on_loopback import access, modals
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy, text_at
from slack_on_loopback.rules import check_view
from slack_on_loopback.runtime import Runtime


def open_view(runtime: Runtime, call: ApiCall) -> Json:
    view = check_view(call.structure("view"), "modal")
    trigger = runtime.triggers.exchange(call.required("trigger_id"), runtime.now())
    opened = modals.new_view(runtime, view)
    modals.show(runtime, trigger.user, opened)
    return {"view": copy(opened)}


def update_view(runtime: Runtime, call: ApiCall) -> Json:
    view = check_view(call.structure("view"), "modal")
    user, stored = modals.find_modal(runtime, call.required("view_id"))
    _check_hash(call, stored)
    return {"view": copy(modals.replace_view(runtime, user, stored, view))}


def publish_view(runtime: Runtime, call: ApiCall) -> Json:
    """views.publish: an app's Home for one user."""
    user = access.known_user(runtime, call.required("user_id"))
    view = check_view(call.structure("view"), "home")
    if not runtime.app.has_home:
        raise SlackRefusal("not_enabled")
    before = runtime.state.homes.get(user.id)
    if before is not None:
        _check_hash(call, before)
    published = modals.new_view(runtime, view)
    if before is not None:
        published["id"] = published["root_view_id"] = before["id"]
    runtime.state.homes[user.id] = published
    runtime.feed.tell_user(user.id, {"type": "home", "view": copy(published)})
    runtime.notify_change()
    return {"view": copy(published)}


def _check_hash(call: ApiCall, stored: Json) -> None:
    view_hash = call.text("hash")
    if view_hash and view_hash != text_at(stored, "hash"):
        raise SlackRefusal("hash_conflict")


METHODS: Methods = {
    "views.open": Method(open_view, tier=4),
    "views.update": Method(update_view, tier=4),
    "views.publish": Method(publish_view, tier=4),
}
