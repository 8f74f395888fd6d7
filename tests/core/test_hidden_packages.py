"""Packages that others shall not load, each tried in a process of its own."""

import subprocess
import sys

import pytest

from tests.frame.files import ROOT

#: Imports a package where it is hidden, in another thread meanwhile, and afterwards.
THREE_TIMES = """
import threading
from core.hidden_packages import hidden

def tried():
    try:
        import colorsys
    except ModuleNotFoundError as error:
        return f"no {error.name}"
    return "found"

def elsewhere():
    global seen
    seen = tried()

with hidden("colorsys"):
    print(tried())
    if not MEANWHILE:
        print(tried())
    else:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        print(seen)
print(tried())
"""
#: Loads what `moot run` and `moot debate` load, as they do.
COMMANDS = """
import sys
from bot.gc_settings import load_quickly

load_quickly()
import bot.serving, bot.terminal.debating
print([one for one in ("rich.console", "rich.traceback", "pygments") if one in sys.modules])
"""

#: Loads what `moot debate` loads before a model is asked, without the vendor's SDK.
DEBATE = """
import sys
from bot.gc_settings import load_quickly

load_quickly()
import bot.terminal.debating
unwanted = (
    *("sqlalchemy.orm", "sqlalchemy.dialects.postgresql", "alembic", "psycopg", "openai"),
    *("anthropic", "aiohttp", "slack_sdk", "slack_bolt", "mcp"),
    *("prometheus_client", "opentelemetry", "PIL", "lxml", "docx", "pptx", "openpyxl", "pypdf"),
    *("bot.listeners", "bot.landing", "bot.slack"),
)
print([one for one in unwanted if one in sys.modules])
"""


def printed(program: str) -> str:
    """What a program writes in a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize(("meanwhile", "second"), [(False, "no colorsys"), (True, "found")])
def test_a_hidden_package_is_found_by_other_threads_and_afterwards(
    *, meanwhile: bool, second: str
) -> None:
    said = printed(THREE_TIMES.replace("MEANWHILE", str(meanwhile)))
    assert said.splitlines() == ["no colorsys", second, "found"]


def test_what_prints_tracebacks_in_colours_is_not_loaded() -> None:
    assert printed(COMMANDS) == "[]\n"


def test_a_debate_in_the_terminal_loads_nothing_of_slack_servers_and_files() -> None:
    assert printed(DEBATE) == "[]\n"
