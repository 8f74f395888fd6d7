"""People vote on options, decide on the verdict, ask about it, and say how it turned out."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, tzinfo

from core.debate.people import Person
from core.debate.people_events import (
    DecisionRecorded,
    FeedbackGiven,
    FollowUpAsked,
    OutcomeGiven,
    PeopleBallotCast,
)
from core.debate.state import Debate, Status
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, Feedback, FollowUp
from core.debate.vote import PeopleBallot
from core.errors import BadInput, DebateUnknown, LogBroken
from core.ports import DebateFilter, Spending
from core.redaction import redact
from core.rules.options import options_of
from core.rules.voting import is_people_vote_closed
from core.settings import Caps
from core.usage import SpendingScope
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_money, check_size

#: Most newer debates offered to supersede an older one. Their logs are read before a form opens,
#: which must happen within 3 seconds.
_MOST_NEWER = 25
#: A ballot needs something to choose from.
_FEWEST_OPTIONS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class DecideOnVerdict:
    """What everybody in the channel may do with options and verdict.

    Every method raises `BadInput` if the debate's state does not allow it, and may raise
    `StoreDown`.
    """

    facts: FactLog
    #: Serializes decisions within this process, so that the second of two people who decide at the
    #: same time sees the decision of the first.
    _deciding: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def check_ballot(self, debate: Debate, by: Person) -> None:
        options = options_of(debate)
        if len(options.items) < _FEWEST_OPTIONS:
            raise BadInput(
                "There is nothing to choose between yet: fewer than two options are named."
            )
        if not is_people_vote_closed(debate):
            return
        message = "The vote is closed: the team has decided."
        ballot = debate.people_ballots.get(by.id)
        if ballot and ballot.options:
            names = ", ".join(filter(None, map(options.name, ballot.options)))
            message += f" Your ballot stands: {names}."
        raise BadInput(message)

    async def vote(self, debate: Debate, ballot: PeopleBallot) -> None:
        """Record a ballot on the options. A person's newest ballot counts."""
        self.check_ballot(debate, ballot.by)
        options = options_of(debate)
        choices = tuple(map(options.resolve, ballot.options))
        names = ", ".join(item.name for item in options.items)
        if not choices:
            raise BadInput(f"Choose what you would do first: {names}.")
        if not all(choices):
            raise BadInput(f"There is no such option any more: the options are {names}.")
        if len(set(choices)) < len(choices):
            raise BadInput("You put an option in two places: two may have been merged meanwhile.")
        earlier = debate.people_ballots.get(ballot.by.id)
        if earlier is None or earlier.options != choices:
            resolved_ballot = ballot.model_copy(update={"options": choices})
            await self.facts.record(debate.id, PeopleBallotCast(ballot=resolved_ballot))

    def check_decision(self, debate: Debate) -> None:
        if debate.verdict is None:
            raise BadInput(f"Debate `{debate.id}` has no verdict to decide on.")

    def check_decidable(self, debate: Debate) -> None:
        self.check_decision(debate)
        if not debate.is_decidable:
            instead = " To go on, press *Debate it on*." if debate.setup.place.channel else ""
            raise BadInput(
                f"Debate `{debate.id}` decided nothing, so there is nothing to accept or reject."
                f"{instead}"
            )

    async def decide(
        self, debate: Debate, decision: Decision, *, previous: str | None = None
    ) -> Decision:
        """Record the team's decision, once per form, unless the current decision is the same.

        Args:
            debate: The debate with the verdict.
            decision: The new decision.
            previous: Origin of the decision in force when the person chose; empty: there was none.
                If another decision is in force by now, it is kept. None: any one is replaced.

        Returns:
            The decision in force now.
        """
        self.check_decidable(debate)
        if decision.revisit_on and decision.revisit_on < self.today():
            raise BadInput(f"The day {decision.revisit_on} has passed. Name a later one.")
        async with self._deciding:
            debate = await self.facts.debate(debate.id)
            current = debate.decision
            is_repeated = any(item.origin == decision.origin for item in debate.decisions)
            if current and (is_repeated or is_same_decision(current, decision)):
                return current
            if current and previous is not None and current.origin != previous:
                return current
            clean = decision.model_copy(update={"why": redact(decision.why)})
            await self.facts.record(debate.id, DecisionRecorded(decision=clean))
            return clean

    async def newer_than(self, debate: Debate) -> Mapping[str, str]:
        """Return the questions of the channel's later debates that decided something, by id.

        The newest is first.
        """
        place = debate.setup.place
        filters = DebateFilter(
            workspace=place.workspace,
            channels=(place.channel,),
            having=("verdict",),
            limit=_MOST_NEWER,
        )
        questions = dict[str, str]()
        for entry in await self.facts.store.find(filters):
            if entry.started_at <= debate.started_at or entry.status != Status.CONCLUDED:
                continue
            with suppress(DebateUnknown, LogBroken):
                if _can_stand_in(await self.facts.debate(entry.debate_id)):
                    questions[entry.debate_id] = entry.question
        if not questions:
            raise BadInput(
                "There is no newer debate with a verdict in this channel. Start one with "
                "`/debate`, and supersede this one when it is decided."
            )
        return questions

    def check_supersedes(self, earlier: Debate, newer: Debate) -> None:
        decision = earlier.decision
        if decision and decision.kind is DecisionKind.SUPERSEDE:
            newer_debate = (
                f" by debate `{decision.superseded_by}`" if decision.superseded_by else ""
            )
            raise BadInput(f"Debate `{earlier.id}` is superseded{newer_debate} already.")
        self.check_newer(earlier, newer)

    def check_newer(self, earlier: Debate, newer: Debate) -> None:
        if not _can_stand_in(newer):
            raise BadInput(
                f"Debate `{newer.id}` cannot supersede `{earlier.id}`: it still runs, ended "
                "without a verdict, or decided nothing. Nothing was changed."
            )

    def check_outcome(self, debate: Debate) -> None:
        self.check_decision(debate)
        if not debate.decides:
            raise BadInput(
                f"Debate `{debate.id}` decided nothing, so there is no outcome to record."
            )
        if debate.acceptance is None:
            subject, instruction = "Nobody has", f"type: moot accept {debate.id}"
            if debate.setup.place.channel:
                subject, instruction = "Your team has not", "press *Accept* below it."
            raise BadInput(
                f"{subject} accepted the verdict of debate `{debate.id}`, so there is no outcome "
                f"to record yet. First {instruction}"
            )

    async def say_outcome(self, debate: Debate, outcome: DecisionOutcome) -> DecisionOutcome:
        """Record how the decision turned out, unless it is known; return the current outcome."""
        self.check_outcome(debate)
        current = debate.outcome
        if current and current.kind is outcome.kind and not outcome.why:
            return current
        return await self.give_outcome(debate, outcome)

    async def give_outcome(self, debate: Debate, outcome: DecisionOutcome) -> DecisionOutcome:
        """Record how the decision turned out and why; return the current outcome."""
        self.check_outcome(debate)
        decision = debate.acceptance
        update = {"why": redact(outcome.why), "decision": decision.origin if decision else ""}
        outcome, current = outcome.model_copy(update=update), debate.outcome
        if current and (current.kind, current.why) == (outcome.kind, outcome.why):
            return current
        await self.facts.record(debate.id, OutcomeGiven(outcome=outcome))
        return outcome

    async def say_helpful(self, debate: Debate, feedback: Feedback) -> None:
        earlier = debate.feedback.get(feedback.by.id)
        if earlier is None or earlier.helpful != feedback.helpful:
            await self.give_feedback(debate, feedback)

    async def give_feedback(self, debate: Debate, feedback: Feedback) -> None:
        self.check_decision(debate)
        feedback = feedback.model_copy(update={"comment": redact(feedback.comment)})
        await self.facts.record(debate.id, FeedbackGiven(feedback=feedback))

    def feedback_of(self, debate: Debate, by: Person) -> Feedback:
        feedback = debate.feedback.get(by.id)
        if feedback is None:
            raise BadInput("Say first whether the verdict was helpful: press one of its thumbs.")
        return feedback

    def today(self, zone: tzinfo = UTC) -> date:
        return self.facts.clock.now().astimezone(zone).date()


def _can_stand_in(debate: Debate) -> bool:
    return debate.decides and debate.status is Status.CONCLUDED


def is_same_decision(current: Decision, decision: Decision) -> bool:
    """Whether two decisions differ only in person, time and reason."""
    return (current.kind, current.revisit_on, current.superseded_by) == (
        decision.kind,
        decision.revisit_on,
        decision.superseded_by,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AskAboutDebate:
    """Records questions after the verdict. After a `StoreDown` a call can be repeated."""

    facts: FactLog
    bounds: Bounds
    #: Daily caps on spending.
    caps: Caps
    #: Returns the money spent so far.
    spending: Spending
    #: Serializes counting and adding, so that the bound holds within this process.
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def check(self, debate: Debate) -> None:
        """Raise `BadInput` if there is no verdict yet, or the debate takes no more questions."""
        if debate.status is Status.RUNNING or debate.verdict is None:
            raise BadInput(
                f"Debate `{debate.id}` has no verdict to ask about. While it runs, a reply in its "
                "thread reaches the agents."
            )
        if len(debate.follow_ups) >= self.bounds.questions_per_debate:
            raise BadInput(
                f"{len(debate.follow_ups)} questions were asked about debate `{debate.id}`, as "
                "many as one takes. Read its report, or start a debate that goes on from it."
            )

    async def ask(self, debate_id: str, *, question_id: str, by: Person, text: str) -> None:
        """Record a question to the judge. Calling it again with the same id changes nothing.

        Raises:
            BadInput: The text is empty or too long, the debate takes no questions, or a daily cap
                is reached.
        """
        async with self._asking:
            debate = await self.facts.debate(debate_id)
            if any(follow_up.id == question_id for follow_up in debate.follow_ups):
                return
            self.check(debate)
            check_size(text, self.bounds)
            if not text.strip():
                raise BadInput("Write what you want to know about this debate.")
            # The answer is charged to the starter; the asker's own daily cap is checked as well.
            day = self.facts.clock.now().date()
            scope = SpendingScope(day, debate.setup.place.workspace, by.id, debate.setup.token)
            result = "the judge was not asked"
            await check_money(self.caps, self.spending, scope, result=result)
            follow_up = FollowUp(id=question_id, by=by, text=redact(text.strip()))
            await self.facts.record(debate_id, FollowUpAsked(question=follow_up))
