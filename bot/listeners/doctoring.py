"""`/debate doctor`: looks whether everything works, and tells the one who asked."""

from collections.abc import Awaitable, Callable, Sequence

from slack_bolt.async_app import AsyncRespond

from bot.log import logger
from bot.operations.doctor.findings import Finding, as_text, is_well
from bot.slack.access import UNREACHED
from bot.slack.mrkdwn.escape import plain
from bot.views.message import Message
from bot.views.notices import notice

_log = logger(__name__)

#: Runs the checks that make sense in a channel; given the channel's id.
Examine = Callable[[str], Awaitable[Sequence[Finding]]]

LOOKING = "Looking at keys, models, Slack and the database. This takes a few seconds."
NOBODY = "This Moot cannot look at itself. Type `moot doctor` where it runs."


async def report_findings(examine: Examine | None, channel: str, respond: AsyncRespond) -> None:
    """Run the checks and tell the one who asked, and nobody else."""
    if examine is None:
        return
    message = shown(await examine(channel))
    try:
        await respond(**message.payload, response_type="ephemeral", replace_original=False)
    except UNREACHED as error:
        _log.warning("findings not delivered", reason=type(error).__name__)


def shown(findings: Sequence[Finding]) -> Message:
    """Findings as a message."""
    last = "All is well." if is_well(findings) else "Something needs whoever runs Moot: see ✗."
    return notice(f"{plain(as_text(findings))}\n\n*{last}*")
