"""The list of apps as the page shows it, and telling the pages when it changes."""

from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Desk
from slack_on_loopback.state import App


def watch_connections(desk: Desk) -> None:
    """Tell the pages whenever an app connects or disconnects."""
    for line in desk.lines.values():
        line.sockets.changed = lambda: tell_apps(desk)


def tell_apps(desk: Desk) -> None:
    """Send every page the list of apps, with who is connected."""
    apps = page_apps(desk)
    desk.feed.tell_each(lambda _: {"type": "apps", "apps": apps})
    desk.changed()


def page_apps(desk: Desk) -> list[Json]:
    """Return the apps as the page shows them."""
    return [_page_app(desk, app) for app in desk.world.apps.values()]


def _page_app(desk: Desk, app: App) -> Json:
    line = desk.lines[app.id]
    return {
        "id": app.id,
        "name": app.name,
        "bot_user": app.bot_user,
        "connected": not app.revoked and (line.sockets.ready() or line.http.ready()),
        "commands": [
            _picked(one, ("command", "description", "usage_hint")) for one in app.commands
        ],
        "shortcuts": [
            _picked(one, ("name", "type", "callback_id", "description")) for one in app.shortcuts
        ],
        "has_home": app.has_home,
    }


def _picked(value: Json, keys: tuple[str, ...]) -> Json:
    return {key: value.get(key, "") for key in keys}
