"""The Web API: tokens, scopes, rates, faults, the log; then the method's handler."""

import asyncio
from dataclasses import dataclass
from urllib.parse import unquote_plus

from aiohttp import web

from slack_on_loopback.access import need_scope
from slack_on_loopback.api_call import ApiCall, Arguments, Method, Methods, read_arguments
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
from slack_on_loopback.state import App

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
        before = self._fault_before(
            request, name, unquote_plus(f"{request.query_string}&{await request.text()}")
        )
        if before is not None:
            return before
        answer, outcome = await self._answer(request, name)
        if outcome == "ok":
            await self._fault_after(request, name)
        return answer

    def _fault_before(self, request: web.Request, name: str, sent: str) -> web.Response | None:
        faults = self.runtime.faults
        if faults.take("drop_before", name):
            self._log(name, {}, "drop_before")
            return hang_up(request)
        broken = faults.take("server_error", name, sent)
        if broken is not None:
            self._log(name, {}, f"http_{broken.status}")
            return web.Response(status=broken.status, text=_ERROR_PAGE, content_type="text/html")
        refused = faults.take("refuse", name, sent)
        if refused is not None:
            self._log(name, {}, refused.code)
            return refusal(SlackRefusal(refused.code))
        limited = faults.take("rate_limit", name, sent)
        if limited is not None:
            self._log(name, {}, "ratelimited")
            return refusal(RateLimited(max(1, int(limited.seconds))))
        return None

    async def _fault_after(self, request: web.Request, name: str) -> None:
        delay = self.runtime.faults.take("delay", name)
        if delay is not None:
            await asyncio.sleep(delay.seconds)
        if self.runtime.faults.take("drop_after", name):
            hang_up(request)

    async def _answer(self, request: web.Request, name: str) -> tuple[web.Response, str]:
        values: Json = {}
        app_id = ""
        try:
            values = await read_arguments(request)
            method = _method(name)
            app = self._caller(request, values, method)
            app_id = app.id
            check_names(name, values, self.runtime.config.ignored_arguments)
            body = self._run(ApiCall(name, Arguments(values), app), method)
        except SlackRefusal as refused:
            self._log(name, values, refused.code, app_id)
            return refusal(refused), refused.code
        self._log(name, values, "ok", app_id)
        return web.json_response(body, headers={"X-OAuth-Scopes": ",".join(app.scopes)}), "ok"

    def _run(self, call: ApiCall, method: Method) -> Json:
        if method.tier is not None:
            rate = self.runtime.config.pace.tier(method.tier)
            self.runtime.charge(call.app.id, call.method, rate)
        if method.token == "bot":  # noqa: S105 a kind, not a secret
            need_scope(call.app, *method.scopes)
        body: Json = {"ok": True, **method.handler(self.runtime, call)}
        if call.warnings:
            body["warning"] = ",".join(call.warnings)
            metadata = body.setdefault("response_metadata", {})
            metadata["warnings"] = list(call.warnings)
        return body

    def _caller(self, request: web.Request, values: Json, method: Method) -> App:
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ").strip() or str(values.get("token") or "")
        if not token:
            raise SlackRefusal("not_authed")
        for app in self.runtime.state.apps.values():
            if token in {app.bot_token, app.app_token}:
                return _allowed(app, token, method)
        raise SlackRefusal("invalid_auth")

    def _log(self, name: str, values: Json, outcome: str, app_id: str = "") -> None:
        args = without(values, ("token",))
        self.runtime.calls.add(LoggedCall(name, args, outcome, self.runtime.now(), app_id))
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


def _method(name: str) -> Method:
    if name not in METHODS:
        raise SlackRefusal("unknown_method", req_method=name)
    return METHODS[name]


def _allowed(app: App, token: str, method: Method) -> App:
    if app.revoked:
        raise SlackRefusal("token_revoked")
    is_app_token = token == app.app_token
    if is_app_token != (method.token == "app"):  # noqa: S105 a kind, not a secret
        raise SlackRefusal("not_allowed_token_type")
    if is_app_token and not set(method.scopes) <= set(app.app_scopes):
        raise SlackRefusal(
            "missing_scope", needed=",".join(method.scopes), provided=",".join(app.app_scopes)
        )
    return app
