"""Events of turns: the results of agents, facilitator and judge, and failed turns."""

from core.debate.contributions import (
    Clarifications,
    Contribution,
    Failure,
    Findings,
    Questions,
    Summary,
)
from core.debate.event import (
    BaseEvent,
    Changes,
    TurnEnded,
    by_key,
    last,
)
from core.debate.evidence import Source
from core.debate.setup import Cast
from core.debate.state import Debate
from core.debate.turn import JUDGE, SHADOW, SUMMARIZER, Turn
from core.debate.verdict import (
    Audit,
    CrossCheck,
    FollowUpAnswer,
    ShadowAnswer,
    ShadowChoice,
    Verdict,
)
from core.debate.vote import Abstention, Ballot, Gate, Guidance, Options, Tally
from core.usage import Expense


class AgentsCast(TurnEnded):
    """Agents were chosen for the question. They replace the agents of the setup."""

    cast: Cast

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
    update = by_key("contributions", "contribution")
    contribution: Contribution


class TurnFailed(TurnEnded):
    failure: Failure

    @property
    def expense(self) -> Expense:
        return Expense(agent=self.failure.turn.agent, lost=self.failure.usage)

    def _changes(self, debate: Debate) -> Changes:
        if self.failure.turn.agent == SHADOW:
            # The debate does not need the shadow answer, so it is not listed with its failures.
            return {"shadow_fault": self.failure.reason}
        return {"failures": {**debate.failures, self.key: self.failure}}


class QuestionsAsked(TurnEnded):
    update = by_key("questions", "questions")
    questions: Questions


class ClarificationsOpened(TurnEnded):
    update = by_key("clarifications", "clarifications")
    payer = SUMMARIZER
    clarifications: Clarifications


class FacilitatorDecided(TurnEnded):
    guidance: Guidance

    def _changes(self, debate: Debate) -> Changes:
        gate = self.guidance.gate
        gates = {**debate.gates, gate.turn.key: gate} if gate else debate.gates
        return {"guidance": {**debate.guidance, self.key: self.guidance}, "gates": gates}


class SummaryMade(TurnEnded):
    update = by_key("summaries", "summary")
    summary: Summary


class BallotCast(TurnEnded):
    update = by_key("ballots", "ballot")
    ballot: Ballot


class BallotAbstained(TurnEnded):
    update = by_key("abstentions", "abstention")
    abstention: Abstention


class OptionsMerged(TurnEnded):
    update = last("options", "options")
    options: Options


class FindingsMerged(TurnEnded):
    update = last("findings", "findings")
    findings: Findings


class GatePassed(TurnEnded):
    update = by_key("gates", "gate")
    gate: Gate


class CrossChecked(TurnEnded):
    update = last("cross_check", "check")
    check: CrossCheck


class VerdictDrafted(BaseEvent):
    """The judge has written a verdict. People see it after the audit."""

    key_form = "{0.turn.key}"
    update = last("draft", "verdict")
    turn: Turn
    verdict: Verdict
    edition: int = 1


class Audited(TurnEnded):
    update = last("audit", "audit")
    audit: Audit
    edition: int = 1


class ShadowAnswered(TurnEnded):
    """One model answered the question alone. The answer is hidden until the verdict."""

    update = last("shadow", "shadow")
    shadow: ShadowAnswer


class ShadowPlaced(TurnEnded):
    update = last("shadow_choice", "choice")
    payer = SUMMARIZER
    choice: ShadowChoice


class VoteTallied(BaseEvent):
    key_form = "tally{0.edition_suffix}"
    update = last("tally", "tally")
    tally: Tally
    edition: int = 1


class SourceRead(TurnEnded):
    source: Source

    def _changes(self, debate: Debate) -> Changes:
        sources = sorted((*debate.sources, self.source), key=lambda source: source.number)
        references = (*debate.references, *self.source.references)
        return {"sources": tuple(sources), "references": references}


class VerdictReached(BaseEvent):
    key_form = "verdict{0.edition_suffix}"
    update = last("verdict", "verdict")
    verdict: Verdict
    edition: int = 1

    @property
    def expense(self) -> Expense:
        return Expense(agent=JUDGE, call=self.verdict.call, lost=self.verdict.lost)


class FollowUpAnswered(BaseEvent):
    key_form = "{0.answer.turn.key}"
    answer: FollowUpAnswer

    @property
    def expense(self) -> Expense:
        answer = self.answer
        return Expense(agent=answer.turn.agent, call=answer.call, lost=answer.lost)

    def _changes(self, debate: Debate) -> Changes:
        number = int(self.answer.turn.target or 0)
        return {"follow_up_answers": {**debate.follow_up_answers, number: self.answer}}
