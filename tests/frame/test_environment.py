"""`.env.example` is the list of what the environment can say."""

import re

import pytest

from bot.settings import variables
from tests.frame.files import read

TEXT = read(".env.example")
VARIABLES = re.findall(r"^([A-Z_]+)=", TEXT, re.MULTILINE)


def test_it_lists_every_setting_once() -> None:
    assert sorted(VARIABLES) == sorted(variables())


@pytest.mark.parametrize("variable", VARIABLES)
def test_it_holds_no_value_that_could_be_a_secret(variable: str) -> None:
    assert re.search(rf"^{variable}=$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_comment_explains_the_setting(variable: str) -> None:
    block = next(
        part for part in re.split(r"^(?=#)", TEXT, flags=re.MULTILINE) if f"\n{variable}=" in part
    )
    assert re.match(r"# .{5,}\n", block)
