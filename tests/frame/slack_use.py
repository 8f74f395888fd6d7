"""What the bot's code uses of Slack, read from its syntax trees: methods, listeners, scopes."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from slack_sdk.web.async_client import AsyncWebClient

from tests.frame.files import ROOT, modules, tree

#: The scopes a bot token needs for each Web API method (docs.slack.dev/reference/methods).
METHOD_SCOPES: dict[str, set[str]] = {
    "agents_sessions_setStatus": {"chat:write"},
    "api_call": set(),  # of a method named beside it, whose scopes are counted
    "api_test": set(),
    "apps_connections_open": set(),  # the app-level token's own scope
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

#: Arguments that need a scope of their own, whatever the method.
ARGUMENT_SCOPES = {"icon_emoji": "chat:write.customize", "icon_url": "chat:write.customize"}

_LISTENERS = {"event": "events", "command": "commands"} | dict.fromkeys(
    ("shortcut", "message_shortcut", "global_shortcut"), "shortcuts"
)

#: What acknowledges every event nobody listens to has no name to check.
_THE_REST = "re.compile('.*')"

_FAMILIES = {method.partition("_")[0] for method in METHOD_SCOPES} | {
    "bookmarks",
    "search",
    "usergroups",
}


@dataclass
class SlackUse:
    methods: set[str] = field(default_factory=set[str])
    events: set[str] = field(default_factory=set[str])
    commands: set[str] = field(default_factory=set[str])
    shortcuts: set[str] = field(default_factory=set[str])
    arguments: set[str] = field(default_factory=set[str])
    #: Listeners whose name is not written where they are registered: "file:line".
    unnamed: list[str] = field(default_factory=list[str])

    @property
    def manifest_events(self) -> set[str]:
        """The events the manifest must subscribe to."""
        return {name for event in self.events for name in EVENT_SCOPES.get(event, {event: set()})}

    @property
    def scopes(self) -> set[str]:
        needed = [METHOD_SCOPES.get(method, set()) for method in self.methods]
        needed += [
            scopes for event in self.events for scopes in EVENT_SCOPES.get(event, {}).values()
        ]
        commands = {"commands"} if self.commands or self.shortcuts else set[str]()
        return set[str]().union(
            *needed, commands, (ARGUMENT_SCOPES[name] for name in self.arguments)
        )


def bot_files() -> Iterator[Path]:
    """Yield the files that talk to Slack: not the terminal, the doubles."""
    bot = ROOT / "bot"
    apart = (bot / "terminal", bot / "cli.py", bot / "testing.py")
    for path in modules("bot"):
        if not any(path == other or other in path.parents for other in apart):
            yield path


@cache
def slack_use() -> SlackUse:
    use = SlackUse()
    for path in bot_files():
        for node in ast.walk(tree(path)):
            _note(use, node, path.name)
    return use


def slack_use_of(source: str) -> SlackUse:
    use = SlackUse()
    for node in ast.walk(ast.parse(source)):
        _note(use, node, "source")
    return use


def _note(use: SlackUse, node: ast.AST, file: str) -> None:
    if isinstance(node, ast.Attribute):
        _note_method(use, node.attr)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        _note_method(use, node.value.replace(".", "_") if "." in node.value else "")
        use.arguments |= {node.value} & ARGUMENT_SCOPES.keys()
    elif isinstance(node, ast.keyword):
        use.arguments |= {node.arg or ""} & ARGUMENT_SCOPES.keys()
    elif isinstance(node, ast.Call):
        _note_listener(use, node, file)


def _note_method(use: SlackUse, name: str) -> None:
    if name == "enable_token_revocation_listeners":
        use.events |= {"tokens_revoked", "app_uninstalled"}
    if name in METHOD_SCOPES or (_is_web_api(name) and "_" in name):
        use.methods.add(name)


def _is_web_api(name: str) -> bool:
    """Tell a Web API method (`pins_add`) from the client's other members."""
    return name.partition("_")[0] in _FAMILIES and hasattr(AsyncWebClient, name)


def _note_listener(use: SlackUse, call: ast.Call, file: str) -> None:
    target = call.func
    if not isinstance(target, ast.Attribute) or target.attr not in _LISTENERS or not call.args:
        return
    if not ast.unparse(target.value).endswith(("app", "bolt")):
        return
    if ast.unparse(call.args[0]) == _THE_REST:
        return
    name = _name_in(call.args[0])
    if name is None:
        use.unnamed.append(f"{file}:{call.lineno}")
    else:
        getattr(use, _LISTENERS[target.attr]).add(name)


def _name_in(argument: ast.expr) -> str | None:
    """Return the literal name a listener is registered for, also out of a dict of constraints."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    if isinstance(argument, ast.Dict):
        for key, value in zip(argument.keys, argument.values, strict=True):
            if key is not None and ast.unparse(key) in {"'type'", "'callback_id'"}:
                return _name_in(value)
    return None
