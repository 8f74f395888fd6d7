"""The app's manifest: what Slack is told about Moot, and the local workspace likewise."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from core.errors import ConfigurationBroken

_HERE = Path(__file__).parent
#: Beside the packages in a checkout, inside this one in an installed wheel.
_PLACES = (_HERE.parents[1] / "manifest.yaml", _HERE / "manifest.yaml")


@cache
def manifest() -> Mapping[str, Any]:
    for place in _PLACES:
        if place.is_file():
            return cast("Mapping[str, Any]", yaml.safe_load(place.read_text(encoding="utf-8")))
    raise ConfigurationBroken("manifest.yaml is missing: install Moot again.")
