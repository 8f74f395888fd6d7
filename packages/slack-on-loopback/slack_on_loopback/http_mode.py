"""HTTP mode: signed requests to the app's request URLs.

Source: https://docs.slack.dev/authentication/verifying-requests-from-slack and /apis/events-api.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp

from slack_on_loopback.delivery import Acknowledgement, Envelope
from slack_on_loopback.json_values import as_object, compact, parse_json, text_at
from slack_on_loopback.socket_mode import answer_body
from slack_on_loopback.state import App

_FORM = "application/x-www-form-urlencoded"


def signature(secret: str, timestamp: str, body: str) -> str:
    """Return the v0 signature of a request."""
    basis = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(secret.encode(), basis, hashlib.sha256).hexdigest()


def signed_headers(secret: str, now: float, body: str, content_type: str) -> dict[str, str]:
    """Return the headers Slack sends with a body."""
    timestamp = str(int(now))
    return {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(secret, timestamp, body),
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
    }


@dataclass(slots=True)
class HttpTransport:
    """The transport to an app with request URLs."""

    app: App
    clock: Callable[[], float]
    _session: aiohttp.ClientSession | None = field(default=None)

    def ready(self) -> bool:
        """Whether the app has a request URL."""
        return bool(self.app.request_url)

    async def send(self, envelope: Envelope, seconds: float) -> Acknowledgement:
        """Post one envelope and wait for the answer."""
        body, content_type = _encoded(envelope)
        headers = signed_headers(self.app.signing_secret, self.clock(), body, content_type)
        if envelope.attempt:
            headers["X-Slack-Retry-Num"] = str(envelope.attempt)
            headers["X-Slack-Retry-Reason"] = envelope.reason
        try:
            return await self._post(self._url(envelope), body, headers, seconds)
        except TimeoutError:
            return Acknowledgement(acked=False, reason="http_timeout")
        except aiohttp.ClientError:
            return Acknowledgement(acked=False, reason="connection_failed")

    async def verify(self, seconds: float) -> bool:
        """Do the url_verification handshake with the request URL."""
        body = compact(
            {
                "token": self.app.verification_token,
                "challenge": "local-challenge",
                "type": "url_verification",
            }
        )
        headers = signed_headers(self.app.signing_secret, self.clock(), body, "application/json")
        acknowledgement = await self._post(self.app.request_url, body, headers, seconds)
        return "local-challenge" in {
            text_at(acknowledgement.body, "challenge"),
            text_at(acknowledgement.body, "text"),
        }

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _url(self, envelope: Envelope) -> str:
        if envelope.kind == "slash_commands":
            command = text_at(envelope.payload, "command")
            own = [text_at(c, "url") for c in self.app.commands if c.get("command") == command]
            return next(filter(None, own), self.app.request_url)
        if envelope.kind == "interactive":
            return self.app.interactivity_url or self.app.request_url
        return self.app.request_url

    async def _post(
        self, url: str, body: str, headers: dict[str, str], seconds: float
    ) -> Acknowledgement:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with self._session.post(
            url, data=body.encode(), headers=headers, timeout=timeout
        ) as answer:
            text = await answer.text()
            if answer.status != 200:  # noqa: PLR2004 HTTP's OK
                no_retry = answer.headers.get("X-Slack-No-Retry") == "1"
                return Acknowledgement(acked=False, reason="http_error", no_retry=no_retry)
            return Acknowledgement(
                acked=True, body=as_object(parse_json(text)) or answer_body(text)
            )


def _encoded(envelope: Envelope) -> tuple[str, str]:
    if envelope.kind == "events_api":
        return compact(envelope.payload), "application/json"
    if envelope.kind == "slash_commands":
        return urlencode({key: str(item) for key, item in envelope.payload.items()}), _FORM
    return urlencode({"payload": compact(envelope.payload)}), _FORM
