"""People choose between the options, decide on the verdict, and say how it turned out."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta, tzinfo

from core.errors import BadInput, DebateUnknown, LogBroken
from core.events import DecisionRecorded, FeedbackGiven, OutcomeGiven, PeopleBallotCast
from core.models import (
    Debate,
    Decision,
    DecisionKind,
    DecisionOutcome,
    Feedback,
    PeopleBallot,
    Person,
    Status,
)
from core.ports import DebateEntry, DebateFilter
from core.redaction import redact
from core.rules.options import options_of
from core.rules.voting import is_people_vote_closed
from core.use_cases.fact_log import FactLog

#: Newer debates that are offered to stand in an older one's place.
_MOST_NEWER = 50
#: Looking into more of them ends after this once there is one: a form opens within 3 seconds.
_LOOKED_FOR = timedelta(seconds=1)
#: A ballot needs something to choose from.
_FEWEST_OPTIONS = 2


@dataclass(frozen=True, kw_only=True)
class DecideOnVerdict:
    """What everybody in the channel may do with options and verdict.

    Every method raises `BadInput` where it makes no sense, and may raise `StoreDown`.
    """

    facts: FactLog
    #: Decisions are compared with what stands and recorded one after another: of two at once the
    #: second is told of the first, within this process.
    _deciding: asyncio.Lock = field(
        default_factory=asyncio.Lock, init=False, repr=False, compare=False
    )

    def check_ballot(self, debate: Debate, by: Person) -> None:
        """Make sure that this person can choose between options, for the first time or anew."""
        options = options_of(debate)
        if len(options.items) < _FEWEST_OPTIONS:
            raise BadInput(
                "There is nothing to choose between yet: fewer than two options are named."
            )
        if not is_people_vote_closed(debate):
            return
        closed = "The vote is closed: the team has decided."
        mine = debate.people_ballots.get(by.id)
        if mine and mine.options:
            chosen = ", ".join(filter(None, map(options.name, mine.options)))
            closed += f" Your ballot stands: {chosen}."
        raise BadInput(closed)

    async def vote(self, debate: Debate, ballot: PeopleBallot) -> None:
        """Cast a ballot on the options, once per form; a person's newest one counts.

        The first choice is needed; others may follow, each once.
        """
        self.check_ballot(debate, ballot.by)
        options = options_of(debate)
        chosen = tuple(map(options.resolve, ballot.options))
        known = ", ".join(item.name for item in options.items)
        if not chosen:
            raise BadInput(f"Choose what you would do first: {known}.")
        if not all(chosen):
            raise BadInput(f"There is no such option any more: the options are {known}.")
        if len(set(chosen)) < len(chosen):
            raise BadInput("You put an option in two places: two may have been merged meanwhile.")
        earlier = debate.people_ballots.get(ballot.by.id)
        if earlier is None or earlier.options != chosen:
            kept = ballot.model_copy(update={"options": chosen})
            await self.facts.record(debate.id, PeopleBallotCast(ballot=kept))

    def check_decision(self, debate: Debate) -> None:
        """Make sure that there is something to decide on."""
        if debate.verdict is None:
            raise BadInput(f"Debate `{debate.id}` has no verdict to decide on.")

    def check_decidable(self, debate: Debate) -> None:
        """Make sure that there is a verdict to accept, or a decision of the team to change."""
        self.check_decision(debate)
        if not debate.is_decidable:
            instead = " To go on, press *Debate it on*." if debate.setup.place.channel else ""
            raise BadInput(
                f"Debate `{debate.id}` decided nothing, so there is nothing to accept or reject."
                f"{instead}"
            )

    async def decide(
        self, debate: Debate, decision: Decision, *, seen: str | None = None
    ) -> Decision:
        """Record what the team decides, once per form; its reason without secrets.

        The decision that stands already is not recorded again.

        Args:
            debate: The debate with the verdict.
            decision: What is decided.
            seen: Origin of the decision that stood when the person chose; empty: none did. Another
                one that stands by now is not replaced. None: whatever stands is.

        Returns:
            The decision that stands now.
        """
        self.check_decidable(debate)
        if decision.revisit_on and decision.revisit_on < self.today():
            raise BadInput(f"The day {decision.revisit_on} has passed. Name a later one.")
        async with self._deciding:
            debate = await self.facts.debate(debate.id)
            standing = debate.decision
            is_repeated = any(item.origin == decision.origin for item in debate.decisions)
            if standing and (is_repeated or says_the_same(standing, decision)):
                return standing
            if standing and seen is not None and standing.origin != seen:
                return standing
            kept = decision.model_copy(update={"why": redact(decision.why)})
            await self.facts.record(debate.id, DecisionRecorded(decision=kept))
            return kept

    async def newer_than(self, debate: Debate) -> Sequence[DebateEntry]:
        """Return debates of the same channel that decided something, started later, newest first.

        Those whose log is damaged are left out: that is told elsewhere. So are the oldest ones
        where looking into each takes long.

        Raises:
            BadInput: There is none.
        """
        place, clock = debate.setup.place, self.facts.clock
        ends = clock.now() + _LOOKED_FOR
        filters = DebateFilter(
            workspace=place.workspace,
            channels=(place.channel,),
            having=("verdict",),
            limit=_MOST_NEWER,
        )
        entries = await self.facts.store.find(filters)
        newer = [entry for entry in entries if entry.started_at > debate.started_at]
        decided = list[DebateEntry]()
        for row in newer:
            if row.status != Status.CONCLUDED:
                continue
            if decided and clock.now() >= ends:
                break
            try:
                found = await self.facts.debate(row.debate_id)
            except (DebateUnknown, LogBroken):
                continue
            if _can_stand_in(found):
                decided.append(row)
        if not decided:
            raise BadInput(
                "There is no newer debate with a verdict in this channel. Start one with "
                "`/debate`, and supersede this one when it is decided."
            )
        return decided

    def stand_in(self, earlier: Debate, newer: Debate) -> DebateEntry:
        """Return this very debate as the one to stand in an earlier one's place.

        However many debates the channel has had since, no other one is offered instead.
        """
        standing = earlier.decision
        if standing and standing.kind is DecisionKind.SUPERSEDE:
            by = f" by debate `{standing.superseded_by}`" if standing.superseded_by else ""
            raise BadInput(f"Debate `{earlier.id}` is superseded{by} already.")
        self.check_newer(earlier, newer)
        place = newer.setup.place
        return DebateEntry(
            debate_id=newer.id,
            question=newer.setup.question,
            workspace=place.workspace,
            channel=place.channel,
            asked_by=newer.setup.asked_by.id,
            started_at=newer.started_at,
            ended_at=newer.ended_at,
            status=newer.status,
        )

    def check_newer(self, earlier: Debate, newer: Debate) -> None:
        """Make sure that the newer debate decided something to stand in the earlier one's place."""
        if not _can_stand_in(newer):
            raise BadInput(
                f"Debate `{newer.id}` has no verdict that could stand in place of "
                f"`{earlier.id}`: it goes on, ended without one, or decided nothing. Nothing was "
                "changed."
            )

    def check_outcome(self, debate: Debate) -> None:
        """Make sure that there is a decision, accepted, that can have turned out well or badly."""
        self.check_decision(debate)
        if not debate.decides:
            raise BadInput(f"Debate `{debate.id}` decided nothing that could have turned out.")
        if debate.accepted is None and debate.setup.place.channel:
            raise BadInput(
                f"Your team has not accepted the verdict of debate `{debate.id}`, so nothing has "
                "turned out yet. *Accept* is below the verdict."
            )
        if debate.accepted is None:
            raise BadInput(
                f"Nobody has accepted the verdict of debate `{debate.id}`, so nothing has turned "
                f"out yet. Accept it first: moot accept {debate.id}"
            )

    async def say_outcome(self, debate: Debate, given: DecisionOutcome) -> DecisionOutcome:
        """Record how the decision turned out; saying it again takes no reason away.

        Returns:
            The outcome that stands now.
        """
        self.check_outcome(debate)
        standing = debate.outcome
        if standing and standing.kind is given.kind and not given.why:
            return standing
        return await self.give_outcome(debate, given)

    async def give_outcome(self, debate: Debate, given: DecisionOutcome) -> DecisionOutcome:
        """Record how the decision turned out and why, without secrets; the newest one stands.

        Returns:
            The outcome that stands now.
        """
        self.check_outcome(debate)
        accepted = debate.accepted
        update = {"why": redact(given.why), "decision": accepted.origin if accepted else ""}
        outcome, standing = given.model_copy(update=update), debate.outcome
        if standing and (standing.kind, standing.why) == (outcome.kind, outcome.why):
            return standing
        await self.facts.record(debate.id, OutcomeGiven(outcome=outcome))
        return outcome

    async def say_helpful(self, debate: Debate, given: Feedback) -> None:
        """Record whether the verdict was of use; saying it again takes no reason away."""
        earlier = debate.feedback.get(given.by.id)
        if earlier is None or earlier.helpful != given.helpful:
            await self.give_feedback(debate, given)

    async def give_feedback(self, debate: Debate, given: Feedback) -> None:
        """Record what a person thinks of the verdict, and why; the newest counts."""
        self.check_decision(debate)
        feedback = given.model_copy(update={"comment": redact(given.comment)})
        await self.facts.record(debate.id, FeedbackGiven(feedback=feedback))

    def feedback_of(self, debate: Debate, by: Person) -> Feedback:
        """Return what a person thinks of the verdict, as far as they have said."""
        feedback = debate.feedback.get(by.id)
        if feedback is None:
            raise BadInput("Say first whether the verdict was helpful: press one of its thumbs.")
        return feedback

    def today(self, zone: tzinfo = UTC) -> date:
        """Return the day it is there."""
        return self.facts.clock.now().astimezone(zone).date()


def _can_stand_in(debate: Debate) -> bool:
    """Whether it ended with a verdict that decides something."""
    return debate.decides and debate.status is Status.CONCLUDED


def says_the_same(standing: Decision, decision: Decision) -> bool:
    """Whether two decisions are the same but for who took them, when and why."""
    return (standing.kind, standing.revisit_on, standing.superseded_by) == (
        decision.kind,
        decision.revisit_on,
        decision.superseded_by,
    )
