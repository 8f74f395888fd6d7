"""Wrong calls in the terminal: a clear message and the right exit code."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command_line import Ended, moot

ROOT = Path(__file__).parents[2]
ENTRY = "from bot.__main__ import main; main()"
QUESTION = "Kafka or PostgreSQL for our job queue?"
#: Like the first line of `main`; the line "up" shows that Python itself has started.
LOADING = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); print('up', flush=True); "
#: Interrupts the program when it begins to import a module.
INTERRUPTED_AT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
#: Arguments, exit code, message. `{id}` is a finished debate; `db` is a folder.
IN_WORDS: Sequence[tuple[str, int, str]] = (
    ("debat x", 2, "Did you mean 'debate'?"),
    ("debate x --round 2", 2, "--rounds"),
    ("debate x --rounds 99", 2, "Rounds must be from 1 to 15, not 99."),
    ("debate x --rounds two", 2, "it must be a whole number, not 'two'"),
    ("debate x --format critic", 2, "critic"),
    ("debate x --agents wizard", 2, "wizard"),
    ("debate x --when often", 2, "often"),
    ("debate x --playbook none", 2, "none"),
    ("debate x --source none.md", 2, "There is no file or folder none.md"),
    ("debate x --diff none.diff", 2, "none.diff"),
    ("debate x --config none.yaml", 4, "There is no file none.yaml."),
    ("debate x --config playbook.yaml", 4, "moot playbook check"),
    ("debate x --output /proc/none/x", 2, "cannot be written"),
    ("debate x --output db", 2, "db is a folder; name a file."),
    ("debate x --report file/x.md", 2, "is no folder"),
    ("debate x --resume", 2, "--resume"),
    ("debate --resume dnosuch2", 1, "dnosuch2"),
    ("debate", 2, "There is no question."),
    ("debate --playbook vendor-choice", 2, "There is no question."),
    ("debate --playbook rfc-review", 2, "On a terminal: --source FILE"),
    ("debate x --problem-file blank.md", 2, "The question is given twice"),
    ("debate --problem-file none.md", 2, "The problem file none.md cannot be read: no such"),
    ("debate --problem-file db", 2, "The problem file db cannot be read: is a directory."),
    ("debate --problem-file blank.md", 2, "The problem file blank.md is blank."),
    ("debate --problem-file latin.yaml", 2, "latin.yaml is not UTF-8 text."),
    ("debate x --nonsense", 2, "--nonsense"),
    ("debate x --config bad.yaml", 4, "line 2: debate.roundz is no setting. Did you"),
    ("debate x --config broken.json", 4, "broken.json, line 1"),
    ("debate x --config key.yaml", 4, "ANTHROPIC_API_KEY is not set"),
    ("debate x --resume {id}", 2, "leave the question out."),
    ("debate -", 2, "blank"),
    ("show", 2, "For example: moot show dabc2345"),
    ("config check", 2, "For example: moot config check moot.yaml"),
    ("show dnosuch2", 1, "There is no debate dnosuch2"),
    ("report {id} --output x.csv", 2, "x.csv: this can be written as md, json, and not as csv."),
    ("export", 2, "Name one debate"),
    ("export dnosuch2", 1, "dnosuch2"),
    ("export {id} --format xml", 2, "xml"),
    ("export --person U1", 2, "--output FOLDER"),
    ("eval {id} --evaluators wizard", 2, "wizard"),
    ("eval dnosuch2", 1, "dnosuch2"),
    ("explain {id} nothing-like-it", 2, "nothing-like-it"),
    ("explain dnosuch2", 1, "dnosuch2"),
    ("outcome {id} perhaps", 2, "perhaps"),
    ("accept dnosuch2", 1, "dnosuch2"),
    ("revisit {id} --on tomorrow", 2, "a day is written like 2027-01-31, not 'tomorrow'."),
    ("backup none/copy.db", 2, "There is no folder none."),
    ("config check none.yaml", 4, "There is no file none.yaml."),
    ("config check bad.yaml", 4, 'Did you mean "rounds"?'),
    ("config import bad.yaml", 4, "bad.yaml, line 2"),
    ("config check latin.yaml", 4, "is not UTF-8 text"),
    ("playbook check none.yaml", 4, "none.yaml"),
    ("playbook show none", 2, "none"),
    ("demo --port 99999", 2, "99999"),
    ("list --limit 10000000000000000000000", 2, "it must be 10000 or less"),
    ("bench --max-usd inf", 2, "it must be 100000 or less, not 'inf'."),
    ("demo --agents wizard", 2, 'no role "wizard"'),
    ("health --url nowhere", 2, "is not a web address"),
    ("run", 4, "SLACK_BOT_TOKEN is missing"),
    ("purge", 2, "--workspace"),
    ("restore none.db", 2, "none.db"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished debate and files that cannot be used."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "db").mkdir()
    (folder / "file").write_text("", encoding="utf-8")
    (folder / "latin.yaml").write_bytes(b"caf\xe9")
    (folder / "blank.md").write_text(" \n\n", encoding="utf-8")
    (folder / "bad.yaml").write_text("debate:\n  roundz: 3\n", encoding="utf-8")
    (folder / "broken.json").write_text('{"debate": {', encoding="utf-8")
    (folder / "key.yaml").write_text("default_model: {provider: anthropic}\n", encoding="utf-8")
    (folder / "playbook.yaml").write_text("name: x\ntitle: X\n", encoding="utf-8")
    process = called(folder, "debate", QUESTION, "--rounds", "1")
    (folder / "id").write_text(process.stderr.split()[-1], encoding="utf-8")
    return folder


def environment(**variables: str) -> dict[str, str]:
    base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}  # noqa: TID251 - a child process needs them
    return {**base, "PYTHONPATH": str(ROOT), "MOOT_DATABASE": "moot.db", **variables}


def called(folder: Path, *words: str, **variables: str) -> Ended:
    return moot(*words, folder=folder, env={"MOOT_DATABASE": "moot.db", **variables})


def shell(folder: Path, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which `moot` starts the program."""
    program = f'moot() {{ "{sys.executable}" -c "{ENTRY}" "$@"; }}; '
    return subprocess.run(  # noqa: S603 - our own words
        ["bash", "-c", program + line.format(id=(folder / "id").read_text("utf-8"))],  # noqa: S607 - bash of the PATH
        cwd=folder,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize(("line", "code", "words"), IN_WORDS, ids=[row[0] for row in IN_WORDS])
def test_a_wrong_call_is_told_in_words(folder: Path, line: str, code: int, words: str) -> None:
    debate_id = (folder / "id").read_text("utf-8")
    process = called(folder, *line.format(id=debate_id).split())

    assert (process.returncode, words in process.stderr) == (code, True), process.stderr
    assert "Traceback" not in process.stderr
    assert process.stdout == ""


@pytest.mark.parametrize(
    ("database", "code", "words"),
    [
        ("none/moot.db", 1, "none for the database does not exist."),
        ("/proc/none/moot.db", 1, "/proc/none for the database does not exist"),
        ("db", 1, "db is a folder, not a database."),
        ("latin.yaml", 1, "is not a database"),
        ("/dev/full", 1, "is full. Free some space."),
        ("mysql://host/name", 4, "must be the path of a file, or look like postgresql://"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_in_words(
    folder: Path, database: str, code: int, words: str
) -> None:
    process = called(folder, "debate", QUESTION, MOOT_DATABASE=database)

    assert (process.returncode, words in process.stderr) == (code, True), process.stderr
    assert "Traceback" not in process.stderr


def test_a_newer_database_is_told_and_left_alone(folder: Path) -> None:
    called(folder, "debate", QUESTION, "--rounds", "1", MOOT_DATABASE="newer.db")
    with sqlite3.connect(folder / "newer.db") as newer:
        tables = newer.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%_version'"
        )
        for (table,) in tables.fetchall():
            newer.execute(f"UPDATE {table} SET version_num = '9999'")  # noqa: S608 - its own name
    newer.close()
    for words in (("list",), ("debate", QUESTION)):
        process = called(folder, *words, MOOT_DATABASE="newer.db")
        assert (process.returncode, "newer version of Moot" in process.stderr) == (1, True), (
            process.stderr
        )


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("moot show {id} >/dev/full", 1, "standard output cannot be written: no space left"),
        ("moot --help >/dev/full", 1, "standard output cannot be written: no space left"),
        ("moot report {id} -o /dev/full", 1, "/dev/full cannot be written: no space left"),
        ("moot show {id} | true; exit ${{PIPESTATUS[0]}}", 1, ""),
        ("moot show {id} >&-", 0, ""),
        ("moot debate - <&-", 2, "blank"),
        ("moot ask ' '", 2, "The question is blank."),
        ("moot list 2>&-", 0, ""),
        ("moot report {id} -o /dev/stdout | grep Kafka >/dev/null", 0, "Wrote /dev/stdout"),
        ("COLUMNS=40 NO_COLOR=1 moot debat", 2, "No such command"),
    ],
)
def test_streams_that_are_full_or_closed_are_told_in_words(
    folder: Path, line: str, code: int, words: str
) -> None:
    process = shell(folder, line)

    assert (process.returncode, words in process.stderr) == (code, True), process.stderr
    assert "Traceback" not in process.stderr
    assert "Exception ignored" not in process.stderr


def test_a_link_stays_and_the_file_behind_it_is_written(folder: Path) -> None:
    debate_id = (folder / "id").read_text("utf-8")
    (folder / "behind").mkdir()
    (folder / "link.json").symlink_to("behind/record.json")
    process = called(folder, "export", debate_id, "--output", "link.json")

    assert process.returncode == 0, process.stderr
    assert (folder / "link.json").is_symlink()
    assert (folder / "behind" / "record.json").read_text("utf-8").startswith("{")
    assert Path("/dev/full").is_char_device()


@pytest.mark.slow
@pytest.mark.parametrize("words", [("debate", QUESTION, "--rounds", "5"), ("list",), ("demo",)])
def test_ctrl_c_at_any_moment_leaves_no_traceback(folder: Path, words: Sequence[str]) -> None:
    more = ("--port", "0") if words == ("demo",) else ()
    for tenths in range(0, 10, 2):
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", LOADING + ENTRY, *words, *more],
            cwd=folder,
            env=environment(MOOT_DATABASE="interrupted.db"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        time.sleep(tenths * 0.15)  # any moment will do
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=300)
        assert "Traceback" not in text, f"after {tenths} tenths"
        # 0: a decision; 1: none, as no agent had spoken; 130: it was left.
        assert process.returncode in {-signal.SIGINT, 0, 1, 130}


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (("demo",), "bot.demo"),
        (("list",), "bot.terminal.records"),
        (("backup", "copy.db"), "bot.operations.backup"),
    ],
)
def test_ctrl_c_while_a_command_is_imported_ends_it_at_once(
    folder: Path, words: Sequence[str], module: str
) -> None:
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", INTERRUPTED_AT.format(module=module) + ENTRY, *words],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert (process.returncode, process.stdout, process.stderr) == (-signal.SIGINT, "", "")
