"""Takes turns: the caps and the asker of each call. The acts declare the work itself."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from weakref import WeakValueDictionary

from core.acts.act import ACTS, ActSpec
from core.acts.citing import source_parts
from core.debate.evidence import Source, SourceText
from core.debate.log import Event
from core.debate.state import Debate
from core.debate.turn import BACKGROUND_ACTS, SHADOW, Act, Turn
from core.debate.turn_events import SourceRead
from core.errors import BadInput
from core.llm.budget import Budget, own_cap
from core.llm.call import CallScope, ModelCalls
from core.ports import Reservations, SourceReader
from core.redaction import pseudonym
from core.rules.schedule import is_ending
from core.rules.sources import MOST_CHARACTERS, MOST_SOURCES, SAME_AS, label_of
from core.usage import Cap, Usage

#: Share of a debate's cap reserved for the vote and the verdict.
RESERVED_FOR_ENDING = Decimal("0.2")
#: Shares of the debate's cap and of all other caps that the shadow answer may not use.
RESERVED_FROM_SHADOW, _RESERVED_OF_OTHER_CAPS = Decimal("0.8"), Decimal("0.2")


class Turns:
    def __init__(
        self,
        calls: ModelCalls,
        caps_of: Callable[[Debate], Sequence[Cap]] = own_cap,
        *,
        secret: Callable[[], Awaitable[bytes]] | None = None,
        reservations: Reservations | None = None,
        reader: SourceReader | None = None,
    ) -> None:
        """Set the services that turns use.

        Args:
            calls: Asks models.
            caps_of: Returns the caps on spending for a debate.
            secret: Returns the installation's secret for pseudonyms of people, which vendors get;
                None: vendors get no pseudonym.
            reservations: Reserves money under the caps for each call; None: each call is checked
                by itself.
            reader: Reads sources; None: sources cannot be read.
        """
        self._calls = calls
        self._caps_of = caps_of
        self._secret = secret
        self._reservations = reservations
        self._reader = reader
        self._key: bytes = b""
        #: Locks by debate id, so that sources are split once. An entry exists while it is in use.
        self._source_locks = WeakValueDictionary[str, asyncio.Lock]()

    async def take(
        self,
        debate: Debate,
        turn: Turn,
        book: Callable[[Usage], None] | None = None,
        *,
        check_lease: Callable[[], Awaitable[None]] | None = None,
        waits: bool = True,
    ) -> Event:
        """Take the turn and return the event with its outcome.

        Args:
            debate: The current state.
            turn: The turn to take.
            book: Called with the usage of each model call when it ends, even if it fails.
            check_lease: Awaited before each attempt; raises if another run holds the debate.
            waits: Whether the turn can be taken later if none of its models is available.

        Raises:
            CallFailed: No model could be asked, or the reply cannot be used.
            ModelsAway: No model is available now, and the turn can be taken later.
            RunLost: Another run holds the debate.
            StoreDown: The database does not answer.
        """
        if turn.act is Act.READING:
            return await read_source(self._reader, debate, turn)
        act, setup = ACTS[turn.act], debate.setup
        perform = act.perform
        assert perform, f"{turn.act} is no turn of a debate."  # noqa: S101 - the schedule has none
        provider = setup.agent(turn.agent).provider if act.asks_model else ""
        async with self._calls.admission(provider, is_background=turn.act in BACKGROUND_ACTS):
            if debate.evidence:
                # Splitting long sources takes a second, so it is done once for all turns.
                async with self._source_locks.setdefault(debate.id, asyncio.Lock()):
                    await asyncio.to_thread(source_parts, debate)
            asker, budget = "", None
            if self._secret is not None:
                self._key = self._key or await self._secret()
                asker = pseudonym(self._key, f"{setup.place.workspace}/{setup.asked_by.id}")
            if self._reservations is not None:
                budget = Budget(reservations=self._reservations, debate_id=debate.id, turn=turn.key)
            scope = CallScope(
                caps=caps_with_reserve(turn, self._caps_of(debate)),
                user=asker,
                record_usage=book,
                budget=budget,
                check_lease=check_lease,
                may_wait=waits,
            )
            return await perform(self._calls.within(scope), debate, turn)


def caps_with_reserve(turn: Turn, caps: Sequence[Cap]) -> Sequence[Cap]:
    """The caps with the share that this turn must leave to other turns.

    A share of the debate's own cap is reserved for its end, so that a verdict can be paid. The
    shadow answer may use only money that the debate does not need.
    """
    debate_share, other_share = Decimal(0), Decimal(0)
    if turn.agent == SHADOW:
        debate_share, other_share = RESERVED_FROM_SHADOW, _RESERVED_OF_OTHER_CAPS
    elif not is_ending(turn):
        debate_share = RESERVED_FOR_ENDING
    shares = [debate_share if cap.key.startswith("debate/") else other_share for cap in caps]
    return [
        replace(cap, kept=cap.limit * share) if share else cap
        for cap, share in zip(caps, shares, strict=True)
    ]


async def read_source(reader: SourceReader | None, debate: Debate, turn: Turn) -> SourceRead:
    number = int(turn.target or 0)
    reference = debate.references[number - 1]
    text, fault = SourceText(), ""
    if reader is None:
        fault = "no sources are read here"
    elif number > MOST_SOURCES:
        fault = f"a debate has {MOST_SOURCES} sources at most"
    else:
        try:
            text = await reader.read(reference, debate.setup.place)
            equal = [source.id for source in debate.evidence if source.sha256 == text.sha256]
            if equal:
                fault = f"{SAME_AS} {equal[0]}"
            elif (
                sum(len(source.text) for source in debate.evidence) + len(text.text)
                > MOST_CHARACTERS
            ):
                fault = "the sources of this debate have too much text already"
        except BadInput as error:
            fault = str(error)
    # The search can return a decision that a person has already named.
    keys = {(reference.kind, reference.fetch) for reference in debate.references}
    # If a thread was linked in a message text, so are its files.
    fresh = tuple(
        item.model_copy(update={"in_words": reference.in_words})
        for item in text.references
        if (item.kind, item.fetch) not in keys
    )
    fields = {} if fault else dict(text.model_copy(update={"references": fresh}))
    label = label_of(debate.references, number)
    return SourceRead(
        source=Source(turn=turn, reference=reference, fault=fault, label=label, **fields)
    )


ACTS[Act.READING] = ActSpec(asks_model=False, is_posted=False, is_numbered=True)
