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
#: The choice of a channel that equals a setting. `ShadowWhen.MIXED` has none.
_SHADOW = {ShadowWhen.ALWAYS: True, ShadowWhen.NEVER: False}
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 7
_DELIMITER_BYTES = 8
#: Time within which the same request is a repetition: Slack may report that a command failed,
#: the person types it again, and both arrive.
REPEATED_WITHIN = timedelta(minutes=10)


@dataclass(frozen=True)
class StartedDebate:
    debate_id: str
    setup: Setup
    #: False: the same request came before and started this debate.
    fresh: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class StartDebate:
    """Starts debates for every surface. Methods may raise `StoreDown`."""

    facts: FactLog
    #: Returns the settings, which apply if neither the channel nor the person chose.
    settings: Callable[[], Settings]
    #: Choices of channels; None: the surface has no channels.
    channels: ChannelChoicesStore | None = None
    #: Model sets that people can choose, besides the models of the settings.
    models: Sequence[ModelSet] = ()
    #: Estimates the cost and time of a debate without calling a model.
    estimating: Callable[[Setup], Estimate]
    bounds: Bounds
    #: Returns the money spent so far; None: daily caps are not checked.
    spending: Spending | None = None
    #: Serializes counting and starting, so that the bounds hold within this process.
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def start(
        self, request: DebateRequest, *, origin: str, choices: Choices = _NO_CHOICES
    ) -> StartedDebate:
        """Start a debate, once per origin (a trigger id, an event id, a form's id)."""
        setup = await self.setup_for(request, choices)
        return await self.begin(setup, origin=origin, anew=request.anew)

    async def setup_for(self, request: DebateRequest, choices: Choices = _NO_CHOICES) -> Setup:
        check_context(request.context, self.bounds)
        channel = await self._of_channel(request.place)
        channel_playbook = channel.choices.playbook
        playbook_name, notices = request.playbook or choices.playbook, list[str]()
        if playbook_name is None and channel_playbook not in {None, NO_PLAYBOOK}:
            if channel_playbook in self.settings().playbooks:
                playbook_name = channel_playbook
            else:
                notices.append(
                    f"This channel's playbook “{channel_playbook}” no longer exists, so it was not "
                    "used."
                )
        playbook = None if playbook_name == NO_PLAYBOOK else playbook_name
        # The form shows the default: rounds count as requested only if the person changed them.
        usual = (await self.usual(request.place, playbook or NO_PLAYBOOK)).rounds
        rounds = None if choices.rounds == usual else choices.rounds
        agents = request.agents if request.agents is not None else choices.agents
        settings = with_choices(self.settings(), choices.over(channel.choices), self.models)
        references, place, person = list(request.references), request.place, request.asked_by
        question, evidence = redact(request.question), settings.evidence
        if evidence.earlier_decisions and await has_earlier(self.facts.store, place):
            references.append(earlier_decisions(question, person))
        references += tool_references(evidence.mcp_servers, question, place, person)
        request = replace(
            request,
            agents=agents,
            usual_agents=channel.choices.agents,
            rounds=rounds or request.rounds,
            format=request.format or choices.format,
            playbook=playbook,
            warnings=(*request.warnings, *notices),
            references=tuple(references),
        )
        setup = open_debate(request, settings, delimiter=secrets.token_hex(_DELIMITER_BYTES))
        # A surface without channels has no posts.
        quiet = self.channels is not None and not channel.every_turn
        return setup.model_copy(update={"quiet": quiet})

    async def begin(self, setup: Setup, *, origin: str, anew: bool = False) -> StartedDebate:
        """Record the debate's start, once per origin.

        If the same person asked the same words with the same settings a moment ago and that debate
        still runs, it is returned instead.

        Args:
            setup: The setup of the debate.
            origin: Id of the request.
            anew: Start it even if another person asked the same question a moment ago.

        Raises:
            DuplicateQuestion: Another person asked the same question in the channel a moment ago.
            BadInput: Too many debates run, or a cap on money is reached. Nothing was started.
        """
        store, place = self.facts.store, setup.place
        most = self.bounds.debates_per_workspace
        async with self._starting:
            if await store.id_of_origin(origin) is None:
                running = DebateFilter(workspace=place.workspace, open_only=True, limit=most)
                entries = await store.find(running)
                if existing := await self._same_question(setup, entries, anew=anew):
                    return existing
                check_room(setup.asked_by, place, entries, self.bounds)
                if self.spending:
                    day, person = self.facts.clock.now().date(), setup.asked_by.id
                    scope = SpendingScope(day, place.workspace, person, setup.token)
                    caps, result = self.settings().limits, "nothing was started"
                    await check_money(caps, self.spending, scope, result=result)
            start = await store.create(
                new_debate_id(),
                DebateStarted(setup=setup),
                origin=origin,
                at=self.facts.clock.now(),
            )
        debate_id = start.recorded.debate_id
        self.facts.wake(debate_id)
        if setup.continues and setup.continues != debate_id:
            event = DebateContinued(debate=debate_id, question=setup.question, by=setup.asked_by)
            with suppress(DebateUnknown):  # the older debate may be deleted
                await self.facts.record(setup.continues, event)
        return StartedDebate(debate_id=debate_id, setup=setup, fresh=start.fresh)

    async def origin_and_newest(self, origin: str) -> tuple[str, Debate | None]:
        """Return the next origin for a request that has no id but its words, and its newest debate.

        Debates of the same words get numbered origins, so that the database refuses the second of
        two replicas that start the same debate at the same time.
        """
        number, newest_id = 1, ""
        while debate_id := await self.facts.store.id_of_origin(f"{origin}/{number}"):
            number, newest_id = number + 1, debate_id
        newest = None
        with suppress(DebateUnknown, LogBroken):
            newest = await self.facts.debate(newest_id) if newest_id else None
        return f"{origin}/{number}", newest

    async def _same_question(
        self, setup: Setup, running: Sequence[DebateEntry], *, anew: bool
    ) -> StartedDebate | None:
        """Return the debate that the same person started with the same words and settings.

        Only debates of the last `REPEATED_WITHIN` count.

        Raises:
            DuplicateQuestion: Another person asked the same question; not checked if `anew`.
        """
        now, person = self.facts.clock.now(), setup.asked_by.id
        recent = [
            entry
            for entry in running
            if entry.channel == setup.place.channel and entry.started_at >= now - REPEATED_WITHIN
        ]
        for entry in recent:
            if (entry.asked_by, entry.question) != (person, setup.question):
                continue
            with suppress(LogBroken):
                first = (await self.facts.debate(entry.debate_id)).setup
                if _is_same(setup, first):
                    return StartedDebate(entry.debate_id, first, fresh=False)
        for entry in () if anew else recent:
            if entry.asked_by != person and _normalized(entry.question) == _normalized(
                setup.question
            ):
                ago = quantity(max(1, (now - entry.started_at) // timedelta(minutes=1)), "minute")
                raise DuplicateQuestion(
                    f"The same question was asked here {ago} ago, and debate `{entry.debate_id}` "
                    "still runs. Reply in its thread to add what its agents should know, or change "
                    "a word of the question to start another debate.",
                    debate_id=entry.debate_id,
                )
        return None

    async def estimate(self, request: DebateRequest, choices: Choices) -> Estimate:
        return self.estimating(await self.setup_for(request, choices))

    async def usual(self, place: Place, playbook: str | None = None) -> Choices:
        """Return the defaults of a channel; its own playbook is used if it still exists."""
        channel, settings = (await self._of_channel(place)).choices, self.settings()
        usual = channel.over(self.built_in())
        if playbook is None and channel.playbook in settings.playbooks:
            playbook = channel.playbook
        if playbook is None or playbook == NO_PLAYBOOK:
            return usual.model_copy(update={"playbook": NO_PLAYBOOK})
        definition = find_playbook(playbook, settings)
        agents = tuple(find_agent(name, settings).id for name in definition.agents)
        playbook_choices = Choices(
            playbook=definition.name,
            format=definition.format,
            rounds=definition.rounds,
            agents=agents or None,
        )
        return playbook_choices.over(usual)

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
    # These values may differ between two equal requests: a token's cap falls while the first debate
    # spends money, and one of the two may have no forecast.
    ignored: dict[str, object] = {"delimiter": first.delimiter, "forecast": first.forecast}
    if setup.token:
        cost = {"debate_cost": first.limits.debate_cost}
        ignored["limits"] = setup.limits.model_copy(update=cost)
    return setup.model_copy(update=ignored) == first


def _normalized(question: str) -> str:
    """Return a question in lower case, with single spaces and without marks at its end."""
    return " ".join(question.casefold().split()).rstrip(" ?!.")
