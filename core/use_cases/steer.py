"""People steer a debate: stop it, call the vote, pause it, add context, edit options, want it."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from core.debate.debate_events import DebateFailed
from core.debate.people import Person, Place, Stop
from core.debate.people_events import (
    BallotsRevealed,
    DebatePaused,
    DebateResumed,
    DebateWanted,
    OptionEdited,
    StopRequested,
    StopWithdrawn,
    VoteCalled,
)
from core.debate.state import Debate, Status
from core.debate.vote import OptionChange, OptionEdit
from core.errors import BadInput
from core.figures import quantity
from core.redaction import redact
from core.rules import schedule
from core.rules.ending import reopening_fault
from core.rules.formats.registry import format_of
from core.rules.options import NAME_MAX_CHARS, OptionList, after_edits, named_options, options_of
from core.use_cases.fact_log import FactLog
from core.use_cases.messages import AddNote

#: A vote needs something to choose from.
FEWEST_POSITIONS = 2


def only_steward(person: Person) -> Callable[[Place], Awaitable[Collection[str]]]:
    """Whoever sits at this machine may steer every debate of their database, and nobody else."""

    async def stewards(_place: Place) -> Collection[str]:
        return [person.id]

    return stewards


@dataclass(frozen=True, kw_only=True)
class SteerDebate:
    """What the person who started a debate, and the stewards of its place, may do to it.

    Every method raises `BadInput` where it is not allowed or makes no sense, and may raise
    `StoreDown`. Doing the same twice has one effect.
    """

    facts: FactLog
    note: AddNote
    #: Ids of people who may steer all debates of a place.
    stewards: Callable[[Place], Awaitable[Collection[str]]]
    #: How the surface writes a person's id so that readers see who is meant.
    mention: Callable[[str], str]

    async def stop(self, debate: Debate, by: Person) -> None:
        """End the debate early: the judge writes a partial verdict."""
        await self._check(debate, by, "stop it")
        stopped = StopRequested(stop=Stop(by=by), after=debate.stops_withdrawn)
        await self.facts.record(debate.id, stopped)

    async def withdraw_stop(self, debate: Debate, by: Person) -> None:
        """Take a stop back, so that the debate can be held to its normal end."""
        await self._check(debate, by, "take its stop back")
        if debate.stop and not debate.verdict:
            number = debate.stops_withdrawn + 1
            await self.facts.record(debate.id, StopWithdrawn(by=by, number=number))

    async def call_vote(self, debate: Debate, by: Person) -> None:
        await self._check(debate, by, "call the vote")
        if schedule.is_cut_short(debate) or debate.tally:
            raise BadInput("The debate is on its way to the decision already.")
        # Of a sealed debate no position is read here: once there are options there are two.
        positions = len(format_of(debate).positions(debate))
        if positions < FEWEST_POSITIONS and not (debate.is_sealed and debate.options):
            raise BadInput("There is nothing to vote on yet: fewer than two positions are there.")
        await self.facts.record(debate.id, VoteCalled(by=by))

    async def pause(self, debate: Debate, by: Person) -> None:
        await self._check(debate, by, "pause it")
        if schedule.is_cut_short(debate):
            raise BadInput("The debate is on its way to the decision; it cannot be paused now.")
        if not debate.paused_by:
            await self.facts.record(debate.id, DebatePaused(by=by, origin=pauses(debate)))

    async def resume(self, debate: Debate, by: Person) -> None:
        await self._check(debate, by, "let it go on")
        if debate.paused_by:
            await self.facts.record(debate.id, DebateResumed(by=by, origin=pauses(debate)))

    async def check_context(self, debate: Debate, by: Person) -> None:
        await self._check(debate, by, "add context here")

    async def add_context(self, debate: Debate, by: Person, text: str, *, origin: str) -> None:
        await self.check_context(debate, by)
        await self.note.add(debate.id, note_id=origin, author=by, text=text)

    async def check_options(self, debate: Debate, by: Person) -> None:
        check_editable(debate)
        await self._check(debate, by, "change its options")

    async def edit_options(self, debate: Debate, by: Person, edits: Sequence[OptionEdit]) -> None:
        """Add, rename and merge options, all of it or nothing; each edit once per origin."""
        if all(f"option/{edit.origin}" in debate.times for edit in edits):
            return
        await self.check_options(debate, by)
        for edit in checked_edits(debate, edits):
            await self.facts.record(debate.id, OptionEdited(edit=edit))

    async def want(self, debate: Debate, by: Person) -> None:
        """Have the debate held that was skipped because all agreed; also after its verdict."""
        if debate.reopened_by:
            return
        if refused := reopening_fault(debate):
            raise BadInput(refused)
        await self._check_person(debate, by, "have it debated")
        await self.facts.record(debate.id, DebateWanted(by=by))

    async def reveal(self, debate: Debate, by: Person) -> None:
        """Show what a sealed debate has hidden; people's ballots from now on count apart."""
        if not debate.is_sealed:
            raise BadInput(f"Debate `{debate.id}` is not sealed: there is nothing to reveal.")
        await self._check_person(debate, by, "reveal it")
        await self.facts.record(debate.id, BallotsRevealed(by=by))

    async def give_up(self, debate_id: str, reason: str) -> None:
        """End a debate that nobody can see any more, so that it spends no more money."""
        edition = (await self.facts.debate(debate_id)).edition
        await self.facts.record(debate_id, DebateFailed(reason=reason, edition=edition))

    async def _check(self, debate: Debate, by: Person, deed: str) -> None:
        if debate.status is not Status.RUNNING:
            raise BadInput(f"Debate `{debate.id}` has ended already.")
        await self._check_person(debate, by, deed)

    async def _check_person(self, debate: Debate, by: Person, deed: str) -> None:
        starter = debate.setup.asked_by.id
        if by.id == starter:
            return
        stewards = await self.stewards(debate.setup.place)
        if by.id in stewards:
            return
        others = ", ".join(self.mention(steward) for steward in stewards if steward != starter)
        who = f"{self.mention(starter)}, who started debate `{debate.id}`"
        who += f", and {others}" if others else ","
        raise BadInput(
            f"Only {who} can {deed}. A reply in its thread always reaches the agents; "
            "the channel's settings name who may steer."
        )


def pauses(debate: Debate) -> str:
    """An origin that two clicks in the same state share, so that a double click is one event."""
    return str(sum(key.startswith(("pause/", "resume/")) for key in debate.times))


#: More options cannot be weighed against each other, however they came to be.
MOST_OPTIONS = 12


class EditRefused(BadInput):
    """An edit of the options makes no sense; says what to do."""

    def __init__(self, edit: OptionEdit, words: str) -> None:
        super().__init__(words)
        self.edit = edit


def check_editable(debate: Debate) -> None:
    if debate.status is not Status.RUNNING:
        raise BadInput(f"Debate `{debate.id}` is over; its options stay as they were voted on.")
    if debate.tally or debate.verdict:
        raise BadInput("The votes are counted; the options stay as they were voted on.")
    if not options_of(debate).items:
        raise BadInput(
            "There are no options yet: they are named when all first answers are there. "
            "Try again in a minute, or add what the agents should know in the thread."
        )


def checked_edits(debate: Debate, edits: Sequence[OptionEdit]) -> Sequence[OptionEdit]:
    """Return the edits to record: redacted, without those that change nothing.

    Each is checked after those before it; `EditRefused` names the one that cannot be made.
    """
    clean_edits = list[OptionEdit]()
    for edit in edits:
        before = after_edits(named_options(debate), (*debate.option_edits, *clean_edits))
        clean = edit.model_copy(update={"name": " ".join(redact(edit.name).split())})
        if edit.change is OptionChange.RENAME and before.name(edit.option) == clean.name:
            continue
        if wrong := _fault(before, clean):
            raise EditRefused(edit, wrong)
        clean_edits.append(clean)
    return clean_edits


def _fault(options: OptionList, edit: OptionEdit) -> str:
    """What is wrong with an edit, for the person who makes it; empty if nothing is."""
    option, into = options.resolve(edit.option), options.resolve(edit.into)
    hint = f"The options are: {', '.join(item.name for item in options.items)}."
    gone = f"There is no such option any more. {hint} Open the form again."
    if edit.change is OptionChange.MERGE:
        both = "Choose both: the option that goes, and the one it goes into."
        faults = (
            (not (edit.option and edit.into), both),
            (not option, gone),
            (not into, f"Say which option it goes into. {hint}"),
            (into == option, "An option cannot go into itself: choose two different ones."),
        )
    else:
        is_new, name = edit.change is OptionChange.ADD, edit.name.casefold()
        others = [item.name for item in options.items if is_new or item.id != option]
        twin = next((other for other in others if other.casefold() == name), "")
        size = quantity(len(edit.name), "character")
        too_long = f"The name has {size}; the most is {NAME_MAX_CHARS}. Say the rest as context."
        same = (
            f"There is an option “{twin}” already. Give it another name, or merge the two if they "
            "are the same."
        )
        full = f"There are {MOST_OPTIONS} options, as many as can be weighed. Merge two first."
        faults = (
            (not (is_new or option), gone),
            (not name, "An option needs a name. To take one away, merge it into another."),
            (len(edit.name) > NAME_MAX_CHARS, too_long),
            (bool(twin), same),
            (is_new and len(options.items) >= MOST_OPTIONS, full),
        )
    return next((words for is_wrong, words in faults if is_wrong), "")
