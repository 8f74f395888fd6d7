"""The example plugins and the document that shows them are the same."""

import tomllib

import pytest
from packaging.requirements import Requirement

from tests.frame.files import ROOT, read

FOLDER = ROOT / "docs" / "examples" / "plugins"
MODULES = sorted(FOLDER.glob("*/*.py"))
#: "About 30 lines", blank ones not counted.
MOST_LINES = 36


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_the_document_quotes_a_whole_example(module: str) -> None:
    path = FOLDER / module
    text = path.read_text(encoding="utf-8")

    assert f"```python\n{text}```\n" in read("docs/extending.md")
    assert len([line for line in text.splitlines() if line.strip()]) <= MOST_LINES


def test_there_is_an_example_of_every_kind_and_its_entry_point_is_in_the_document() -> None:
    document, groups = read("docs/extending.md"), set[str]()
    for file in FOLDER.glob("*/pyproject.toml"):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        # Otherwise pip would look for another Moot in the package index.
        moot = Requirement(next(text for text in project["dependencies"] if text[:4] == "moot"))
        assert tomllib.loads(read("pyproject.toml"))["project"]["version"] in moot.specifier
        for group, entries in project["entry-points"].items():
            groups.add(group)
            for name, place in entries.items():
                assert f'[project.entry-points."{group}"]' in document
                assert f'{name} = "{place}"' in document
    assert groups == {"moot.roles", "moot.formats", "moot.providers", "moot.sinks"}


def test_the_document_shows_a_whole_project_file() -> None:
    text = (FOLDER / "moot-accessibility" / "pyproject.toml").read_text(encoding="utf-8")

    assert f"```toml\n{text}```\n" in read("docs/extending.md")
