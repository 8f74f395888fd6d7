"""Several workspaces behind one address, like slack.com: OAuth, and calls routed by token.

Source: https://docs.slack.dev/authentication/installing-with-oauth and /using-token-rotation.
"""

import html
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.json_values import Json
from slack_on_loopback.workspace import Workspace, run_workspace

_HOP = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-encoding"})


@dataclass(frozen=True)
class OAuthApp:
    """The app's credentials, and whether its tokens are rotated."""

    client_id: str = "1234.5678"
    client_secret: str = "0123456789abcdef" * 2
    #: Lifetime of a token in seconds; None: no limit.
    token_seconds: int | None = None


@dataclass
class OAuthServer:
    """Workspaces that install one app; people choose the workspace when they allow it."""

    workspaces: Sequence[Workspace]
    app: OAuthApp = field(default_factory=OAuthApp)
    #: Unused codes and refresh tokens → their workspace.
    codes: dict[str, Workspace] = field(default_factory=dict[str, Workspace])
    refresh: dict[str, Workspace] = field(default_factory=dict[str, Workspace])
    #: Number of token rotations.
    rotations: int = 0
    _runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen on loopback."""
        app = web.Application()
        app.router.add_get("/oauth/v2/authorize", self.ask)
        app.router.add_get("/oauth/v2/allow", self.allow)
        app.router.add_post("/api/oauth.v2.access", self.exchange)
        app.router.add_route("*", "/api/{method}", self.pass_on)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()

    async def stop(self) -> None:
        """Stop listening; the workspaces keep running."""
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        """The address, without a final slash."""
        assert self._runner is not None  # noqa: S101 - it has been started
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def api_url(self) -> str:
        """The value for SLACK_API_URL, with a final slash."""
        return f"{self.url}/api/"

    async def ask(self, request: web.Request) -> web.Response:
        """The page on which people allow the app in one of their workspaces."""
        if request.query.get("client_id") != self.app.client_id:
            return web.Response(status=400, text="invalid_client_id")
        query = {name: request.query.get(name, "") for name in ("state", "redirect_uri")}
        links = [
            f'<li><a href="/oauth/v2/allow?{html.escape(urlencode({**query, "team": number}))}">'
            f"Allow in {html.escape(workspace.state.team_name)}</a></li>"
            for number, workspace in enumerate(self.workspaces)
        ]
        page = f"<h1>Install the app</h1><ul>{''.join(links)}</ul>"
        return web.Response(text=page, content_type="text/html")

    async def allow(self, request: web.Request) -> web.Response:
        """Send the browser back to the app with a code, good for one exchange."""
        code = secrets.token_hex(8)
        self.codes[code] = self.workspaces[int(request.query["team"])]
        back = urlencode({"code": code, "state": request.query.get("state", "")})
        raise web.HTTPFound(f"{request.query['redirect_uri']}?{back}")

    async def exchange(self, request: web.Request) -> web.Response:
        """oauth.v2.access: a token for a code, or a new one for a refresh token."""
        form = await request.post()
        authorization = aiohttp.encode_basic_auth(self.app.client_id, self.app.client_secret)
        if request.headers.get("Authorization") != authorization:
            return _refusal("bad_client_secret")
        if form.get("grant_type") == "refresh_token":
            grant = self.refresh.pop(str(form.get("refresh_token")), None)
            self.rotations += grant is not None
            return (
                web.json_response(self._grant(grant))
                if grant
                else _refusal("invalid_refresh_token")
            )
        grant = self.codes.pop(str(form.get("code")), None)
        if grant is None:
            return _refusal("invalid_code")
        grant.restore_token()
        return web.json_response(self._grant(grant))

    def _grant(self, workspace: Workspace) -> Json:
        """The answer with a token; a new token each time if tokens are rotated."""
        state, app = workspace.state, workspace.app
        rotated: Json = {}
        if self.app.token_seconds is not None:
            app.bot_token = f"xoxe.xoxb-1-{secrets.token_hex(60)}"
            refresh = f"xoxe-1-{secrets.token_hex(60)}"
            self.refresh[refresh] = workspace
            rotated = {"refresh_token": refresh, "expires_in": self.app.token_seconds}
        enterprise = {"id": state.enterprise_id, "name": "Grid"} if state.enterprise_id else None
        return {
            "ok": True,
            "access_token": app.bot_token,
            "token_type": "bot",
            "scope": ",".join(app.scopes),
            "bot_user_id": app.bot_user,
            "app_id": app.id,
            "team": None if state.is_org_wide else {"id": state.team_id, "name": state.team_name},
            "enterprise": enterprise,
            "is_enterprise_install": state.is_org_wide,
            "authed_user": {"id": next(iter(state.users))},
            **rotated,
        }

    async def pass_on(self, request: web.Request) -> web.Response:
        """Route a call to the workspace of its token."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        workspace = next(
            (workspace for workspace in self.workspaces if workspace.bot_token == token), None
        )
        if workspace is None:
            return _refusal("invalid_auth")
        url = f"{workspace.api_url}{request.match_info['method']}"
        headers = {name: text for name, text in request.headers.items() if name.lower() not in _HOP}
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method,
                url,
                params=request.query,
                data=await request.read(),
                headers=headers,
            ) as answer,
        ):
            passed = {n: t for n, t in answer.headers.items() if n.lower() not in _HOP}
            body = await answer.read()
            return web.Response(status=answer.status, body=body, headers=passed)


def _refusal(code: str) -> web.Response:
    return web.json_response({"ok": False, "error": code})


@asynccontextmanager
async def run_oauth_server(
    *configs: WorkspaceConfig, app: OAuthApp | None = None
) -> AsyncGenerator[OAuthServer]:
    """Run workspaces behind one address during the block."""
    async with AsyncExitStack() as stack:
        workspaces = [await stack.enter_async_context(run_workspace(config)) for config in configs]
        server = OAuthServer(workspaces, app or OAuthApp())
        await server.start()
        stack.push_async_callback(server.stop)
        yield server
