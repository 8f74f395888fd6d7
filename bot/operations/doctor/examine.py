"""Runs all checks and brings their findings together."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from bot.building import (
    check_settings,
    database_url,
    find_plugins,
    load_settings,
    look_into,
)
from bot.landing.build_receivers import build_receivers
from bot.landing.receivers import LandingFailed, Receiver
from bot.operations.doctor.check_database import check_database, check_logs
from bot.operations.doctor.check_models import check_models
from bot.operations.doctor.check_slack import check_slack
from bot.operations.doctor.findings import CheckMark, Finding, bad, good, skip
from bot.operations.health import ask_health
from bot.plugins.discover import NO_PLUGINS, Plugins
from bot.queue.landings import LandingBacklog, look_into_landings
from bot.queue.rows import PostState
from bot.settings import BotSettings
from core.clock import SystemClock
from core.config.playbooks import FOLDER
from core.errors import ConfigurationBroken, MootError, StoreError
from core.figures import quantity, when
from core.settings import Settings

#: Dead letters and late ones that are told one by one.
MOST_TOLD = 10
#: Seconds one receiver may take to be looked at.
_SECONDS = 10.0
_AGAIN = "Type `/debate doctor retry` in Slack."


async def check_receivers(receivers: Sequence[Receiver]) -> Sequence[Finding]:
    return await asyncio.gather(*map(_check, receivers))


async def _check(receiver: Receiver) -> Finding:
    what = f"receiver {receiver.name}"
    try:
        async with asyncio.timeout(_SECONDS):
            return good(what, await receiver.check())
    except TimeoutError:
        return bad(what, f"did not answer within {_SECONDS:g} seconds")
    except LandingFailed as error:
        return bad(what, str(error), is_configuration=error.is_final)
    except (MootError, OSError) as error:
        return bad(what, str(error) or type(error).__name__)


def unlanded_findings(backlog: LandingBacklog, names: Sequence[str]) -> Iterator[Finding]:
    for name, why in backlog.closed.items():
        if name in names:
            remedy = "Take it out of the settings, or type `/debate doctor retry` in Slack."
            yield bad(f"receiver {name}", f"nothing is sent to it any more: {why}", remedy)
    what = "landings"
    if backlog.dead:
        words = f"{quantity(backlog.dead, 'dead letter')}, not tried again by themselves"
        remedy = f"Mend what each says below. {_AGAIN}"
        yield bad(what, words, remedy)
    elif backlog.waiting:
        yield skip(what, f"{quantity(backlog.waiting, 'landing')} on the way")
    elif names:
        yield good(what, "all have landed")
    for row in backlog.rows:
        why = row.error or "nobody knows why"
        if row.state is PostState.FAILED:
            yield skip(f"dead letter {row.id} to {row.channel}", why)
        elif row.channel not in names:
            why = "waits for a receiver that the settings do not name any more"
            yield skip(f"landing {row.id} to {row.channel}", why)
        else:
            at = SystemClock().now() + timedelta(seconds=row.due_in)
            again = f" It is tried again {when(at)}." if row.due_in > 0 else ""
            yield skip(f"landing {row.id} to {row.channel}", f"{why}{again}")


_REMEDY = "Update or uninstall that package, or name the others in MOOT_PLUGINS; then restart."


def check_plugins(plugins: Plugins) -> Sequence[Finding]:
    findings = list[Finding]()
    for plugin in plugins.found:
        if plugin.fault:
            findings.append(
                bad(plugin.title, f"left out: {plugin.fault}", _REMEDY, is_configuration=True)
            )
        elif not plugin.is_allowed:
            findings.append(skip(plugin.title, "not allowed by MOOT_PLUGINS"))
        else:
            findings.append(good(plugin.title, "is used"))
    for sink in plugins.sinks:
        if sink.fault:
            findings.append(bad(f"sink {sink.name}", f"failed: {sink.fault}; the log says where"))
        if sink.lost:
            words = f"is too slow: it did not hear {quantity(sink.lost, 'event')}"
            findings.append(bad(f"sink {sink.name}", words))
    return findings or [skip("plugins", "none is installed")]


async def examine(environment: BotSettings, file: Path | None = None) -> Sequence[Finding]:
    """Every finding, in the order people should mend things."""
    plugins = find_plugins(environment)
    settings, findings = await _settings(environment, file, plugins)
    findings = [*findings, *check_plugins(plugins)]
    checks = [
        check_slack(environment),
        check_database(environment),
        running_findings(environment),
        log_findings(environment),
    ]
    if settings:
        checks.insert(0, check_models(environment, settings))
        checks.append(landing_findings(environment, settings))
        findings = [*findings, *playbook_findings(settings)]
    groups = await asyncio.gather(*checks)
    return [*findings, *(finding for group in groups for finding in group)]


async def examine_here(
    environment: BotSettings,
    settings: Settings,
    *,
    plugins: Plugins = NO_PLUGINS,
    is_served: bool = True,
) -> Sequence[Finding]:
    """Findings for people in a channel: models, Slack, the database; no file names of settings.

    Args:
        environment: Keys, tokens, addresses.
        settings: Those the bot runs with.
        plugins: Those the bot runs with.
        is_served: Whether the bot serves `/health` where the environment says.
    """
    groups = await asyncio.gather(
        check_models(environment, settings),
        check_slack(environment),
        check_database(environment),
        landing_findings(environment, settings),
    )
    # A skipped finding (no bot answers) says nothing where this bot runs.
    running = await running_findings(environment) if is_served else ()
    running = [finding for finding in running if finding.mark is not CheckMark.SKIPPED]
    findings = [*(finding for group in groups for finding in group), *running]
    return [*findings, *playbook_findings(settings), *check_plugins(plugins)]


def playbook_findings(settings: Settings) -> Sequence[Finding]:
    # Which folder it is, people in a channel need not know.
    faults = [fault.rpartition(f"{FOLDER}/")[2] for fault in settings.playbook_faults]
    remedy = "Correct these lines; `moot playbook check` looks again. Others can be used."
    return [bad("playbooks", " ".join(faults), remedy, is_configuration=True)] if faults else []


async def landing_findings(environment: BotSettings, settings: Settings) -> Sequence[Finding]:
    places = settings.landing
    try:
        receivers = build_receivers(places, environment, SystemClock())
    except ConfigurationBroken as error:
        return [bad("landing", str(error), is_configuration=True)]
    reached = await check_receivers(receivers)
    try:
        async with look_into_landings(database_url(environment.moot_database)) as landings:
            unlanded = await landings.backlog(MOST_TOLD)
    except (StoreError, ConfigurationBroken):
        return reached  # said where the database is checked
    return [*reached, *unlanded_findings(unlanded, places.names)]


async def log_findings(environment: BotSettings) -> Sequence[Finding]:
    try:
        async with look_into(environment.moot_database) as store:
            return await check_logs(store)
    except (StoreError, ConfigurationBroken):
        return []  # said where the database is checked


async def running_findings(environment: BotSettings) -> Sequence[Finding]:
    what = "running bot"
    address = f"http://{environment.moot_host}:{environment.moot_port}/health"
    answer = await asyncio.to_thread(ask_health, address)
    if not answer.healthy and not answer.troubles:
        return [skip(what, f"none answers at {address}")]
    words = f"says: {', '.join(answer.troubles)}"
    return [
        good(what, "says that all is well")
        if answer.healthy
        else bad(what, words, "Its log says why: look for `not healthy`.")
    ]


async def _settings(
    environment: BotSettings, file: Path | None, plugins: Plugins
) -> tuple[Settings | None, Sequence[Finding]]:
    """The settings in force; None if they cannot be used at all. And what is wrong with them."""
    name = str(file or environment.moot_config or "")
    what = f"settings file {name}" if name else "settings"
    try:
        loaded = await load_settings(environment, file, plugins=plugins)
    except ConfigurationBroken as error:
        is_gone = str(error) == f"There is no file {name}."
        remedy = "Correct these lines; `moot config check FILE` looks again."
        if is_gone:
            remedy = "Put it there, or name another one in MOOT_CONFIG or with --config; or none."
        return None, [bad(what, "; ".join(str(error).splitlines()), remedy, is_configuration=True)]
    notices = "; ".join((*loaded.notices, *loaded.settings.warnings))
    used = "can be used" if name else "no file: the built-in settings hold"
    findings = [good(what, f"{used}. {notices}" if notices else used)]
    try:
        check_settings(loaded.settings, environment)
    except ConfigurationBroken as error:
        findings.append(bad("keys the settings need", str(error), is_configuration=True))
    return loaded.settings, findings
