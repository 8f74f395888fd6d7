"""Starting a debate: what the file, the channel and the form say, and what it will cost."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.choices import (
    NO_CAP,
    ChannelChoices,
    Choices,
    ModelSet,
    roster,
    taking_part,
    with_choices,
)
from bot.commands import Commands, Started
from bot.log import logger
from bot.store.posts import Channel
from bot.store.settings import ChannelSettings
from bot.views.start_form import Offer
from core.estimate import Estimate
from core.models import Setup
from core.opening import Wish, open_debate

_log = logger(__name__)

#: Estimates a debate as it would start.
Estimating = Callable[[Setup], Awaitable[Estimate]]
_NO_CHOICES = Choices()


@dataclass(frozen=True, kw_only=True)
class Starting:
    """Every way to start a debate leads here. Methods may raise `StoreDown`."""

    commands: Commands
    channels: ChannelSettings
    #: Models to choose from; none: only those of the settings.
    models: Sequence[ModelSet]
    estimating: Estimating

    async def start(self, wish: Wish, *, origin: str, choices: Choices = _NO_CHOICES) -> Started:
        """Begin a debate, once per origin.

        Raises:
            BadInput: The question cannot be used; nothing was started.
        """
        whole, meant = await self._with_channel(wish, choices)
        settings = with_choices(self.commands.settings(), meant, self.models)
        return await self.commands.start_debate(whole, origin=origin, settings=settings)

    async def estimate(self, wish: Wish, choices: Choices) -> Estimate:
        """Return what the debate would probably take.

        Raises:
            BadInput: It could not be started.
        """
        whole, meant = await self._with_channel(wish, choices)
        settings = with_choices(self.commands.settings(), meant, self.models)
        return await self.estimating(open_debate(whole, settings, delimiter="estimate"))

    async def usual(self, channel: Channel) -> Choices:
        """Return everything that holds in a channel where nothing else is chosen."""
        return (await self.of_channel(channel)).choices.over(self.built_in())

    def built_in(self) -> Choices:
        """Return everything that holds where no channel has chosen."""
        settings = self.commands.settings()
        cost = settings.limits.of_debate.debate_cost
        return Choices(
            format=settings.format,
            rounds=settings.rounds,
            agents=taking_part(settings),
            clarify=settings.clarifying.enabled,
            wait_minutes=round(settings.clarifying.wait_seconds / 60) or None,
            debate_cost=NO_CAP if cost is None else cost,
        )

    async def of_channel(self, channel: Channel) -> ChannelChoices:
        """Return what a channel has set; what cannot be read any more is dropped."""
        found = await self.channels.get(channel)
        try:
            return ChannelChoices.model_validate(found)
        except ValidationError as error:
            _log.warning("channel settings not read", channel=channel.channel, reason=str(error))
            return ChannelChoices()

    async def set_channel(self, channel: Channel, chosen: ChannelChoices) -> None:
        """Set all of a channel's settings."""
        await self.channels.put(channel, chosen.model_dump(mode="json"))

    def offer(self) -> Offer:
        """Return what a form lets people choose among."""
        settings = self.commands.settings()
        return Offer(
            agents=roster(settings),
            models=self.models,
            most_cost=settings.limits.most_debate_cost,
        )

    async def _with_channel(self, wish: Wish, choices: Choices) -> tuple[Wish, Choices]:
        """The wish and the choices with the channel's own below them."""
        channel = Channel(wish.place.workspace, wish.place.channel)
        own = (await self.of_channel(channel)).choices
        meant = choices.over(own)
        agents = wish.agents if wish.agents is not None else meant.agents
        # The form comes filled in: only what somebody changed was asked for.
        usual = own.over(self.built_in()).rounds
        asked = None if choices.rounds == usual else choices.rounds
        return replace(wish, agents=agents, rounds=asked or wish.rounds), meant
