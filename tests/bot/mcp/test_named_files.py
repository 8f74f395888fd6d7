"""Files that a program names: those of a project, and none of a whole machine."""

from pathlib import Path

import pytest

from bot.mcp.named_files import references_below
from core.debate.people import Person
from core.errors import BadInput

DANA = Person(id="dana", name="Dana")


def test_where_an_editor_starts_the_server_nowhere_in_particular_no_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    project = home / "project"
    project.mkdir(parents=True)
    (home / "letter.txt").write_text("private", encoding="utf-8")
    (project / "notes.txt").write_text("ours", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))

    for folder, name in (
        (home, "letter.txt"),
        (tmp_path, "home/letter.txt"),
        (Path("/"), "etc/passwd"),
        (Path("/"), "."),
    ):
        with pytest.raises(BadInput, match="is no project"):
            references_below(folder, [name], DANA)

    assert [reference.title for reference in references_below(project, ["notes.txt"], DANA)] == [
        "notes.txt"
    ]
    page = "https://example.com/page"
    assert [reference.fetch for reference in references_below(home, [page], DANA)] == [page]
