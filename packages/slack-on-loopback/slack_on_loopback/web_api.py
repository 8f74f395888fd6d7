"""The Web API: tokens, scopes, rates, faults, the log; then the method's handler."""

import asyncio
from dataclasses import dataclass
from urllib.parse import unquote_plus

from aiohttp import web

from slack_on_loopback.access import need_scope
from slack_on_loopback.api_call import ApiCall, Method, Methods, read_arguments
from slack_on_loopback.arguments import check_names
from slack_on_loopback.call_log import LoggedCall
from slack_on_loopback.errors import RateLimited, SlackRefusal
from slack_on_loopback.json_values import Json, without
from slack_on_loopback.methods import (
    agents,
    chat,
    conversations,
    files,
    pins_and_reactions,
    users,
    views,
)
from slack_on_loopback.runtime import Runtime

METHODS: Methods = {
    **agents.METHODS,
    **chat.METHODS,
    **pins_and_reactions.METHODS,
    **conversations.METHODS,
    **users.METHODS,
    **files.METHODS,
    **views.METHODS,
}
_ERROR_PAGE = "<!DOCTYPE html><html><body><h1>Server Error</h1></body></html>"


@dataclass(slots=True)
class WebApi:
    """Answers `/api/<method>`."""

    runtime: Runtime

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one call, unless a fault hits it."""
        name = request.match_info["method"]
        sent = unquote_plus(f"{request.query_string}&{await request.text()}")
        before = self._fault_before(request, name, sent)
        if before is not None:
            return before
        values: Json = {}
        try:
            values = await read_arguments(request)
            method = self._method(request, name, values)
            check_names(name, values, self.runtime.config.ignored_arguments)
            if method.tier is not None:
                self.runtime.charge(name, self.runtime.config.pace.tier(method.tier))
            need_scope(self.runtime.app, *method.scopes)
            call = ApiCall(name, values)
            body: Json = {"ok": True, **method.handler(self.runtime, call)}
        except SlackRefusal as refused:
            self._log(name, values, refused.code)
            return refusal(refused)
        if call.warnings:
            body["warning"] = ",".join(call.warnings)
            body.setdefault("response_metadata", {})["warnings"] = list(call.warnings)
        self._log(name, values, "ok")
        if delay := self.runtime.faults.take("delay", name):
            await asyncio.sleep(delay.seconds)
        if self.runtime.faults.take("drop_after", name):
            hang_up(request)
        return web.json_response(
            body, headers={"X-OAuth-Scopes": ",".join(self.runtime.app.scopes)}
        )

    def _fault_before(self, request: web.Request, name: str, sent: str) -> web.Response | None:
        faults = self.runtime.faults
        if faults.take("drop_before", name):
            self._log(name, {}, "drop_before")
            return hang_up(request)
        if broken := faults.take("server_error", name, sent):
            self._log(name, {}, f"http_{broken.status}")
            return web.Response(status=broken.status, text=_ERROR_PAGE, content_type="text/html")
        if refused := faults.take("refuse", name, sent):
            self._log(name, {}, refused.code)
            return refusal(SlackRefusal(refused.code))
        if limited := faults.take("rate_limit", name, sent):
            self._log(name, {}, "ratelimited")
            return refusal(RateLimited(max(1, int(limited.seconds))))
        return None

    def _method(self, request: web.Request, name: str, values: Json) -> Method:
        """Return a method that the token of the call may call."""
        if name not in METHODS:
            raise SlackRefusal("unknown_method", req_method=name)
        method, app = METHODS[name], self.runtime.app
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ").strip() or str(values.get("token") or "")
        if not token:
            raise SlackRefusal("not_authed")
        if token not in {app.bot_token, app.app_token}:
            raise SlackRefusal("invalid_auth")
        if app.revoked:
            raise SlackRefusal("token_revoked")
        if method.token != ("app" if token == app.app_token else "bot"):
            raise SlackRefusal("not_allowed_token_type")
        return method

    def _log(self, name: str, values: Json, outcome: str) -> None:
        entry = LoggedCall(name, without(values, ("token",)), outcome, self.runtime.now())
        self.runtime.calls.add(entry)
        self.runtime.change_signal.notify()


def hang_up(request: web.Request) -> web.Response:
    """Cut the connection; the returned answer reaches nobody."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def refusal(refused: SlackRefusal) -> web.Response:
    """Return the HTTP answer of a refusal: 200, or 429 with Retry-After."""
    if isinstance(refused, RateLimited):
        headers = {"Retry-After": str(refused.retry_after)}
        return web.json_response(refused.body(), status=429, headers=headers)
    return web.json_response(refused.body())
