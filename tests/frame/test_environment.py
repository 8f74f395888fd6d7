"""`.env.example` is the list of what the environment can say."""

import re

from bot.settings import variables
from tests.frame.files import read

TEXT = read(".env.example")
VARIABLES = re.findall(r"^([A-Z_]+)=", TEXT, re.MULTILINE)


def test_it_lists_every_setting_once() -> None:
    assert sorted(VARIABLES) == sorted(variables())


def test_each_has_no_value_that_could_be_a_secret_and_a_comment_that_explains_it() -> None:
    blocks = re.split(r"^(?=#)", TEXT, flags=re.MULTILINE)
    for variable in VARIABLES:
        block = next(part for part in blocks if f"\n{variable}=" in part)
        assert re.search(rf"^{variable}=$", block, re.MULTILINE), variable
        assert re.match(r"# .{5,}\n", block), variable
