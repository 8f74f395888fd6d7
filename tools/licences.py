"""Writes `docs/licences.md`: the licences of all packages that Moot is shipped with.

`python tools/licences.py` rewrites the table from the lock files and from what is installed; with
`--check` it only says whether it is up to date.
"""

import re
import sys
from collections.abc import Mapping
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "licences.md"
BEGIN, END = "<!-- licences: begin (make docs) -->", "<!-- licences: end -->"
#: The locks of the container image: the first without, the second with the extras.
LOCKS = ("requirements.lock", "requirements-extras.lock")
_PIN = re.compile(r"^([a-z0-9-]+)==", re.MULTILINE)
#: A package's name of a licence → its SPDX identifier (https://spdx.org/licenses).
_SPDX = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "ISC License": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def shipped_packages() -> Mapping[str, str]:
    """Package → the lock file that names it first."""
    packages = dict[str, str]()
    for lock in LOCKS:
        for name in _PIN.findall((ROOT / lock).read_text(encoding="utf-8")):
            packages.setdefault(name, lock)
    return packages


def licence_of(package: str) -> str:
    """The SPDX expression of an installed package, or its own words; empty: none.

    Raises:
        PackageNotFoundError: It is not installed.
    """
    headers = metadata(package)
    fields = (*headers.get_all("License-Expression", []), *headers.get_all("License", []))
    named = next(map(str, fields), "")
    named = "" if named == "UNKNOWN" else named
    kinds = [
        str(classifier)
        for classifier in headers.get_all("Classifier", [])
        if str(classifier).startswith("License")
    ]
    if not named or "\n" in named:  # some packages put the whole text there
        named = " AND ".join(kind.rpartition(" :: ")[2] for kind in kinds)
    return _SPDX.get(named, named)


def table() -> str:
    """The table in Markdown."""
    rows = [
        f"| {name} | {licence_of(name)} | {'all' if lock == LOCKS[0] else 'extras'} |"
        for name, lock in sorted(shipped_packages().items())
    ]
    return "\n".join(["| package | licence | in |", "|---|---|---|", *rows])


def updated_document(text: str) -> str:
    """The document with the table as it should be.

    Raises:
        ValueError: The document has no place for the table.
    """
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> None:
    """Rewrite the table, or check it."""
    text = DOCUMENT.read_text(encoding="utf-8")
    if "--check" not in sys.argv:
        DOCUMENT.write_text(updated_document(text), encoding="utf-8")
    elif text != updated_document(text):
        sys.exit("`docs/licences.md` is out of date: run `make docs`.")


if __name__ == "__main__":
    main()
