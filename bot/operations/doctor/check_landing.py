"""Checks of what is sent outside Slack: receivers can be reached; what has not landed, and why."""

import asyncio
from collections.abc import Iterator, Sequence

from bot.landing.receivers import NotLanded, Receiver
from bot.operations.doctor.findings import Finding, bad, good, skipped
from bot.store.landings import LandingState, Unlanded
from core.errors import MootError
from core.figures import counted, when

#: Dead letters and late ones that are told one by one.
MOST_TOLD = 10
#: Seconds one receiver may take to be looked at.
_SECONDS = 10.0
_AGAIN = "Type `/debate doctor retry`, or `moot landings retry all` where Moot runs."


async def check_receivers(receivers: Sequence[Receiver]) -> Sequence[Finding]:
    """A finding for each receiver: whether it can be reached."""
    return await asyncio.gather(*map(_check, receivers))


async def _check(receiver: Receiver) -> Finding:
    what = f"receiver {receiver.name}"
    try:
        async with asyncio.timeout(_SECONDS):
            return good(what, await receiver.check())
    except TimeoutError:
        return bad(what, f"did not answer within {_SECONDS:g} seconds")
    except NotLanded as error:
        return bad(what, str(error), is_configuration=error.is_final)
    except (MootError, OSError) as error:
        return bad(what, str(error) or type(error).__name__)


def unlanded_findings(found: Unlanded, names: Sequence[str]) -> Iterator[Finding]:
    """A finding for what has not landed; none where nothing is sent and nothing waits.

    Args:
        found: What was seen in the database.
        names: Receivers that the settings name.
    """
    for name, why in found.closed.items():
        if name in names:
            remedy = f"Take it out of the settings, or: moot landings retry {name}"
            yield bad(f"receiver {name}", f"nothing is sent to it any more: {why}", remedy)
    what = "landings"
    if found.counts.dead:
        words = f"{counted(found.counts.dead, 'dead letter')}, not tried again by themselves"
        remedy = f"Mend what each says below. {_AGAIN}"
        yield bad(what, words, remedy)
    elif found.counts.waiting:
        yield skipped(what, f"{counted(found.counts.waiting, 'landing')} on the way")
    elif names:
        yield good(what, "all have landed")
    for row in found.rows:
        why = row.error or "nobody knows why"
        if row.state is LandingState.DEAD:
            yield skipped(f"dead letter {row.id} to {row.receiver}", why)
        elif row.receiver not in names:
            gone = "waits for a receiver that the settings do not name any more"
            yield skipped(f"landing {row.id} to {row.receiver}", gone)
        else:
            at = f" It is tried again {when(row.not_before)}." if row.not_before else ""
            yield skipped(f"landing {row.id} to {row.receiver}", f"{why}{at}")
