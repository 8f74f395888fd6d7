"""`/debate doctor`: runs the checks and tells the admin who asked, and nobody else."""

from collections.abc import Awaitable, Callable, Sequence

from slack_bolt.async_app import AsyncRespond

from bot.log import logger
from bot.operations.doctor.findings import Finding, as_text, is_well
from bot.slack.access import UNREACHED
from bot.slack.mrkdwn.escape import plain
from bot.views.notices import notice

_log = logger(__name__)

#: Runs the checks that make sense for people in Slack.
Examine = Callable[[], Awaitable[Sequence[Finding]]]

LOOKING = "Looking at keys, models, Slack and the database. This takes a few seconds."
NOBODY = "This Moot cannot look at itself. Type `moot doctor` where it runs."
ADMINS_ONLY = (
    "`/debate doctor` is for admins and owners of this workspace: it shows how Moot is set up. "
    "Ask one of them, or whoever runs Moot: `moot doctor` shows the same there."
)


async def report_findings(examine: Examine, respond: AsyncRespond) -> None:
    findings = await examine()
    last = "All is well." if is_well(findings) else "Something needs whoever runs Moot: see ✗."
    message = notice(f"{plain(as_text(findings))}\n\n*{last}*")
    try:
        await respond(**message.payload, response_type="ephemeral", replace_original=False)
    except UNREACHED as error:
        _log.warning("findings not delivered", reason=type(error).__name__)
