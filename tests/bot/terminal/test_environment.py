"""The terminal as processes of their own: odd streams and names, and what is loaded."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.frame.files import ROOT

MOOT = str(Path(sys.executable).with_name("moot"))
#: Loads what `moot debate` loads before a model is asked, without the vendor's SDK.
DEBATE = """
import sys
import bot.terminal.debating
unwanted = (
    *("sqlalchemy.dialects.postgresql", "alembic", "psycopg", "openai"),
    *("anthropic", "aiohttp", "slack_sdk", "slack_bolt", "mcp"),
    *("prometheus_client", "opentelemetry", "PIL", "office_oxide", "pdf_oxide", "openpyxl"),
    *("html_to_markdown", "charset_normalizer", "striprtf"),
    *("bot.listeners", "bot.landing", "bot.slack"),
)
print([name for name in unwanted if name in sys.modules])
"""


def test_a_debate_in_the_terminal_loads_nothing_of_slack_servers_and_files() -> None:
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", DEBATE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.stdout == "[]\n", process.stderr


def moot(
    *words: str, folder: Path, typed: bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    variables = {"PATH": os.defpath, "HOME": str(folder), **(env or {})}
    return subprocess.run(  # noqa: S603 - our own program
        [MOOT, *words], input=typed, capture_output=True, cwd=folder, env=variables, check=False
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
