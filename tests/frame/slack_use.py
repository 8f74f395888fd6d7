"""The Slack methods, listeners and scopes that the bot's code uses, read from its text."""

import re
from dataclasses import dataclass

from slack_sdk.web.async_client import AsyncWebClient

from tests.frame.files import ROOT, modules

#: The scopes a bot token needs for each Web API method (docs.slack.dev/reference/methods).
METHOD_SCOPES: dict[str, set[str]] = {
    "agents_sessions_setStatus": {"chat:write"},
    "api_call": set(),  # calls a method that is named beside it, whose scopes are counted
    "api_test": set(),
    "apps_connections_open": set(),  # the scope of the app-level token
    "auth_revoke": set(),
    "auth_test": set(),
    "bots_info": {"users:read"},
    "chat_delete": {"chat:write"},
    "chat_getPermalink": set(),
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_update": {"chat:write"},
    "conversations_history": {"channels:history", "groups:history"},
    "conversations_info": {"channels:read", "groups:read"},
    "conversations_join": {"channels:join"},
    "conversations_list": {"channels:read", "groups:read"},
    "conversations_members": {"channels:read", "groups:read"},
    "conversations_open": {"im:write"},
    "conversations_replies": {"channels:history", "groups:history"},
    "files_completeUploadExternal": {"files:write"},
    "files_getUploadURLExternal": {"files:write"},
    "files_info": {"files:read"},
    "files_upload_v2": {"files:write"},
    "oauth_v2_access": set(),
    "pins_add": {"pins:write"},
    "pins_remove": {"pins:write"},
    "reactions_add": {"reactions:write"},
    "reactions_get": {"reactions:read"},
    "reactions_remove": {"reactions:write"},
    "team_info": {"team:read"},
    "users_conversations": {"channels:read", "groups:read"},
    "users_info": {"users:read"},
    "users_list": {"users:read"},
    "views_open": set(),
    "views_publish": set(),
    "views_push": set(),
    "views_update": set(),
}

#: The manifest's events for each event the code listens to, and the scope each needs.
EVENT_SCOPES: dict[str, dict[str, set[str]]] = {
    "agent_session_stopped": {"agent_session_stopped": {"assistant:write"}},
    "app_home_opened": {"app_home_opened": set()},
    "app_mention": {"app_mention": {"app_mentions:read"}},
    "app_uninstalled": {"app_uninstalled": set()},
    "channel_archive": {"channel_archive": {"channels:read"}},
    "channel_rename": {"channel_rename": {"channels:read"}},
    "channel_unarchive": {"channel_unarchive": {"channels:read"}},
    "group_archive": {"group_archive": {"groups:read"}},
    "group_rename": {"group_rename": {"groups:read"}},
    "group_unarchive": {"group_unarchive": {"groups:read"}},
    "member_joined_channel": {"member_joined_channel": {"channels:read", "groups:read"}},
    "member_left_channel": {"member_left_channel": {"channels:read", "groups:read"}},
    "message": {
        "message.channels": {"channels:history"},
        "message.groups": {"groups:history"},
    },
    "tokens_revoked": {"tokens_revoked": set()},
}

#: Arguments that need another scope in every method.
ARGUMENT_SCOPES = {"icon_emoji": "chat:write.customize", "icon_url": "chat:write.customize"}
_FAMILIES = {method.partition("_")[0] for method in METHOD_SCOPES} | {
    *("bookmarks", "search", "usergroups"),
}
#: A listener and its name, written where it is registered, also in a dict of constraints. What
#: acknowledges every event nobody listens to has a pattern in place of a name.
_LISTENER = re.compile(
    r"(?:app|bolt)\.(event|command|(?:message_|global_)?shortcut)\(\s*(?!re\.compile)"
    r"(?:\{[^}]*?['\"](?:type|callback_id)['\"]: )?(?:['\"]([\w/]+)['\"])?"
)


@dataclass(frozen=True)
class SlackUse:
    methods: set[str]
    #: Kind and name of each listener; an empty name is not written where it is registered.
    listeners: set[tuple[str, str]]
    arguments: set[str]

    def named(self, *kinds: str) -> set[str]:
        return {name for kind, name in self.listeners if kind in kinds}

    @property
    def manifest_events(self) -> set[str]:
        """The events the manifest must subscribe to."""
        events = self.named("event")
        return {name for event in events for name in EVENT_SCOPES.get(event, {event: set()})}

    @property
    def shortcuts(self) -> set[str]:
        return self.named("shortcut", "message_shortcut", "global_shortcut")

    @property
    def scopes(self) -> set[str]:
        needed = [METHOD_SCOPES.get(method, set()) for method in self.methods]
        for event in self.named("event"):
            needed += EVENT_SCOPES.get(event, {}).values()
        if self.named("command") | self.shortcuts:
            needed.append({"commands"})
        return set[str]().union(*needed, {ARGUMENT_SCOPES[name] for name in self.arguments})


def slack_use_of(source: str) -> SlackUse:
    named = {name.replace(".", "_") for name in re.findall(r"['\"]([a-z]+\.[\w.]+)['\"]", source)}
    used = named | set(re.findall(r"\.(\w+)", source))
    methods = {
        name
        for name in used
        if name in METHOD_SCOPES
        # A method of the Web API (`pins_add`), no other member of the client.
        or ("_" in name and name.partition("_")[0] in _FAMILIES and hasattr(AsyncWebClient, name))
    }
    listeners = {(kind, name) for kind, name in _LISTENER.findall(source)}
    if "enable_token_revocation_listeners" in used:
        listeners |= {("event", "tokens_revoked"), ("event", "app_uninstalled")}
    words = set(re.findall(r"\w+", source))
    return SlackUse(methods, listeners, words & ARGUMENT_SCOPES.keys())


def slack_use() -> SlackUse:
    """The bot's use of Slack, without the terminal and the test doubles."""
    apart = {ROOT / "bot" / name for name in ("terminal", "cli.py", "testing.py")}
    files = [path for path in modules("bot") if apart.isdisjoint({path, *path.parents})]
    return slack_use_of("\n".join(path.read_text(encoding="utf-8") for path in files))
