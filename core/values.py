"""Small types that settings, calls and debates share: values, money, seconds, a bounded mapping."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StringConstraints,
    WithJsonSchema,
    WrapSerializer,
)

K = TypeVar("K")
V = TypeVar("V")


class Value(BaseModel):
    """A frozen value that can be written to and read from JSON.

    Unknown fields are ignored, so that an older process can read records of a newer one. An alias
    is the name in a settings file; records use the field's name.
    """

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)


def _money_in_file(
    amount: Decimal, write: SerializerFunctionWrapHandler, info: SerializationInfo
) -> object:
    """Write a number into a settings file (written by alias), and exact text into a record."""
    if not info.by_alias:
        return write(amount)
    return int(amount) if amount == int(amount) else float(amount)


#: Name of a server or receiver in Moot.
LOWER_NAME = r"^[a-z][a-z0-9-]{0,29}$"
_KEY_NAME = r"^[A-Z0-9_]*(KEY|TOKEN|SECRET)[A-Z0-9_]*$"
#: Name of an environment variable with a secret; its name marks the value as secret.
KeyVariable = Annotated[str, StringConstraints(pattern=_KEY_NAME)]
_NO_KEY_NAME = f"^$|{_KEY_NAME}"
OptionalKeyVariable = Annotated[str, StringConstraints(pattern=_NO_KEY_NAME)]
#: Descriptions of patterns, for people.
PATTERN_WORDS = {
    LOWER_NAME: "must have lower case letters, digits and hyphens only, at most 30",
    **dict.fromkeys(
        (_KEY_NAME, _NO_KEY_NAME), "must be in capitals and contain KEY, TOKEN or SECRET"
    ),
}


def _web_address(url: str) -> str:
    if url and not url.startswith(("https://", "http://")):
        raise ValueError("must begin with https:// or http://")
    return url


WebAddress = Annotated[str, AfterValidator(_web_address)]
#: In a list of channels: all of them.
EVERYWHERE = "*"
#: Public channels, private ones and direct messages.
_CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{2,20}")


def channel_or(*words: str) -> AfterValidator:
    def check(channel: str) -> str:
        if channel not in words and not _CHANNEL_ID.fullmatch(channel):
            allowed_words = '" or "'.join(words)
            raise ValueError(
                f'"{channel}" is no id of a channel, like C0123456789 (it is at the end of the '
                f'details Slack shows of a channel), nor "{allowed_words}"'
            )
        return channel

    return AfterValidator(check)


def check_names_differ(noun: str, names: Sequence[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ValueError(f'another {noun} has the name "{name}"')


def _without_nul(text: str) -> str:
    if "\0" in text:  # uvloop would cut it there, and run the program
        raise ValueError("has a NUL character, which no program takes")
    return text


#: Text that is passed to a program or to the file system.
ProgramText = Annotated[str, AfterValidator(_without_nul)]
#: US dollars.
Money = Annotated[
    Decimal,
    Field(ge=0, allow_inf_nan=False),
    WithJsonSchema({"type": "number", "minimum": 0}, mode="validation"),
    WrapSerializer(_money_in_file, when_used="json"),
]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]

#: Context of a validation whose input is a settings file.
IN_FILE = "settings file"


class Recent(OrderedDict[K, V]):
    """A mapping with a maximum size. It keeps the entries that were set last."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)
