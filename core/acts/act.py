"""What each act is: one row per act, read by prompts, turns, reports and Slack alike (pure).

A new act: its name in `core.models.Act`, its row here, its prompt in `core/acts/`,
and, if it is no speech, who performs it in `core.acts.take`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.models import Act
from core.request import Effort


@dataclass(frozen=True, kw_only=True)
class ActSpec:
    """What an act is and how it is asked for."""

    #: Title of what it brings forth, in reports and on the terminal: "Refinement".
    label: str
    #: The same in a sentence on Slack: "Ann failed to give a refined proposal".
    noun: str
    #: What a phase of such turns is called: "refinements".
    phase: str
    #: A speech ends in text that becomes a contribution; all speeches have the same performer.
    is_speech: bool = False
    #: Longest text asked for, in words; 0: the length is not a matter of words.
    words: int = 0
    #: Cap on a reply in tokens, hidden reasoning not counted.
    max_tokens: int = 2048
    #: Positions are worth thinking about; the rest is answered fast and cheaply.
    effort: Effort = Effort.MEDIUM
    #: Whether a model is asked, with a prompt of its own.
    asks_model: bool = True
    #: Whether people read in the thread what comes of it, or that it failed.
    is_posted: bool = True
    #: Whether the agent is shown what was said in earlier rounds.
    sees_history: bool = True
    #: Whether `Turn.target` holds a number, not whom the turn is about.
    is_numbered: bool = False
    #: Whether it ends with a line that says how likely the agent holds each option the best.
    states_stance: bool = False
    #: Key of its outcome where a debate has only one; empty: the turn's key.
    outcome_key: str = ""


ACTS: Mapping[Act, ActSpec] = {
    Act.QUESTIONS: ActSpec(
        label="Questions",
        noun="questions",
        phase="clarifying questions",
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
        is_numbered=True,
    ),
    Act.CLARIFICATION: ActSpec(
        label="Questions to people",
        noun="list of questions",
        phase="questions to people",
        asks_model=False,
        is_numbered=True,
    ),
    Act.PROPOSAL: ActSpec(
        label="Proposal", noun="proposal", phase="proposals", is_speech=True, words=350
    ),
    Act.CRITIQUE: ActSpec(
        label="Critique",
        noun="critique",
        phase="critiques",
        is_speech=True,
        words=250,
        max_tokens=1024,
        effort=Effort.LOW,
    ),
    Act.REFINEMENT: ActSpec(
        label="Refinement",
        noun="refined proposal",
        phase="refinements",
        is_speech=True,
        words=450,
        states_stance=True,
    ),
    Act.GATHER: ActSpec(
        label="Findings", noun="gathered facts", phase="gathering facts", is_speech=True, words=350
    ),
    Act.PLAN: ActSpec(
        label="Plan", noun="plan", phase="plans", is_speech=True, words=200, effort=Effort.LOW
    ),
    Act.FORMULATE: ActSpec(
        label="Position", noun="position", phase="positions", is_speech=True, words=450
    ),
    Act.DEBATE: ActSpec(
        label="Answer to the others",
        noun="answer to the others",
        phase="debate",
        is_speech=True,
        words=450,
    ),
    Act.ADJUST: ActSpec(
        label="Adjusted position",
        noun="adjusted position",
        phase="adjustments",
        is_speech=True,
        words=450,
        states_stance=True,
    ),
    Act.REBUTTAL: ActSpec(
        label="Rebuttal",
        noun="rebuttal",
        phase="rebuttals",
        is_speech=True,
        words=250,
        effort=Effort.LOW,
    ),
    Act.STATEMENT: ActSpec(
        label="Statement",
        noun="statement",
        phase="statements",
        is_speech=True,
        words=300,
        states_stance=True,
    ),
    Act.FACILITATION: ActSpec(
        label="Facilitation",
        noun="choice of how to go on",
        phase="deciding how to go on",
        max_tokens=512,
        effort=Effort.LOW,
    ),
    Act.REVIEW: ActSpec(label="Review", noun="review", phase="reviews", sees_history=False),
    Act.FINDINGS: ActSpec(
        label="Findings of all",
        noun="list of findings",
        phase="merging the findings",
        max_tokens=512,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
    ),
    Act.SECOND_LOOK: ActSpec(
        label="Second look",
        noun="second look",
        phase="second looks",
        effort=Effort.LOW,
        sees_history=False,
    ),
    Act.SUMMARY: ActSpec(
        label="Summary",
        noun="summary",
        phase="summaries",
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
    ),
    Act.OPTIONS: ActSpec(
        label="Options",
        noun="list of options",
        phase="what there is to choose between",
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
    ),
    Act.BALLOT: ActSpec(
        label="Ballot",
        noun="ballot",
        phase="vote",
        max_tokens=1024,
        effort=Effort.LOW,
        sees_history=False,
    ),
    Act.GATE: ActSpec(
        label="Is another round worth it?",
        noun="comparison of minds",
        phase="comparing minds",
        asks_model=False,
        is_posted=False,
    ),
    Act.TALLY: ActSpec(
        label="Count of the votes",
        noun="count of the votes",
        phase="counting the votes",
        asks_model=False,
        outcome_key="tally",
    ),
    Act.CROSS_CHECK: ActSpec(
        label="Check in the opposite order",
        noun="check in the opposite order",
        phase="the judge chooses in the opposite order",
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
    ),
    Act.SYNTHESIS: ActSpec(
        label="Synthesis",
        noun="decision",
        phase="the judge writes the decision",
        words=500,
        sees_history=False,
        outcome_key="verdict",
    ),
    Act.READING: ActSpec(
        label="Reading of a source",
        noun="source",
        phase="reading sources",
        asks_model=False,
        is_posted=False,
        is_numbered=True,
    ),
    Act.EVALUATION: ActSpec(
        label="Evaluation", noun="evaluation", phase="evaluation", max_tokens=1536
    ),
    Act.RECALL: ActSpec(
        label="Reasons found",
        noun="list of reasons found",
        phase="looking for reasons",
        max_tokens=1024,
        effort=Effort.LOW,
    ),
    Act.CASTING: ActSpec(
        label="Choice of agents",
        noun="choice of agents",
        phase="choosing agents for the question",
        max_tokens=512,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
    ),
    Act.SHADOW: ActSpec(
        label="Answer of one model alone",
        noun="answer alone",
        phase="one model answers alone",
        words=350,
        is_posted=False,
        sees_history=False,
    ),
    Act.SHADOW_CHOICE: ActSpec(
        label="Option of the answer alone",
        noun="option of the answer alone",
        phase="finding the option of the answer alone",
        max_tokens=512,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
    ),
    Act.FOLLOW_UP: ActSpec(
        label="Answer to a question",
        noun="answer to a question",
        phase="answering questions about the debate",
        words=200,
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        sees_history=False,
        is_numbered=True,
    ),
}
