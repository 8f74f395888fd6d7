"""Debates of a Slack workspace, as the person a token belongs to sees and changes them.

Every call looks anew whether the person may: what they may not do in Slack they may not do here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.listeners import answers
from bot.listeners.context import ListenerContext, place
from bot.listeners.linked import link_bounds
from bot.mcp.arguments import CallerActions, StartArguments, named_by_words
from bot.slack.access import SlackUnavailable, WorkspaceDirectories
from bot.slack.evidence import linked_references
from bot.store.personal_tokens import PersonalTokens
from core.debate.evidence import SourceReference
from core.debate.log import RecordedEvent
from core.debate.people import Person
from core.debate.state import Debate, Status
from core.errors import BadInput
from core.ports import Clock, Spending
from core.usage import SpendingScope
from core.use_cases.choices import Choices
from core.use_cases.find import NOT_A_MEMBER, FoundDebate
from core.use_cases.recall import RecalledDecision
from core.use_cases.start import StartedDebate


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The person on whose behalf a program calls, and what their token allows."""

    workspace: str
    person: Person
    #: Names the token in origins and logs; says nothing about its secret.
    token_id: str
    #: US dollars that a debate started now may cost at most; None: the token sets no cap. 0: the
    #: token's money is spent, and nothing can be started with it.
    cap: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class TokenCallers:
    """Knows whose a token is.

    Asked with every request and never remembered, so that a revoked token ends at once.
    """

    tokens: PersonalTokens
    directories: WorkspaceDirectories
    spending: Spending
    clock: Clock
    #: US dollars that debates started with one token may cost a day (UTC); None: any.
    day_cost: Decimal | None = None

    async def caller(self, bearer: str) -> Caller | None:
        """The owner of a token; None: unknown, or no longer in the workspace.

        Raises:
            SlackUnavailable: Slack did not say in time whether its owner is still there.
        """
        now = self.clock.now()
        token = await self.tokens.find(bearer, now)
        if token is None:
            return None
        workspace, person = token.workspace, token.person
        user = await self.directories.of(workspace).active_user(person)
        if user is None:  # has left the workspace
            await self.tokens.revoke(workspace, person)
            return None
        cap = None
        if self.day_cost is not None:
            spent = await self.spending.total_cost(
                SpendingScope(now.date(), workspace, token=token.id)
            )
            cap = max(self.day_cost - spent, Decimal(0))
        who = Person(id=person, name=user.name)
        return Caller(workspace=workspace, person=who, token_id=token.id, cap=cap)


@dataclass(frozen=True)
class SlackCallerDebates:
    """The `CallerDebates` of one request over HTTP."""

    context: ListenerContext
    caller: Caller

    @property
    def person(self) -> Person:
        return self.caller.person

    @property
    def clock(self) -> Clock:
        return self.context.clock

    async def actions(self) -> CallerActions:
        return CallerActions(
            start=self._start,
            sources=self._sources,
            answer=self.context.acts.answer,
            note=self.context.acts.steer.note,
            steer=replace(self.context.acts.steer, mention=str),
            decide=self.context.acts.decide,
        )

    async def log(self, debate_id: str, *, to_change: bool = False) -> Sequence[RecordedEvent]:
        del to_change  # who sees a debate in Slack may answer and add to it there
        try:
            debate = await self.context.acts.find.visible(
                debate_id, person=self.person.id, workspace=self.caller.workspace
            )
        except SlackUnavailable:
            raise
        except BadInput:
            raise BadInput(
                f"There is no debate {debate_id} that you may see. list_debates shows those of "
                "your channels."
            ) from None
        return await self.context.acts.find.store.events(debate.id)

    async def has_grown(self, debate_id: str, after: int) -> bool:
        return bool(await self.context.acts.find.store.events(debate_id, after=after))

    async def newest(self, limit: int, *, running_only: bool) -> Sequence[Debate]:
        hits = await self.context.acts.find.everywhere(
            self.caller.workspace, self.person.id, limit, open_only=running_only
        )
        return [hit.debate for hit in hits]

    async def recall(self, question: str) -> Sequence[RecalledDecision]:
        return await self.context.acts.recall.for_person(
            question, person=self.person.id, workspace=self.caller.workspace
        )

    async def address(self, debate: Debate) -> str:
        rows = await self.context.lists.rows([FoundDebate(debate=debate)])
        return rows[0].address if rows else ""

    def origin(self, request: str) -> str:
        return f"mcp/{self.caller.token_id}/{request}"

    async def _start(self, arguments: StartArguments) -> StartedDebate:
        here = place(self.caller.workspace, await self._channel(arguments.channel))
        # By the channel that is meant: another one may have this name by now.
        named = named_by_words("start", arguments.model_copy(update={"channel": here.channel}))
        origin, before = await self.context.acts.start.asked_before(self.origin(named))
        # Where the token's money is spent, this debate may have spent it.
        is_spent = self.caller.cap is not None and self.caller.cap <= 0
        if before and (before.status is Status.RUNNING or is_spent):
            return StartedDebate(debate_id=before.id, setup=before.setup, fresh=False)
        if reason := answers.channel_refusal(
            await self.context.directories.of(here.workspace).bot_membership(here.channel)
        ):
            raise BadInput(answers.without_backticks(reason))
        bounds = await link_bounds(self.context, here, self.person)
        references = linked_references("\n".join(arguments.sources), bounds)
        request = arguments.request(
            references, asked_by=self.person, place=here, token=self.caller.token_id
        )
        usual = (await self.context.acts.start.usual(here)).debate_cost
        choices = Choices(clarify=arguments.clarify, debate_cost=self._cap(usual))
        start = self.context.acts.start
        setup = await start.setup_for(request, choices)
        # Whether its cap holds depends on whether all prices are known.
        setup = setup.model_copy(update={"forecast": start.estimating(setup).forecast})
        return await start.begin(setup, origin=origin)

    async def _sources(
        self, debate: Debate, named: Sequence[str]
    ) -> tuple[Sequence[SourceReference], str]:
        """A link has one state."""
        bounds = await link_bounds(self.context, debate.setup.place, self.person)
        return linked_references("\n".join(named), bounds), ""

    async def _channel(self, named: str) -> str:
        if not named:
            raise BadInput(
                'Say in which channel the debate is to be held: channel "#name" or its id. '
                "Nothing was started."
            )
        channels = await self.context.directories.of(self.caller.workspace).channel_names(
            self.person.id
        )
        folded = named.removeprefix("#").casefold()
        matches = [
            channel
            for channel, name in channels.items()
            if channel == named or name.casefold() == folded
        ]
        if matches:
            return matches[0]
        here = place(self.caller.workspace, named)
        if named.isalnum() and await self.context.directories.may_see(self.person.id, here):
            return named  # of another organisation: Slack does not list it
        raise BadInput(f"{NOT_A_MEMBER} Or Moot is not: in Slack, type “/invite @Moot” there.")

    def _cap(self, usual: Decimal | str | None) -> Decimal | None:
        """The cap on a debate's cost that the token sets; None: as usual."""
        cap = self.caller.cap
        if cap is not None and cap <= 0:
            raise BadInput(
                "What may be spent with this token is spent, so nothing was started. Ask again "
                "tomorrow (UTC), or start the debate in Slack."
            )
        is_lower = cap is not None and not (isinstance(usual, Decimal) and usual <= cap)
        return cap if is_lower else None
