"""The app's manifest for Slack and for the local workspace."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from core.errors import ConfigurationBroken

_HERE = Path(__file__).parent
#: In a checkout, and in an installed wheel.
_PATHS = (_HERE.parents[1] / "manifest.yaml", _HERE / "manifest.yaml")


@cache
def manifest() -> Mapping[str, Any]:
    for path in _PATHS:
        if path.is_file():
            return cast("Mapping[str, Any]", yaml.safe_load(path.read_text(encoding="utf-8")))
    raise ConfigurationBroken("manifest.yaml is missing: install Moot again.")
