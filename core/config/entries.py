"""What may stand in the configuration file, as pydantic models; the editors' JSON Schema too."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from core.capabilities import Price
from core.models import FEWEST_ROUNDS, Clarifying, Limits, Summarization, Termination
from core.settings import Settings

_LIMITS, _CLARIFYING, _TERMINATION = Limits(), Clarifying(), Termination()
_SUMMARIES, _SETTINGS = Summarization(), Settings()


def _exact(value: object) -> object:
    """A number as it was written: 0.1 is a tenth."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Decimal(str(value)) if is_number else value


#: US dollars.
Money = Annotated[
    Decimal,
    BeforeValidator(_exact),
    Field(ge=0, allow_inf_nan=False),
    WithJsonSchema({"type": "number", "minimum": 0}),
]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Temperature = Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]
ContextMethodName = Literal["full", "length", "rounds", "hierarchical"]


class Entry(BaseModel):
    """A part of the file: no unknown keys, no text where a number belongs."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ModelEntry(Entry):
    """A model at a provider."""

    provider: Name | None = Field(default=None, description="Who serves the model.")
    model: Name | None = Field(default=None, description="The model's name at that provider.")


class SummaryOverride(Entry):
    """When and how one agent's older turns are summarised; what is missing is as in `debate`."""

    enabled: bool | None = Field(default=None, description="Whether older turns are summarised.")
    method: ContextMethodName | None = Field(
        default=None, description="What stands in for older turns."
    )
    threshold: int | None = Field(
        default=None, ge=1, description="Summarise from so many characters on."
    )
    max_length: int | None = Field(
        default=None, ge=1, description="Longest summary, in characters."
    )
    prompt_file: Name | None = Field(default=None, description="A prompt file for summaries.")


class SummaryEntry(Entry):
    """When and how older turns are summarised."""

    enabled: bool = Field(
        default=_SUMMARIES.enabled, description="Whether older turns are summarised."
    )
    method: ContextMethodName = Field(
        default="length", description="What stands in for older turns."
    )
    threshold: int = Field(
        default=_SUMMARIES.threshold, ge=1, description="Summarise from so many characters on."
    )
    max_length: int = Field(
        default=_SUMMARIES.max_length, ge=1, description="Longest summary, in characters."
    )
    prompt_file: Name | None = Field(default=None, description="A prompt file for summaries.")


class JudgeEntry(Entry):
    """Who writes the verdict."""

    id: str | None = Field(default=None, description='Ignored: the judge\'s id is always "judge".')
    name: Name = Field(default="Judge", description="What people read above the verdict.")
    role: str | None = Field(default=None, description="Ignored: the judge judges.")
    icon: Name = Field(default=":scales:", description="An emoji code, with colons.")
    provider: Name | None = Field(default=None, description="Who serves the model.")
    model: Name | None = Field(default=None, description="The model's name at that provider.")
    fallbacks: list[ModelEntry] | None = Field(
        default=None, description="Models to ask, in order, when its own cannot be asked."
    )
    temperature: Temperature | None = Field(
        default=None, description="None: the model's own default."
    )
    enabled: bool = Field(default=True, description="Ignored: there is always a judge.")
    prompts: dict[str, Name] = Field(
        default_factory=dict, description="Prompt files by act; `persona` for who it is."
    )
    summarization: SummaryOverride | None = Field(
        default=None, description="Instead of the debate's."
    )


class AgentEntry(Entry):
    """One point of view."""

    id: Name = Field(description="Unique in the file; letters, digits and dashes.")
    name: Name | None = Field(
        default=None, description="What people read; by default the role's name."
    )
    role: Name = Field(
        default="generalist", description="A built-in role; unknown ones are generalists."
    )
    icon: Name | None = Field(default=None, description="An emoji code, with colons.")
    provider: Name | None = Field(default=None, description="Who serves the model.")
    model: Name | None = Field(default=None, description="The model's name at that provider.")
    fallbacks: list[ModelEntry] | None = Field(
        default=None, description="Models to ask, in order, when its own cannot be asked."
    )
    temperature: Temperature | None = Field(
        default=None, description="None: the model's own default."
    )
    enabled: bool = Field(default=True, description="Whether it may take part.")
    prompts: dict[str, Name] = Field(
        default_factory=dict, description="Prompt files by act; `persona` for who it is."
    )
    summarization: SummaryOverride | None = Field(
        default=None, description="Instead of the debate's."
    )


class TerminationEntry(Entry):
    """When the rounds end."""

    type: Literal["fixed", "converged"] = Field(
        default="fixed",
        description="After all rounds, or as soon as positions converge or nothing moves.",
    )
    threshold: float = Field(
        default=_TERMINATION.threshold, ge=0, le=1, description="Likeness that counts as converged."
    )
    min_rounds: int = Field(
        default=_TERMINATION.min_rounds, ge=FEWEST_ROUNDS, description="Never end earlier."
    )


class ClarificationsEntry(Entry):
    """Whether and how agents may ask people before the first round."""

    enabled: bool = Field(default=_CLARIFYING.enabled, description="Whether they may ask.")
    per_agent: int = Field(
        default=_CLARIFYING.per_agent, ge=1, le=20, description="Questions per agent."
    )
    wait_seconds: Seconds = Field(
        default=_CLARIFYING.wait_seconds, description="Then the assumptions hold."
    )
    rounds: int = Field(default=_CLARIFYING.rounds, ge=1, le=3, description="Rounds of questions.")


class DebateEntry(Entry):
    """How a debate goes."""

    format: Name = Field(default=_SETTINGS.format, description="Which turns there are.")
    rounds: int = Field(
        default=_SETTINGS.rounds,
        ge=1,
        le=_SETTINGS.rounds_max,
        description="Rounds before the vote.",
    )
    termination: TerminationEntry = Field(
        default_factory=TerminationEntry, description="When the rounds end."
    )
    clarifications: ClarificationsEntry = Field(
        default_factory=ClarificationsEntry, description="Questions to people before round 1."
    )
    summarization: SummaryEntry = Field(
        default_factory=SummaryEntry, description="What stands in for older turns."
    )


class VoteEntry(Entry):
    """How ballots are counted."""

    exclude_self: bool = Field(
        default=False, description="Leave out what agents say of themselves."
    )
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="Weight per agent id; 1 where none is given."
    )


class LimitsEntry(Entry):
    """What a debate may take. Times are in seconds, money in US dollars."""

    turn_seconds: Seconds = Field(
        default=_LIMITS.turn_seconds, description="For one turn, retries too."
    )
    round_seconds: Seconds = Field(default=_LIMITS.round_seconds, description="For one round.")
    debate_seconds: Seconds = Field(
        default=_LIMITS.debate_seconds, description="For the whole debate."
    )
    debate_cost: Money | None = Field(default=None, description="What one debate may cost.")
    person_day_cost: Money | None = Field(
        default=None, description="What one person may spend a day."
    )
    day_cost: Money | None = Field(default=None, description="What all debates may cost a day.")
    quorum: int = Field(
        default=_LIMITS.quorum, ge=1, description="Agents that must be able to speak."
    )


class PriceEntry(Entry):
    """US dollars per million tokens."""

    input: Money = Field(description="What the model reads.")
    output: Money = Field(description="What it writes.")
    cached: Money | None = Field(
        default=None, description="Read from the cache; None: like other input."
    )
    written: Money | None = Field(
        default=None, description="Written to the cache; None: like input."
    )

    def price(self) -> Price:
        """The value of the core."""
        return Price(**self.model_dump())


class FileEntry(Entry):
    """The configuration file of Moot."""

    default_model: ModelEntry = Field(
        default_factory=ModelEntry, description="Serves agents and judge that name no model."
    )
    summary_model: ModelEntry = Field(
        default_factory=ModelEntry,
        description="Serves background summaries, if the judge is at the same provider.",
    )
    fallbacks: list[ModelEntry] = Field(
        default_factory=list[ModelEntry],
        description="Models to ask, in order, when an agent's own cannot be asked.",
    )
    agents: list[AgentEntry] = Field(
        default_factory=list[AgentEntry], description="Agents; none: the built-in roles."
    )
    judge: JudgeEntry = Field(default_factory=JudgeEntry, description="Who writes the verdict.")
    debate: DebateEntry = Field(default_factory=DebateEntry, description="How a debate goes.")
    vote: VoteEntry = Field(default_factory=VoteEntry, description="How ballots are counted.")
    limits: LimitsEntry = Field(
        default_factory=LimitsEntry, description="Time, money, least number of agents."
    )
    prompts: dict[str, Name] = Field(
        default_factory=dict, description="Prompt files by act, for every agent."
    )
    models: list[dict[str, Any]] = Field(
        default_factory=list[dict[str, Any]],
        description="What models can take, laid over the built-in table.",
    )
    prices: dict[str, PriceEntry] = Field(
        default_factory=dict[str, PriceEntry],
        description="Prices by `provider/model` or by the model's name.",
    )


#: Sections a complete file has; the rest are tables that are often empty.
SECTIONS = ("agents", "judge", "debate", "vote", "limits")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the file, for editors."""
    schema = FileEntry.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
