"""Settings of receivers besides Slack: webhooks, and folders or repositories for records."""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from core.debate.people import Place
from core.values import (
    EVERYWHERE,
    LOWER_NAME,
    KeyVariable,
    OptionalKeyVariable,
    ProgramText,
    Seconds,
    Value,
    WebAddress,
    channel_or,
    check_names_differ,
)

#: Placeholder for the debate's id in the name of a branch.
DEBATE = "{debate}"
#: Names that Git refuses and that the settings' patterns allow
#: (https://git-scm.com/docs/git-check-ref-format).
_REFUSED_BY_GIT = re.compile(r"(^|/)([./]|$)|\.\.|(\.|\.lock)(/|$)")


def _absolute(path: str) -> str:
    if path and not path.startswith("/"):
        raise ValueError("must be an absolute path; it begins with /")
    return path


def _repository_address(url: str) -> str:
    if url and not url.startswith(("https://", "http://")):
        text = "must begin with https:// (there is no SSH: it needs keys and known hosts)"
        raise ValueError(text)
    return url


def _name_in_git(name: str) -> str:
    if name and _REFUSED_BY_GIT.search(name):
        raise ValueError('has an empty part, ".", ".." or an end like .lock')
    return name


def _branch(name: str) -> str:
    plain = name.replace(DEBATE, "d")
    if DEBATE not in name or re.search(r"[{}]", plain) or _REFUSED_BY_GIT.search(plain):
        raise ValueError(f"is a name of branches with {DEBATE} in it, like moot/{DEBATE}")
    return name


class WebhookEvent(StrEnum):
    """Events that a webhook can receive."""

    STARTED = "started"
    #: The debate ended with a verdict; people have not decided yet.
    DECIDED = "decided"
    FAILED = "failed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    #: To be looked at again on a day.
    REVISIT = "revisit"
    SUPERSEDED = "superseded"
    OUTCOME = "outcome"


class ReceivingPlace(Value):
    """Common settings of webhooks and places for records."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=LOWER_NAME, description="Name in Moot, in lower case.")
    channels: tuple[Annotated[str, channel_or(EVERYWHERE)], ...] = Field(
        default=(EVERYWHERE,),
        min_length=1,
        description="Ids of channels whose debates it receives; `*` is everywhere.",
    )

    def serves(self, place: Place) -> bool:
        return EVERYWHERE in self.channels or place.channel in self.channels


class Webhook(ReceivingPlace):
    """An address that receives signed messages about debates."""

    url: WebAddress = Field(description="Address for the messages; https://.")
    secret_variable: KeyVariable = Field(
        description="The variable with the secret for signatures, `whsec_` and base64 (a name with "
        "KEY, TOKEN or SECRET).",
    )
    old_secret_variable: OptionalKeyVariable = Field(
        default="",
        description="The variable with the previous secret: messages have both signatures.",
    )
    events: tuple[WebhookEvent, ...] = Field(
        default=tuple(WebhookEvent), min_length=1, description="Events that it receives."
    )
    whole_text: bool = Field(
        default=False,
        description="Also send people's reasons and the full decision record, not only question "
        "and decision.",
    )
    private_address: bool = Field(
        default=False, description="The address may be in your own network."
    )
    seconds: Seconds = Field(default=15.0, gt=0, description="Time for one attempt.")

    @model_validator(mode="after")
    def _has_two_secrets(self) -> Self:
        if self.old_secret_variable == self.secret_variable:
            raise ValueError("old_secret_variable is the variable of the newer secret")
        return self


class RecordPlace(ReceivingPlace):
    """A folder or a Git repository that gets the records (ADR) of accepted decisions."""

    folder: Annotated[ProgramText, AfterValidator(_absolute)] = Field(
        default="", description="An absolute path; one of `folder` and `repository`."
    )
    repository: Annotated[ProgramText, AfterValidator(_repository_address)] = Field(
        default="", description="Address of a Git repository; https://."
    )
    token_variable: OptionalKeyVariable = Field(
        default="",
        description="The variable with the token for pushing (a name with KEY, TOKEN or SECRET); "
        "empty: none.",
    )
    user: str = Field(
        default="x-access-token",
        pattern=r"^[A-Za-z0-9._@+-]{1,100}$",
        description="User name that is sent with the token.",
    )
    branch: Annotated[str, AfterValidator(_branch)] = Field(
        default=f"moot/{DEBATE}",
        pattern=r"^[A-Za-z0-9{][A-Za-z0-9._/{}-]{0,99}$",
        description="The branch of a debate's record; `{debate}` is replaced by the debate's id.",
    )
    base: Annotated[str, AfterValidator(_name_in_git)] = Field(
        default="",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9._/-]{0,99})?$",
        description="The branch that it starts from; empty: the repository's default branch.",
    )
    path: Annotated[str, AfterValidator(_name_in_git)] = Field(
        default="docs/decisions",
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._/-]{0,199}$",
        description="Folder of the records in the repository.",
    )
    author: str = Field(
        default="Moot <moot@localhost>",
        pattern=r"^[^<>\x00-\x1f]{1,80} <[^<>\s\x00-\x1f]{1,100}>$",
        description="Author of the commits, as `Name <address>`.",
    )
    seconds: Seconds = Field(default=120.0, gt=0, description="Time for one attempt.")

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if bool(self.folder) == bool(self.repository):
            raise ValueError("needs a folder or a repository, one of the two")
        if self.folder and self.token_variable:
            raise ValueError("token_variable: only a repository is sent a token")
        return self


class LandingPlaces(Value):
    """Where debates and decisions are sent besides Slack."""

    webhooks: tuple[Webhook, ...] = Field(
        default=(), description="Addresses that receive messages about debates."
    )
    records: tuple[RecordPlace, ...] = Field(
        default=(), description="Places for the records of accepted decisions."
    )

    @field_validator("webhooks", "records")
    @classmethod
    def _have_names_of_their_own(
        cls, places: tuple[ReceivingPlace, ...], info: ValidationInfo
    ) -> tuple[ReceivingPlace, ...]:
        webhooks: tuple[ReceivingPlace, ...] = info.data.get("webhooks", ())
        check_names_differ("receiver", [place.name for place in (*webhooks, *places)])
        return places

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(place.name for place in (*self.webhooks, *self.records))
