"""Webhooks: signed messages about debates, sent to the addresses in the settings."""

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

from bot.addresses import Ip, address_fault, is_public
from bot.landing.receivers import LandedRecord, Landing, LandingFailed, ReceiverClosed
from bot.links import GuardedResolver, guarded_session
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
#: Shortest and longest secret in bytes, by the Standard Webhooks specification.
_SHORTEST, _LONGEST = 24, 64


def parse_secret(text: str, variable: str) -> bytes:
    """The secret in a variable.

    Raises:
        ConfigurationBroken: It is missing or malformed. The message does not contain it.
    """
    hint = (
        f"Put `{_PREFIX}` and {_SHORTEST} to {_LONGEST} random bytes in base64 there, for example "
        f"with: echo {_PREFIX}$(openssl rand -base64 32)"
    )
    if not text:
        raise ConfigurationBroken(f"{variable} is not set. {hint}")
    try:
        secret = base64.b64decode(text.strip().removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not text.strip().startswith(_PREFIX) or not _SHORTEST <= len(secret) <= _LONGEST:
        raise ConfigurationBroken(f"{variable} is not a secret of a webhook. {hint}")
    return secret


def signed_headers(
    message_id: str, timestamp: int, body: bytes, secrets: Sequence[bytes]
) -> Mapping[str, str]:
    """The headers of a message. `message_id` is the same for all attempts; every secret signs."""
    content = f"{message_id}.{timestamp}.".encode() + body
    signatures = [hmac.new(secret, content, hashlib.sha256).digest() for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            f"v1,{base64.b64encode(body).decode()}" for body in signatures
        ),
    }


_DECISION_EVENTS: Mapping[DecisionKind, WebhookEvent] = {
    DecisionKind.ACCEPT: WebhookEvent.ACCEPTED,
    DecisionKind.REJECT: WebhookEvent.REJECTED,
    DecisionKind.REVISIT: WebhookEvent.REVISIT,
    DecisionKind.SUPERSEDE: WebhookEvent.SUPERSEDED,
}
_GONE, _TOO_MANY, _UNAVAILABLE = 410, 429, 503


def webhook_event(debate: Debate, recorded: RecordedEvent) -> WebhookEvent | None:
    """The webhook event for a recorded event; None if webhooks do not get it."""
    match recorded.event:
        case DebateStarted():
            return WebhookEvent.STARTED
        case DebateConcluded(edition=edition) | DebateFailed(edition=edition) if (
            edition != debate.edition
        ):
            return None  # a person continued the debate meanwhile
        case DebateConcluded():
            return WebhookEvent.DECIDED
        case DebateFailed():
            return WebhookEvent.FAILED
        case DecisionRecorded(decision=decision):
            return _DECISION_EVENTS[decision.kind]
        case OutcomeGiven():
            return WebhookEvent.OUTCOME
        case _:
            return None


def webhook_message(
    landing: Landing, event: WebhookEvent, *, whole_text: bool
) -> Mapping[str, Any]:
    """The message, as documented in docs/landing.md."""
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
    reason = ""
    match landing.recorded.event:
        case DecisionRecorded(decision=decision):
            fields["decided_by"], reason = _person(decision.by), decision.why
            if decision.revisit_on:
                fields["revisit_on"] = decision.revisit_on.isoformat()
            if decision.superseded_by:
                fields["superseded_by"] = decision.superseded_by
        case OutcomeGiven(outcome=outcome):
            fields |= {"outcome": outcome.kind.value, "said_by": _person(outcome.by)}
            reason = outcome.why
        case DebateFailed(reason=failure):
            fields["failure"] = failure
        case _:
            pass
    if whole_text:
        fields |= {"why": reason, "record": adr(debate)}
    timestamp = landing.recorded.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {"type": f"debate.{event.value}", "timestamp": timestamp, "data": fields}


def _person(person: Person) -> Mapping[str, str]:
    return {"id": person.id, "name": person.name}


@dataclass(frozen=True, kw_only=True)
class WebhookReceiver:
    """A `Receiver` that posts signed JSON to an address."""

    webhook: Webhook
    #: Newest first.
    secrets: Sequence[bytes]
    clock: Clock
    #: Whether an address may be called.
    may_call: Callable[[Ip], bool] = is_public

    @property
    def name(self) -> str:
        return self.webhook.name

    @property
    def failure_text(self) -> str:
        return ""  # failures concern administrators, who see them in `moot doctor`

    def wants(self, debate: Debate, recorded: RecordedEvent) -> bool:
        event = webhook_event(debate, recorded)
        return event in self.webhook.events and self.webhook.serves(debate.setup.place)

    async def check(self) -> str:
        parts = urlsplit(self.webhook.url)
        is_tls, host = parts.scheme == "https", parts.hostname or ""
        async with self._report_errors():
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
        event = webhook_event(landing.debate, landing.recorded)
        if event is None:
            raise LandingFailed("There is no message about this event.", is_final=True)
        message = webhook_message(landing, event, whole_text=self.webhook.whole_text)
        body = json.dumps(without_secrets(message), ensure_ascii=False).encode()
        now = int(self.clock.now().timestamp())
        headers = {
            **signed_headers(landing.id, now, body, self.secrets),
            "Content-Type": "application/json",
            "User-Agent": "Moot",
        }
        async with self._report_errors():
            check_address(self.webhook.url, self.may_call)
            async with (
                guarded_session(self.may_call, auto_decompress=False) as session,
                session.post(
                    self.webhook.url, data=body, headers=headers, allow_redirects=False
                ) as answer,
            ):
                # The body is not read: it may be endless.
                status, after = answer.status, answer.headers.get("Retry-After", "")
        if status // 100 == 2:  # noqa: PLR2004 - any code of success
            return LandedRecord()
        words = f"{self._host} answered with the code {status}."
        if status == _GONE:
            raise ReceiverClosed(f"{words} Nothing more is sent to it.")
        if status // 100 == 3:  # noqa: PLR2004 - a redirect
            raise LandingFailed(
                f"{words} Redirects are not followed: set the new address in the settings."
            )
        has_wait = status in {_TOO_MANY, _UNAVAILABLE} and after.isascii() and after.isdigit()
        raise LandingFailed(words, after=float(after[:9]) if has_wait else None)

    @asynccontextmanager
    async def _report_errors(self) -> AsyncGenerator[None]:
        """Apply the time limit, and turn errors in the block into `LandingFailed`."""
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
            # The error's text may quote data of the server.
            words = f"{self._host} cannot be reached ({type(error).__name__})."
            raise LandingFailed(words) from None

    @property
    def _host(self) -> str:
        """The host, without path and query: these may contain a token."""
        return urlsplit(self.webhook.url).netloc


def check_address(url: str, may_call: Callable[[Ip], bool]) -> None:
    """Check an IP address: it needs no look-up, so the resolver does not check it.

    Raises:
        BadInput: It may not be called.
    """
    with suppress(ValueError):
        if not may_call(ipaddress.ip_address(urlsplit(url).hostname or "")):
            raise BadInput("its address is not public")


def call_guard(webhook: Webhook) -> Callable[[Ip], bool]:
    """The check of IP addresses for a webhook. Metadata services are always refused."""
    if not webhook.private_address:
        return is_public
    return lambda ip: not address_fault(f"http://[{ip}]/" if ip.version == 6 else f"http://{ip}/")  # noqa: PLR2004 - IPv6
