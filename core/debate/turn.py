"""Acts and turns: what is done, by whom, in which round."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Self

from core.values import Value


class Act(StrEnum):
    """What a turn does, and what people read of it: each has a prompt and a module.

    A row: its value in the log; what it brings forth, in a sentence ("Ann failed to give a refined
    proposal"); what a phase of such turns is called; the title in reports, where that is not the
    noun.
    """

    _value_: str
    noun: str
    phase: str
    label: str

    QUESTIONS = ("questions", "questions", "clarifying questions")
    CLARIFICATION = (
        "clarification",
        "list of questions",
        "questions to people",
        "Questions to people",
    )
    PROPOSAL = ("proposal", "proposal", "proposals")
    CRITIQUE = ("critique", "critique", "critiques")
    REFINEMENT = ("refinement", "refined proposal", "refinements", "Refinement")
    GATHER = ("gather", "gathered facts", "gathering facts", "Findings")
    PLAN = ("plan", "plan", "plans")
    FORMULATE = ("formulate", "position", "positions")
    DEBATE = ("debate", "answer to the others", "debate")
    ADJUST = ("adjust", "adjusted position", "adjustments")
    REBUTTAL = ("rebuttal", "rebuttal", "rebuttals")
    STATEMENT = ("statement", "statement", "statements")
    FACILITATION = (
        "facilitation",
        "choice of how to go on",
        "deciding how to go on",
        "Facilitation",
    )
    #: What an agent finds in the subject of a review, by itself.
    REVIEW = ("review", "review", "reviews")
    #: Everybody's findings, each once.
    FINDINGS = ("findings", "list of findings", "merging the findings", "Findings of all")
    #: Whether the author's answers and changes settle an agent's findings.
    SECOND_LOOK = ("second_look", "second look", "second looks")
    SUMMARY = ("summary", "summary", "summaries")
    #: What there is to choose between, merged from the isolated drafts.
    OPTIONS = ("options", "list of options", "what there is to choose between", "Options")
    BALLOT = ("ballot", "ballot", "vote")
    #: Whether another round is worth holding.
    GATE = ("gate", "comparison of minds", "comparing minds", "Is another round worth it?")
    TALLY = ("tally", "count of the votes", "counting the votes")
    #: The judge's choice with the positions in another order.
    CROSS_CHECK = (
        "cross_check",
        "check in the opposite order",
        "the judge chooses in the opposite order",
    )
    SYNTHESIS = ("synthesis", "decision", "the judge writes the decision", "Synthesis")
    #: What a model of another vendor finds wrong with the verdict before it is posted.
    AUDIT = ("audit", "audit", "another vendor's model audits the verdict")
    READING = ("reading", "source", "reading sources", "Reading of a source")
    EVALUATION = ("evaluation", "evaluation", "evaluation")
    COMPARISON = ("comparison", "comparison", "comparison")
    #: Of a bench's readers: which later-named reasons a text holds.
    RECALL = ("recall", "list of reasons found", "looking for reasons", "Reasons found")
    CASTING = ("casting", "choice of agents", "choosing agents for the question")
    #: One model answers alone; nobody is shown it before the verdict.
    SHADOW = ("shadow", "answer alone", "one model answers alone", "Answer of one model alone")
    #: Which of the debate's options that answer takes.
    SHADOW_CHOICE = (
        "shadow_choice",
        "option of the answer alone",
        "finding the option of the answer alone",
    )
    #: The judge answers what people ask after the verdict.
    FOLLOW_UP = ("follow_up", "answer to a question", "answering questions about the debate")

    def __new__(cls, value: str, noun: str, phase: str, label: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.noun, member.phase = noun, phase
        member.label = label or noun[0].upper() + noun[1:]
        return member


class Turn(Value):
    """One thing to be done, by one agent, in one round.

    Round 0 is what no round holds (clarifying questions, the blind ballot).
    """

    act: Act
    round: int
    #: Id of the agent whose turn it is, or one of `RESERVED_IDS`.
    agent: str
    #: Id of the agent whose position it is about (critiques), or what else tells turns apart.
    target: str | None = None

    @property
    def key(self) -> str:
        return _key(self.act, self.round, self.agent, self.target)

    @property
    def when(self) -> str:
        """When it is taken, in words: `round 2`, `before round 1`, `after the first answers`."""
        return f"round {self.round}" if self.round else _OF_NO_ROUND.get(self.act, "before round 1")


#: When acts of round 0 are taken that are not before round 1; first answers are given in it.
_OF_NO_ROUND: Mapping[Act, str] = {
    **dict.fromkeys((Act.OPTIONS, Act.BALLOT, Act.SHADOW_CHOICE), "after the first answers"),
    **dict.fromkeys((Act.TALLY, Act.CROSS_CHECK, Act.SYNTHESIS), "after the first answers"),
    Act.AUDIT: "after the first answers",
    Act.SHADOW: "beside the debate",
    Act.FOLLOW_UP: "after the verdict",
}


@lru_cache(maxsize=10_000)
def _key(act: Act, round_number: int, agent: str, target: str | None) -> str:
    parts = (f"r{round_number}", act.value, agent, target)
    return "/".join(part for part in parts if part)


@lru_cache(maxsize=10_000)
def turn_of(act: Act, round_number: int, agent: str, target: str | None = None) -> Turn:
    """The turn; the same object each time, because schedules name the same turns over and over."""
    return Turn(act=act, round=round_number, agent=agent, target=target)


#: Stands in `Turn.agent` for the judge.
JUDGE = "judge"
#: Stands in `Turn.agent` for turns that ask no model (counting the votes).
ENGINE = "engine"
#: Stands in `Turn.agent` for the panel's facilitator.
FACILITATOR = "facilitator"
#: Stands in `Turn.agent` for who sums up rounds in the background.
SUMMARIZER = "summarizer"
#: Stands in `Turn.agent` for the model that answers alone.
SHADOW = "shadow"
#: Stands among those who ask people a question for the debate's playbook.
PLAYBOOK = "playbook"

#: Ids no agent may have.
RESERVED_IDS = frozenset({JUDGE, ENGINE, FACILITATOR, SUMMARIZER, SHADOW, PLAYBOOK})
#: Turns of these acts run beside the debate: no turn, count, verdict or deadline waits for one.
BESIDE = frozenset({Act.SUMMARY, Act.SHADOW, Act.SHADOW_CHOICE})
