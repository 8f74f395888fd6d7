"""Webhooks: signed messages about debates, sent to addresses of the settings."""

import asyncio
import base64
import binascii
import hashlib
import hmac
import ipaddress
import json
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from bot.addresses import Ip, fault_of, is_public
from bot.landing.receivers import LandedRecord, Landing, LandingFailed, ReceiverClosed
from bot.links import GuardedResolver, calling
from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import RecordedEvent
from core.debate.people import Person
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.state import Debate
from core.debate.verdict import DecisionKind
from core.errors import BadInput, ConfigurationBroken
from core.landing import Webhook, WebhookEvent
from core.ports import Clock
from core.redaction import without_secrets
from core.transcript.cited import decision_line
from core.transcript.decision import adr

_PREFIX = "whsec_"
#: Bytes of a secret, at least and at most, as the specification asks.
_SHORTEST, _LONGEST = 24, 64


def secret_of(text: str, variable: str) -> bytes:
    """Raises `ConfigurationBroken` where it is missing or of another form, without showing it."""
    how = (
        f"Put `{_PREFIX}` and {_SHORTEST} to {_LONGEST} random bytes in base64 there, for example "
        f"with: echo {_PREFIX}$(openssl rand -base64 32)"
    )
    if not text:
        raise ConfigurationBroken(f"{variable} is not set. {how}")
    try:
        secret = base64.b64decode(text.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not text.strip().startswith(_PREFIX) or not _SHORTEST <= len(secret) <= _LONGEST:
        raise ConfigurationBroken(f"{variable} is no secret of a webhook. {how}")
    return secret


def signed_headers(
    message_id: str, timestamp: int, body: bytes, secrets: Sequence[bytes]
) -> Mapping[str, str]:
    """`message_id` is the same for every attempt; during a change of secrets both sign."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = [hmac.new(secret, signed, hashlib.sha256).digest() for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            f"v1,{base64.b64encode(body).decode()}" for body in signatures
        ),
    }


_DECIDED: Mapping[DecisionKind, WebhookEvent] = {
    DecisionKind.ACCEPT: WebhookEvent.ACCEPTED,
    DecisionKind.REJECT: WebhookEvent.REJECTED,
    DecisionKind.REVISIT: WebhookEvent.REVISIT,
    DecisionKind.SUPERSEDE: WebhookEvent.SUPERSEDED,
}
_GONE, _TOO_MANY, _UNAVAILABLE = 410, 429, 503


def event_of(debate: Debate, recorded: RecordedEvent) -> WebhookEvent | None:
    """What webhooks call the event; None: they are not told of it."""
    match recorded.event:
        case DebateStarted():
            return WebhookEvent.STARTED
        case DebateConcluded(edition=edition) | DebateFailed(edition=edition) if (
            edition != debate.edition
        ):
            return None  # written while somebody wanted the debate to go on
        case DebateConcluded():
            return WebhookEvent.DECIDED
        case DebateFailed():
            return WebhookEvent.FAILED
        case DecisionRecorded(decision=decision):
            return _DECIDED[decision.kind]
        case OutcomeGiven():
            return WebhookEvent.OUTCOME
        case _:
            return None


def message_of(landing: Landing, event: WebhookEvent, *, whole_text: bool) -> Mapping[str, Any]:
    """docs/landing.md says what is in it."""
    debate, setup, verdict = landing.debate, landing.debate.setup, landing.debate.verdict
    fields: dict[str, Any] = {
        "debate": debate.id,
        "workspace": setup.place.workspace,
        "channel": setup.place.channel,
        "question": setup.question,
        "asked_by": _person(setup.asked_by),
        "link": landing.link,
        "verdict": decision_line(verdict) if verdict else None,
        "confidence": verdict.confidence if verdict else None,
    }
    why = ""
    match landing.recorded.event:
        case DecisionRecorded(decision=decision):
            fields["decided_by"], why = _person(decision.by), decision.why
            if decision.revisit_on:
                fields["revisit_on"] = decision.revisit_on.isoformat()
            if decision.superseded_by:
                fields["superseded_by"] = decision.superseded_by
        case OutcomeGiven(outcome=outcome):
            fields |= {"outcome": outcome.kind.value, "said_by": _person(outcome.by)}
            why = outcome.why
        case DebateFailed(reason=reason):
            fields["failure"] = reason
        case _:
            pass
    if whole_text:
        fields |= {"why": why, "record": adr(debate)}
    at = landing.recorded.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {"type": f"debate.{event.value}", "timestamp": at, "data": fields}


def _person(who: Person) -> Mapping[str, str]:
    return {"id": who.id, "name": who.name}


@dataclass(frozen=True, kw_only=True)
class WebhookReceiver:
    """A `Receiver` that posts signed JSON to an address."""

    webhook: Webhook
    #: The newest first.
    secrets: Sequence[bytes]
    clock: Clock
    #: Says which addresses may be called.
    may_call: Callable[[Ip], bool] = is_public

    @property
    def name(self) -> str:
        return self.webhook.name

    @property
    def failure_text(self) -> str:
        return ""  # it is administrators' business, not the thread's

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        event = event_of(debate, recorded)
        return event in self.webhook.events and self.webhook.serves(debate.setup.place)

    async def check(self) -> str:
        parts = urlsplit(self.webhook.url)
        is_tls, host = parts.scheme == "https", parts.hostname or ""
        async with self._in_words():
            check_address(self.webhook.url, self.may_call)
            port = parts.port or (443 if is_tls else 80)
            target = (await GuardedResolver(self.may_call).resolve(host, port))[0]
            _, writer = await asyncio.open_connection(
                target["host"],
                port,
                ssl=ssl.create_default_context() if is_tls else None,
                server_hostname=host if is_tls else None,
            )
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        return "can be reached"

    async def deliver(self, landing: Landing) -> LandedRecord:
        event = event_of(landing.debate, landing.recorded)
        if event is None:
            raise LandingFailed("There is no message about this event.", is_final=True)
        message = message_of(landing, event, whole_text=self.webhook.whole_text)
        body = json.dumps(without_secrets(message), ensure_ascii=False).encode()
        now = int(self.clock.now().timestamp())
        headers = {
            **signed_headers(landing.id, now, body, self.secrets),
            "Content-Type": "application/json",
            "User-Agent": "Moot",
        }
        async with self._in_words():
            return await self._post(body, headers)

    @asynccontextmanager
    async def _in_words(self) -> AsyncGenerator[None]:
        seconds = self.webhook.seconds
        try:
            async with asyncio.timeout(seconds):
                yield
        except BadInput as error:
            words = f"{self._host} was not called: {error}."
            raise LandingFailed(words, is_final=True) from None
        except TimeoutError:
            words = f"{self._host} did not answer within {seconds:g} seconds."
            raise LandingFailed(words) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Its own words may quote what the other side sent.
            words = f"{self._host} cannot be reached ({type(error).__name__})."
            raise LandingFailed(words) from None

    @property
    def _host(self) -> str:
        """Without path and query: they may hold a token."""
        return urlsplit(self.webhook.url).netloc

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> LandedRecord:
        check_address(self.webhook.url, self.may_call)
        async with (
            calling(self.may_call, auto_decompress=False) as session,
            session.post(
                self.webhook.url, data=body, headers=headers, allow_redirects=False
            ) as answer,
        ):
            # The body, which may not end, is not read.
            status = answer.status
            after = answer.headers.get("Retry-After", "")
        if status // 100 == 2:  # noqa: PLR2004 - any code of success
            return LandedRecord()
        words = f"{self._host} answered with the code {status}."
        if status == _GONE:
            raise ReceiverClosed(f"{words} It wants nothing more, so nothing more is sent.")
        if status // 100 == 3:  # noqa: PLR2004 - a redirect
            raise LandingFailed(f"{words} Redirects are not followed: put the new address in.")
        has_wait = status in {_TOO_MANY, _UNAVAILABLE} and after.isascii() and after.isdigit()
        raise LandingFailed(words, after=float(after[:9]) if has_wait else None)


def check_address(url: str, may_call: Callable[[Ip], bool]) -> None:
    """An address in figures is not looked up, so the resolver does not guard it."""
    with suppress(ValueError):
        if not may_call(ipaddress.ip_address(urlsplit(url).hostname or "")):
            raise BadInput("its address is not public")


def guard_of(webhook: Webhook) -> Callable[[Ip], bool]:
    """Never one where machines get their own credentials."""
    if not webhook.private_address:
        return is_public
    return lambda ip: not fault_of(f"http://[{ip}]/" if ip.version == 6 else f"http://{ip}/")  # noqa: PLR2004 - IPv6
