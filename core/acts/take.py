"""Takes a turn: under which caps, and for whom; each act says what it does."""

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
from core.debate.turn import BESIDE, SHADOW, Act, Turn
from core.debate.turn_events import SourceRead
from core.errors import BadInput
from core.llm.budget import Budget, own_cap
from core.llm.call import CallScope, ModelCalls
from core.ports import Reservations, SourceReader
from core.redaction import pseudonym
from core.rules.schedule import is_ending
from core.rules.sources import MOST_CHARACTERS, MOST_SOURCES, SAME_AS, label_of
from core.usage import Cap, Usage

#: Share of a debate's cap that only the vote and the verdict may use.
KEPT_FOR_THE_END = Decimal("0.2")
#: Share of a debate's cap, and of every other, that the shadow answer leaves to the debate.
KEPT_FROM_THE_SHADOW, _KEPT_OF_OTHERS = Decimal("0.8"), Decimal("0.2")


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
        """Keep what turns need.

        Args:
            calls: Asks models.
            caps_of: Says what may be spent.
            secret: The installation's, so that vendors can tell people apart and not recognise
                them; None: vendors are told nothing.
            reservations: Reserves money under the caps for each call; None: a call is only looked
                at by itself.
            reader: Reads sources; None: none can be read.
        """
        self._calls = calls
        self._caps_of = caps_of
        self._secret = secret
        self._reservations = reservations
        self._reader = reader
        self._key: bytes = b""
        #: By debate; kept while somebody has it.
        self._cutting = WeakValueDictionary[str, asyncio.Lock]()

    async def take(
        self,
        debate: Debate,
        turn: Turn,
        book: Callable[[Usage], None] | None = None,
        *,
        prove: Callable[[], Awaitable[None]] | None = None,
        waits: bool = True,
    ) -> Event:
        """The outcome of the turn.

        Args:
            debate: As it stands.
            turn: Which one.
            book: Told what each model call cost as soon as it has ended, however it did.
            prove: Awaited right before each attempt; raises if another run holds the debate.
            waits: Whether the turn can be offered again where all its models are away.

        Raises:
            CallFailed: No model could be asked, or the reply cannot be used.
            ModelsAway: No model can be asked now; the turn is to be taken later.
            RunLost: `prove` says so.
            StoreDown: The database does not answer.
        """
        if turn.act is Act.READING:
            return await read(self._reader, debate, turn)
        act = ACTS[turn.act]
        perform = act.perform
        assert perform, f"{turn.act} is no turn of a debate."  # noqa: S101 - the schedule has none
        provider = debate.setup.agent(turn.agent).provider if act.asks_model else ""
        async with self._calls.admission(provider, is_beside=turn.act in BESIDE):
            if debate.evidence:
                # Of long sources it takes a second: once, for all turns that show them.
                async with self._cutting.setdefault(debate.id, asyncio.Lock()):
                    await asyncio.to_thread(source_parts, debate)
            scope = await self._scope(debate, turn)
            scope = replace(scope, book=book, prove=prove, waits=waits)
            return await perform(self._calls.under(scope), debate, turn)

    async def _scope(self, debate: Debate, turn: Turn) -> CallScope:
        """Who asks, and the bounds on money."""
        asker = ""
        if self._secret is not None:
            self._key = self._key or await self._secret()
            place = debate.setup.place
            asker = pseudonym(self._key, f"{place.workspace}/{debate.setup.asked_by.id}")
        budget = None
        if self._reservations is not None:
            budget = Budget(reservations=self._reservations, debate_id=debate.id, turn=turn.key)
        return CallScope(caps=kept_back(turn, self._caps_of(debate)), user=asker, budget=budget)


def kept_back(turn: Turn, caps: Sequence[Cap]) -> Sequence[Cap]:
    """The caps with what this turn has to leave to others.

    A share of the debate's own cap is only for its end, so that what is there can be judged. The
    debate comes first: the shadow answer is left out where it would take its room.
    """
    own, others = Decimal(0), Decimal(0)
    if turn.agent == SHADOW:
        own, others = KEPT_FROM_THE_SHADOW, _KEPT_OF_OTHERS
    elif not is_ending(turn):
        own = KEPT_FOR_THE_END
    shares = [own if cap.key.startswith("debate/") else others for cap in caps]
    return [
        replace(cap, kept=cap.limit * share) if share else cap
        for cap, share in zip(caps, shares, strict=True)
    ]


async def read(reader: SourceReader | None, debate: Debate, turn: Turn) -> SourceRead:
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
            same = [source.id for source in debate.evidence if source.sha256 == text.sha256]
            if same:
                fault = f"{SAME_AS} {same[0]}"
            elif (
                sum(len(source.text) for source in debate.evidence) + len(text.text)
                > MOST_CHARACTERS
            ):
                fault = "the sources of this debate have too much text already"
        except BadInput as error:
            fault = str(error)
    # The search may find a decision that a person has named already.
    keys = {(reference.kind, reference.fetch) for reference in debate.references}
    # Files of a thread that was linked in words count as linked in words, too.
    fresh = tuple(
        item.model_copy(update={"in_words": reference.in_words})
        for item in text.references
        if (item.kind, item.fetch) not in keys
    )
    whole = {} if fault else dict(text.model_copy(update={"references": fresh}))
    label = label_of(debate.references, number)
    return SourceRead(
        source=Source(turn=turn, reference=reference, fault=fault, label=label, **whole)
    )


ACTS[Act.READING] = ActSpec(asks_model=False, is_posted=False, is_numbered=True)
