"""Errors about values are in plain words, not in pydantic's."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

from core.debate.rules import When
from core.wrong_values import complaint


def lower(text: str) -> str:
    if text != text.lower():
        raise ValueError("Holds a capital letter")
    return text


class Sample(BaseModel):
    count: Annotated[int, Field(ge=1, le=9)] = 1
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    price: Decimal = Decimal(1)
    told: bool = True
    name: Annotated[str, StringConstraints(min_length=1, max_length=4)] = "x"
    key: Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")] = "X"
    when: When = When.SPLIT
    mode: Literal["socket", "http"] = "http"
    names: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)] = ("x",)
    table: Mapping[str, int] = {}
    word: Annotated[str, AfterValidator(lower)] = "x"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"count": "x"}, "it must be a whole number."),
        ({"count": 1.5}, "it must be a whole number."),
        ({"count": 0}, "it must be 1 or more."),
        ({"count": 10}, "it must be 9 or less."),
        ({"share": "much"}, "it must be a number."),
        ({"share": 0}, "it must be more than 0."),
        ({"share": 1}, "it must be less than 1."),
        ({"price": "much"}, "it must be a number, as 1.50."),
        ({"price": float("inf")}, "it must be a finite number."),
        ({"told": "perhaps"}, "it must be true or false."),
        ({"name": 3}, "it must be text."),
        ({"name": ""}, "it must have at least 1 character."),
        ({"name": "abcde"}, "it must have at most 4 characters."),
        ({"key": "x"}, "it must fit the pattern ^[A-Z]+$."),
        ({"when": "often"}, "it must be 'split', 'always' or 'never'."),
        ({"mode": "mail"}, "it must be 'socket' or 'http'."),
        ({"names": 3}, "it must be a list."),
        ({"names": []}, "it must have at least 1 item."),
        ({"names": ["a", "b", "c"]}, "it must have at most 2 items."),
        ({"table": 3}, "it must be a table of keys and values."),
        ({"word": "A"}, "it: holds a capital letter."),
    ],
)
def test_a_wrong_value_is_explained_without_being_repeated(
    values: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        Sample.model_validate(values)
    assert complaint("it", caught.value.errors()[0]) == words
