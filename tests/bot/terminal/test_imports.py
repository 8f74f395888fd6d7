"""What `moot debate` loads before it asks a model, tried in a process of its own."""

import subprocess
import sys

from tests.frame.files import ROOT

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
print([one for one in unwanted if one in sys.modules])
"""


def test_a_debate_in_the_terminal_loads_nothing_of_slack_servers_and_files() -> None:
    process = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", DEBATE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.stdout == "[]\n", process.stderr
