"""Starts a debate. A person's choices override the channel's, which override the settings."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

from core.debate.debate_events import DebateStarted
from core.debate.people import Place
from core.debate.people_events import DebateContinued
from core.debate.rules import ShadowWhen
from core.debate.setup import Setup
from core.debate.state import Debate
from core.errors import DebateUnknown, DuplicateQuestion, LogBroken
from core.estimate import Estimate
from core.evidence.earlier import earlier_decisions, has_earlier
from core.evidence.tools import tool_references
from core.figures import quantity
from core.opening import DebateRequest, find_agent, find_playbook, open_debate
from core.ports import DebateEntry, DebateFilter, Spending
from core.redaction import redact
from core.settings import Settings
from core.usage import SpendingScope
from core.use_cases.choices import (
    NO_CAP,
    NO_PLAYBOOK,
    ChannelChoices,
    ChannelChoicesStore,
    Choices,
    ModelSet,
    roster,
    taking_part,
    with_choices,
)
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_context, check_money, check_room

_NO_CHOICES = Choices()
#: As a channel would choose it; where several models debate is neither.
_SHADOW = {ShadowWhen.ALWAYS: True, ShadowWhen.NEVER: False}
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 7
_DELIMITER_BYTES = 8
#: Whoever was told that nobody heard a command types it again; both may arrive within this time.
REPEATED_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True)
class StartedDebate:
    debate_id: str
    setup: Setup
    #: False: this very request was here before, and its debate is the one it began.
    fresh: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class StartDebate:
    """Starts debates for every surface. Methods may raise `StoreDown`."""

    facts: FactLog
    #: What holds where neither the channel nor the person chose.
    settings: Callable[[], Settings]
    #: What channels have set; None: they cannot set anything.
    channels: ChannelChoicesStore | None = None
    #: Models to choose from; none: only those of the settings.
    models: Sequence[ModelSet] = ()
    #: Estimates what a debate takes, asking no model.
    estimating: Callable[[Setup], Estimate]
    bounds: Bounds
    #: Knows what was spent; None: no cap over several debates holds.
    spending: Spending | None = None
    #: Running debates are counted and one is added, one after another: the bounds on them hold
    #: within this process.
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def start(
        self, request: DebateRequest, *, origin: str, choices: Choices = _NO_CHOICES
    ) -> StartedDebate:
        """Begin a debate, once per origin (a trigger id, an event id, a form's id)."""
        setup = await self.setup_for(request, choices)
        return await self.begin(setup, origin=origin, anew=request.anew)

    async def setup_for(self, request: DebateRequest, choices: Choices = _NO_CHOICES) -> Setup:
        check_context(request.context, self.bounds)
        channel = await self._of_channel(request.place)
        own = channel.choices
        playbook_name, notices = request.playbook or choices.playbook, list[str]()
        if playbook_name is None and own.playbook not in {None, NO_PLAYBOOK}:
            if own.playbook in self.settings().playbooks:
                playbook_name = own.playbook
            else:
                notices.append(f"This channel's playbook “{own.playbook}” is left out: it is gone.")
        playbook = None if playbook_name == NO_PLAYBOOK else playbook_name
        # The form comes filled in: rounds were asked for only if somebody changed them.
        usual = (await self.usual(request.place, playbook or NO_PLAYBOOK)).rounds
        rounds = None if choices.rounds == usual else choices.rounds
        agents = request.agents if request.agents is not None else choices.agents
        settings = with_choices(self.settings(), choices.over(own), self.models)
        references, place, by = list(request.references), request.place, request.asked_by
        question, evidence = redact(request.question), settings.evidence
        if evidence.earlier_decisions and await has_earlier(self.facts.store, place):
            references.append(earlier_decisions(question, by))
        references += tool_references(evidence.mcp_servers, question, place, by)
        whole = replace(
            request,
            agents=agents,
            usual_agents=own.agents,
            rounds=rounds or request.rounds,
            format=request.format or choices.format,
            playbook=playbook,
            warnings=(*request.warnings, *notices),
            references=tuple(references),
        )
        setup = open_debate(whole, settings, delimiter=secrets.token_hex(_DELIMITER_BYTES))
        # Where there are no channels nobody reads posts.
        quiet = self.channels is not None and not channel.every_turn
        return setup.model_copy(update={"quiet": quiet})

    async def begin(self, setup: Setup, *, origin: str, anew: bool = False) -> StartedDebate:
        """Record the debate's start, once per origin.

        Asked for again by the same person while it runs, in the same words and with the same
        settings, it is the debate that has begun.

        Raises:
            DuplicateQuestion: Somebody else asked the same in the channel a moment ago, and this is
                not to be debated anew.
            BadInput: Too many debates run, or a cap on money is used up; nothing was started.
        """
        store, place = self.facts.store, setup.place
        most = self.bounds.debates_per_workspace
        async with self._starting:
            if await store.id_of_origin(origin) is None:
                running = DebateFilter(workspace=place.workspace, open_only=True, limit=most)
                entries = await store.find(running)
                if begun := await self._same_question(setup, entries, anew=anew):
                    return begun
                check_room(setup.asked_by, place, entries, self.bounds)
                if self.spending:
                    day, by = self.facts.clock.now().date(), setup.asked_by.id
                    whose = SpendingScope(day, place.workspace, by, setup.token)
                    caps, otherwise = self.settings().limits, "nothing was started"
                    await check_money(caps, self.spending, whose, otherwise=otherwise)
            started = await store.create(
                new_debate_id(),
                DebateStarted(setup=setup),
                origin=origin,
                at=self.facts.clock.now(),
            )
        debate_id = started.recorded.debate_id
        self.facts.wake(debate_id)
        if setup.continues and setup.continues != debate_id:
            goes_on = DebateContinued(debate=debate_id, question=setup.question, by=setup.asked_by)
            # The older one may be deleted by now; this one has begun all the same.
            with suppress(DebateUnknown):
                await self.facts.record(setup.continues, goes_on)
        return StartedDebate(debate_id=debate_id, setup=setup, fresh=started.fresh)

    async def asked_before(self, origin: str) -> tuple[str, Debate | None]:
        """Return the origin for a request that is named by its words only, and its newest debate.

        Each debate that it begins has the next number in its origin. So where two replicas are
        asked at the same moment, the database refuses the second one's.
        """
        number, newest = 1, ""
        while begun := await self.facts.store.id_of_origin(f"{origin}/{number}"):
            number, newest = number + 1, begun
        before = None
        with suppress(DebateUnknown, LogBroken):
            before = await self.facts.debate(newest) if newest else None
        return f"{origin}/{number}", before

    async def _same_question(
        self, setup: Setup, running: Sequence[DebateEntry], *, anew: bool
    ) -> StartedDebate | None:
        """The debate that this request has begun a moment ago; refuses what another person asked.

        A person's own is the same only in the same words and with the same settings.
        """
        now, by = self.facts.clock.now(), setup.asked_by.id
        recent = [
            entry
            for entry in running
            if entry.channel == setup.place.channel and entry.started_at >= now - REPEATED_WITHIN
        ]
        for entry in recent:
            if (entry.asked_by, entry.question) != (by, setup.question):
                continue
            with suppress(LogBroken):
                first = (await self.facts.debate(entry.debate_id)).setup
                if _is_same(setup, first):
                    return StartedDebate(entry.debate_id, first, fresh=False)
        for entry in () if anew else recent:
            if entry.asked_by != by and _bare(entry.question) == _bare(setup.question):
                ago = quantity(max(1, (now - entry.started_at) // timedelta(minutes=1)), "minute")
                raise DuplicateQuestion(
                    f"The same question was asked here {ago} ago: debate `{entry.debate_id}` runs "
                    "on it. Reply in its thread to add what its agents should know, or change a "
                    "word of the question for a debate of its own.",
                    debate_id=entry.debate_id,
                )
        return None

    async def estimate(self, request: DebateRequest, choices: Choices) -> Estimate:
        return self.estimating(await self.setup_for(request, choices))

    async def usual(self, place: Place, playbook: str | None = None) -> Choices:
        """Return the defaults of a channel; its own playbook is used if it is still there."""
        own, settings = (await self._of_channel(place)).choices, self.settings()
        usual = own.over(self.built_in())
        if playbook is None and own.playbook in settings.playbooks:
            playbook = own.playbook
        if playbook is None or playbook == NO_PLAYBOOK:
            return usual.model_copy(update={"playbook": NO_PLAYBOOK})
        definition = find_playbook(playbook, settings)
        agents = tuple(find_agent(name, settings).id for name in definition.agents)
        says = Choices(
            playbook=definition.name,
            format=definition.format,
            rounds=definition.rounds,
            agents=agents or None,
        )
        return says.over(usual)

    def built_in(self) -> Choices:
        settings = self.settings()
        cost = settings.limits.of_debate.debate_cost
        return Choices(
            format=settings.format,
            rounds=settings.rounds,
            agents=taking_part(settings),
            clarify=settings.clarifying.enabled,
            shadow=_SHADOW.get(settings.shadow),
            sealed=settings.sealed,
            wait_minutes=round(settings.clarifying.wait_seconds / 60) or None,
            debate_cost=NO_CAP if cost is None else cost,
        )

    async def _of_channel(self, place: Place) -> ChannelChoices:
        return await self.channels.get(place) if self.channels else ChannelChoices()

    def agents(self) -> Mapping[str, str]:
        return roster(self.settings())


def new_debate_id() -> str:
    """Return a fresh id: "d" and seven characters that cannot be misread."""
    return "d" + "".join(secrets.choice(_BASE32) for _ in range(_ID_LENGTH))


def _is_same(setup: Setup, first: Setup) -> bool:
    # Not compared: the token's remaining money falls while the first debate runs, and the forecast
    # may be missing in one of the two.
    same: dict[str, object] = {"delimiter": first.delimiter, "forecast": first.forecast}
    if setup.token:
        cost = {"debate_cost": first.limits.debate_cost}
        same["limits"] = setup.limits.model_copy(update=cost)
    return setup.model_copy(update=same) == first


def _bare(question: str) -> str:
    """A question without what people type differently: case, spaces, marks at its end."""
    return " ".join(question.casefold().split()).rstrip(" ?!.")
