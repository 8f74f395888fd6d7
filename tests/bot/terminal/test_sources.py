"""Sources named on the terminal: changes from a file or from git, and folders."""

import subprocess
from pathlib import Path

import pytest

from bot.terminal.sources import diff_references, references_to, revision_references
from core.debate.evidence import SourceKind
from core.debate.people import Person
from core.errors import BadInput

DANA = Person(id="dana", name="Dana")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a change that is not committed yet, as the current folder."""
    monkeypatch.chdir(tmp_path)
    who = ("-c", "user.name=Dana", "-c", "user.email=dana@example.test")
    (tmp_path / "work.py").write_text("one\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "work.py"), ("commit", "-q", "-m", "First")):
        command = ["git", *who, *words]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - git
    (tmp_path / "work.py").write_text("one\ntwo\n", encoding="utf-8")
    return tmp_path


def test_a_file_of_that_name_is_taken_before_git_is_asked(folder: Path) -> None:
    (folder / "HEAD").write_text("a diff", encoding="utf-8")
    for take in (diff_references, revision_references):
        (reference,) = take("HEAD", DANA)
        assert (reference.kind, reference.fetch) == (SourceKind.FILE, str(folder / "HEAD"))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("no...where", "There is no file no...where, and git cannot show such changes: "),
        ("--output=stolen", "git cannot show such changes: "),
        ("HEAD...HEAD", "There are no changes in HEAD...HEAD."),
    ],
)
def test_a_diff_without_changes_is_refused(named: str, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        diff_references(named, DANA)
    assert words in str(refused.value)
    assert not Path("stolen").exists()


def test_a_change_beyond_all_measure_is_refused(folder: Path) -> None:
    (folder / "work.py").write_text("long line of text\n" * 70_000, encoding="utf-8")
    with pytest.raises(BadInput, match="review them in parts"):
        diff_references("HEAD", DANA)


def setting(name: str, value: str) -> None:
    subprocess.run(["git", "config", name, value], check=True)  # noqa: S603, S607 - git


@pytest.mark.usefixtures("folder")
def test_no_program_of_the_repositorys_settings_watches_or_shows_the_changes() -> None:
    for name in ("core.fsmonitor", "diff.external", "core.pager", "diff.own.textconv"):
        setting(name, "touch ran; true")
    Path(".gitattributes").write_text("work.py diff=own\n", encoding="utf-8")
    (reference,) = diff_references("HEAD", DANA)
    assert "+two" in reference.fetch
    assert not Path("ran").exists()


@pytest.mark.usefixtures("folder")
def test_warnings_without_an_end_do_not_hold_git_up() -> None:
    # Far more than a pipe takes before somebody reads it.
    setting("filter.loud.clean", "head -c 300000 /dev/zero >&2; cat")
    Path(".gitattributes").write_text("work.py filter=loud\n", encoding="utf-8")
    (reference,) = diff_references("HEAD", DANA)
    assert "+two" in reference.fetch


def test_changes_name_files_as_they_are_and_read_other_encodings(folder: Path) -> None:
    (folder / "work.py").rename(folder / "größe datei.txt")
    subprocess.run(["git", "add", "-A"], check=True)  # noqa: S607 - git
    (folder / "größe datei.txt").write_bytes("fünf\n".encode("latin-1"))
    (reference,) = diff_references("HEAD", DANA)
    assert "größe datei.txt" in reference.fetch
    assert "+fünf" in reference.fetch


def test_ignored_files_of_a_folder_are_left_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.env\nnode_modules/\n!shared.env\n", encoding="utf-8")
    docs = tmp_path / "docs"
    (docs / "node_modules").mkdir(parents=True)
    (docs / ".gitignore").write_text("draft.md\n", encoding="utf-8")
    for name in ("a.md", "draft.md", "secret.env", "shared.env", "node_modules/b.md"):
        (docs / name).write_text("x", encoding="utf-8")

    references = references_to([str(docs)], DANA)

    assert [reference.title for reference in references] == ["a.md", "shared.env"]
    assert "3 entries that .gitignore excludes" in capsys.readouterr().err
