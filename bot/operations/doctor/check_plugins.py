"""Checks of plugins: which there are, and what is wrong with them."""

from collections.abc import Sequence

from bot.operations.doctor.findings import Finding, bad, good, skipped
from bot.plugins.discover import Plugins
from core.figures import counted

_REMEDY = "Update or uninstall that package, or name the others in MOOT_PLUGINS; then restart."


def check_plugins(plugins: Plugins) -> Sequence[Finding]:
    """A finding for each plugin; one for all where there are none."""
    found = list[Finding]()
    for one in plugins.found:
        if one.fault:
            found.append(bad(one.title, f"left out: {one.fault}", _REMEDY, is_configuration=True))
        elif not one.is_allowed:
            found.append(skipped(one.title, "not allowed by MOOT_PLUGINS"))
        else:
            found.append(good(one.title, "is used"))
    for sink in plugins.sinks:
        if sink.is_out:
            words = f"failed too often and hears nothing until a restart: {sink.fault}"
            found.append(bad(f"sink {sink.name}", words))
        elif sink.fault:
            found.append(bad(f"sink {sink.name}", f"failed: {sink.fault}; the log says where"))
        if sink.lost:
            words = f"is too slow: it did not hear {counted(sink.lost, 'event')}"
            found.append(bad(f"sink {sink.name}", words))
    return found or [skipped("plugins", "none is installed")]
