"""The switchboard for tests and demonstrations: `/control/faults` and `/control/requests`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from slack_on_loopback import app_faults
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.faults import ANY_METHOD, Fault, FaultKind
from slack_on_loopback.runtime import Desk
from slack_on_loopback.socket_mode import DisconnectReason
from slack_on_loopback.state import App, Channel


class Wish(BaseModel):
    """The body of `POST /control/faults`; `kind` is a fault of calls or a mishap."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    method: str = ANY_METHOD
    times: int | None = 1
    probability: float = 1.0
    seconds: float = 1.0
    status: int = 503
    reason: DisconnectReason = "refresh_requested"
    channel: str = ""


_CALL_FAULTS: tuple[FaultKind, ...] = (
    "drop_before",
    "drop_after",
    "delay",
    "server_error",
    "rate_limit",
)


@dataclass(slots=True)
class ControlApi:
    """Answers `/control/*`."""

    desk: Desk

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.post("/control/faults", self.switch),
            web.get("/control/faults", self.active),
            web.delete("/control/faults", self.clear),
            web.get("/control/requests", self.requests),
            web.delete("/control/requests", self.forget),
            web.get("/control/deliveries", self.deliveries),
        ]

    async def switch(self, request: web.Request) -> web.Response:
        """Turn a fault on, or do a mishap."""
        try:
            wish = Wish.model_validate_json(await request.text())
            await self._do(wish)
        except ValidationError as wrong:
            return web.json_response({"ok": False, "error": "invalid", "message": str(wrong)})
        except SlackRefusal as refused:
            return web.json_response({"ok": False, "error": refused.code})
        return web.json_response({"ok": True})

    async def active(self, request: web.Request) -> web.Response:
        """List the switches that are on."""
        del request
        found = [one for one in self.desk.faults.active if not one.spent()]
        listed: list[dict[str, Any]] = [
            {"kind": one.kind, "method": one.method, "times": one.times} for one in found
        ]
        return web.json_response({"ok": True, "faults": listed})

    async def clear(self, request: web.Request) -> web.Response:
        """Turn everything off."""
        del request
        self.desk.faults.clear()
        return web.json_response({"ok": True})

    async def requests(self, request: web.Request) -> web.Response:
        """List the Web API calls, all or those of `?method=`."""
        method = request.query.get("method")
        found = [one for one in self.desk.calls.entries if method in {None, one.method}]
        return web.json_response({"ok": True, "requests": [one.as_json() for one in found]})

    async def forget(self, request: web.Request) -> web.Response:
        """Empty the list of calls."""
        del request
        self.desk.calls.clear()
        return web.json_response({"ok": True})

    async def deliveries(self, request: web.Request) -> web.Response:
        """List what was delivered to the app, try by try."""
        del request
        record = self.desk.lines[self._app().id].courier.record
        listed: list[dict[str, Any]] = [
            {
                "kind": one.kind,
                "name": one.name,
                "event_id": one.event_id,
                "attempt": one.attempt,
                "acked": one.acked,
                "reason": one.reason,
            }
            for one in record
        ]
        return web.json_response({"ok": True, "deliveries": listed})

    async def _do(self, wish: Wish) -> None:
        for kind in _CALL_FAULTS:
            if kind == wish.kind:
                self.desk.faults.add(
                    Fault(
                        kind,
                        wish.method,
                        wish.times,
                        wish.probability,
                        wish.seconds,
                        wish.status,
                    )
                )
                return
        await self._mishap(wish)

    async def _mishap(self, wish: Wish) -> None:
        desk, app = self.desk, self._app()
        works: dict[str, Callable[[], Awaitable[None] | None]] = {
            "double_event": lambda: desk.faults.double_next_events(wish.times or 1),
            "disconnect": lambda: app_faults.disconnect(desk, app, wish.reason),
            "cut_sockets": lambda: app_faults.cut_sockets(desk, app),
            "revoke_token": lambda: app_faults.revoke_token(desk, app),
            "restore_token": lambda: app_faults.restore_token(desk, app),
            "uninstall": lambda: app_faults.uninstall(desk, app),
            "remove_bot": lambda: app_faults.remove_bot(desk, app, self._channel(wish)),
            "archive": lambda: app_faults.archive(desk, self._channel(wish)),
            "fill_pins": lambda: app_faults.fill_pins(desk, self._channel(wish)),
        }
        if wish.kind not in works:
            raise SlackRefusal("unknown_kind")
        done = works[wish.kind]()
        if done is not None:
            await done

    def _app(self) -> App:
        return next(iter(self.desk.world.apps.values()))

    def _channel(self, wish: Wish) -> Channel:
        return self.desk.world.channel(wish.channel)
