"""The terminal on machines as they are: odd streams, paths, names and folders."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.terminal.sources import diff_references, references_to
from core.debate.people import Person

KIM = Person(id="kim", name="Kim")
MOOT = str(Path(sys.executable).with_name("moot"))


def moot(
    *words: str,
    folder: Path,
    typed: bytes = b"",
    env: Mapping[str, str] | None = None,
    streams: str = "",
) -> subprocess.CompletedProcess[bytes]:
    variables = {"PATH": os.defpath, "HOME": str(folder), **(env or {})}
    command = [MOOT, *words]
    if streams:
        command = ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", *command]
    return subprocess.run(  # noqa: S603 - our own program
        command, input=typed, capture_output=True, cwd=folder, env=variables, check=False
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database that holds a debate with signs of other scripts."""
    folder = tmp_path_factory.mktemp("held")
    process = moot("debate", "Redis für den Кэш → or Memcached?", "--rounds", "1", folder=folder)
    assert process.returncode == 0, process.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "word"), [("cp1252", "list"), ("ascii", "list"), ("ascii", "doctor")]
)
def test_signs_that_an_encoding_lacks_are_question_marks(
    place: Path, encoding: str, word: str
) -> None:
    process = moot(word, folder=place, env={"PYTHONIOENCODING": encoding})
    assert b"Traceback" not in process.stderr
    assert word != "list" or b"Redis" in process.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "typed", "message"),
    [
        (("debate", "-"), "Größe A oder B?".encode("latin-1"), b"not UTF-8"),
        (("debate", "-5 degrees or +5?"), b"", b"No such option: -5"),
        (("debate", "plan.md"), b"", b"plan.md is a file"),
    ],
)
def test_odd_questions_are_refused_in_one_line(
    tmp_path: Path, words: tuple[str, ...], typed: bytes, message: bytes
) -> None:
    (tmp_path / "plan.md").write_text("Kafka or SQS?\n", encoding="utf-8")
    process = moot(*words, folder=tmp_path, typed=typed)
    assert process.returncode == 2
    assert message in b" ".join(process.stderr.split())
    assert b"Traceback" not in process.stderr


@pytest.mark.slow
def test_a_dash_as_the_output_is_standard_output(place: Path) -> None:
    listed = moot("list", folder=place).stdout.split()[0].decode()
    process = moot("report", listed, "-o", "-", folder=place)
    assert process.returncode == 0
    assert "Кэш" in process.stdout.decode()
    assert not (place / "-").exists()


def test_changes_name_files_as_they_are_and_read_other_encodings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git = [
        "git",
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
        "-c",
        "commit.gpgsign=false",
    ]
    file = tmp_path / "größe datei.txt"
    file.write_text("alt\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "a"]):
        subprocess.run([*git, *words], check=True)  # noqa: S603 - git
    file.write_bytes("fünf\n".encode("latin-1"))

    (reference,) = diff_references("HEAD", KIM)

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

    references = references_to([str(docs)], KIM)

    assert [reference.title for reference in references] == ["a.md", "shared.env"]
    assert "3 entries that .gitignore names" in capsys.readouterr().err
