"""Where debates and decisions are sent besides Slack, as settings say it: webhooks and records."""

from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, Field

from core.debate.people import Place
from core.values import EVERYWHERE, KeyVariable, Seconds, Value

#: Stands for the debate's id in the name of a branch.
DEBATE = "{debate}"
_NAME = r"^[a-z][a-z0-9-]{0,29}$"


class WebhookEvent(StrEnum):
    """What a webhook can be told of."""

    STARTED = "started"
    #: The debate ended with a verdict; people have not decided yet.
    DECIDED = "decided"
    #: The debate ended without one.
    FAILED = "failed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    #: To be looked at again on a day.
    REVISIT = "revisit"
    SUPERSEDED = "superseded"
    #: How an accepted decision turned out.
    OUTCOME = "outcome"


class ReceivingPlace(Value):
    """What webhooks and places of records have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=_NAME, description="What Moot calls it; lower case.")
    channels: tuple[str, ...] = Field(
        default=(EVERYWHERE,),
        min_length=1,
        description="Ids of the channels whose debates it gets; `*` is everywhere.",
    )

    def serves(self, place: Place) -> bool:
        """Whether it gets debates held there."""
        return EVERYWHERE in self.channels or place.channel in self.channels


class Webhook(ReceivingPlace):
    """An address that is told of debates, with signed messages."""

    url: str = Field(description="Where messages are sent; https://.")
    secret_variable: KeyVariable = Field(
        description="The variable with the secret, `whsec_` and base64, that messages are signed "
        "with (its name holds KEY, TOKEN or SECRET).",
    )
    old_secret_variable: KeyVariable | Literal[""] = Field(
        default="",
        description="The variable with the secret before it: messages carry both signatures.",
    )
    events: tuple[WebhookEvent, ...] = Field(
        default=tuple(WebhookEvent), min_length=1, description="What it is told of."
    )
    whole_text: bool = Field(
        default=False,
        description="Send people's reasons and the whole decision record too, not only question "
        "and decision.",
    )
    private_address: bool = Field(
        default=False, description="The address may be one of your own network."
    )
    seconds: Seconds = Field(default=15.0, gt=0, description="Time for one attempt.")


class RecordPlace(ReceivingPlace):
    """A folder or a Git repository that gets the records (ADR) of accepted decisions."""

    folder: str = Field(
        default="", description="An absolute path; one of `folder` and `repository`."
    )
    repository: str = Field(default="", description="Address of a Git repository; https://.")
    token_variable: KeyVariable | Literal[""] = Field(
        default="",
        description="The variable with the token that may push (its name holds KEY, TOKEN or "
        "SECRET); empty: none.",
    )
    user: str = Field(
        default="x-access-token",
        pattern=r"^[A-Za-z0-9._@+-]{1,100}$",
        description="The name the token is sent with.",
    )
    branch: str = Field(
        default=f"moot/{DEBATE}",
        pattern=r"^[A-Za-z0-9{][A-Za-z0-9._/{}-]{0,99}$",
        description="The branch of a debate's record; `{debate}` stands for the debate's id.",
    )
    base: str = Field(
        default="",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9._/-]{0,99})?$",
        description="The branch it begins at; empty: the repository's default branch.",
    )
    path: str = Field(
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


class LandingPlaces(Value):
    """Where debates and decisions are sent besides Slack."""

    webhooks: tuple[Webhook, ...] = Field(default=(), description="Addresses told of debates.")
    records: tuple[RecordPlace, ...] = Field(
        default=(), description="Where the records of accepted decisions are kept."
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Of all receivers."""
        return tuple(place.name for place in (*self.webhooks, *self.records))
