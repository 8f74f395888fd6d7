"""Requests as Slack sends them, signed or forged, to the real server of a bot in HTTP mode."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import aiohttp
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from bot.log import set_up_logs
from bot.settings import LogFormat, LogLevel
from bot.slack.connection.bursts import BurstLimits
from bot.slack.manifest import manifest
from bot.testing import BotSpec, Team, quick_workspace, team_at_work
from slack_on_loopback import WorkspaceConfig
from slack_on_loopback.http_mode import signed_headers
from tests.logs import process_kept

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
EXAMPLES = Path(__file__).parents[1] / "payloads"
#: The payloads under `tests/payloads` that Slack sends to the bot.
SENT = (
    "command",
    "message_in_thread",
    "message_changed",
    "app_mention",
    "app_home_opened",
    "block_actions",
    "block_actions_in_form",
    "view_submission",
    "message_action",
)


def example(name: str) -> dict[str, Any]:
    return json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))


def encoded(name: str, body: Any) -> tuple[str, str]:
    """Return a body and its content type, as Slack encodes this kind of payload."""
    if name == "command" and isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        texts = {str(key): str(value) for key, value in fields.items()}
        return urlencode(texts, errors="surrogatepass"), FORM  # half a pair is sent as it is
    if name.startswith(("block", "view", "message_action")):
        return urlencode({"payload": json.dumps(body)}), FORM
    return json.dumps(body), JSON


#: One person tries what no person is quick enough for.
ANY_PACE = BurstLimits(events=10**6, commands=10**6, clicks=10**6)


def without_socket_mode() -> WorkspaceConfig:
    described = manifest()
    settings = {**described["settings"], "socket_mode_enabled": False}
    return replace(quick_workspace(), manifest={**described, "settings": settings})


@asynccontextmanager
async def http_team(spec: BotSpec | None = None) -> AsyncGenerator[Team]:
    """A workspace without Socket Mode, and a bot that it sends signed requests to."""
    async with team_at_work(
        config=without_socket_mode(), spec=spec or BotSpec(http=True, burst_limits=ANY_PACE)
    ) as team:
        yield team


def signed(team: Team, body: str, form: str = FORM, *, at: float = 0) -> dict[str, str]:
    return signed_headers(team.workspace.signing_secret, at or time.time(), body, form)


class Log(StringIO):
    """What is logged, at every level."""

    def check(self, *words: str) -> None:
        """Check that it has no traceback and no text of people."""
        text = self.getvalue()
        assert not [word for word in ("Traceback", *words) if word in text], text


@contextmanager
def logged() -> Generator[Log]:
    """Collect all log lines in a text."""
    with process_kept():
        log = Log()
        set_up_logs(LogLevel.DEBUG, LogFormat.JSON, stream=log)
        yield log


async def post(team: Team, body: str | bytes, headers: Mapping[str, str]) -> tuple[int, str]:
    """Send a body; return status and answer."""
    url = f"{team.moot.http.address}/slack/events"
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            url, data=BytesIO(body.encode() if isinstance(body, str) else body), headers=headers
        ) as answer,
    ):
        return answer.status, await answer.text()


async def send(team: Team, name: str, body: object) -> tuple[int, str]:
    """Send a payload of this kind, signed."""
    text, form = encoded(name, body)
    return await post(team, text, signed(team, text, form))


async def fuzz(
    inputs: SearchStrategy[Any],
    attempt: Callable[[Any], Coroutine[Any, Any, None]],
    *,
    tries: int = 0,
) -> None:
    """Try many inputs in a thread, while this event loop and its server continue."""
    loop = asyncio.get_running_loop()

    @given(inputs)
    @settings(
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
        database=None,
        max_examples=tries or settings().max_examples,
    )
    def attempt_in_loop(value: Any) -> None:
        asyncio.run_coroutine_threadsafe(attempt(value), loop).result(30)

    await asyncio.to_thread(attempt_in_loop)


def a_command(team: Team, words: str, **changes: str) -> dict[str, str]:
    """Return the fields of `/debate <words>`, typed by dana."""
    return {
        "command": "/debate",
        "text": words,
        "user_id": team.workspace.user("dana").id,
        "user_name": "dana",
        "channel_id": team.workspace.channel(team.channel).id,
        "team_id": team.workspace.state.team_id,
        "trigger_id": f"1.2.{time.monotonic_ns()}",
        "response_url": team.workspace.url,
        "api_app_id": team.workspace.app.id,
    } | changes
