"""Print the requirements of one dependency group of pyproject.toml, for `make lock`."""

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(groups: dict[str, list[str | dict[str, str]]], name: str) -> list[str]:
    """Return the group's requirements, its included groups unfolded."""
    packages: list[str] = []
    for entry in groups[name]:
        packages += (
            [entry] if isinstance(entry, str) else requirements(groups, entry["include-group"])
        )
    return packages


if __name__ == "__main__":
    groups = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["dependency-groups"]
    sys.stdout.write("\n".join(requirements(groups, sys.argv[1])) + "\n")
