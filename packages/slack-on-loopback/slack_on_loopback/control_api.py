"""The switchboard for tests and demonstrations: `/control/faults` and `/control/requests`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from slack_on_loopback import app_faults
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.faults import ANY_METHOD, CallFault, FaultKind
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.socket_mode import DisconnectReason
from slack_on_loopback.state import App, Channel


class FaultRequest(BaseModel):
    """The body of `POST /control/faults`; `kind` is any fault's name."""

    model_config = ConfigDict(extra="forbid")

    kind: str
    method: str = ANY_METHOD
    times: int | None = 1
    probability: float = 1.0
    seconds: float = 1.0
    status: int = 503
    code: str = "fatal_error"
    reason: DisconnectReason = "refresh_requested"
    channel: str = ""
    blocks: tuple[str, ...] = ()


_CALL_FAULTS: tuple[FaultKind, ...] = (
    "drop_before",
    "drop_after",
    "delay",
    "server_error",
    "rate_limit",
    "refuse",
)


@dataclass(slots=True)
class ControlApi:
    """Answers `/control/*`."""

    runtime: Runtime

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
        """Turn a fault of calls on, or do what happens at once."""
        try:
            fault = FaultRequest.model_validate_json(await request.text())
            await self._do(fault)
        except ValidationError as wrong:
            return web.json_response({"ok": False, "error": "invalid", "message": str(wrong)})
        except SlackRefusal as refused:
            return web.json_response({"ok": False, "error": refused.code})
        return web.json_response({"ok": True})

    async def active(self, request: web.Request) -> web.Response:
        """List the switches that are on."""
        del request
        faults = [fault for fault in self.runtime.faults.active if not fault.spent()]
        listed: list[dict[str, Any]] = [
            {"kind": fault.kind, "method": fault.method, "times": fault.times} for fault in faults
        ]
        return web.json_response({"ok": True, "faults": listed})

    async def clear(self, request: web.Request) -> web.Response:
        """Turn everything off."""
        del request
        self.runtime.faults.clear()
        return web.json_response({"ok": True})

    async def requests(self, request: web.Request) -> web.Response:
        """List the Web API calls, all or those of `?method=`."""
        method = request.query.get("method")
        entries = [entry for entry in self.runtime.calls.entries if method in {None, entry.method}]
        return web.json_response({"ok": True, "requests": [call.as_json() for call in entries]})

    async def forget(self, request: web.Request) -> web.Response:
        """Empty the list of calls."""
        del request
        self.runtime.calls.clear()
        return web.json_response({"ok": True})

    async def deliveries(self, request: web.Request) -> web.Response:
        """List what was delivered to the app, try by try."""
        del request
        attempts = self.runtime.connections[self._app().id].dispatcher.attempts
        listed: list[dict[str, Any]] = [
            {
                "kind": attempt.kind,
                "name": attempt.name,
                "event_id": attempt.event_id,
                "attempt": attempt.attempt,
                "acked": attempt.acked,
                "reason": attempt.reason,
            }
            for attempt in attempts
        ]
        return web.json_response({"ok": True, "deliveries": listed})

    async def _do(self, fault: FaultRequest) -> None:
        for kind in _CALL_FAULTS:
            if kind == fault.kind:
                self.runtime.faults.add(
                    CallFault(
                        kind,
                        fault.method,
                        fault.times,
                        fault.probability,
                        fault.seconds,
                        fault.status,
                        code=fault.code,
                    )
                )
                return
        await self._app_fault(fault)

    async def _app_fault(self, fault: FaultRequest) -> None:
        runtime, app = self.runtime, self._app()
        works: dict[str, Callable[[], Awaitable[None] | None]] = {
            "double_event": lambda: runtime.faults.double_next_events(fault.times or 1),
            "refuse_blocks": lambda: runtime.faults.refuse_blocks(*fault.blocks),
            "disconnect": lambda: app_faults.disconnect(runtime, app, fault.reason),
            "cut_sockets": lambda: app_faults.cut_sockets(runtime, app),
            "revoke_token": lambda: app_faults.revoke_token(runtime, app),
            "restore_token": lambda: app_faults.restore_token(runtime, app),
            "uninstall": lambda: app_faults.uninstall(runtime, app),
            "remove_bot": lambda: app_faults.remove_bot(runtime, app, self._channel(fault)),
            "archive": lambda: app_faults.archive(runtime, self._channel(fault)),
            "fill_pins": lambda: app_faults.fill_pins(runtime, self._channel(fault)),
        }
        if fault.kind not in works:
            raise SlackRefusal("unknown_kind")
        work = works[fault.kind]()
        if work is not None:
            await work

    def _app(self) -> App:
        return next(iter(self.runtime.state.apps.values()))

    def _channel(self, fault: FaultRequest) -> Channel:
        return self.runtime.state.channel(fault.channel)
