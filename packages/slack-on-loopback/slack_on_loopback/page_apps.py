"""The list of apps as the page shows it, and telling the pages when it changes."""

from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import App


def watch_connections(runtime: Runtime) -> None:
    """Tell the pages whenever an app connects or disconnects."""
    for connections in runtime.connections.values():
        connections.sockets.changed = lambda: tell_apps(runtime)


def tell_apps(runtime: Runtime) -> None:
    """Send every page the list of apps, with who is connected."""
    apps = page_apps(runtime)
    runtime.feed.tell_each(lambda _: {"type": "apps", "apps": apps})
    runtime.notify_change()


def page_apps(runtime: Runtime) -> list[Json]:
    """Return the apps as the page shows them."""
    return [_page_app(runtime, app) for app in runtime.state.apps.values()]


def _page_app(runtime: Runtime, app: App) -> Json:
    connections = runtime.connections[app.id]
    return {
        "id": app.id,
        "name": app.name,
        "bot_user": app.bot_user,
        "connected": not app.revoked and (connections.sockets.ready() or connections.http.ready()),
        "commands": [
            _picked_option(command, ("command", "description", "usage_hint"))
            for command in app.commands
        ],
        "shortcuts": [
            _picked_option(shortcut, ("name", "type", "callback_id", "description"))
            for shortcut in app.shortcuts
        ],
        "has_home": app.has_home,
    }


def _picked_option(value: Json, keys: tuple[str, ...]) -> Json:
    return {key: value.get(key, "") for key in keys}
