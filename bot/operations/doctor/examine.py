"""Runs all checks and collects their findings. The checks of models are in `check_models`."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

import bot.store.tables
import core.store.tables
from bot.building import check_settings, database_url, find_plugins, load_settings, open_read_only
from bot.landing.build_receivers import build_receivers
from bot.landing.receivers import LandingFailed, Receiver
from bot.operations.doctor.check_models import check_models
from bot.operations.doctor.findings import Finding, bad, good, skip
from bot.operations.health import ask_health
from bot.plugins import NO_PLUGINS, Plugins
from bot.presenter.sink import search_words
from bot.queue.landings import LandingBacklog, Landings
from bot.queue.rows import PostState
from bot.settings import BotSettings, SlackAccess, default_mode, slack_access
from bot.slack.access import CONNECTION_ERRORS
from bot.slack.client import slack_client
from bot.slack.install.tokens import Cipher
from bot.slack.manifest import manifest
from bot.slack.payloads import Identity, refusal_of
from bot.views.lists import DebateRow, row_text
from core.clock import SystemClock
from core.config.playbooks import FOLDER
from core.debate.log import RecordedEvent, fold
from core.errors import ConfigurationBroken, LogBroken, MootError, StoreDown, StoreError, reading
from core.figures import number, quantity
from core.ports import DebateFilter, DebateStore
from core.rules.formats.registry import format_of
from core.settings import Settings
from core.store.database import Database
from core.store.lock import is_in_use
from core.store.migrate import newest as newest_version
from core.store.upkeep import inspect_database

#: Dead letters and waiting landings that are listed one by one.
MOST_LISTED = 10
#: Time limits in seconds for the check of a receiver and for one call of Slack.
_RECEIVER_SECONDS, _SLACK_SECONDS = 10.0, 5
_RETRY = "Type `/debate doctor retry` in Slack."
#: Free bytes on the disk below which the check fails.
_LEAST_SPACE, _MEGABYTE = 200_000_000, 1_000_000
#: Most debates that are read (the newest), and most unreadable ones that are named.
_MOST_READ, _MOST_NAMED = 300, 5
#: Scopes that not every app has: for attached files, and the one Slack adds to agent apps.
_FILES_SCOPE, _AGENTS_SCOPE = "files:read", "assistant:write"
_BOT, _APP = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"


async def examine(environment: BotSettings, file: Path | None = None) -> Sequence[Finding]:
    """All findings, in the order in which problems should be solved."""
    plugins = find_plugins(environment)
    settings, findings = await _settings(environment, file, plugins)
    more_checks = running_findings(environment), log_findings(environment)
    return [*findings, *await _findings(environment, settings, plugins, *more_checks)]


async def examine_here(
    environment: BotSettings,
    settings: Settings,
    *,
    plugins: Plugins = NO_PLUGINS,
    is_served: bool = True,
) -> Sequence[Finding]:
    """Findings for people in a channel: without the file names of settings.

    Args:
        environment: Keys, tokens, addresses.
        settings: The settings of the running bot.
        plugins: The plugins of the running bot.
        is_served: Whether the bot serves `/health` at the address of the environment.
    """
    more_checks = [running_findings(environment)] if is_served else []
    return await _findings(environment, settings, plugins, *more_checks)


async def _findings(
    environment: BotSettings,
    settings: Settings | None,
    plugins: Plugins,
    *more_checks: Awaitable[Sequence[Finding]],
) -> Sequence[Finding]:
    checks = [check_slack(environment), check_database(environment), *more_checks]
    if settings:
        checks = [check_models(environment, settings), *checks]
        checks.append(landing_findings(environment, settings))
    groups = await asyncio.gather(*checks)
    playbooks = playbook_findings(settings) if settings else ()
    return [*(item for group in groups for item in group), *playbooks, *check_plugins(plugins)]


async def _settings(
    environment: BotSettings, file: Path | None, plugins: Plugins
) -> tuple[Settings | None, Sequence[Finding]]:
    """The settings in force (None if they cannot be used) and the findings about them."""
    name = str(file or environment.moot_config or "")
    subject = f"settings file {name}" if name else "settings"
    try:
        loaded = await load_settings(environment, file, plugins=plugins)
    except ConfigurationBroken as error:
        remedy = (
            "Correct it; `moot config check FILE` looks again. Or name another file in MOOT_CONFIG "
            "or with --config."
        )
        return None, [
            bad(subject, "; ".join(str(error).splitlines()), remedy, is_configuration=True)
        ]
    notices = "; ".join((*loaded.notices, *loaded.settings.warnings))
    used = "can be used" if name else "no file: the built-in settings hold"
    findings = [good(subject, f"{used}. {notices}" if notices else used)]
    try:
        check_settings(loaded.settings, environment)
    except ConfigurationBroken as error:
        findings.append(bad("keys the settings need", str(error), is_configuration=True))
    return loaded.settings, findings


def playbook_findings(settings: Settings) -> Sequence[Finding]:
    # People in a channel do not see the path of the folder.
    faults = [fault.rpartition(f"{FOLDER}/")[2] for fault in settings.playbook_faults]
    remedy = "Correct these lines; `moot playbook check` looks again. Others can be used."
    return [bad("playbooks", " ".join(faults), remedy, is_configuration=True)] if faults else []


def check_plugins(plugins: Plugins) -> Sequence[Finding]:
    findings = list[Finding]()
    remedy = "Set what it needs, or update or uninstall the package; then restart."
    for plugin in plugins.entries:
        if plugin.fault:
            text = f"left out: {plugin.fault}"
            findings.append(bad(plugin.title, text, remedy, is_configuration=True))
        elif not plugin.is_allowed:
            findings.append(skip(plugin.title, "not allowed by MOOT_PLUGINS"))
        else:
            findings.append(good(plugin.title, "is used"))
    for sink in plugins.sinks:
        if sink.fault:
            findings.append(
                bad(f"sink {sink.name}", f"failed: {sink.fault}; the log has the details")
            )
        if sink.dropped:
            text = f"is too slow: it missed {quantity(sink.dropped, 'event')}"
            findings.append(bad(f"sink {sink.name}", text))
    return findings or [skip("plugins", "none is installed")]


async def running_findings(environment: BotSettings) -> Sequence[Finding]:
    subject = "running bot"
    address = f"http://{environment.moot_host}:{environment.moot_port}/health"
    answer = await asyncio.to_thread(ask_health, address)
    if answer.healthy:
        return [good(subject, "reports no problem")]
    if not answer.troubles:
        return [skip(subject, f"none answers at {address}")]
    text = f"says: {', '.join(answer.troubles)}"
    return [bad(subject, text, "See the lines `not healthy` in its log.")]


# Receivers outside Slack.


async def landing_findings(environment: BotSettings, settings: Settings) -> Sequence[Finding]:
    places = settings.landing
    try:
        receivers = build_receivers(places, environment, SystemClock())
    except ConfigurationBroken as error:
        return [bad("landing", str(error), is_configuration=True)]
    findings = await check_receivers(receivers)
    try:
        location = database_url(environment.moot_database)
        async with await Database.open_read_only(location) as database:
            backlog = await Landings(database).backlog(MOST_LISTED)
    except (StoreError, ConfigurationBroken):
        return findings  # `check_database` reports it
    return [*findings, *backlog_findings(backlog, places.names)]


async def check_receivers(receivers: Sequence[Receiver]) -> Sequence[Finding]:
    async def check(receiver: Receiver) -> Finding:
        subject = f"receiver {receiver.name}"
        try:
            async with asyncio.timeout(_RECEIVER_SECONDS):
                return good(subject, await receiver.check())
        except TimeoutError:
            return bad(subject, f"did not answer within {_RECEIVER_SECONDS:g} seconds")
        except LandingFailed as error:
            return bad(subject, str(error), is_configuration=error.is_final)
        except (MootError, OSError) as error:
            return bad(subject, str(error) or type(error).__name__)

    return await asyncio.gather(*map(check, receivers))


def backlog_findings(backlog: LandingBacklog, names: Sequence[str]) -> Iterator[Finding]:
    for name, reason in backlog.closed.items():
        if name in names:
            remedy = f"Remove it from the settings, or repair it. {_RETRY}"
            yield bad(f"receiver {name}", reason, remedy)
    subject = "landings"
    if backlog.dead:
        text = f"{quantity(backlog.dead, 'dead letter')}, not sent again automatically"
        yield bad(subject, text, f"Solve the problem of each one listed below. {_RETRY}")
    elif backlog.waiting:
        yield skip(subject, f"{quantity(backlog.waiting, 'landing')} on the way")
    elif names:
        yield good(subject, "all were delivered")
    for row in backlog.rows:
        kind = "dead letter" if row.state is PostState.FAILED else "landing"
        suffix = "" if row.channel in names else "; the settings name no such receiver any more"
        yield skip(f"{kind} {row.id} to {row.channel}", f"{row.error or 'is waiting'}{suffix}")


# The database: it can be opened, is undamaged and up to date, and the disk has free space.


async def check_database(environment: BotSettings) -> Sequence[Finding]:
    location = environment.moot_database
    if "://" in location and not location.startswith("sqlite"):
        return await _contents("database on the server", location)
    file = Path(database_url(location).split(":///", 1)[-1])
    subject, folder = f"database {file.name}", _folder(file.parent)
    if await asyncio.to_thread(file.exists):
        return [*folder, *await _contents(subject, location)]
    if is_in_use(file):
        text = "was deleted while Moot was using it; nothing is written any more"
        remedy = "Put the file back, or stop Moot and restore a backup."
        return [*folder, bad(subject, text, remedy)]
    return [*folder, skip(subject, "does not exist yet; Moot creates it when needed")]


async def _contents(subject: str, location: str) -> Sequence[Finding]:
    newest = {
        tables.VERSION_TABLE: newest_version(tables.MIGRATIONS)
        for tables in (core.store.tables, bot.store.tables)
    }
    try:
        state = await inspect_database(database_url(location), list(newest))
    except ConfigurationBroken as error:
        return [bad(subject, str(error), is_configuration=True)]
    except StoreError as error:  # of another kind than `StoreDown`, which says what to do
        remedy = "Name another database in MOOT_DATABASE, or restore it."
        return [bad(subject, str(error), "" if isinstance(error, StoreDown) else remedy)]
    if state.damage:
        return [bad(subject, f"is damaged: {state.damage}", "Restore it from a backup.")]
    if state.is_locked:
        remedy = "Close that program. Until then Moot records nothing."
        return [bad(subject, "is locked by another program", remedy)]
    name, versions = f"tables of {subject.removeprefix('database ')}", state.versions
    newer = [version for table, version in versions.items() if version > newest.get(table, version)]
    if newer:
        tables = bad(name, f"were made by a newer Moot (at {newer[0]})", "Update Moot.")
    elif any(versions.get(table) != version for table, version in newest.items()):
        text = "are older than this program, or incomplete"
        tables = skip(name, f"{text}; the next start updates them")
    else:
        tables = good(name, "are up to date")
    return [good(subject, "can be opened and is undamaged"), tables]


def _folder(folder: Path) -> Sequence[Finding]:
    subject = "folder of the database"
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        remedy = "Allow writing, or change MOOT_DATABASE."
        return [bad(subject, f"{folder} cannot be written: {reason}", remedy)]
    text = f"{number(free // _MEGABYTE)} MB are free"
    if free < _LEAST_SPACE:
        return [bad(subject, f"only {text}", "Free some space.")]
    return [good(subject, f"can be written; {text}")]


async def log_findings(environment: BotSettings) -> Sequence[Finding]:
    try:
        async with open_read_only(environment.moot_database) as store:
            return await check_logs(store)
    except (StoreError, ConfigurationBroken):
        return []  # `check_database` reports it


async def check_logs(store: DebateStore) -> Sequence[Finding]:
    subject, broken = "debates", list[str]()
    entries = await store.find(DebateFilter(limit=_MOST_READ))
    for entry in entries:
        try:
            log = await store.events(entry.debate_id)
            await asyncio.to_thread(_try_to_show, entry.debate_id, log)
        except LogBroken:
            broken.append(entry.debate_id)
    scope = f"the newest {number(len(entries))}" if entries else "none"
    if not broken:
        return [good(subject, f"{scope} can be read" if entries else "there are none yet")]
    names = ", ".join(broken[:_MOST_NAMED]) + (" and others" if len(broken) > _MOST_NAMED else "")
    remedy = (
        "Lists omit them. `moot show ID` prints the error; `moot purge --debate ID` deletes a "
        "debate."
    )
    text = f"{number(len(broken))} of {scope} cannot be read or shown: {names}"
    return [bad(subject, text, remedy)]


def _try_to_show(debate_id: str, log: Sequence[RecordedEvent]) -> None:
    debate = fold(log)
    with reading(debate_id):
        format_of(debate)
        search_words(debate)
        row_text(DebateRow(debate))


# Slack: tokens, and scopes against the manifest.


async def check_slack(environment: BotSettings) -> Sequence[Finding]:
    tokens = (
        environment.slack_bot_token,
        environment.slack_app_token,
        environment.slack_signing_secret,
    )
    if not any(token.get_secret_value().strip() for token in tokens):
        return [skip("Slack", "no tokens are set", "Only `moot run` needs them: see .env.example.")]
    try:
        access = slack_access(environment, default_mode(environment))
    except ConfigurationBroken as error:
        return [bad("Slack", str(error), is_configuration=True)]
    if (oauth := access.oauth) is None:
        return await check_access(access)
    # Only the settings for installing are checked; the workspaces' tokens are in the database.
    try:
        Cipher(oauth.token_keys)
    except ConfigurationBroken as error:
        return [bad("MOOT_TOKEN_KEYS", str(error), is_configuration=True)]
    remedy = f"Install Moot at {oauth.install_url}"
    return [
        good("MOOT_TOKEN_KEYS", f"{len(oauth.token_keys)} usable; tokens are encrypted"),
        skip("Slack", "every workspace has its own token", remedy),
    ]


async def check_access(access: SlackAccess) -> Sequence[Finding]:
    client = slack_client(access.bot_token, access.api_url, seconds=_SLACK_SECONDS)
    try:
        answer = await client.auth_test()
    except (SlackApiError, *CONNECTION_ERRORS) as error:
        return [_slack_problem(_BOT, error, "Install the app anew and copy its bot token.")]
    identity = Identity.model_validate(answer.data)
    # Answers carry the token's scopes: https://docs.slack.dev/authentication/tokens
    headers = cast("Mapping[str, Any]", answer.headers)  # of aiohttp: names ignore case
    granted = {scope.strip() for scope in str(headers.get("x-oauth-scopes", "")).split(",")} - {""}
    requested = set(manifest()["oauth_config"]["scopes"]["bot"])
    required = requested - {_FILES_SCOPE}
    missing = sorted(required - granted)
    surplus = sorted(granted - requested - {_AGENTS_SCOPE})
    suffix = f"; not needed: {', '.join(surplus)}" if surplus else ""
    scopes = good("scopes", f"all {len(required)} required scopes are granted{suffix}")
    if missing:
        remedy = "Paste manifest.yaml into the app's settings (App Manifest), then install it anew."
        text = f"missing: {', '.join(missing)}"
        scopes = bad("scopes", text, remedy, is_configuration=True)
    subject = f"optional scope {_FILES_SCOPE}"
    files = good(subject, "granted: files that people attach are read as evidence")
    if _FILES_SCOPE not in granted:
        text = "not granted: attached files are not read, and Moot says so to the person"
        files = skip(
            subject, text, "To have them read, paste manifest.yaml into the app's settings."
        )
    token = good(_BOT, f"accepted by {identity.team} ({access.api_url})")
    return [token, scopes, files, await _socket(client, access)]


async def _socket(client: AsyncWebClient, access: SlackAccess) -> Finding:
    if not access.app_token:
        return skip(_APP, "HTTP mode: no socket is used")
    # The client has the bot token; this call needs the app token.
    headers = {"Authorization": f"Bearer {access.app_token}"}
    try:
        await client.api_call("apps.connections.open", headers=headers)
    except (SlackApiError, *CONNECTION_ERRORS) as error:
        remedy = "It needs the scope connections:write, and Socket Mode must be on for the app."
        return _slack_problem(_APP, error, remedy)
    return good(_APP, "accepted; Socket Mode is on")


def _slack_problem(subject: str, error: Exception, remedy: str) -> Finding:
    if isinstance(error, SlackApiError):
        reason = refusal_of(error.response).error or "no reason given"
        return bad(subject, f"Slack refuses it ({reason})", remedy, is_configuration=True)
    text = f"Slack does not answer ({type(error).__name__})"
    return bad(subject, text, "Check the network, then try again.")
