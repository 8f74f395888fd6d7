"""Delivery to one app: acknowledgement within 3 s, redelivery of events, one try for interactions.

Source: https://docs.slack.dev/apis/events-api (retries) and /apis/events-api/using-socket-mode.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from slack_on_loopback.json_values import Json, child, text_at
from slack_on_loopback.rates import SlackPace

EnvelopeKind = Literal["events_api", "interactive", "slash_commands"]


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload for the app.

    Attributes:
        kind: Socket Mode's name for it.
        payload: the body.
        attempt: 0 for the first delivery.
        reason: why the delivery before this one failed.
    """

    kind: EnvelopeKind
    payload: Json
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The result of a delivery.

    Attributes:
        acked: whether the app acknowledged it in time.
        reason: the error: timeout, http_error, connection_failed.
        body: the app's answer to a command or interaction.
        no_retry: whether the app asked for no further tries.
    """

    acked: bool
    reason: str = ""
    body: Json = field(default_factory=dict[str, Any])
    no_retry: bool = False


class Transport(Protocol):
    """A way to an app: Socket Mode or HTTP."""

    def ready(self) -> bool:
        """Whether the app can be reached this way now."""
        ...

    async def send(self, envelope: Envelope, seconds: float) -> Acknowledgement:
        """Deliver once and wait up to `seconds` for the acknowledgement."""
        ...


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """A recorded try."""

    kind: EnvelopeKind
    name: str
    event_id: str
    attempt: int
    acked: bool
    reason: str


@dataclass(slots=True)
class Dispatcher:
    """Delivers to one app and records every attempt."""

    transports: list[Transport]
    pace: SlackPace
    changed: Callable[[], None]
    attempts: list[DeliveryAttempt] = field(default_factory=list[DeliveryAttempt])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def deliver_event(self, payload: Json) -> None:
        """Deliver an event in the background, again and again until it is acknowledged."""
        self.spawn(self._with_retries(Envelope("events_api", payload)))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background until the workspace closes."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop all deliveries."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _with_retries(self, envelope: Envelope) -> None:
        acknowledgement = await self.ask(envelope)
        for attempt, delay in enumerate(self.pace.redelivery_delays, start=1):
            if acknowledgement.acked or acknowledgement.no_retry:
                return
            await asyncio.sleep(delay)
            acknowledgement = await self.ask(
                replace(envelope, attempt=attempt, reason=acknowledgement.reason)
            )

    async def ask(self, envelope: Envelope) -> Acknowledgement:
        """Deliver a command or interaction once and return the app's answer."""
        transport = next((transport for transport in self.transports if transport.ready()), None)
        if transport is None:
            acknowledgement = Acknowledgement(acked=False, reason="connection_failed")
        else:
            acknowledgement = await transport.send(envelope, self.pace.ack_seconds)
        event = child(envelope.payload, "event")
        name = text_at(event, "type") or text_at(envelope.payload, "type")
        name = name or text_at(envelope.payload, "command")
        self.attempts.append(
            DeliveryAttempt(
                kind=envelope.kind,
                name=name,
                event_id=text_at(envelope.payload, "event_id"),
                attempt=envelope.attempt,
                acked=acknowledgement.acked,
                reason=acknowledgement.reason,
            )
        )
        self.changed()
        return acknowledgement
