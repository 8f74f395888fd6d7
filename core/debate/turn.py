"""Acts and turns: an act is a kind of work, a turn is one act by one agent in one round."""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Self

from core.values import Value


class Act(StrEnum):
    """A kind of turn. An act for which a model is asked has a prompt and a module.

    Each row has the value in the log, the noun for the result in sentences ("Ann failed to give a
    refined proposal"), the name of a phase of such turns, and the title in reports, if that is not
    the noun.
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
    #: One agent's findings about the subject of a review, made in isolation.
    REVIEW = ("review", "review", "reviews")
    #: Merges the findings of all agents, so that each is listed once.
    FINDINGS = ("findings", "list of findings", "merging the findings", "Findings of all")
    #: An agent checks whether the author's answers and changes settle its findings.
    SECOND_LOOK = ("second_look", "second look", "second looks")
    SUMMARY = ("summary", "summary", "summaries")
    #: Merges the isolated drafts into the options that can be chosen.
    OPTIONS = ("options", "list of options", "what there is to choose between", "Options")
    BALLOT = ("ballot", "ballot", "vote")
    #: Compares the agents' probabilities to decide whether another round is held.
    GATE = ("gate", "comparison of minds", "comparing minds", "Is another round worth it?")
    TALLY = ("tally", "count of the votes", "counting the votes")
    #: The judge chooses again, with the positions in the opposite order.
    CROSS_CHECK = (
        "cross_check",
        "check in the opposite order",
        "the judge chooses in the opposite order",
    )
    SYNTHESIS = ("synthesis", "decision", "the judge writes the decision", "Synthesis")
    #: A model of another vendor looks for faults in the verdict before it is posted.
    AUDIT = ("audit", "audit", "another vendor's model audits the verdict")
    READING = ("reading", "source", "reading sources", "Reading of a source")
    EVALUATION = ("evaluation", "evaluation", "evaluation")
    COMPARISON = ("comparison", "comparison", "comparison")
    #: Only in benchmarks: a model looks for known reasons in a text.
    RECALL = ("recall", "list of reasons found", "looking for reasons", "Reasons found")
    CASTING = ("casting", "choice of agents", "choosing agents for the question")
    #: One model answers alone; its answer is hidden until the verdict.
    SHADOW = ("shadow", "answer alone", "one model answers alone", "Answer of one model alone")
    #: A model says which of the debate's options the shadow answer takes.
    SHADOW_CHOICE = (
        "shadow_choice",
        "option of the answer alone",
        "finding the option of the answer alone",
    )
    #: The judge answers a question that a person asked after the verdict.
    FOLLOW_UP = ("follow_up", "answer to a question", "answering questions about the debate")

    def __new__(cls, value: str, noun: str, phase: str, label: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.noun, member.phase = noun, phase
        member.label = label or noun[0].upper() + noun[1:]
        return member


class Turn(Value):
    """One act by one agent in one round.

    Turns outside the rounds (clarifying questions, the blind ballot) have round 0.
    """

    act: Act
    round: int
    #: Id of the agent whose turn it is, or one of `RESERVED_IDS`.
    agent: str
    #: Distinguishes turns of the same act, round and agent: for a critique the id of the agent
    #: whose position is criticised; else a number or a name.
    target: str | None = None

    @property
    def key(self) -> str:
        return _key(self.act, self.round, self.agent, self.target)

    @property
    def when(self) -> str:
        """When it is taken, in words: `round 2`, `before round 1`, `after the first answers`."""
        if self.round:
            return f"round {self.round}"
        return _WHEN_IN_ROUND_0.get(self.act, "before round 1")


#: When acts of round 0 are taken, for those that do not come before round 1.
_WHEN_IN_ROUND_0: Mapping[Act, str] = {
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
    """The turn. Cached, because schedules ask for the same turns again at every event."""
    return Turn(act=act, round=round_number, agent=agent, target=target)


#: `Turn.agent` of the judge's turns.
JUDGE = "judge"
#: `Turn.agent` of turns that ask no model (counting the votes).
ENGINE = "engine"
#: `Turn.agent` of the panel's facilitator.
FACILITATOR = "facilitator"
#: `Turn.agent` of the model that summarises rounds in the background.
SUMMARIZER = "summarizer"
#: `Turn.agent` of the model that gives the shadow answer.
SHADOW = "shadow"
#: In `Clarification.asked_by`: the debate's playbook asks.
PLAYBOOK = "playbook"

#: Ids that no agent may have.
RESERVED_IDS = frozenset({JUDGE, ENGINE, FACILITATOR, SUMMARIZER, SHADOW, PLAYBOOK})
#: No other turn, tally, verdict or deadline waits for them.
BACKGROUND_ACTS = frozenset({Act.SUMMARY, Act.SHADOW, Act.SHADOW_CHOICE})
