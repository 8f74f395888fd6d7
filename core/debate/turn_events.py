"""Events of turns: what agents, the facilitator and the judge have done, or failed to do."""

from typing import Literal

from core.debate.contributions import Contribution, Failure, Summary
from core.debate.event import (
    BaseEvent,
    Changes,
    TurnEnded,
    by_key,
    fault_of_agents,
    last,
    of_edition,
    of_edition_in_force,
)
from core.debate.evidence import Source
from core.debate.findings import Findings
from core.debate.follow_up import FollowUpAnswer
from core.debate.gate import Gate, Guidance
from core.debate.questions import Clarifications, Questions
from core.debate.setup import Cast
from core.debate.state import Debate
from core.debate.turn import JUDGE, SHADOW, SUMMARIZER, Turn
from core.debate.verdict import Audit, CrossCheck, ShadowAnswer, ShadowChoice, Verdict
from core.debate.vote import Abstention, Ballot, Options, Tally
from core.usage import Expense


class AgentsCast(TurnEnded):
    """Agents were chosen for the question; they take the place of those the debate began with."""

    kind: Literal["agents_cast"] = "agents_cast"
    cast: Cast

    def _fault(self, debate: Debate) -> str:
        if not self.cast.agents:
            return "casts nobody"
        has_spoken = debate.contributions or debate.questions
        return "casts agents after others have spoken" if has_spoken else ""

    def _changes(self, debate: Debate) -> Changes:
        update = {
            "agents": self.cast.agents,
            "reasons": self.cast.reasons,
            "hard_to_undo": self.cast.hard_to_undo,
            "checks_rules": self.cast.checks_rules,
            "warnings": (*debate.setup.warnings, *self.cast.warnings),
        }
        return {"setup": debate.setup.model_copy(update=update)}


class ContributionMade(TurnEnded):
    kept_in = by_key("contributions", "contribution")
    kind: Literal["contribution_made"] = "contribution_made"
    contribution: Contribution


class TurnFailed(TurnEnded):
    kind: Literal["turn_failed"] = "turn_failed"
    failure: Failure

    @property
    def spent(self) -> Expense:
        return Expense(agent=self.failure.turn.agent, lost=self.failure.usage)

    def _changes(self, debate: Debate) -> Changes:
        if self.failure.turn.agent == SHADOW:
            # The debate lacks nothing by it: it is no failure of the debate.
            return {"shadow_fault": self.failure.reason}
        return {"failures": {**debate.failures, self.key: self.failure}}


class QuestionsAsked(TurnEnded):
    kept_in = by_key("questions", "questions")
    kind: Literal["questions_asked"] = "questions_asked"
    questions: Questions


class ClarificationsOpened(TurnEnded):
    kept_in = by_key("clarifications", "clarifications")
    kind: Literal["clarifications_opened"] = "clarifications_opened"
    payer = SUMMARIZER
    clarifications: Clarifications


class FacilitatorDecided(TurnEnded):
    kind: Literal["facilitator_decided"] = "facilitator_decided"
    guidance: Guidance

    def _changes(self, debate: Debate) -> Changes:
        gate = self.guidance.gate
        by_rule = {gate.turn.key: gate} if gate else {}
        guidance = {**debate.guidance, self.key: self.guidance}
        return {"guidance": guidance, "gates": {**debate.gates, **by_rule}}


class SummaryMade(TurnEnded):
    kept_in = by_key("summaries", "summary")
    kind: Literal["summary_made"] = "summary_made"
    summary: Summary


class BallotCast(TurnEnded):
    kept_in = by_key("ballots", "ballot")
    kind: Literal["ballot_cast"] = "ballot_cast"
    ballot: Ballot

    def _fault(self, debate: Debate) -> str:
        return (
            fault_of_agents(debate, self.ballot.ranking) if self.ballot.ranking else "ranks nothing"
        )


class BallotAbstained(TurnEnded):
    kept_in = by_key("abstentions", "abstention")
    kind: Literal["ballot_abstained"] = "ballot_abstained"
    abstention: Abstention


class OptionsMerged(TurnEnded):
    kept_in = last("options", "options")
    kind: Literal["options_merged"] = "options_merged"
    options: Options

    def _fault(self, debate: Debate) -> str:
        return fault_of_agents(debate, self.options.stances)


class FindingsMerged(TurnEnded):
    kept_in = last("findings", "findings")
    kind: Literal["findings_merged"] = "findings_merged"
    findings: Findings


class GatePassed(TurnEnded):
    kept_in = by_key("gates", "gate")
    kind: Literal["gate_passed"] = "gate_passed"
    gate: Gate


class CrossChecked(TurnEnded):
    kept_in = last("cross_check", "check")
    kind: Literal["cross_checked"] = "cross_checked"
    check: CrossCheck


class VerdictDrafted(BaseEvent):
    """The judge has written a verdict that is to be audited; nobody is shown it before."""

    key_form = "{0.turn.key}"
    kept_in = of_edition_in_force(last("draft", "verdict"))
    kind: Literal["verdict_drafted"] = "verdict_drafted"
    turn: Turn
    verdict: Verdict
    edition: int = 1


class Audited(TurnEnded):
    kept_in = of_edition_in_force(last("audit", "audit"))
    kind: Literal["audited"] = "audited"
    audit: Audit
    edition: int = 1


class ShadowAnswered(TurnEnded):
    """One model answered the question alone; nobody is shown it before the verdict."""

    kept_in = last("shadow", "shadow")
    kind: Literal["shadow_answered"] = "shadow_answered"
    shadow: ShadowAnswer


class ShadowPlaced(TurnEnded):
    kept_in = last("shadow_choice", "choice")
    kind: Literal["shadow_placed"] = "shadow_placed"
    payer = SUMMARIZER
    choice: ShadowChoice


class VoteTallied(BaseEvent):
    kept_in = of_edition_in_force(last("tally", "tally"))
    kind: Literal["vote_tallied"] = "vote_tallied"
    tally: Tally
    edition: int = 1

    @property
    def key(self) -> str:
        return of_edition("tally", self.edition)

    def _fault(self, debate: Debate) -> str:
        scored = (score.position for score in self.tally.scores)
        return fault_of_agents(debate, (*scored, *self.tally.winners))


class SourceRead(TurnEnded):
    kind: Literal["source_read"] = "source_read"
    source: Source

    def _changes(self, debate: Debate) -> Changes:
        sources = sorted((*debate.sources, self.source), key=lambda source: source.number)
        references = (*debate.references, *self.source.references)
        return {"sources": tuple(sources), "references": references}


class VerdictReached(BaseEvent):
    kept_in = of_edition_in_force(last("verdict", "verdict"))
    kind: Literal["verdict_reached"] = "verdict_reached"
    verdict: Verdict
    edition: int = 1

    @property
    def key(self) -> str:
        """There is one verdict, and another if the skipped debate is wanted after it."""
        return of_edition("verdict", self.edition)

    @property
    def spent(self) -> Expense:
        return Expense(agent=JUDGE, call=self.verdict.call, lost=self.verdict.lost)


class FollowUpAnswered(BaseEvent):
    key_form = "{0.answer.turn.key}"
    kind: Literal["follow_up_answered"] = "follow_up_answered"
    answer: FollowUpAnswer

    @property
    def spent(self) -> Expense:
        answer = self.answer
        return Expense(agent=answer.turn.agent, call=answer.call, lost=answer.lost)

    def _fault(self, debate: Debate) -> str:
        numbers = {str(question.number) for question in debate.follow_ups}
        is_asked = self.answer.turn.target in numbers
        return "" if is_asked else f"answers {self.key}, which nobody asked"

    def _changes(self, debate: Debate) -> Changes:
        number = int(self.answer.turn.target or 0)
        return {"follow_up_answers": {**debate.follow_up_answers, number: self.answer}}


TurnEvent = (
    AgentsCast
    | ContributionMade
    | TurnFailed
    | QuestionsAsked
    | ClarificationsOpened
    | FacilitatorDecided
    | SummaryMade
    | BallotCast
    | BallotAbstained
    | OptionsMerged
    | FindingsMerged
    | GatePassed
    | CrossChecked
    | VerdictDrafted
    | Audited
    | ShadowAnswered
    | ShadowPlaced
    | VoteTallied
    | SourceRead
    | VerdictReached
    | FollowUpAnswered
)
