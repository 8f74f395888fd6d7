"""Agents and roles: their models, prompts and summarization."""

from collections.abc import Mapping, Sequence
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

from core.values import IN_FILE, LOWER_NAME, Value

#: The provider that asks no model.
OFFLINE = "offline"
#: The provider of example debates, which were written by hand; it asks no model either.
EXAMPLE = "example"


class PromptText(Value):
    """A prompt that overrides a built-in one. A settings file contains the name of its file."""

    text: str
    source: str = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _from_file_name(cls, value: object, info: ValidationInfo) -> object:
        """Accept the name of a file; its text is read when the settings are read."""
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
    """How older turns are shortened in a prompt; see `core/rules/history/`."""

    FULL = "full"
    LENGTH = "length"
    ROUNDS = "rounds"
    HIERARCHICAL = "hierarchical"


class Summarization(Value):
    """When and how older turns are summarised. Lengths are in characters."""

    enabled: bool = Field(default=True, description="Whether older turns are summarised.")
    #: If no setting chooses it, a format may use another default (`core.opening`).
    method: ContextMethod = Field(
        default=ContextMethod.LENGTH, description="How older turns are shortened."
    )
    threshold: int = Field(default=5000, ge=1, description="Length from which to summarise.")
    max_length: int = Field(default=2500, ge=1, description="Longest summary, in characters.")
    prompt: PromptText | None = Field(
        default=None,
        validation_alias="prompt_file",
        serialization_alias="prompt_file",
        description="A prompt file for summaries.",
    )


#: Names of makers at resellers → our names.
_MAKERS: Mapping[str, str] = {"moonshotai": "moonshot"}


class ModelChoice(Value):
    """A model at a provider. In settings either may be empty; then the default is used."""

    provider: str = Field(default="", description="Who serves the model.")
    model: str = Field(default="", description="The model's name at that provider.")

    @property
    def full_name(self) -> str:
        return f"{self.provider}/{self.model}"

    def other_models(self, choices: "Sequence[ModelChoice]") -> "tuple[ModelChoice, ...]":
        return tuple(choice for choice in choices if choice.full_name != self.full_name)

    @property
    def maker(self) -> str:
        """The maker of the model. Resellers put it before the name ("openai/gpt-6-luna")."""
        maker, slash, _ = self.model.partition("/")
        return _MAKERS.get(maker, maker) if slash else self.provider


class Speaker(ModelChoice):
    """A model with its name, prompts and fallbacks, as settings describe it."""

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
        description="Prompt files by act; `persona` describes the role.",
    )
    summarization: Summarization | None = Field(
        default=None, description="Overrides the debate's; missing keys are taken from there."
    )


#: Replaces an unknown role.
FALLBACK_ROLE = "generalist"
#: The key in `prompts` for the description of an agent's role.
PERSONA = "persona"
#: The name of a plugin's role or format. People type it in commands and write it in settings.
PluginName = Annotated[str, StringConstraints(pattern=LOWER_NAME)]


class Agent(Speaker):
    """A participant with a role and a model. Its id is unique in its debate.

    Settings need only the id; name, provider and model are filled in when they are read.
    """

    id: str = Field(min_length=1, description="Unique; letters, digits, `-`, `_`, `.`.")
    role: str = Field(default=FALLBACK_ROLE, description="A built-in role, or one of a plugin.")
    enabled: bool = Field(default=True, description="Whether it may take part.")


class Role(Value):
    id: PluginName
    name: str = Field(min_length=1, max_length=40)
    #: An emoji code, with colons.
    icon: str = Field(default=":speech_balloon:", pattern=r"^:[a-z0-9_+-]{1,60}:$")
    #: Describes the role; its first paragraph is a summary. Empty for a built-in role, whose
    #: prompt is `core/acts/roles/<id>.md`.
    prompt: str = Field(default="", max_length=8000)
    #: Words in lower case. The cast by topics takes the role if a question contains them.
    topics: tuple[str, ...] = ()
    #: The plugin that defines it, for the record; empty: it is built in.
    source: str = ""
