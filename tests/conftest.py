"""For all tests: settings of the person who runs them stay outside, and slow machines are fine.

The network is shut but for the loopback, and warnings are errors: see `[tool.pytest]`.
"""

import re
from pathlib import Path

import pytest
from hypothesis import settings

ENV_EXAMPLE = Path(__file__).parents[1] / ".env.example"
VARIABLES = re.findall(r"^([A-Z_]+)=", ENV_EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)

settings.register_profile("moot", deadline=None)
settings.load_profile("moot")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the tokens and keys of whoever runs the tests."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
