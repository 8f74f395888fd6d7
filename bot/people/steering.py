"""People steer a debate that runs: stop it, call the vote, pause it, add context."""

from dataclasses import dataclass

from bot.commands import Commands
from bot.people.starting import Starting
from bot.store.posts import Channel
from core.errors import BadInput
from core.events import DebatePaused, DebateResumed, StopRequested, VoteCalled
from core.models import Debate, Person, Status, Stop
from core.rules import schedule
from core.rules.formats.registry import format_of

#: A vote needs something to choose from.
_FEWEST_POSITIONS = 2


@dataclass(frozen=True, kw_only=True)
class Steering:
    """What the person who started a debate, and the channel's stewards, may do to it.

    Every method raises `BadInput` where it is not allowed or makes no sense, and may raise
    `StoreDown`. Doing the same twice has one effect.
    """

    commands: Commands
    starting: Starting

    async def stop(self, debate: Debate, by: Person) -> None:
        """Wind up: the judge writes a partial verdict."""
        await self._check(debate, by, "stop it")
        await self.commands.record(debate.id, StopRequested(stop=Stop(by=by)))

    async def call_vote(self, debate: Debate, by: Person) -> None:
        """Go to the vote with the positions as they are."""
        await self._check(debate, by, "call the vote")
        if schedule.is_cut_short(debate) or debate.tally:
            raise BadInput("The debate is on its way to the decision already.")
        if len(format_of(debate).positions(debate)) < _FEWEST_POSITIONS:
            raise BadInput("There is nothing to vote on yet: fewer than two positions are there.")
        await self.commands.record(debate.id, VoteCalled(by=by))

    async def pause(self, debate: Debate, by: Person) -> None:
        """Let nobody speak until it is resumed."""
        await self._check(debate, by, "pause it")
        if schedule.is_cut_short(debate):
            raise BadInput("The debate is on its way to the decision; it cannot be paused now.")
        if not debate.paused_by:
            paused = DebatePaused(by=by, origin=turn_of_pauses(debate))
            await self.commands.record(debate.id, paused)

    async def resume(self, debate: Debate, by: Person) -> None:
        """Let it go on."""
        await self._check(debate, by, "let it go on")
        if debate.paused_by:
            resumed = DebateResumed(by=by, origin=turn_of_pauses(debate))
            await self.commands.record(debate.id, resumed)

    async def check_context(self, debate: Debate, by: Person) -> None:
        """Make sure that this person may add context with the form."""
        await self._check(debate, by, "add context here")

    async def add_context(self, debate: Debate, by: Person, text: str, origin: str) -> None:
        """Add what the agents should know."""
        await self.check_context(debate, by)
        await self.commands.add_note(debate.id, note_id=origin, author=by, text=text)

    async def _check(self, debate: Debate, by: Person, deed: str) -> None:
        if debate.status is not Status.RUNNING:
            raise BadInput(f"Debate `{debate.id}` has ended already.")
        starter = debate.setup.asked_by.id
        place = debate.setup.place
        chosen = await self.starting.of_channel(Channel(place.workspace, place.channel))
        if by.id not in {starter, *chosen.stewards}:
            raise BadInput(_refusal(debate, chosen.stewards, deed))


def _refusal(debate: Debate, stewards: tuple[str, ...], deed: str) -> str:
    starter = debate.setup.asked_by.id
    others = ", ".join(f"<@{one}>" for one in stewards if one != starter)
    more = f" and {others}" if others else ""
    return (
        f"Only <@{starter}>, who started debate `{debate.id}`,{more} can {deed}. "
        "A reply in its thread always reaches the agents; `/debate settings` names who may steer."
    ).replace(",  can", " can")


def turn_of_pauses(debate: Debate) -> str:
    """The same for two clicks in the same state, so that a double click is one."""
    kinds = ("pause/", "resume/")
    return str(sum(key.startswith(kinds) for key in debate.times))
