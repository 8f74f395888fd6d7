"""The words of a debate as frozen values: Agent, Turn, Contribution, Ballot, Verdict, Debate.

Values only: no I/O, no clock, no randomness. Identity is a matter of storage; two equal values are
the same thing. What happened lives in `core.events`; `Debate` is what folding those events gives.

Reason: every word of a debate in one place, so that no two modules can name a thing differently.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache, wraps
from typing import Annotated, Any, Concatenate, Literal, ParamSpec, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    WrapSerializer,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema

T = TypeVar("T")
P = ParamSpec("P")


class Value(BaseModel):
    """A frozen value that can be written to and read from JSON.

    Unknown fields are dropped on reading, so that an older process can read a newer one's records.
    An alias is the field's name in a settings file; records have the field's own name.
    """

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)


def _money_in_file(
    amount: Decimal, write: SerializerFunctionWrapHandler, info: SerializationInfo
) -> object:
    """A number in a settings file (written by alias), exact text in a record."""
    if not info.by_alias:
        return write(amount)
    return int(amount) if amount == int(amount) else float(amount)


#: A variable whose value is kept as a secret: it is read with the environment, by its name.
KeyVariable = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9_]*(KEY|TOKEN|SECRET)[A-Z0-9_]*$")]
#: In a list of channels: all of them.
EVERYWHERE = "*"
#: US dollars.
Money = Annotated[
    Decimal,
    Field(ge=0, allow_inf_nan=False),
    WithJsonSchema({"type": "number", "minimum": 0}, mode="validation"),
    WrapSerializer(_money_in_file, when_used="json"),
]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


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
        """Make a member of its row."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.noun, member.phase = noun, phase
        member.label = label or noun[0].upper() + noun[1:]
        return member


class Turn(Value):
    """One thing to be done, by one agent, in one round.

    Round 0 is before the first round (clarifying questions, the blind ballot).
    """

    act: Act
    round: int
    #: Id of the agent whose turn it is, or one of `RESERVED_IDS`.
    agent: str
    #: Id of the agent whose position it is about (critiques), or what else tells turns apart.
    target: str | None = None

    @property
    def key(self) -> str:
        """The key of this turn's outcome in the log: `r2/critique/ann/bob`."""
        return _key(self.act, self.round, self.agent, self.target)


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
#: The provider that asks no model.
OFFLINE = "offline"
#: The provider that plays debates written by hand, as examples; it asks no model either.
EXAMPLE = "example"
#: Ids no agent may have.
RESERVED_IDS = frozenset({JUDGE, ENGINE, FACILITATOR, SUMMARIZER, SHADOW, PLAYBOOK})
#: Turns of these acts run beside the debate: no turn, count, verdict or deadline waits for one.
BESIDE = frozenset({Act.SUMMARY, Act.SHADOW, Act.SHADOW_CHOICE})


#: Context of a validation whose input is a settings file.
IN_FILE = "settings file"


class PromptText(Value):
    """A prompt that overrides a built-in one, read once. A settings file has its file's name."""

    text: str
    #: Where it came from, for the record.
    source: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _from_file_name(cls, value: object, info: ValidationInfo) -> object:
        """The name of a file: its text is read when the settings are."""
        if isinstance(value, str):
            return {"text": "", "source": value}
        if info.context == IN_FILE:
            raise ValueError("must be the name of a file")
        return value

    @model_serializer(mode="wrap")
    def _in_file(self, write: SerializerFunctionWrapHandler, info: SerializationInfo) -> object:
        return self.source if info.by_alias else write(self)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


class ContextMethod(StrEnum):
    """What stands in for older turns in a prompt."""

    FULL = "full"
    LENGTH = "length"
    ROUNDS = "rounds"
    HIERARCHICAL = "hierarchical"


class Summarization(Value):
    """When and how older turns are summarised. Lengths are in characters."""

    enabled: bool = Field(default=True, description="Whether older turns are summarised.")
    #: Left to itself it may be another one in a format that needs it (`core.opening`).
    method: ContextMethod = Field(
        default=ContextMethod.LENGTH, description="What stands in for older turns."
    )
    threshold: int = Field(default=5000, ge=1, description="Summarise from so many characters on.")
    max_length: int = Field(default=2500, ge=1, description="Longest summary, in characters.")
    prompt: PromptText | None = Field(
        default=None,
        validation_alias="prompt_file",
        serialization_alias="prompt_file",
        description="A prompt file for summaries.",
    )


#: Makers whom resellers call otherwise than we do.
_MAKERS: Mapping[str, str] = {"moonshotai": "moonshot"}


class ModelChoice(Value):
    """A model at a provider. In settings either may be empty: then the usual one is meant."""

    provider: str = Field(default="", description="Who serves the model.")
    model: str = Field(default="", description="The model's name at that provider.")

    @property
    def full_name(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def maker(self) -> str:
        """Who made the model: named before it by resellers ("openai/gpt-6-luna")."""
        maker, slash, _ = self.model.partition("/")
        return _MAKERS.get(maker, maker) if slash else self.provider


class Speaker(ModelChoice):
    """Who can be asked for a text, as settings describe it."""

    name: str = Field(default="", description="What people read; by default the role's name.")
    icon: str = Field(default=":speech_balloon:", description="An emoji code, with colons.")
    temperature: float | None = Field(
        default=None, ge=0, le=2, allow_inf_nan=False, description="null: the model's own default."
    )
    fallbacks: tuple[ModelChoice, ...] | None = Field(
        default=None,
        description="Models to ask, in order, when its own cannot be asked; null: the usual ones.",
    )
    prompts: Mapping[str, PromptText] = Field(
        default_factory=dict[str, PromptText],
        description="Prompt files by act; `persona` for who it is.",
    )
    summarization: Summarization | None = Field(
        default=None, description="Instead of the debate's; what is missing is as there."
    )


#: Whose role is not known argues as this.
FALLBACK_ROLE = "generalist"
#: The key under which an agent overrides who it is.
PERSONA = "persona"
#: What plugins may call what they bring: it is typed in commands and written in settings.
PluginName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,29}$")]


class Agent(Speaker):
    """A point of view: role + model + limits. Its id is unique in its debate.

    Settings may leave out more than the id; who reads them fills in name, provider and model.
    """

    id: str = Field(min_length=1, description="Unique; letters, digits, `-`, `_`, `.`.")
    role: str = Field(default=FALLBACK_ROLE, description="A built-in role, or one of a plugin.")
    enabled: bool = Field(default=True, description="Whether it may take part.")


class Role(Value):
    """A point of view that agents argue from."""

    id: PluginName
    name: str = Field(min_length=1, max_length=40)
    #: An emoji code, with colons.
    icon: str = Field(default=":speech_balloon:", pattern=r"^:[a-z0-9_+-]{1,60}:$")
    #: Who it is and what it looks at, its first paragraph in short; empty: it is a built-in role,
    #: whose prompt is `core/acts/roles/<id>.md`.
    prompt: str = Field(default="", max_length=8000)
    #: Words of questions that concern it, in lower case: for the cast by topics.
    topics: tuple[str, ...] = ()
    #: The plugin it came with, for the record; empty: it is built in.
    source: str = ""


class Phase(Value):
    """Part of an agenda: every agent takes one turn of the same act."""

    act: Act
    #: Earlier acts: what the others said in them is shown, and waited for.
    hears: tuple[Act, ...] = ()


#: The acts an agenda may have: what agents say once each, and which of it they stand for.
_POSITIONS = (Act.PROPOSAL, Act.GATHER, Act.FORMULATE, Act.REFINEMENT, Act.ADJUST)
_ON_AGENDA = frozenset({*_POSITIONS, Act.PLAN, Act.DEBATE, Act.REBUTTAL})
_DRAFTS = frozenset({Act.PROPOSAL, Act.GATHER})
#: Their prompts ask how likely each option is the best, which the count of minds needs.
_LAST_POSITIONS = frozenset({Act.REFINEMENT, Act.ADJUST})


class Agenda(Value):
    """A format of one round as a plugin brings it: which acts follow one another, and their words.

    It is a value, not code, and a debate's log holds it: so the debate goes on, and can be read,
    where the plugin is gone.
    """

    name: PluginName
    #: What a menu says of it.
    words: str = Field(min_length=1, max_length=75)
    phases: tuple[Phase, ...] = Field(min_length=2, max_length=len(_ON_AGENDA))
    #: Tasks in place of the built-in ones, as templates like those of `core/acts/`.
    prompts: Mapping[Act, str] = Field(default_factory=dict[Act, str])
    #: The plugin it came with, for the record.
    source: str = ""

    @property
    def positions(self) -> tuple[Act, ...]:
        """The acts in which agents say what they stand for, in their order."""
        return tuple(phase.act for phase in self.phases if phase.act in _POSITIONS)

    @model_validator(mode="after")
    def _can_be_held(self) -> "Agenda":
        """Refuse an agenda whose turns nobody could take in its order."""
        acts = [phase.act for phase in self.phases]
        if unknown := [act.value for act in acts if act not in _ON_AGENDA]:
            names = ", ".join(sorted(act.value for act in _ON_AGENDA))
            raise ValueError(f"{unknown[0]} cannot be on an agenda; these can: {names}")
        if len(set(acts)) < len(acts):
            raise ValueError("every act is on the agenda once")
        if acts[0] not in _DRAFTS or self.phases[0].hears:
            raise ValueError("it begins with proposal or gather, and hears nothing there")
        if self.positions[-1] not in _LAST_POSITIONS:
            raise ValueError("the last position agents take is refinement or adjust")
        for at, phase in enumerate(self.phases):
            if late := [act.value for act in phase.hears if act not in acts[:at]]:
                raise ValueError(f"{phase.act.value} hears {late[0]}, which does not come before")
        if other := [act.value for act in self.prompts if act not in acts]:
            raise ValueError(f"there is a prompt of {other[0]}, which is not on the agenda")
        return self


class Person(Value):
    """A human being, as the surface knows them."""

    id: str
    name: str = ""

    @property
    def display_name(self) -> str:
        """What people read: the name, else the id."""
        return self.name or self.id


class Place(Value):
    """Where a debate is held. The core stores it and does not interpret it."""

    surface: str
    workspace: str = ""
    channel: str = ""


class Mention(Value):
    """The message that asked for a debate inside a thread of people's own, as the surface knows it.

    The debate is held elsewhere; its verdict is brought back there.
    """

    message: str
    thread: str


#: What one debate may cost where nobody chose a cap. It does not stop models whose price is
#: unknown; a cap that somebody chose does.
USUAL_DEBATE_COST = Decimal(5)


class Limits(Value):
    """What a debate may take. Times are in seconds, money in US dollars."""

    turn_seconds: Seconds = Field(default=180.0, description="For one turn, retries too.")
    round_seconds: Seconds = Field(default=900.0, description="For one round.")
    debate_seconds: Seconds = Field(default=3600.0, description="For the whole debate.")
    outage_seconds: Seconds = Field(
        default=21600.0, description="To wait where no model can be reached; it is no other time."
    )
    debate_cost: Money | None = Field(
        default=USUAL_DEBATE_COST, description="What one debate may cost; null: no cap."
    )
    quorum: int = Field(default=2, ge=1, description="Agents that must be able to speak.")


class VoteRules(Value):
    """How ballots are counted."""

    exclude_self: bool = Field(
        default=True, description="Leave out how agents rank their own positions."
    )
    weights: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict[str, float], description="Weight per agent id; 1 where none is given."
    )


class When(StrEnum):
    """When the first answers are debated."""

    #: Where they differ, and where the question wants a design or an estimate.
    SPLIT = "split"
    ALWAYS = "always"
    #: The first answers are voted on as they are.
    NEVER = "never"


class ShadowWhen(StrEnum):
    """When one model answers a debate's question alone as well."""

    #: Where several models take part.
    MIXED = "mixed"
    ALWAYS = "always"
    NEVER = "never"


class Ending(StrEnum):
    """When the rounds end."""

    #: After the number of rounds asked for.
    FIXED = "fixed"
    #: As soon as a round moved nobody, or all agree.
    CONVERGED = "converged"


#: No debate has more rounds.
MOST_ROUNDS = 15


class Termination(Value):
    """When the rounds end."""

    ending: Ending = Field(
        default=Ending.CONVERGED,
        validation_alias="type",
        serialization_alias="type",
        description="After all rounds, or as soon as a round moved nobody or all agree.",
    )
    min_rounds: int = Field(default=1, ge=1, description="Once debated, never end earlier.")


class Clarifying(Value):
    """Whether and how agents may ask people before the first round."""

    enabled: bool = Field(default=False, description="Whether they may ask.")
    per_agent: int = Field(default=5, ge=1, le=20, description="Questions per agent.")
    wait_seconds: Seconds = Field(default=900.0, description="Then the assumptions hold.")
    rounds: int = Field(
        default=1, ge=1, le=3, description="Rounds of questions: the first and follow-ups."
    )
    #: Logs of before have none.
    correct_seconds: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="After an answer that can be edited."
    )


#: How many rounds a debate has.
Rounds = Annotated[int, Field(ge=1, le=MOST_ROUNDS)]


class DebateRules(Value):
    """How a debate goes. A bound may be widened, never narrowed: logs hold what it allowed."""

    format: str = Field(default="critique", description="Which turns there are.")
    rounds: Rounds = Field(default=3, description="Rounds before the vote, at most.")
    when: When = Field(
        default=When.SPLIT, description="Debate only where first answers differ, always, or never."
    )
    termination: Termination = Field(default=Termination(), description="When the rounds end.")
    clarifying: Clarifying = Field(
        default=Clarifying(),
        validation_alias="clarifications",
        serialization_alias="clarifications",
        description="Questions to people before round 1.",
    )
    summarization: Summarization = Field(
        default=Summarization(), description="What stands in for older turns."
    )
    shadow: ShadowWhen = Field(
        default=ShadowWhen.MIXED,
        description="Whether one model answers alone as well, unseen until the verdict: where "
        "several models take part, always, or never.",
    )
    audit: bool = Field(
        default=True,
        description="Have a model of another vendor than the judge's look for faults in the "
        "verdict before it is posted, where there is one.",
    )
    sealed: bool = Field(
        default=False,
        description="Nobody is shown agents' stances, ballots and verdict before they are "
        "revealed, so that people vote on their own.",
    )
    reveal_after_hours: int = Field(
        default=0,
        ge=0,
        le=2000,
        description="Hours after its start at which a sealed debate is revealed; 0: a person does.",
    )
    evidence_characters: int = Field(
        default=24_000, ge=1000, description="Passages of sources in a prompt, in characters."
    )


class Forecast(Value):
    """What a debate was expected to take when it was started."""

    #: US dollars; None where a model's price is unknown.
    cost: Decimal | None
    #: The same if all agree at once and no round is held; None: not known.
    cost_if_agreed: Decimal | None = None
    seconds: float
    calls: int
    input_tokens: int
    output_tokens: int


class SourceKind(StrEnum):
    """What kind of thing evidence comes from."""

    FILE = "file"
    LINK = "link"
    #: A conversation of people.
    THREAD = "thread"
    #: Words that came with the question itself.
    TEXT = "text"
    #: What was decided earlier in the same place; in debates of older versions one text, now a
    #: source for each decision.
    REGISTER = "register"
    #: The answer of an MCP server's tool.
    TOOL = "tool"
    #: One debate's verdict, and what the team made of it.
    DECISION = "decision"
    #: What was said in a debate, where people ask about it.
    RECORD = "record"


class SourceReference(Value):
    """Something people gave as evidence, before it is read."""

    kind: SourceKind
    #: What people call it: a file's name, a page's address.
    title: str
    #: Where people find it; empty where there is no such address.
    address: str = ""
    #: What the surface needs to fetch it: a path, a file's id, a channel and a timestamp; of a
    #: text the text itself.
    fetch: str
    by: Person
    #: It is linked in what somebody wrote, and was not chosen as a source: all else stands without.
    in_words: bool = False


def _on_one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("must be on one line")
    return text


#: A few words, and a sentence or two, in a playbook.
_Words = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    AfterValidator(_on_one_line),
]
_Sentences = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=400),
    AfterValidator(_on_one_line),
]


class StandingQuestion(Value):
    """What a playbook asks people before round 1."""

    question: _Sentences = Field(description="What people are asked.")
    assumption: _Sentences = Field(description="What holds if nobody answers.")


class PlaybookCriterion(Value):
    """What a playbook compares options by."""

    name: _Words = Field(description="A few words; the column's title in the table of options.")
    meaning: _Sentences = Field(description="What it asks of an option.")
    must: bool = Field(
        default=False,
        description="An option that fails it is no good: it is in the table of requirements, too.",
    )


class WantedEvidence(Value):
    """A kind of source that a playbook wants to be there."""

    name: _Words = Field(description="What people call it: `the offer of each vendor`.")
    kinds: tuple[Literal["file", "link", "thread", "tool", "text"], ...] = Field(
        default=("file", "link", "thread", "tool", "text"),
        min_length=1,
        description="`file`, `link`, `thread`, `tool` (what a tool of an MCP server returned) or "
        "`text` (the words that a review was asked for with).",
    )
    words: tuple[_Words, ...] = Field(
        default=(),
        max_length=20,
        description="A source is it only if it holds one of these words or their beginnings; "
        "empty: any source of its kinds is.",
    )


class VerdictPart(Value):
    """A section that a playbook adds to the verdict."""

    title: _Words = Field(description="The section's heading.")
    asks: _Sentences = Field(description="What the judge is to write there.")


class Playbook(Value):
    """A kind of debate, ready-made: who debates and how, and what is asked, weighed and answered.

    A debate keeps the one it began with; whoever changes the file changes later debates. A bound
    may be widened, never narrowed: logs hold what it allowed.
    """

    name: str = Field(
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        max_length=40,
        description="What people type: lower case, with hyphens.",
    )
    title: _Words = Field(description="What people read.")
    description: _Sentences = Field(description="What it is for, on one line.")
    agents: tuple[_Words, ...] = Field(
        default=(),
        max_length=10,
        description="Agents of the settings or roles; at least two, or none: then those debate "
        "who would without it.",
    )
    format: str | None = Field(
        default=None,
        description="critique, council, panel, review, or a plugin's; null: as without a playbook.",
    )
    rounds: Rounds | None = Field(
        default=None, description="At most so many; null: as without a playbook."
    )
    when: When | None = Field(
        default=None,
        description="`split`: debate only where first answers differ; `always`; `never`: vote at "
        "once; null: as without a playbook.",
    )
    questions: tuple[StandingQuestion, ...] = Field(
        default=(), max_length=4, description="What people are asked before round 1, always."
    )
    criteria: tuple[PlaybookCriterion, ...] = Field(
        default=(), max_length=6, description="What options are compared by, the gravest first."
    )
    evidence: tuple[WantedEvidence, ...] = Field(
        default=(),
        max_length=6,
        description="Sources that should be there; for what is missing people are asked, and the "
        "verdict says so.",
    )
    verdict: tuple[VerdictPart, ...] = Field(
        default=(), max_length=6, description="Sections of the verdict besides the usual ones."
    )


class CastingModels(Value):
    """What roles become agents with, once a model has chosen them."""

    #: Dealt to the agents in turn.
    models: tuple[ModelChoice, ...]
    #: Stand in for them.
    fallbacks: tuple[ModelChoice, ...] = ()
    #: What there is to choose among besides the built-in roles.
    roles: tuple[Role, ...] = ()


class Setup(DebateRules):
    """Everything that was decided about a debate before its first turn."""

    question: str
    context: str = ""
    asked_by: Person
    place: Place = Place(surface="terminal")
    #: Id of the token with which a program asked for it; empty: people asked themselves.
    token: str = ""
    #: None: it was not asked for in a thread of people's own.
    mention: Mention | None = None
    #: Id of the debate from whose verdict it goes on; empty: of none.
    continues: str = ""
    #: The kind of debate it is, as its file was at the start; None: none was chosen.
    playbook: Playbook | None = None
    #: What its format is, where a plugin brought it; None: a built-in one.
    agenda: Agenda | None = None
    #: People read one post per agent and round, not one per turn; so it stays to the end. Older
    #: versions posted every turn.
    quiet: bool = False
    #: Where nobody chose them they are cast: by topics, until a model has (`casting`).
    agents: tuple[Agent, ...]
    #: Why each takes part, by id; empty where people chose.
    reasons: Mapping[str, str] = Field(default_factory=dict[str, str])
    #: A model is asked who takes part, before any other turn; None: it is not.
    casting: CastingModels | None = None
    #: What that model says of the decision; where none was asked, nothing is assumed.
    hard_to_undo: bool = False
    checks_rules: bool = False
    judge: Agent
    #: The judge's model is one of these, of a maker none of whose agents won; empty: its own.
    judge_models: tuple[ModelChoice, ...] = ()
    limits: Limits = Limits()
    vote: VoteRules = VoteRules()
    #: Rank the first drafts before the debate, to see later who moved.
    blind_ballot: bool = True
    #: Serve the background; None = the judge's model.
    summarizer: Agent | None = None
    facilitator: Agent | None = None
    #: Answers the question alone, unseen until the verdict; None: nobody does.
    shadow_agent: Agent | None = None
    #: Random per debate: marks where quoted text begins and ends in prompts.
    delimiter: str
    #: What was given as evidence when it was asked for.
    references: tuple[SourceReference, ...] = ()
    #: None: nobody estimated it.
    forecast: Forecast | None = None
    #: Said to people when the debate starts (defaults used, unknown roles, …).
    warnings: tuple[str, ...] = ()

    def agent(self, agent_id: str) -> Agent:
        """The agent with this id; the judge, facilitator and summarizer by their reserved ids.

        Raises:
            KeyError: No such agent.
        """
        if agent_id == JUDGE:
            return self.judge
        if agent_id == FACILITATOR:
            return self.facilitator or _standing_in(self.judge, FACILITATOR)
        if agent_id == SUMMARIZER:
            return self.summarizer or _standing_in(self.judge, SUMMARIZER)
        if agent_id == SHADOW:
            return self.shadow_agent or _standing_in(self.judge, SHADOW)
        return {agent.id: agent for agent in self.agents}[agent_id]

    @property
    def models(self) -> Mapping[str, str]:
        """The model of each agent by its id, as `provider/model`."""
        return {agent.id: agent.full_name for agent in self.agents}

    def letter(self, agent_id: str) -> str:
        """The neutral name an agent and its position go by between agents: A, B, C and so on."""
        return chr(ord("A") + [agent.id for agent in self.agents].index(agent_id))


def _standing_in(judge: Agent, role: str) -> Agent:
    """The judge's model in another role."""
    return judge.model_copy(update={"id": role, "name": role.capitalize(), "role": role})


class Usage(Value):
    """What model calls have spent. Tokens of all attempts; cost None = price unknown ("n/a")."""

    #: All input tokens, cached and written ones included.
    input_tokens: int = 0
    output_tokens: int = 0
    #: Input tokens read from the provider's cache.
    cached_tokens: int = 0
    #: Input tokens written to the provider's cache.
    written_tokens: int = 0
    #: Output tokens spent on hidden reasoning.
    reasoning_tokens: int = 0
    #: US dollars.
    cost: Decimal | None = Decimal(0)
    #: Attempts made, failed ones included.
    attempts: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The sum; if one cost is unknown, so is the sum's."""
        is_known = self.cost is not None and other.cost is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=(self.cost or Decimal(0)) + (other.cost or Decimal(0)) if is_known else None,
            attempts=self.attempts + other.attempts,
        )


@dataclass(frozen=True)
class SpendingScope:
    """Whose spending a cap bounds: what is None is not looked at."""

    #: A day in UTC.
    day: date | None = None
    workspace: str | None = None
    person: str | None = None
    #: Id of the token that debates were asked for with.
    token: str | None = None
    debate_id: str | None = None


@dataclass(frozen=True)
class Cap:
    """An upper bound on money, and what is known to be spent of it. Amounts are in US dollars."""

    #: What it bounds, unique and stable: `debate/d123`, `person/T1/U1/2026-11-20`.
    key: str
    #: Words for people: "this debate", "you today".
    words: str
    limit: Decimal
    spent: Decimal = Decimal(0)
    #: Kept back from this call, for calls that must still be possible afterwards.
    kept: Decimal = Decimal(0)
    #: What people can do about it, in a sentence.
    remedy: str = ""
    #: Whether a call whose price is unknown is refused.
    stops_unpriced: bool = True
    #: What it bounds, in the database; None: only whoever asks knows what is spent.
    scope: SpendingScope | None = None

    def has_room_for(self, amount: Decimal) -> bool:
        """Whether a call that may cost so much stays under the cap."""
        return self.spent + amount <= self.limit - self.kept


class SentPart(Value):
    """A part of a prompt as a model was sent it; its text is in the log already."""

    label: str
    #: What it is: a `core.request.PartKind`.
    kind: str
    #: Characters sent.
    chars: int
    #: Characters left out to fit the model's context.
    left_out: int = 0


class Call(Value):
    """How a piece of text came from a model."""

    provider: str
    model: str
    usage: Usage = Usage()
    latency_ms: int = 0
    request_id: str = ""
    temperature: float | None = None
    #: Where the prompt came from: "built-in" or the path of an override.
    prompt_source: str = "built-in"
    #: The model that was to answer, as `provider/model`, when a fallback did; else empty.
    stands_in_for: str = ""
    #: Why it could not be asked, in words for people.
    stands_in_why: str = ""
    #: The prompt of the attempt that led to it, the task left out; empty in older logs.
    sent: tuple[SentPart, ...] = ()


class Expense(Value):
    """What one event of the log cost."""

    #: Whose turn it was; empty: several agents' calls that were given up under way.
    agent: str = ""
    #: The call that led to it.
    call: Call | None = None
    #: What attempts that came to nothing have spent besides.
    lost: Usage = Usage()

    @property
    def usage(self) -> Usage:
        """The usage of the call and of failed attempts together."""
        return self.call.usage + self.lost if self.call else self.lost


class Mark(Value):
    """Where a place in a source begins."""

    #: The line of the text, counted from 1.
    line: int
    #: "page 3", "sheet Load", "Ann, 12:40"; may be empty where lines are counted.
    label: str
    #: Leads to that place; empty: the source's own address does.
    address: str = ""
    #: What the lines from here on are called, where people can find them by number: "row".
    counts: str = ""
    #: Of a hunk of a diff: the number of its first line in the changed file. Lines that were taken
    #: out count for nothing; 0: it is no hunk.
    hunk_at: int = 0


class SourceText(Value):
    """The text of a source. Cleaned of what nobody sees; secrets are redacted."""

    text: str = ""
    #: In the order of their lines; none: lines are counted.
    marks: tuple[Mark, ...] = ()
    #: SHA-256 of what was read, in hexadecimal digits.
    sha256: str = ""
    #: What people should know of it: "only the first 500 of 900 pages were read".
    warnings: tuple[str, ...] = ()
    #: What came with it: the files of a thread. They become sources too.
    references: tuple[SourceReference, ...] = ()


class Source(SourceText):
    """A piece of evidence as it was read, or why it could not be."""

    turn: Turn
    reference: SourceReference
    #: Why there is no text, as the end of a sentence: "it has a password".
    fault: str = ""
    #: How it is cited where that is not by its number: d1 for the first earlier decision.
    label: str = ""

    @property
    def number(self) -> int:
        """Which of the debate's references it is, counted from 1."""
        return int(self.turn.target or 0)

    @property
    def id(self) -> str:
        """How it is cited: e1, e2 and so on; d1 is an earlier decision, r1 of a debate's record."""
        return self.label or f"e{self.number}"


class CitationStatus(StrEnum):
    """What checking a citation showed."""

    #: The words stand in the source.
    VERIFIED = "verified"
    #: They do not, or there is no such source.
    UNVERIFIED = "unverified"


class Citation(Value):
    """Words an agent says stand in a source, checked when it said them."""

    #: As the agent named it: `e3`.
    source: str
    #: As the agent wrote them.
    words: str
    status: CitationStatus
    #: Where they stand: "page 3", "line 12".
    place: str = ""
    #: Leads there.
    address: str = ""
    #: Why it is not verified, in words for people.
    fault: str = ""


class Severity(StrEnum):
    """How much a finding weighs."""

    #: The subject must not go ahead with it.
    BLOCKER = "blocker"
    #: It will cost much, or go wrong for many; it is to be mended first.
    MAJOR = "major"
    #: Worth mending; nothing falls with it.
    MINOR = "minor"
    #: A slip, a name, a word.
    DETAIL = "detail"


class FindingStatus(StrEnum):
    """How a finding stands after the author's answers and changes."""

    OPEN = "open"
    #: What was said about it takes away what was wrong; no changed text shows it.
    ANSWERED = "answered"
    #: A changed text mends it.
    RESOLVED = "resolved"
    #: It came with the second look.
    NEW = "new"


class ReviewFinding(Value):
    """Something that is wrong with the subject of a review, and the words it is about."""

    severity: Severity
    #: The words, checked when the finding was made: unverified, and it does not count.
    citation: Citation
    wrong: str
    mend: str = ""
    #: Counted from 1 in its review, the gravest first; 0: not merged with the others' yet.
    number: int = 0
    #: Ids of the agents who found it; empty where it stands in its agent's own text.
    raised_by: tuple[str, ...] = ()
    status: FindingStatus = FindingStatus.OPEN
    #: Why it is settled, or is not.
    why: str = ""
    #: The words of a changed text that mend it, checked when the agent looked again.
    mended_by: Citation | None = None
    #: Lines of the diff from the subject to the changed text at its words: "- old", "+ new".
    changed: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether its words stand in the subject."""
        return self.citation.status is CitationStatus.VERIFIED

    @property
    def is_open(self) -> bool:
        """Whether it is still to be mended."""
        return self.counts and self.status in {FindingStatus.OPEN, FindingStatus.NEW}


class RaisedKind(StrEnum):
    """What an agent raised."""

    RISK = "risk"
    IDEA = "idea"
    FACT = "fact"
    #: A fact that it lacks, where people were not asked before.
    MISSING = "missing"


class RaisedPoint(Value):
    """A risk, an idea, a fact or the lack of one that an agent named by its first answer."""

    agent: str
    kind: RaisedKind
    text: str


class Contribution(Value):
    """What an agent said on one of its turns."""

    turn: Turn
    text: str
    #: What the text says in one sentence, as its author put it; empty: not said.
    answer: str = ""
    #: What weighs most in it, as its author put it; the gravest first.
    points: tuple[str, ...] = ()
    #: Of a first answer: what its author would not have anybody miss, whoever wins.
    raised: tuple[RaisedPoint, ...] = ()
    #: None when no model was asked (a proposal carried over from the last refinement).
    call: Call | None = None
    #: Key of the turn whose text was carried over, if any.
    carried_from: str | None = None
    #: What it quotes, in the order of the text.
    citations: tuple[Citation, ...] = ()
    #: What it looked up in the sources before it spoke; empty: nothing.
    looked_up: str = ""
    #: How likely the agent now holds each option the best: 0 to 1 by option id; empty: not said.
    stance: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: Options that its stance names first: their names, each with its share.
    new_options: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: Of a review: what it found, struck out or not; of a second look: how its findings stand.
    findings: tuple[ReviewFinding, ...] = ()
    warnings: tuple[str, ...] = ()


class FailureCause(StrEnum):
    """What a failed turn says about the turns after it."""

    #: Nothing: the next one may go well.
    PASSING = "passing"
    #: A cap on money could be passed: nothing more can be paid.
    CAP = "cap"
    #: The provider refuses our key: this agent cannot be asked any more.
    KEY = "key"


class Failure(Value):
    """A turn that failed after its retries. It is a fact, never text in the debate."""

    turn: Turn
    #: Words for people; no secrets, no prompts.
    reason: str
    usage: Usage = Usage(attempts=1)
    cause: FailureCause = FailureCause.PASSING


class QuestionKind(StrEnum):
    """What kind of answer a question wants."""

    #: Which one of several.
    CHOICE = "choice"
    #: How something is to be done: what there is to choose from is only sketched.
    DESIGN = "design"
    #: How much, how many, how likely.
    ESTIMATE = "estimate"

    @property
    def words(self) -> str:
        """What is asked for, for people."""
        return {
            QuestionKind.CHOICE: "which option, or yes or no",
            QuestionKind.DESIGN: "how to do it",
            QuestionKind.ESTIMATE: "how much, how many or how likely",
        }[self]


class Option(Value):
    """Something that may be chosen. Its id is never changed and never given twice."""

    id: str
    name: str


class Options(Value):
    """What may be chosen, merged from the isolated drafts."""

    turn: Turn
    question_kind: QuestionKind
    items: tuple[Option, ...]
    #: Id of the option that each draft stands for, by agent.
    stances: Mapping[str, str]
    call: Call | None = None
    #: What attempts that came to nothing have spent.
    lost: Usage = Usage()
    #: How they came to be, where no model merged them.
    warnings: tuple[str, ...] = ()


class Findings(Value):
    """The findings of all agents, each once, the gravest first."""

    turn: Turn
    items: tuple[ReviewFinding, ...]
    call: Call | None = None
    #: What attempts that came to nothing have spent.
    lost: Usage = Usage()
    #: How they came to be, where no model merged them.
    warnings: tuple[str, ...] = ()


class OptionChange(StrEnum):
    """What a person does to the list of options."""

    ADD = "add"
    RENAME = "rename"
    #: Two are the same: one goes into the other.
    MERGE = "merge"


class OptionEdit(Value):
    """A person changed the list of options."""

    change: OptionChange
    #: Id of the option; empty with `ADD`: its place in the log gives the new one's.
    option: str = ""
    #: With `ADD` and `RENAME`: its name.
    name: str = ""
    #: With `MERGE`: id of the option it goes into.
    into: str = ""
    by: Person
    #: Tells one edit from the next.
    origin: str


class GateReason(StrEnum):
    """Why another round is held, or is not."""

    #: The first answers differ, or the one all put first is not far enough ahead.
    SPLIT = "split"
    #: The question wants a design or an estimate: its first answers are always debated.
    OPEN_QUESTION = "open question"
    #: Too few first ballots say anything about options.
    NOT_COMPARABLE = "not comparable"
    #: The last round moved somebody, and they do not agree yet.
    MOVED = "moved"
    #: All hold the same option best, and it is 30 points ahead of the second.
    AGREED = "agreed"
    #: The last round moved nobody; all hold the same option best.
    SETTLED = "settled"
    #: The last round moved nobody, and they still hold different options best.
    DEADLOCK = "deadlock"


#: Reasons for which no further round is held.
ENDS_ROUNDS = frozenset({GateReason.AGREED, GateReason.SETTLED, GateReason.DEADLOCK})


class NoDebateReason(StrEnum):
    """Why no round can be of use, whatever was asked for."""

    #: There are only checklists, and none takes a side on the question.
    NO_MODEL = "no model"
    #: One agent has nobody to answer.
    ALONE = "alone"


class Gate(Value):
    """Whether another round is worth holding: after the blind ballots, and after each round."""

    turn: Turn
    reason: GateReason
    #: None: there is something to debate. Beside the reason, not one of its values: older versions
    #: can read no log that has a value they do not know, and leave out a field they do not know.
    undebatable: NoDebateReason | None = None
    #: One model speaks for all agents on a choice: its vote stands though the answers differ. A
    #: field of its own for the same reason.
    vote_only: bool = False
    #: The decision is hard to undo: it is debated though all agree. A field for the same reason.
    hard_to_undo: bool = False
    #: The question is whether rules are kept: its vote stands though the answers differ.
    checks_rules: bool = False
    #: Id of the option on which they agree, or on which they lie furthest apart.
    option: str = ""
    #: How far apart the probabilities for it lie, 0 to 1.
    spread: float = 0.0
    #: The least and the most that anybody gives the option all put first, 0 to 1; None: not all put
    #: the same first, or an older version weighed it.
    lowest: float | None = None
    highest: float | None = None
    #: How far that option leads the second on average, 0 to 1; None as above.
    lead: float | None = None
    #: Ids of the agents whom the round moved.
    moved: tuple[str, ...] = ()
    #: What the rounds that are not held would have cost, in US dollars; None: not known.
    saved: Decimal | None = None

    @property
    def skips(self) -> Act | None:
        """The step of the round that is left out; None where a further round was weighed."""
        return Act(self.turn.target) if self.turn.target else None

    @property
    def ends_rounds(self) -> bool:
        """Whether no further round is held."""
        is_agreed = self.reason in ENDS_ROUNDS and not self.hard_to_undo
        is_ended = is_agreed or self.undebatable is not None or self.vote_only
        return is_ended and self.skips is None


class Ballot(Value):
    """A strict ranking of all positions, best first, and what each option is worth to the voter.

    A position is named by its agent's id.
    """

    turn: Turn
    ranking: tuple[str, ...]
    reasons: Mapping[str, str] = Field(default_factory=dict)
    #: How likely each option is the best for this team: 0 to 1 by option id, as the voter gave it;
    #: empty where there were no options to judge. Older versions made them 1 together.
    probabilities: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: 0 to 1; None: none was asked for.
    confidence: float | None = 0.5
    #: What the voter says moved it away from the option it held best at first: key of a critique,
    #: id of a source or of an agent. Older versions recorded an agent's newest text.
    moved_by: str | None = None
    #: What convinced it, in its own words.
    why_moved: str = ""
    call: Call | None = None

    @property
    def voter(self) -> str:
        """Id of the agent who voted."""
        return self.turn.agent


class Abstention(Value):
    """No ballot: it could not be read even after one repair, or the voter abstained."""

    turn: Turn
    reason: str
    #: The voter said so itself; `reason` is in its words.
    declared: bool = False
    call: Call | None = None


class Score(Value):
    """One position's result in the vote."""

    position: str
    #: Borda count: Σ over ballots of (N − rank), weighted.
    points: float
    first_places: int
    #: None: nobody who ranked it first gave a confidence.
    mean_confidence: float | None
    #: Id of the option it stands for, and the voters' mean probability of that; empty, None: there
    #: were no options.
    option: str = ""
    mean_probability: float | None = None


class OptionScore(Value):
    """One option's result in the vote."""

    option: str
    #: Voters who hold it most likely the best, by their weights.
    first_choices: float
    #: Mean of all voters' probabilities, by their weights, 0 to 1.
    mean_probability: float


class Tally(Value):
    """The counted vote, best score first: by position, and by option where there are options."""

    scores: tuple[Score, ...]
    options: tuple[OptionScore, ...] = ()
    #: More than one id: a tie that no rule breaks. Empty: nobody voted.
    winners: tuple[str, ...]
    #: The best two options are within ten points of probability of each other. In debates of
    #: older versions, which had no options: the best two positions are within one point.
    controversial: bool
    voters: tuple[str, ...]
    abstained: tuple[str, ...] = ()


class Question(Value):
    """What an agent wants to know before it takes a position."""

    text: str
    #: What holds if nobody answers.
    assumption: str


class Questions(Value):
    """One agent's questions; none is an outcome too."""

    turn: Turn
    questions: tuple[Question, ...]
    #: Facts that the agent relies on, as it put them.
    facts: tuple[str, ...] = ()
    #: What was wrong with the reply: unreadable, empty or surplus questions.
    warnings: tuple[str, ...] = ()
    call: Call | None = None


class Clarification(Value):
    """A question put to people, asked by one agent or several. Numbered from 1 in its debate."""

    number: int
    question: str
    assumption: str
    #: Ids of the agents who want to know.
    asked_by: tuple[str, ...]


class Clarifications(Value):
    """Questions put to people together, and how long people have."""

    turn: Turn
    items: tuple[Clarification, ...]
    until: datetime
    #: Questions that were left out, as there were too many.
    warnings: tuple[str, ...] = ()
    #: How a model merged what asks the same in other words; None: none did.
    call: Call | None = None
    #: What attempts to have it do so have spent besides.
    lost: Usage = Usage()
    #: Whether answers can change until an event closes the questions; in logs of before the last
    #: answer closed them.
    closed_by_event: bool = False


class Answer(Value):
    """A person's answer to a clarification, or the wish to let the assumption hold."""

    number: int
    #: Empty: skipped.
    text: str
    by: Person
    #: What brought it (a message, a form): what arrives twice is known by it.
    origin: str = ""
    #: Tells one correction from the next; empty: the first answer to its question.
    change: str = ""
    #: When its message had been edited, in an order of its surface; empty: it was not.
    edited: str = ""
    #: Id of the note that these words were until somebody said which question they answer.
    note: str = ""
    #: Whether it stands in a message, which its author can edit.
    is_editable: bool = False

    @property
    def key(self) -> str:
        """Its event's: the first answer to a question has the question's own."""
        return "/".join(filter(None, (f"answer/{self.number}", self.change)))


class NextStep(StrEnum):
    """What a facilitator decides after a round."""

    GO_ON = "go_on"
    ASK = "ask"
    VOTE = "vote"


class Guidance(Value):
    """A facilitator's decision."""

    turn: Turn
    next_step: NextStep
    #: What the next round should look at.
    focus: str = ""
    #: What to ask people, and what holds if nobody answers.
    question: Question | None = None
    #: With the vote: a round of closing statements is held before it. Older versions held none.
    closing: bool = False
    #: By rule, without asking the facilitator: the round moved nobody, or all agree.
    gate: Gate | None = None
    call: Call | None = None


class Cast(Value):
    """The agents chosen for a question where nobody chose any."""

    turn: Turn
    agents: tuple[Agent, ...]
    #: Why each takes part, by id.
    reasons: Mapping[str, str]
    #: What the model says of the decision; false as well where it does not know.
    hard_to_undo: bool = False
    checks_rules: bool = False
    call: Call | None = None
    #: What attempts that came to nothing have spent.
    lost: Usage = Usage()
    #: Why topics had to do; empty unless they had.
    warnings: tuple[str, ...] = ()


class SummaryKind(StrEnum):
    """What a summary stands in for."""

    #: One agent's own history: its proposals, the critiques of them, its refinements.
    PERSPECTIVE = "perspective"
    CONTRIBUTION = "contribution"
    ROUND = "round"
    #: Several rounds.
    META = "meta"
    #: The last round's positions, for the judge.
    JUDGE = "judge"


class Summary(Value):
    """Stands in for older turns."""

    turn: Turn
    kind: SummaryKind
    text: str
    before_chars: int
    after_chars: int
    #: How it was made: the context method, or the fallback that had to do.
    method: str
    call: Call | None = None
    #: What attempts that came to nothing have spent.
    lost: Usage = Usage()
    warnings: tuple[str, ...] = ()


class Note(Value):
    """What a person added while the debate ran."""

    id: str
    author: Person
    #: Empty: it says nothing any more, as it was edited away, deleted, or is an answer now.
    text: str
    #: Counts the notes of a debate, given by the fold: what others go by stays as it is.
    number: int = 0
    #: Contributions that existed when it arrived; turns after it see it.
    after: int = 0
    #: When it was edited last, in an order of its surface; empty: it was not.
    change: str = ""
    #: What came with it as evidence.
    references: tuple[SourceReference, ...] = ()


class NoteOutcome(Value):
    """What became of a note."""

    note: str
    used: bool
    explanation: str


class VerdictSource(StrEnum):
    """Who wrote the verdict."""

    JUDGE = "judge"
    FALLBACK_JUDGE = "fallback-judge"
    #: The judge could not be asked: the winning position stands as it is.
    WINNER = "winner"


class RequirementStatus(StrEnum):
    """How a verdict stands to a requirement."""

    MET = "met"
    NOT_MET = "not met"
    UNKNOWN = "unknown"


class Requirement(Value):
    """A requirement of the question as the judge found it dealt with."""

    #: In the question's words.
    text: str
    #: The words of the solution that show it; empty where there are none.
    words: str = ""
    status: RequirementStatus


class Judgement(Value):
    """A cell of the table of options and criteria: how an option does by one criterion."""

    #: Id of the option.
    option: str
    criterion: str
    #: A few words.
    words: str


class Relation(StrEnum):
    """How a verdict stands to an earlier decision."""

    CONFIRMS = "confirms"
    REFINES = "refines"
    CONTRADICTS = "contradicts"


class VerdictSection(Value):
    """A section of a verdict that the debate's playbook asked for."""

    title: str
    #: Markdown.
    text: str


class EarlierDecision(Value):
    """An earlier decision that a verdict bears on."""

    #: How it is cited: d1.
    source: str
    #: Id of its debate, what it was, and where people find it (empty: nowhere).
    debate: str
    title: str
    address: str = ""
    relation: Relation
    why: str = ""


class CrossCheck(Value):
    """What the judge chose when it read the positions in the opposite order."""

    turn: Turn
    #: Id of the option; empty: none of them.
    option: str
    reason: str = ""
    call: Call | None = None


#: The format of reviews.
REVIEW = "review"
#: How a verdict begins in which the offline engine declines to decide. No prompt asks for it.
NOT_DECIDED = "Not decided: no model was asked"


class Overrule(Value):
    """That a judge decided for another option than the vote chose, and on what ground."""

    #: Ids of the options that the vote and the judge chose; the judge's may be empty: none of them.
    vote: str
    judge: str
    #: The major requirement that the vote's option breaks, or the quote that shows it; empty: the
    #: judge named none that is there, and the vote stands.
    ground: str = ""
    #: Id of the source that is quoted; empty: a requirement.
    source: str = ""

    @property
    def stands(self) -> bool:
        """Whether the verdict is the judge's."""
        return bool(self.ground)


class AuditKind(StrEnum):
    """What is wrong with a verdict."""

    #: A figure that does not follow from the others.
    SUM = "sum"
    #: A quote that is not there, or says something else.
    QUOTE = "quote"
    #: A reason against it that a ballot holds and the verdict leaves out.
    DISSENT = "dissent"
    #: A requirement that is called met and is not.
    REQUIREMENT = "requirement"


class AuditFault(Value):
    """One fault: words of the verdict, or of a ballot that it leaves out, and what is wrong."""

    kind: AuditKind
    words: str
    why: str


class Audit(Value):
    """What a model of another vendor than the judge's finds wrong with a verdict."""

    turn: Turn
    #: The model, as `provider/model`.
    auditor: str
    faults: tuple[AuditFault, ...] = ()
    #: Faults that are about words which stand nowhere.
    invented: int = 0
    #: Why there is none; empty: there is one.
    failure: str = ""
    call: Call | None = None
    #: What attempts that came to nothing have spent.
    lost: Usage = Usage()


class Verdict(Value):
    """The judge's result. It is the agents' verdict, not yet the team's decision."""

    decision: str
    #: Id of the option decided for; empty: none of them, or there were none.
    option: str = ""
    #: What weighs most, each in a sentence.
    reasons: tuple[str, ...] = ()
    solution: str
    implementation: str = ""
    #: Every major requirement the judge looked at; empty in debates of older versions.
    requirements: tuple[Requirement, ...] = ()
    criteria: tuple[Judgement, ...] = ()
    #: What the playbook asked for besides; empty without one.
    sections: tuple[VerdictSection, ...] = ()
    tradeoffs: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    unmet_requirements: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    dissent: str = ""
    #: Id of the agent that holds it, the judge's where nobody else does; empty: nobody said whose.
    dissent_by: str = ""
    overturned_by: tuple[str, ...] = ()
    #: What one agent alone raised and the decision leaves out; what weighs most first.
    lone: tuple[RaisedPoint, ...] = ()
    notes: tuple[NoteOutcome, ...] = ()
    #: What its texts quote.
    citations: tuple[Citation, ...] = ()
    #: None: the judge decided for the option that the vote chose, or the vote chose none.
    overrule: Overrule | None = None
    #: How it stands to what was decided earlier.
    earlier: tuple[EarlierDecision, ...] = ()
    #: Of a review: every finding that counts, as it stood at the end.
    findings: tuple[ReviewFinding, ...] = ()
    #: 0 to 100, computed from the debate; None: none can be given. In debates of older versions:
    #: what the judge said.
    confidence: int | None
    #: What it rests on, in words for people.
    rests_on: tuple[str, ...] = ()
    #: What the judge itself said, 0 to 100: a footnote.
    judge_confidence: int | None = None
    source: VerdictSource = VerdictSource.JUDGE
    #: Written after a stop or with the quorum lost: not all turns were taken.
    partial: bool = False
    warnings: tuple[str, ...] = ()
    call: Call | None = None
    #: What judges that came to nothing have spent.
    lost: Usage = Usage()

    @property
    def is_undecided(self) -> bool:
        """Whether our own engine declined to decide; what a model writes is the team's to judge."""
        declines = self.decision.startswith(NOT_DECIDED)
        return declines and not self.option and self.confidence is None


class ShadowAnswer(Value):
    """What one model answered alone, from the question and the sources only.

    No agent, judge or person is shown it before the verdict.
    """

    turn: Turn
    #: In one sentence.
    decision: str
    solution: str = ""
    #: What it chose between, and why as it did.
    alternatives: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    overturned_by: tuple[str, ...] = ()
    #: What its texts quote.
    citations: tuple[Citation, ...] = ()
    call: Call | None = None

    @property
    def text(self) -> str:
        """All of it."""
        lists = (*self.alternatives, *self.reasons, *self.risks, *self.overturned_by)
        return "\n".join((self.decision, self.solution, *lists))


class ShadowChoice(Value):
    """Which of the debate's options the answer of one model alone takes."""

    turn: Turn
    #: Id of the option; empty: none of them.
    option: str
    call: Call | None = None


class FollowUp(Value):
    """What a person asks about a debate after its verdict."""

    #: What brought it (a message, a form): what arrives twice is known by it.
    id: str
    by: Person
    text: str
    #: Counted from 1 in its debate; 0 before it is in the log.
    number: int = 0


#: Entries of a debate's record that no agent said: in place of the key of a turn.
VERDICT_ENTRY, DECISION_ENTRY = "verdict", "decision"


class FollowUpAnswer(Value):
    """What a debate's record says to a question: the judge's words, or passages of the record."""

    turn: Turn
    #: Markdown; quotes that do not stand in the record are struck out.
    text: str
    citations: tuple[Citation, ...] = ()
    #: Entries of the record that it quotes: id → the key of their turn, "verdict" or "decision".
    entries: Mapping[str, str] = Field(default_factory=dict[str, str])
    #: Why no model answers, in words for people; empty where one does.
    fault: str = ""
    call: Call | None = None
    #: What attempts that came to nothing have spent.
    lost: Usage = Usage()

    @property
    def usage(self) -> Usage:
        """All that it has spent."""
        return self.call.usage + self.lost if self.call else self.lost


class Stop(Value):
    """A person ended the debate early."""

    by: Person


class PeopleBallot(Value):
    """A person's ballot on the options, best first. It is counted apart from agents'."""

    by: Person
    #: Ids of options; the first is the choice, others may follow.
    options: tuple[str, ...] = ()
    #: In debates of older versions: ids of the agents whose positions were ranked.
    ranking: tuple[str, ...] = ()
    #: Tells one ballot of a person from the next; their newest one counts.
    origin: str = ""


class DecisionKind(StrEnum):
    """What the team makes of a verdict."""

    ACCEPT = "accept"
    REJECT = "reject"
    #: Look at it again on a date.
    REVISIT = "revisit"
    #: A newer debate stands in its place.
    SUPERSEDE = "supersede"


class Decision(Value):
    """What the team decided after the agents' verdict. The newest one stands."""

    kind: DecisionKind
    by: Person
    why: str = ""
    #: With `REVISIT`: when to look at it again.
    revisit_on: date | None = None
    #: With `SUPERSEDE`: id of the newer debate.
    superseded_by: str | None = None
    #: Tells one decision from the next.
    origin: str


class OutcomeKind(StrEnum):
    """How a decision turned out."""

    HELD = "held"
    PARTLY = "partly"
    #: It was taken back, or was wrong.
    REVERSED = "reversed"
    #: Nobody can say yet.
    TOO_EARLY = "too early"


class DecisionOutcome(Value):
    """How an accepted decision turned out, as somebody of the team says. The newest one stands."""

    kind: OutcomeKind
    by: Person
    why: str = ""
    #: Origin of the accepted decision; empty on a terminal, where nobody accepts.
    decision: str = ""
    #: Tells one outcome from the next.
    origin: str


class Feedback(Value):
    """What a person thinks of the verdict's quality."""

    by: Person
    helpful: bool
    comment: str = ""
    #: Tells one piece of feedback from the next; a person's newest one counts.
    origin: str


class Status(StrEnum):
    """Where a debate stands."""

    RUNNING = "running"
    CONCLUDED = "concluded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Debate:
    """A debate as its events tell it: nothing here that is not in the log.

    Mappings are in the order of the log. Made by `core.events.fold`, never by hand.
    """

    id: str
    setup: Setup
    started_at: datetime
    #: Sequence number and time of the newest event folded in.
    seq: int = 0
    now: datetime
    #: Seconds it was worked on: no pauses, no waiting for people, no time the bot was down.
    worked: float = 0.0
    #: The same when the newest outcome of each round came.
    worked_at: Mapping[int, float] = field(default_factory=dict[int, float])
    paused_at: datetime | None = None
    #: What each event cost that cost anything.
    spent: tuple[Expense, ...] = ()
    #: When each key of the log came to be.
    times: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    contributions: Mapping[str, Contribution] = field(default_factory=dict[str, Contribution])
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])
    questions: Mapping[str, Questions] = field(default_factory=dict[str, Questions])
    clarifications: Mapping[str, Clarifications] = field(default_factory=dict[str, Clarifications])
    #: What each message says to a question now, in the order in which messages were written.
    replies: Mapping[int, tuple[Answer, ...]] = field(default_factory=dict[int, tuple[Answer, ...]])
    #: Names of those who answered or wrote notes, by id; no two of them have one name.
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Id of a message → when it was edited, as far as its words were taken.
    edits: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Keys of clarifications whose time is over.
    closed: frozenset[str] = frozenset()
    guidance: Mapping[str, Guidance] = field(default_factory=dict[str, Guidance])
    summaries: Mapping[str, Summary] = field(default_factory=dict[str, Summary])
    #: What may be chosen as it was merged from the drafts; `core.rules.options` has it as it is.
    options: Options | None = None
    option_edits: tuple[OptionEdit, ...] = ()
    #: Of a review: what the agents found, as it was merged; how it stands: `core.rules.findings`.
    findings: Findings | None = None
    #: By the key of their turn.
    gates: Mapping[str, Gate] = field(default_factory=dict[str, Gate])
    #: Who wanted the debate that the gate had skipped.
    wanted_by: Person | None = None
    #: Who had a sealed debate revealed, and people's ballots since: they count apart.
    revealed_by: Person | None = None
    late_ballots: Mapping[str, PeopleBallot] = field(default_factory=dict[str, PeopleBallot])
    cross_check: CrossCheck | None = None
    ballots: Mapping[str, Ballot] = field(default_factory=dict[str, Ballot])
    abstentions: Mapping[str, Abstention] = field(default_factory=dict[str, Abstention])
    #: Every note there ever was, by its number; agents read `notes`.
    all_notes: tuple[Note, ...] = ()
    #: Ids of messages that their authors deleted: nobody reads their notes any more.
    withdrawn: frozenset[str] = frozenset()
    #: What people gave as evidence, in the order of the log: with the question, with notes, or
    #: in a thread that is a source itself.
    references: tuple[SourceReference, ...] = ()
    #: Evidence in the order it was given, what could not be read as well.
    sources: tuple[Source, ...] = ()
    stop: Stop | None = None
    #: How often a stop was taken back.
    stops_withdrawn: int = 0
    #: Who asked for the vote at once, and who paused it.
    vote_called_by: Person | None = None
    paused_by: Person | None = None
    out_of_time: bool = False
    #: No model could be reached for so long that none is waited for any more.
    out_of_patience: bool = False
    #: Agents whose models do not answer at present → why, in words for people.
    away: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Why nothing can go on until a model is back, and since when; empty while something can.
    outage: str = ""
    outage_at: datetime | None = None
    #: What one model answered alone, and which option that is: nothing may be made of either
    #: before the verdict (`core.rules.shadow`).
    shadow: ShadowAnswer | None = None
    shadow_choice: ShadowChoice | None = None
    #: Why there is no such answer; empty where there is one, or none was asked for.
    shadow_fault: str = ""
    tally: Tally | None = None
    #: What the judge wrote, to be audited; and what the audit found.
    draft: Verdict | None = None
    audit: Audit | None = None
    verdict: Verdict | None = None
    #: What had been decided without a debate, where it was wanted after that.
    earlier_verdict: Verdict | None = None
    #: Counts its ends: 2 once the debate that the gate had skipped was wanted.
    edition: int = 1
    status: Status = Status.RUNNING
    #: Why it failed, in words for people; empty unless it did.
    failure: str = ""
    ended_at: datetime | None = None
    #: What people did besides: their ballots by person, decisions oldest first, feedback.
    people_ballots: Mapping[str, PeopleBallot] = field(default_factory=dict[str, PeopleBallot])
    decisions: tuple[Decision, ...] = ()
    #: Origins of decisions people were reminded of.
    reminded: frozenset[str] = frozenset()
    #: How decisions turned out, oldest first, and how often people were asked, by their origins.
    outcomes: tuple[DecisionOutcome, ...] = ()
    outcomes_asked: Mapping[str, int] = field(default_factory=dict[str, int])
    feedback: Mapping[str, Feedback] = field(default_factory=dict[str, Feedback])
    #: What people asked after the verdict, and the answers by the numbers of the questions.
    follow_ups: tuple[FollowUp, ...] = ()
    #: Ids of debates that go on from this one's verdict.
    continued_in: tuple[str, ...] = ()
    follow_up_answers: Mapping[int, FollowUpAnswer] = field(
        default_factory=dict[int, FollowUpAnswer]
    )

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes that say something, oldest first."""
        return self.once("notes", lambda: tuple(note for note in self.all_notes if note.text))

    @property
    def answers(self) -> Mapping[int, Answer]:
        """The newest answer to each question that has one."""
        return self.once(
            "answers", lambda: {number: said[-1] for number, said in self.replies.items() if said}
        )

    def other_answers(self, number: int) -> list[Answer]:
        """What other people said last to a question, where the newest answer says another thing."""
        *earlier, newest = self.replies[number]
        by_person = {answer.by.id: answer for answer in earlier if answer.by.id != newest.by.id}
        return [answer for answer in by_person.values() if answer.text not in {"", newest.text}]

    @property
    def message_ids(self) -> frozenset[str]:
        """Ids of messages that were taken, also of those that say nothing any more."""
        answered = (answer.origin for said in self.replies.values() for answer in said)
        noted = (note.id for note in self.all_notes)
        return frozenset((*answered, *noted, *self.edits, *self.withdrawn))

    @property
    def evidence(self) -> tuple[Source, ...]:
        """The sources that could be read and have a text."""
        return tuple(source for source in self.sources if not source.fault and source.text)

    @property
    def decision(self) -> Decision | None:
        """The team's decision that stands."""
        return self.decisions[-1] if self.decisions else None

    @property
    def is_decidable(self) -> bool:
        """Whether there is a verdict to accept or reject, or a decision of the team to change.

        With an older version teams could accept what decides nothing, and may think better of it.
        """
        return self.verdict is not None and (self.decision is not None or self.decides)

    @property
    def decides(self) -> bool:
        """Whether its verdict decides something; a review without one of its verdicts does not."""
        if self.verdict is None or self.verdict.is_undecided:
            return False
        return bool(self.verdict.option) or self.setup.format != REVIEW

    @property
    def acceptance(self) -> Decision | None:
        """The newest decision to accept the verdict, also where it was replaced since."""
        decisions = (
            decision
            for decision in reversed(self.decisions)
            if decision.kind is DecisionKind.ACCEPT
        )
        return next(decisions, None)

    @property
    def outcome(self) -> DecisionOutcome | None:
        """How the accepted decision turned out, as was said last."""
        return self.outcome_of(self.acceptance)

    def outcome_of(self, accepted: Decision | None) -> DecisionOutcome | None:
        """How this decision turned out, as was said last; None: where nobody accepts."""
        of = accepted.origin if accepted else ""
        return next(
            (outcome for outcome in reversed(self.outcomes) if outcome.decision == of), None
        )

    #: What was computed from this very value already; another value has a memory of its own.
    _known: dict[Hashable, object] = field(
        default_factory=dict[Hashable, object], init=False, repr=False, compare=False
    )

    def replace(self, **changes: object) -> "Debate":
        """This debate with other values in some fields.

        `dataclasses.replace` asks after each of some 50 fields, which was half of the time that it
        takes to fold a log.

        Raises:
            TypeError: There is no such field.
        """
        if unknown := changes.keys() - vars(self).keys():
            raise TypeError(f"A debate has no {', '.join(sorted(unknown))}.")
        changed = object.__new__(Debate)
        vars(changed).update(vars(self), **changes, _known={})
        return changed

    def once(self, what: Hashable, compute: Callable[[], T]) -> T:
        """The result of a pure computation over this debate, made at most once."""
        if what not in self._known:
            self._known[what] = compute()
        return cast("T", self._known[what])

    #: What was computed from the setup and the sources alone, with both; values that follow have
    #: it, too.
    _kept: dict[Hashable, tuple[object, object, object]] = field(
        default_factory=dict[Hashable, tuple[object, object, object]], repr=False, compare=False
    )

    def once_for_sources(self, what: Hashable, compute: Callable[[], T]) -> T:
        """The result of a pure computation over setup and sources, cached until these change."""
        setup, sources, result = self._kept.get(what, (None, None, None))
        if setup is not self.setup or sources is not self.sources:
            result = compute()
            self._kept[what] = (self.setup, self.sources, result)
        return cast("T", result)

    def came_first(self, key: str, other: str) -> bool:
        """Whether an event stands before another one in the log, whatever clocks said."""
        return next(time for time in self.times if time in {key, other}) == key

    @property
    def is_sealed(self) -> bool:
        """Whether nobody may be shown what agents hold and decide (`core.rules.sealing`)."""
        return self.setup.sealed and self.revealed_by is None

    def is_done(self, turn: Turn) -> bool:
        """Whether the turn has an outcome, good or bad."""
        if turn.act is Act.TALLY:
            return self.tally is not None or self.has_failed(turn.act)
        if turn.act is Act.SYNTHESIS:
            return self.verdict is not None or self.has_failed(turn.act)
        return turn.key in self.times

    def has_begun(self, number: int) -> bool:
        """Whether anything came of a turn of that round."""
        return number in self.worked_at

    def has_failed(self, act: Act) -> bool:
        """Whether a turn of that act has failed, in whatever round."""
        return any(failure.turn.act is act for failure in self.failures.values())

    def card_with(self, number: int) -> Clarifications:
        """The questions that were put together with this one."""
        cards = self.clarifications.values()
        return next(card for card in cards if any(item.number == number for item in card.items))

    def clarification(self, number: int) -> Clarification | None:
        """The question with this number."""
        clarifications = (item for card in self.clarifications.values() for item in card.items)
        return next((item for item in clarifications if item.number == number), None)

    @property
    def open_clarifications(self) -> tuple[Clarification, ...]:
        """Questions people can still answer, oldest first."""
        waiting = (c for key, c in self.clarifications.items() if key not in self.closed)
        return tuple(
            item for card in waiting for item in card.items if item.number not in self.answers
        )

    @property
    def is_hurried(self) -> bool:
        """Whether it was stopped or put to the vote, or is out of time or money."""
        return bool(self.stop or self.vote_called_by or self.out_of_time or self.out_of_money)

    @property
    def waits_for_answers(self) -> bool:
        """Whether people are waited for to answer questions; what only ends waits for nobody."""
        return bool(self.open_clarifications) and not self.is_hurried

    @property
    def open_cards(self) -> tuple[Clarifications, ...]:
        """Questions put together whose answers can still change: agents go on after them."""
        return tuple(card for card in self.clarifications.values() if self._is_open(card))

    def is_asking(self, number: int) -> bool:
        """Whether the answer to this question can still change."""
        return any(item.number == number for card in self.open_cards for item in card.items)

    def _is_open(self, card: Clarifications) -> bool:
        if card.turn.key in self.closed:
            return False
        is_unanswered = any(item.number not in self.answers for item in card.items)
        return is_unanswered or (card.closed_by_event and bool(card.items))

    def text_of(self, act: Act, round_number: int, agent: str, target: str | None = None) -> str:
        """What was said on that turn, or an empty string."""
        turn = turn_of(act, round_number, agent, target)
        contribution = self.contributions.get(turn.key)
        return contribution.text if contribution else ""

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every model call that led to a recorded outcome, in the order of the log."""
        return tuple(spent.call for spent in self.spent if spent.call)

    @property
    def usage(self) -> Usage:
        """All that the debate has spent so far, failed turns included."""
        return self.once(
            "usage", lambda: sum((expense.usage for expense in self.spent), start=Usage())
        )

    @property
    def out_of_money(self) -> str:
        """Which cap ended the rounds, in words for people; empty while none did."""
        capped = (f for f in self.failures.values() if f.cause is FailureCause.CAP)
        return next((failure.reason for failure in capped), "")

    @property
    def key_refusals(self) -> Mapping[str, str]:
        """Ids of agents whose provider refuses the key → why, in words for people."""
        refusals = (f for f in self.failures.values() if f.cause is FailureCause.KEY)
        return {failure.turn.agent: failure.reason for failure in refusals}


def once_per_debate(
    compute: Callable[Concatenate[Debate, P], T],
) -> Callable[Concatenate[Debate, P], T]:
    """Remember what a pure function of a debate, and of hashable arguments, returns; see `once`."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def remembered(debate: Debate, *args: P.args, **kwargs: P.kwargs) -> T:
        what = (name, *args, *kwargs.items())
        return debate.once(what, lambda: compute(debate, *args, **kwargs))

    return remembered


def once_per_sources(compute: Callable[[Debate], T]) -> Callable[[Debate], T]:
    """Remember what is pure and of setup and sources alone; see `once_for_sources`."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def remembered(debate: Debate) -> T:
        return debate.once_for_sources(name, lambda: compute(debate))

    return remembered
