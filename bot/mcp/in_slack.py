"""MCP access to the debates of a Slack workspace, with the rights of the token's owner.

Rights are checked at every call: what the person may not do in Slack is refused here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from bot.listeners import answers
from bot.listeners.context import ListenerContext, place
from bot.listeners.linked import link_bounds
from bot.mcp.arguments import CallerActions, StartArguments, request_key
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
    """The owner of a token, and the limits of the token."""

    workspace: str
    person: Person
    #: Identifies the token in origins and logs; not a secret.
    token_id: str
    #: US dollars left for today, the cap of a debate started now. None: no cap. 0: no debate can be
    #: started.
    cap: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class TokenCallers:
    """Looks up the owner of a token.

    Not cached, so that a revoked token is refused at once.
    """

    tokens: PersonalTokens
    directories: WorkspaceDirectories
    spending: Spending
    clock: Clock
    #: US dollars per token and day (UTC); None: no limit.
    day_cost: Decimal | None = None

    async def caller(self, bearer: str) -> Caller | None:
        """The owner of a token; None if it is unknown or its owner has left the workspace.

        Raises:
            SlackUnavailable: Slack did not answer in time whether the owner is still a member.
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
            cost = await self.spending.total_cost(
                SpendingScope(now.date(), workspace, token=token.id)
            )
            cap = max(self.day_cost - cost, Decimal(0))
        owner = Person(id=person, name=user.name)
        return Caller(workspace=workspace, person=owner, token_id=token.id, cap=cap)


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
        del to_change  # in Slack, whoever may see a debate may also answer its questions
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
        channel_place = place(self.caller.workspace, await self._channel(arguments.channel))
        # The key has the channel's id: another channel can take over its name.
        channel = {"channel": channel_place.channel}
        key = request_key("start", arguments.model_copy(update=channel))
        origin, earlier = await self.context.acts.start.origin_and_newest(self.origin(key))
        # If the token has no money left, the earlier debate may have spent it: return that one.
        is_spent = self.caller.cap is not None and self.caller.cap <= 0
        if earlier and (earlier.status is Status.RUNNING or is_spent):
            return StartedDebate(debate_id=earlier.id, setup=earlier.setup, fresh=False)
        if reason := answers.channel_refusal(
            await self.context.directories.of(channel_place.workspace).bot_membership(
                channel_place.channel
            )
        ):
            raise BadInput(answers.without_backticks(reason))
        bounds = await link_bounds(self.context, channel_place, self.person)
        references = linked_references("\n".join(arguments.sources), bounds)
        request = arguments.request(
            references, asked_by=self.person, place=channel_place, token=self.caller.token_id
        )
        usual = (await self.context.acts.start.usual(channel_place)).debate_cost
        choices = Choices(clarify=arguments.clarify, debate_cost=self._cap(usual))
        start = self.context.acts.start
        setup = await start.setup_for(request, choices)
        # The forecast decides whether the cap can be enforced: it needs all prices.
        setup = setup.model_copy(update={"forecast": start.estimating(setup).forecast})
        return await start.begin(setup, origin=origin)

    async def _sources(
        self, debate: Debate, names: Sequence[str]
    ) -> tuple[Sequence[SourceReference], str]:
        """The linked messages and files; the second value is empty, as links do not change."""
        bounds = await link_bounds(self.context, debate.setup.place, self.person)
        return linked_references("\n".join(names), bounds), ""

    async def _channel(self, name_or_id: str) -> str:
        """The id of a channel that the person is a member of."""
        if not name_or_id:
            raise BadInput(
                'Say in which channel the debate is to be held: channel "#name" or its id. '
                "Nothing was started."
            )
        channels = await self.context.directories.of(self.caller.workspace).channel_names(
            self.person.id
        )
        wanted_name = name_or_id.removeprefix("#").casefold()
        matches = [
            channel
            for channel, name in channels.items()
            if channel == name_or_id or name.casefold() == wanted_name
        ]
        if matches:
            return matches[0]
        channel_place = place(self.caller.workspace, name_or_id)
        directories = self.context.directories
        if name_or_id.isalnum() and await directories.may_see(self.person.id, channel_place):
            return name_or_id  # shared by another organisation: Slack does not list it
        raise BadInput(f"{NOT_A_MEMBER} Or Moot is not: in Slack, type “/invite @Moot” there.")

    def _cap(self, usual: Decimal | str | None) -> Decimal | None:
        """The cost cap that the token sets for a debate; None if the usual cap is lower."""
        cap = self.caller.cap
        if cap is not None and cap <= 0:
            raise BadInput(
                "What may be spent with this token is spent, so nothing was started. Ask again "
                "tomorrow (UTC), or start the debate in Slack."
            )
        is_lower = cap is not None and not (isinstance(usual, Decimal) and usual <= cap)
        return cap if is_lower else None
