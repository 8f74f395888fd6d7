"""The state at the start, from the configuration or a file."""

import secrets
from pathlib import Path

from slack_on_loopback.config import ChannelSpec, WorkspaceConfig
from slack_on_loopback.json_values import Json, as_list, child, objects, text_at
from slack_on_loopback.state import App, Channel, User, WorkspaceState


def load_state(config: WorkspaceConfig) -> WorkspaceState:
    """Return the saved state, or a new one; the app follows the configuration in both."""
    path = config.state_file
    if path is not None and path.exists():
        state = WorkspaceState.model_validate_json(path.read_text("utf-8"))
    else:
        state = _new_state(config)
    _apply_manifest(state.app, config)
    return state


def save_state(state: WorkspaceState, path: Path) -> None:
    """Write the state to a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(path.suffix + ".part")
    draft.write_text(state.model_dump_json(), "utf-8")
    draft.replace(path)


def _new_state(config: WorkspaceConfig) -> WorkspaceState:
    name = text_at(child(dict(config.manifest), "display_information"), "name") or "App"
    app = App(
        name=name,
        bot_token="xoxb-" + secrets.token_hex(20),
        app_token="xapp-1-" + secrets.token_hex(20),
        signing_secret=secrets.token_hex(16),
    )
    state = WorkspaceState(
        team_id=config.team_id,
        enterprise_id=config.enterprise_id,
        is_org_wide=config.is_org_wide,
        team_name=config.team_name,
        team_domain=config.team_name.lower(),
        app=app,
    )
    for spec in config.users:
        user_id = state.new_id("U")
        state.users[user_id] = User(id=user_id, name=spec.name, real_name=spec.real_name)
    bot_name = text_at(child(dict(config.manifest), "features", "bot_user"), "display_name") or name
    bot = User(
        id=state.new_id("U"),
        name=bot_name.lower().replace(" ", "-"),
        real_name=bot_name,
        is_bot=True,
    )
    state.users[bot.id] = bot
    app.bot_user, app.id, app.bot_id = bot.id, state.new_id("A"), state.new_id("B")
    for spec in config.channels:
        channel = _new_channel(state, spec, int(config.clock()))
        state.channels[channel.id] = channel
    return state


def _new_channel(state: WorkspaceState, spec: ChannelSpec, now: int) -> Channel:
    people = [user for user in state.users.values() if not user.is_bot]
    members = [u.id for u in people if spec.members is None or u.name in spec.members]
    return Channel(
        id=state.new_id("C"),
        name=spec.name,
        is_private=spec.private,
        topic=spec.topic,
        creator=members[0] if members else "",
        created=now,
        members=[*members, state.app.bot_user] if spec.with_bot else members,
    )


def _apply_manifest(app: App, config: WorkspaceConfig) -> None:
    manifest: Json = dict(config.manifest)
    features, settings = child(manifest, "features"), child(manifest, "settings")
    app.bot_token = config.bot_token or app.bot_token
    app.app_token = config.app_token or app.app_token
    app.signing_secret = config.signing_secret or app.signing_secret
    app.scopes = _strings(child(manifest, "oauth_config", "scopes").get("bot"))
    app.events = _strings(child(settings, "event_subscriptions").get("bot_events"))
    app.commands = objects(features.get("slash_commands"))
    app.shortcuts = objects(features.get("shortcuts"))
    app.is_agent = "agent_view" in features
    app.has_home = bool(child(features, "app_home").get("home_tab_enabled"))
    app.messages_read_only = bool(child(features, "app_home").get("messages_tab_read_only_enabled"))
    if not settings.get("socket_mode_enabled"):
        app.request_url = text_at(child(settings, "event_subscriptions"), "request_url")
        app.interactivity_url = text_at(child(settings, "interactivity"), "request_url")


def _strings(value: object) -> list[str]:
    return [str(item) for item in as_list(value) or []]
