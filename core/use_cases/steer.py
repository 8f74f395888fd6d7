"""Steering a debate: stop, pause, vote now, add context, edit options, reopen, reveal."""

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


def sole_steward(person: Person) -> Callable[[Place], Awaitable[Collection[str]]]:
    """Return a `stewards` function for the terminal: its user may steer every debate."""

    async def stewards(_place: Place) -> Collection[str]:
        return [person.id]

    return stewards


@dataclass(frozen=True, kw_only=True)
class SteerDebate:
    """What the starter of a debate, and the stewards of its channel, may do to it.

    Every method raises `BadInput` if the person or the debate's state does not allow it, and may
    raise `StoreDown`. A repeated call has no further effect.
    """

    facts: FactLog
    note: AddNote
    #: Returns the ids of people who may steer all debates of a place.
    stewards: Callable[[Place], Awaitable[Collection[str]]]
    #: Formats a person's id as a mention, as the surface writes it.
    mention: Callable[[str], str]

    async def stop(self, debate: Debate, by: Person) -> None:
        """End the debate early: the judge writes a partial verdict."""
        await self._check(debate, by, "stop it")
        event = StopRequested(stop=Stop(by=by), after=debate.stops_withdrawn)
        await self.facts.record(debate.id, event)

    async def withdraw_stop(self, debate: Debate, by: Person) -> None:
        """Withdraw a stop, so that the debate goes on to its normal end."""
        await self._check(debate, by, "take its stop back")
        if debate.stop and not debate.verdict:
            number = debate.stops_withdrawn + 1
            await self.facts.record(debate.id, StopWithdrawn(by=by, number=number))

    async def call_vote(self, debate: Debate, by: Person) -> None:
        await self._check(debate, by, "call the vote")
        if schedule.is_cut_short(debate) or debate.tally:
            raise BadInput("The debate is on its way to the decision already.")
        # Positions of a sealed debate are withheld here; if it has options, it has two positions.
        positions = len(format_of(debate).positions(debate))
        if positions < FEWEST_POSITIONS and not (debate.is_sealed and debate.options):
            raise BadInput("There is nothing to vote on yet: there are fewer than two positions.")
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
        """Add, rename and merge options: all edits or none. Each edit is made once per origin."""
        if all(f"option/{edit.origin}" in debate.times for edit in edits):
            return
        await self.check_options(debate, by)
        for edit in check_edits(debate, edits):
            await self.facts.record(debate.id, OptionEdited(edit=edit))

    async def want(self, debate: Debate, by: Person) -> None:
        """Hold the rounds that were skipped because all agents agreed; also after the verdict."""
        if debate.reopened_by:
            return
        if fault := reopening_fault(debate):
            raise BadInput(fault)
        await self._check_person(debate, by, "have it debated")
        await self.facts.record(debate.id, DebateWanted(by=by))

    async def reveal(self, debate: Debate, by: Person) -> None:
        """Reveal a sealed debate. People's ballots after this are counted separately."""
        if not debate.is_sealed:
            raise BadInput(f"Debate `{debate.id}` is not sealed: there is nothing to reveal.")
        await self._check_person(debate, by, "reveal it")
        await self.facts.record(debate.id, BallotsRevealed(by=by))

    async def give_up(self, debate_id: str, reason: str) -> None:
        """End a debate whose channel is gone, so that it spends no more money."""
        edition = (await self.facts.debate(debate_id)).edition
        await self.facts.record(debate_id, DebateFailed(reason=reason, edition=edition))

    async def _check(self, debate: Debate, by: Person, action: str) -> None:
        if debate.status is not Status.RUNNING:
            raise BadInput(f"Debate `{debate.id}` has ended already.")
        await self._check_person(debate, by, action)

    async def _check_person(self, debate: Debate, by: Person, action: str) -> None:
        starter = debate.setup.asked_by.id
        if by.id == starter:
            return
        stewards = await self.stewards(debate.setup.place)
        if by.id in stewards:
            return
        mentions = ", ".join(self.mention(steward) for steward in stewards if steward != starter)
        people = f"{self.mention(starter)}, who started debate `{debate.id}`"
        people += f", and {mentions}" if mentions else ","
        is_running = debate.status is Status.RUNNING
        reply = "A reply in its thread always reaches the agents. " if is_running else ""
        raise BadInput(
            f"Only {people} can {action}. {reply}The channel's settings name who may steer."
        )


def pauses(debate: Debate) -> str:
    """Return the number of pauses and resumes so far, as origin: a double click shares it."""
    return str(sum(key.startswith(("pause/", "resume/")) for key in debate.times))


#: Most options of a debate: agents cannot weigh more against each other.
MOST_OPTIONS = 12


class EditRefused(BadInput):
    """An edit of the options is not possible; the text says what to do."""

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
            "There are no options yet: they are named after all agents have given their first "
            "answers. Try again in a minute, or add what the agents should know in the thread."
        )


def check_edits(debate: Debate, edits: Sequence[OptionEdit]) -> Sequence[OptionEdit]:
    """Return the edits to record, redacted and without those that change nothing.

    Each edit is checked against the options after the edits before it.

    Raises:
        EditRefused: An edit is not possible; has that edit.
    """
    clean_edits = list[OptionEdit]()
    for edit in edits:
        before = after_edits(named_options(debate), (*debate.option_edits, *clean_edits))
        clean = edit.model_copy(update={"name": " ".join(redact(edit.name).split())})
        if edit.change is OptionChange.RENAME and before.name(edit.option) == clean.name:
            continue
        if fault := _fault(before, clean):
            raise EditRefused(edit, fault)
        clean_edits.append(clean)
    return clean_edits


def _fault(options: OptionList, edit: OptionEdit) -> str:
    """Return the error text for an edit; empty if the edit is possible."""
    option, target = options.resolve(edit.option), options.resolve(edit.into)
    hint = f"The options are: {', '.join(item.name for item in options.items)}."
    no_option = f"There is no such option any more. {hint} Open the form again."
    if edit.change is OptionChange.MERGE:
        missing = "Choose both: the option to merge, and the option to merge it into."
        faults = (
            (not (edit.option and edit.into), missing),
            (not option, no_option),
            (not target, f"Say which option to merge it into. {hint}"),
            (target == option, "An option cannot be merged into itself: choose two options."),
        )
    else:
        is_new, name = edit.change is OptionChange.ADD, edit.name.casefold()
        names = [item.name for item in options.items if is_new or item.id != option]
        twin = next((twin for twin in names if twin.casefold() == name), "")
        size = quantity(len(edit.name), "character")
        too_long = f"The name has {size}; the most is {NAME_MAX_CHARS}. Add the details as context."
        same = (
            f"There is an option “{twin}” already. Give it another name, or merge the two if they "
            "are the same."
        )
        full = f"There are {MOST_OPTIONS} options, the most that is possible. Merge two first."
        faults = (
            (not (is_new or option), no_option),
            (not name, "An option needs a name. To remove an option, merge it into another."),
            (len(edit.name) > NAME_MAX_CHARS, too_long),
            (bool(twin), same),
            (is_new and len(options.items) >= MOST_OPTIONS, full),
        )
    return next((words for is_wrong, words in faults if is_wrong), "")
