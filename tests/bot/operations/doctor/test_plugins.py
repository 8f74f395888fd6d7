"""What the doctor says of plugins."""

from bot.operations.doctor.examine import check_plugins
from bot.operations.doctor.findings import as_text
from bot.plugins.discover import Plugin, PluginKind, Plugins
from bot.plugins.queued_sink import QueuedSink, listening
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from core.testing import RecordingSink, a_setup, log_of

LOG = log_of([DebateStarted(setup=a_setup())])


class Failing(RecordingSink):
    """Takes nothing."""

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        del debate, recorded
        raise KeyError("what people wrote")


def test_each_plugin_is_told_with_its_package_and_what_is_wrong() -> None:
    plugins = (
        Plugin(kind=PluginKind.ROLE, name="wcag", package="moot-wcag 1.0"),
        Plugin(kind=PluginKind.SINK, name="log", package="moot-log 2", fault="OSError: full"),
        Plugin(kind=PluginKind.FORMAT, name="duel", package="moot-duel 3", is_allowed=False),
    )

    assert as_text(check_plugins(Plugins(found=plugins))).splitlines() == [
        "✓ role wcag of moot-wcag 1.0: is used",
        "✗ sink log of moot-log 2: left out: OSError: full",
        "    → Update or uninstall that package, or name the others in MOOT_PLUGINS; then restart.",
        "– format duel of moot-duel 3: not allowed by MOOT_PLUGINS",
    ]


async def test_a_sink_that_fails_while_the_bot_runs_is_told_without_its_words() -> None:
    sink, full = QueuedSink("a", Failing()), QueuedSink("b", RecordingSink(), room=1)

    async def lines() -> list[str]:
        async with listening([sink]):
            await sink.publish(fold(LOG), LOG[0])
            await sink.heard_all()
        return as_text(check_plugins(Plugins(sinks=(sink,)))).splitlines()

    assert await lines() == ["✗ sink a: failed: it raised KeyError; the log says where"]
    for _ in range(3):
        await full.publish(fold(LOG), LOG[0])
    assert as_text(check_plugins(Plugins(sinks=(full,)))) == (
        "✗ sink b: is too slow: it did not hear 2 events"
    )
