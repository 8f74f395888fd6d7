"""Small value types that settings, calls and debates share: the base class, money, times."""

from decimal import Decimal
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StringConstraints,
    WithJsonSchema,
    WrapSerializer,
)


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

#: Context of a validation whose input is a settings file.
IN_FILE = "settings file"
