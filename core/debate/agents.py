"""Agents and roles: their models, prompts and summarization."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationInfo,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema

from core.values import IN_FILE, Value

#: The provider that asks no model.
OFFLINE = "offline"
#: The provider that plays debates written by hand, as examples; it asks no model either.
EXAMPLE = "example"


class PromptText(Value):
    """A prompt that overrides a built-in one, read once. A settings file has its file's name."""

    text: str
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
