"""Reads what people wrote, page after page, in time with Slack's pace."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Protocol, TypeVar

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.access import UNREACHED
from bot.slack.clients import WorkspaceClients
from bot.slack.outbox.outcomes import Rejected, Retry, outcome_of
from bot.slack.outbox.pace import Pace
from core.errors import MootError
from core.ports import Clock

#: Messages or channels of a page: https://docs.slack.dev/reference/methods/conversations.replies
PAGE = 200


class SlackAway(MootError):
    """Slack does not show it now."""


class SlackRefuses(MootError):
    """Slack does not show it to us."""


class HasNext(Protocol):
    """A page that says how to ask for the next one."""

    @property
    def next_cursor(self) -> str:
        """Empty on the last page."""
        ...

    @classmethod
    def model_validate(cls, obj: Any) -> Any:
        """Read an answer of Slack's."""
        ...


P = TypeVar("P", bound=HasNext)
#: A method of the client, called with the arguments of one page.
Method = Callable[[AsyncWebClient, dict[str, Any]], Awaitable[Any]]


def slack_time(seconds: float) -> str:
    """Return a moment as Slack writes it; it is given in seconds since 1970."""
    return f"{seconds:.6f}"


async def pages(
    clients: WorkspaceClients,
    team: str,
    method: Method,
    shape: type[P],
    *,
    clock: Clock,
    pace: Pace,
    **wanted: Any,
) -> AsyncGenerator[P]:
    """Yield what a method answers, page after page; patiently where Slack asks for it.

    Args:
        clients: Of all workspaces.
        team: The workspace to ask.
        method: What to call.
        shape: What its answers are.
        clock: For the waits.
        pace: How fast Slack lets us read.
        wanted: Arguments of every page.

    Raises:
        NotInstalled: Moot is not installed there.
        SlackAway: It may be shown later.
        SlackRefuses: It will not be shown.
        StoreError: The database does not answer.
    """
    try:
        client = (await clients.of(team)).client
    except (SlackApiError, *UNREACHED) as error:
        raise SlackAway(outcome_of(error).words) from None
    asked = {"limit": PAGE, **wanted}
    while True:
        await clock.sleep(pace.look)
        try:
            answer = await method(client, asked)
        except (SlackApiError, *UNREACHED) as error:
            outcome = outcome_of(error)
            if isinstance(outcome, Rejected):
                raise SlackRefuses(outcome.words) from None
            if not isinstance(outcome, Retry) or outcome.after is None:
                raise SlackAway(outcome.words) from None
            await clock.sleep(outcome.after)
            continue
        page: P = shape.model_validate(answer.data)
        yield page
        if not page.next_cursor:
            return
        asked["cursor"] = page.next_cursor
