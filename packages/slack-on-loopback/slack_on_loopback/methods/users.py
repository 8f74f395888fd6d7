"""auth.test, users.info and apps.connections.open."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from slack_on_loopback import access
from slack_on_loopback.api_call import ApiCall, Method, Methods
from slack_on_loopback.json_values import Json
from slack_on_loopback.runtime import Runtime


def auth_test(runtime: Runtime, call: ApiCall) -> Json:
    del call
    bot = runtime.state.users[runtime.app.bot_user]
    return {
        "url": f"{runtime.base_url}/",
        "team": runtime.state.team_name,
        "user": bot.name,
        "team_id": runtime.state.team_id,
        "user_id": bot.id,
        "bot_id": runtime.app.bot_id,
        "is_enterprise_install": False,
    }


def open_connection(runtime: Runtime, call: ApiCall) -> Json:
    """apps.connections.open: a ticket for one Socket Mode connection."""
    del call
    ticket, address = runtime.sockets.issue_ticket(), runtime.base_url.replace("http", "ws", 1)
    return {"url": f"{address}/socket/{ticket}?app_id={runtime.app.id}"}


def user_info(runtime: Runtime, call: ApiCall) -> Json:
    user = access.known_user(runtime, call.required("user"))
    team = user.home or runtime.state.team_id
    here = datetime.fromtimestamp(runtime.now(), ZoneInfo(user.tz))
    # As in Slack, the first person of a workspace owns it.
    owner = next((user.id for user in runtime.state.users.values() if not user.is_bot), "")
    fields: Json = {
        "id": user.id,
        "team_id": team,
        "name": user.name,
        "deleted": user.is_deleted,
        "real_name": user.real_name,
        "tz": user.tz,
        "tz_label": here.tzname(),
        "tz_offset": int((here.utcoffset() or timedelta()).total_seconds()),
        "profile": {
            "real_name": user.real_name,
            "display_name": user.name,
            "real_name_normalized": user.real_name,
            "display_name_normalized": user.name,
            "team": team,
        },
        "is_bot": user.is_bot,
        "is_app_user": False,
        "is_admin": user.id == owner,
        "is_owner": user.id == owner,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "updated": 0,
    }
    return {"user": fields}


METHODS: Methods = {
    "auth.test": Method(auth_test, tier=None),
    "apps.connections.open": Method(open_connection, tier=3, token="app"),  # noqa: S106 a kind
    "users.info": Method(user_info, ("users:read",), tier=4),
}
