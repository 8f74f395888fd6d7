"""The local Slack is a separate product: no word of Moot, and no name with two meanings."""

import ast
import re
from collections import Counter

from core.settings import ROLES
from slack_on_loopback.emoji import EMOJI
from tests.frame.files import LOCAL_SLACK, ROOT, modules, project_files, tree

PACKAGE = ROOT / "packages" / "slack-on-loopback"
#: A word of Slack, used on both sides.
SHARED = {"Channel"}


def classes(*packages: str) -> Counter[str]:
    return Counter(
        node.name
        for path in modules(*packages)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    )


def test_it_has_no_word_of_moot() -> None:
    words = re.compile(r"moot|debat|(?:from|import) (?:bot|core)\b", re.IGNORECASE)
    files = [path for path in project_files() if PACKAGE in path.parents]
    assert len(files) > 100
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()[:80]}"
        for path in files
        for line in path.read_text("utf-8").splitlines()
        if words.search(line)
    ]
    assert lines == []


def test_no_class_name_is_there_twice() -> None:
    counts = classes(LOCAL_SLACK)
    assert [name for name, count in counts.items() if count > 1] == []
    assert counts.keys() & classes("bot", "core").keys() == SHARED


def test_it_draws_every_emoji_that_moot_writes() -> None:
    # In a sentence or alone in a string, never a part of a time or an address.
    shortcode = re.compile(r"(?<![\w/{}.]):([a-z][a-z0-9_+-]{2,}):(?![\w/])")
    files = modules("bot/views", "bot/presenter", "bot/listeners")
    names = {name for file in files for name in shortcode.findall(file.read_text("utf-8"))}
    names |= {role.icon.strip(":") for role in ROLES.values()}
    assert {"warning", "raising_hand"} <= names <= EMOJI.keys()
