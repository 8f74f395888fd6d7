"""Delivery to one app: acknowledgement within 3 s, redelivery of events, one try for the rest.

Source: https://docs.slack.dev/apis/events-api (retries) and /apis/events-api/using-socket-mode.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from slack_on_loopback.json_values import Json, child, text_at
from slack_on_loopback.rates import Pace

ParcelKind = Literal["events_api", "interactive", "slash_commands"]


@dataclass(frozen=True, slots=True)
class Parcel:
    """Something for the app.

    Attributes:
        kind: Socket Mode's name for it.
        payload: the body.
        attempt: 0 for the first delivery.
        reason: why the delivery before this one failed.
    """

    kind: ParcelKind
    payload: Json
    attempt: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a delivery.

    Attributes:
        acked: whether the app said it has it, in time.
        reason: why not: timeout, http_error, connection_failed.
        body: what the app answered with, for commands and interactions.
        no_retry: the app asked not to be tried again.
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

    async def send(self, parcel: Parcel, seconds: float) -> Receipt:
        """Deliver once and wait so long for the acknowledgement."""
        ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """One try, for the record."""

    kind: ParcelKind
    name: str
    event_id: str
    attempt: int
    acked: bool
    reason: str


@dataclass(slots=True)
class Courier:
    """Carries parcels to one app and keeps a record of it."""

    transports: list[Transport]
    pace: Pace
    changed: Callable[[], None]
    record: list[Delivery] = field(default_factory=list[Delivery])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def deliver_event(self, payload: Json) -> None:
        """Deliver an event in the background, again and again until it is acknowledged."""
        self.spawn(self._with_retries(Parcel("events_api", payload)))

    async def ask(self, parcel: Parcel) -> Receipt:
        """Deliver a command or interaction once and return the app's answer."""
        return await self._try(parcel)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something in the background until the workspace closes."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop all deliveries."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _with_retries(self, parcel: Parcel) -> None:
        receipt = await self._try(parcel)
        for attempt, delay in enumerate(self.pace.redelivery_delays, start=1):
            if receipt.acked or receipt.no_retry:
                return
            await asyncio.sleep(delay)
            receipt = await self._try(replace(parcel, attempt=attempt, reason=receipt.reason))

    async def _try(self, parcel: Parcel) -> Receipt:
        transport = next((one for one in self.transports if one.ready()), None)
        if transport is None:
            receipt = Receipt(acked=False, reason="connection_failed")
        else:
            receipt = await transport.send(parcel, self.pace.ack_seconds)
        self._note(parcel, receipt)
        return receipt

    def _note(self, parcel: Parcel, receipt: Receipt) -> None:
        event = child(parcel.payload, "event")
        name = text_at(event, "type") or text_at(parcel.payload, "type")
        name = name or text_at(parcel.payload, "command")
        self.record.append(
            Delivery(
                kind=parcel.kind,
                name=name,
                event_id=text_at(parcel.payload, "event_id"),
                attempt=parcel.attempt,
                acked=receipt.acked,
                reason=receipt.reason,
            )
        )
        self.changed()
