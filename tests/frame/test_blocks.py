"""Fenced blocks of the documents: settings are accepted, commands of `moot` parse and are run."""

import ast
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.main import get_command

from bot.cli import app
from core.config.load import FileDefaults, load, prompt_reader
from core.config.playbooks import read_playbook
from core.settings import Settings
from tests.command_line import moot
from tests.frame.files import read
from tests.frame.test_docs import DOCUMENTS

#: Commands that no test runs from the text, and why.
NOT_RUN = {
    "doctor": "it finds neither a key nor Slack here: tests/bot/operations/doctor",
    "mcp": "it serves until its input ends: tests/bot/mcp",
    "bench --max-usd 5 --output results": "it asks models for money",
    "bench --max-usd 10 --readers moonshot/kimi-k3.1-pro": "it asks models for money",
}
FENCED = re.compile(
    r"^(?P<dent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=dent)```",
    re.DOTALL | re.MULTILINE,
)


#: Calls of `moot`: here, in another folder, in a container.
CALL = re.compile(
    r"(?:\$ )?(?:cd \S+ && )?(?:\S*/)?moot (.+)|(?:docker compose exec moot|.* --) moot (.+)"
)


@dataclass(frozen=True)
class Block:
    document: str
    #: Its first line in the document.
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def commands(self) -> Sequence[str]:
        """Its lines that call `moot`, as words after the name."""
        if self.kind not in {"", "console", "sh", "bash"}:
            return []
        lines = self.text.replace("\\\n", " ").splitlines()
        called = (CALL.match(line.strip()) for line in lines)
        matches = (re.match(r"make debate ARGS='(.*)'$", line.strip()) for line in lines)
        return [
            *((match[1] or match[2]).partition("  #")[0] for match in called if match),
            *(f"debate {match[1]}" for match in matches if match),
        ]


def blocks() -> Iterator[Block]:
    for document in DOCUMENTS:
        whole = read(document)
        for match in FENCED.finditer(whole):
            dent, text = match["dent"], match["text"]
            plain = "".join(line.removeprefix(dent) for line in text.splitlines(keepends=True))
            line = whole.count("\n", 0, match.start("text")) + 1
            yield Block(document, line, match["kind"], plain)


COMMANDS: Any = get_command(app)
BLOCKS = [block for block in blocks() if block.text.strip()]
WITH_COMMANDS = [block for block in BLOCKS if block.commands]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "yaml"], ids=str)
def test_settings_and_playbooks_are_accepted(block: Block) -> None:
    values: Any = yaml.safe_load(block.text)
    if "title" in values and "name" in values:
        read_playbook(block.text, block.document, Settings())
    else:
        load(block.text, block.document, FileDefaults(), prompt_reader(Path()))


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "json"], ids=str)
def test_json_is_json(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "python"], ids=str)
def test_python_is_python(block: Block) -> None:
    compile(block.text, block.document, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@pytest.mark.parametrize("block", WITH_COMMANDS, ids=str)
def test_commands_are_taken_by_their_parser(block: Block) -> None:
    for line in block.commands:
        command, words = COMMANDS, shlex.split(line)
        while words and hasattr(command, "commands") and not words[0].startswith("-"):
            name = words.pop(0)
            command = command.get_command(command.context_class(command), name)
            assert command, f"no command {name}: {line}"
        with suppress(typer.Exit):  # of --version
            command.make_context("moot", words)


@pytest.mark.parametrize("block", WITH_COMMANDS, ids=str)
def test_commands_run_one_after_the_other(block: Block, tmp_path: Path) -> None:
    environment = {"MOOT_DATABASE": "moot.db", "OLLAMA_HOST": "http://127.0.0.1:9"}
    moot("debate", "A or B?", folder=tmp_path, env=environment)  # makes the database
    for line in (line for line in block.commands if line.strip() not in NOT_RUN):
        port = ["--port", "0"] if line.startswith("demo") else []  # others may have the usual one
        process = moot(*shlex.split(line), *port, folder=tmp_path, env=environment)
        assert process.returncode == 0, f"{line}\n{process.stderr}"


def test_there_are_blocks_of_each_kind() -> None:
    assert len(BLOCKS) > 30
    assert len(WITH_COMMANDS) > 5
    called = {line.strip() for block in BLOCKS for line in block.commands}
    assert set(NOT_RUN) < called, "each is in a document"
