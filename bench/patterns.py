"""Which text makes a pattern or a function slow: all of them, against hostile text.

    python -m bench.patterns [--size 12000] [--only core.redaction]

Text of people, models and servers is read on the event loop, so what reads it must be linear. All
compiled patterns of the project are tried with text made from their own parts, repeated; the public
functions that take foreign text with pieces of Markdown, JSON, numbers, secrets and the like. For
each the worst text is printed with the seconds it took, and the exponent: 1 is linear, 2 is
quadratic. `tests/security/test_slow_text.py` does the same in small.
"""

import argparse
import ast
import gc
import importlib
import math
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from itertools import islice, product
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import httpx2
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.addresses import fault_of, is_loopback, sends_openly
from bot.debate_page.page import html
from bot.listeners.typed import (
    has_question_mark,
    is_greeted,
    read,
    says_nothing,
    steering,
    word_count,
)
from bot.slack.ids import address_keys, fill_in, note_ts
from bot.slack.mrkdwn.convert import (
    bare_gist,
    gist,
    mrkdwn,
)
from bot.slack.mrkdwn.escape import bare, clean, link, literal, plain, with_links
from bot.slack.mrkdwn.split import split
from bot.slack.payloads import plain as unescaped
from bot.slack.typed_text import readable
from bot.terminal.screen import news
from bot.views.message import pages
from bot.views.start_form import question_in
from core.acts.replies import first_sentence
from core.acts.short_form import read_short_form
from core.acts.summarise import cut
from core.acts.verdict_replies import VerdictReply
from core.debate.contributions import Contribution
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade
from core.errors import BadInput, ReplyUnreadable
from core.llm import quoting
from core.llm.prices import estimate_tokens, size_of
from core.llm.providers.error_bodies import read_body, wait_in_words
from core.llm.providers.errors import a_page, from_body, says_too_long
from core.llm.providers.offline_engine.checklists import mentions, normal, singular
from core.llm.providers.offline_engine.question_reading import read_question
from core.llm.providers.openai import lacks_responses
from core.llm.providers.reading import without_thoughts
from core.llm.reply_faults import is_refusal, repeats_itself, without_preamble, writable
from core.llm.structured import read_answer, repair_parts
from core.opening import check_length, check_question, find_agent, find_playbook
from core.redaction import clean as clean_text
from core.redaction import redact
from core.request import Part, PartKind
from core.settings import Settings
from core.testing import a_setup, log_of
from core.transcript.adr import adr
from core.transcript.cited import link_citations
from core.transcript.evaluation import laid_out
from core.transcript.few_words import few_words, new_sentences, whole_sentences
from core.transcript.found import as_code, in_text
from core.transcript.markdown import (
    code_block,
    inert,
    inert_line,
    misleads,
    parse,
    plain_line,
    shown_as_is,
    visible,
)
from core.transcript.report import report
from core.transcript.words import blocks, csv_cell, nested, quotation, titled
from core.use_cases.choices import cost_cap
from core.use_cases.reply_parsing import answer_in, parse_reply

#: Packages whose patterns and functions meet text of others; the local Slack gets it from bots.
PACKAGES = ("core", "bot", "slack_on_loopback")
#: Modules that cannot be imported, or must not be.
_NO_IMPORT = ("__main__", ".migrations.env")
_METHODS = frozenset(
    {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)
#: Methods that look at one place only.
_ANCHORED = frozenset({"match", "fullmatch"})
#: From here on an exponent is not linear; noise stays below.
CURVED = 1.5
#: What is faster than this at the size asked for is not looked at again.
_QUICK = 0.004
#: Seconds at the size asked for from which on `grows` compares with a shorter text.
_NOTICED = 0.002
_TAILS = ("", "\x00", "!")


@dataclass(frozen=True)
class Worst:
    """The text with which a pattern or a function is slowest."""

    #: What was tried: `core.redaction.redact`.
    name: str
    #: What the text is made of.
    text: str
    seconds: float
    #: 1 is linear, 2 quadratic; 0 where it was too quick to say.
    exponent: float

    @property
    def is_superlinear(self) -> bool:
        """Whether the time grows faster than the text."""
        return self.exponent >= CURVED


@dataclass(frozen=True)
class Pump:
    """Text of any length, made of a repeated part."""

    unit: str
    before: str = ""
    after: str = ""

    def __call__(self, size: int) -> str:
        """The text with about so many characters."""
        return self.before + (self.unit * (size // len(self.unit) + 1))[:size] + self.after

    def __str__(self) -> str:
        """How it is made."""
        return ascii(self.before)[1:-1] + f"({ascii(self.unit)[1:-1]})*" + ascii(self.after)[1:-1]


# --- what there is --------------------------------------------------------------------------------


@cache
def modules() -> Sequence[ModuleType]:
    """All modules of the project."""
    names = [
        module.name
        for package in map(importlib.import_module, PACKAGES)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [importlib.import_module(name) for name in names if not name.endswith(_NO_IMPORT)]


@cache
def patterns() -> Mapping[str, tuple[re.Pattern[str], frozenset[str]]]:
    """All patterns of modules and calls, with the methods that use them."""
    uses = dict[str, tuple[re.Pattern[str], frozenset[str]]]()
    for module in modules():
        for name, value in vars(module).items():
            for place, pattern in _patterns_in(value):
                # A pattern in a record's field is used by the name of the field.
                used = _uses(place.rpartition(".")[2] or name) & _METHODS or {"search"}
                uses.setdefault(f"{module.__name__}.{name}{place}", (pattern, frozenset(used)))
        for line, method, pattern in _inline(module):
            uses[f"{module.__name__}:{line}"] = (pattern, frozenset({method}))
    # A pattern imported from elsewhere is the same object: it is told where it was first seen.
    return {
        name: uses[name]
        for name in {id(pattern): name for name, (pattern, _) in uses.items()}.values()
    }


def made_while_running() -> Sequence[str]:
    """Calls that compile a pattern which is not a constant: `core.llm.quoting:66`."""
    return [
        f"{module.__name__}:{call.lineno}"
        for module in modules()
        for call, inside in _regex_calls(module)
        if inside and _constant(call) is None
    ]


def _patterns_in(value: object, place: str = "") -> Iterator[tuple[str, re.Pattern[str]]]:
    """A pattern, or those inside a collection or a record."""
    match value:
        case re.Pattern():
            if isinstance(value.pattern, str):
                yield place, cast("re.Pattern[str]", value)
        case dict():
            for key, item in cast("dict[object, object]", value).items():
                yield from _patterns_in(item, f"{place}[{key}]")
        case list() | tuple():
            for at, item in enumerate(cast("Sequence[object]", value)):
                yield from _patterns_in(item, f"{place}[{at}]")
        case _ if is_dataclass(value) and not isinstance(value, type):
            lazy = [
                name
                for name, kept in vars(type(value)).items()
                if isinstance(kept, cached_property)
            ]
            for name in (*(field.name for field in fields(value)), *lazy):
                yield from _patterns_in(getattr(value, name), f"{place}.{name}")
        case _:
            pass


@cache
def _source(module: ModuleType) -> str:
    return Path(module.__file__ or "").read_text(encoding="utf-8")


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(_source(module))


@cache
def _all_uses() -> Mapping[str, frozenset[str]]:
    """Methods that are called, or passed on, on something of each name anywhere."""
    uses = dict[str, set[str]]()
    for module in modules():
        if not any(f".{method}" in _source(module) for method in _METHODS):
            continue
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.Attribute):
                owner = node.value
                while isinstance(owner, ast.Subscript):
                    owner = owner.value
                name = getattr(owner, "id", getattr(owner, "attr", ""))
                uses.setdefault(name, set()).add(node.attr)
    return {name: frozenset(attributes) for name, attributes in uses.items()}


def _uses(name: str) -> frozenset[str]:
    return _all_uses().get(name, frozenset())


def _regex_calls(module: ModuleType) -> Iterator[tuple[ast.Call, bool]]:
    """Calls of `re`'s functions that take a pattern, and whether they stand inside a function."""
    if not re.search(r"\bre\s*\.", _source(module)):
        return
    tree = _tree(module)
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            of_re = isinstance(owner, ast.Name) and owner.id == "re"
            if of_re and node.func.attr in {*_METHODS, "compile"}:
                yield node, id(node) in inside


def _constant(call: ast.Call) -> str | None:
    """The pattern, where it stands in the call as it is."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


def _inline(module: ModuleType) -> Iterator[tuple[int, str, re.Pattern[str]]]:
    """Patterns that stand in a call inside a function."""
    for call, inside in _regex_calls(module):
        text = _constant(call)
        if inside and text is not None:
            method = cast("ast.Attribute", call.func).attr
            flags = re.IGNORECASE if "IGNORECASE" in ast.dump(call) else 0
            yield call.lineno, "search" if method == "compile" else method, re.compile(text, flags)


# --- text that hurts a pattern --------------------------------------------------------------------

_parser: Any = importlib.import_module("re._parser")
_CATEGORIES = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_WORD": "a",
    "CATEGORY_NOT_WORD": "-",
}
_MOST_SIGNS = 12


def attacks(pattern: re.Pattern[str], most: int = 400) -> Iterator[Pump]:
    """Text made of the pattern's own parts, repeated, with ends that match and ends that do not."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    pumps = dict.fromkeys(
        Pump(unit, before, after) for before, unit in _parts(tree) for after in _TAILS if unit
    )
    signs = list(dict.fromkeys((*_signs(tree), " ", "a", "\n", "1")))[:_MOST_SIGNS]
    pairs = dict.fromkeys(
        Pump(sign if sign == other else sign + other) for sign, other in product(signs, signs)
    )
    return islice(iter({**pumps, **pairs}), most)


def _parts(tree: Any) -> Iterator[tuple[str, str]]:
    """For each repeated part: what may stand before it, and what is repeated."""
    for kind in range(3):
        whole = _sample(tree, kind)
        yield "", whole
        yield "", whole[:-1]
        yield from _repeated(tree, "", kind)


def _repeated(tree: Any, before: str, kind: int) -> Iterator[tuple[str, str]]:
    for node in tree:
        for body in _bodies(node):
            if "REPEAT" in str(node[0]):
                unit = _sample(body, kind)
                yield before, unit
                yield "", before + unit
                yield "", before
            yield from _repeated(body, before, kind)
        before += _one(node, kind)


def _bodies(node: Any) -> Sequence[Any]:
    """The trees inside a node."""
    name, value = str(node[0]), node[1]
    if "REPEAT" in name:
        return [value[2]]
    if name == "BRANCH":
        return list(value[1])
    if name == "SUBPATTERN":
        return [value[3]]
    if name.startswith("ASSERT"):
        return [value[1]]
    return [value] if name == "ATOMIC_GROUP" else []


def _sample(tree: Any, kind: int) -> str:
    """A text that the tree matches, look-arounds aside; one of several by kind."""
    return "".join(_one(node, kind) for node in tree)


def _one(node: Any, kind: int) -> str:
    name, value = str(node[0]), node[1]
    bodies = _bodies(node)
    if name.startswith("ASSERT") or name in {"AT", "GROUPREF"}:
        return ""
    if "REPEAT" in name:
        return _sample(value[2], kind) * max(int(value[0]), min(1, int(value[1])))
    if bodies:
        return _sample(bodies[kind % len(bodies)], kind)
    signs = _signs([node])
    return signs[kind % len(signs)] if signs else "a"


def _signs(tree: Any) -> Sequence[str]:
    """One sign for each literal and each class in the tree."""
    signs: list[str] = []
    for node in tree:
        name, value = str(node[0]), node[1]
        if name == "LITERAL":
            signs.append(chr(value))
        elif name == "RANGE":
            signs.append(chr(value[0]))
        elif name == "CATEGORY":
            signs.append(_CATEGORIES[str(value)])
        elif name == "IN":
            inside = _signs(value)
            signs += ["a", " ", "~"] if str(value[0][0]) == "NEGATE" else inside
        elif name in {"ANY", "NOT_LITERAL"}:
            signs += ["a", " "]
        for body in _bodies(node):
            signs += _signs(body)
    return list(dict.fromkeys(signs))


def _run(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    """A method's call on a text: one match, or all matches."""
    if method in _ANCHORED or method == "search":
        return getattr(pattern, method)
    return pattern.findall


# --- measuring ------------------------------------------------------------------------------------


def worst_of_pattern(name: str, size: int) -> Worst:
    """The text with which a pattern is slowest, by any of its methods."""
    pattern, methods = patterns()[name]
    runs = {
        ("findall" if method not in {*_ANCHORED, "search"} else method): method
        for method in methods
    }
    worsts = [
        worst(f"{name}.{method}", _run(pattern, method), attacks(pattern), size) for method in runs
    ]
    return max(worsts, key=lambda item: item.seconds)


def worst(
    name: str,
    act: Callable[[str], object],
    pumps: Iterable[Pump],
    size: int,
    *,
    quick: float = _QUICK,
) -> Worst:
    """The text that something is slowest with, and how that grows.

    Args:
        name: What it is called.
        act: What is done with the text.
        pumps: The texts.
        size: Characters.
        quick: Seconds under which nothing is measured twice.
    """
    slowest, began = Worst(name, "", 0.0, 0.0), time.process_time()
    for pump in pumps:
        if time.process_time() - began > _LONG_ENOUGH:
            break
        seconds = _staged(act, pump, size, quick)
        if seconds <= max(quick, slowest.seconds) and slowest.text:
            continue
        growth = _exponent(act, pump, size) if seconds > quick else 0.0
        result = Worst(name, str(pump), seconds, growth)
        if not slowest.text or (result.is_superlinear, result.seconds) > (
            slowest.is_superlinear,
            slowest.seconds,
        ):
            slowest = result
        if result.is_superlinear and seconds > _BAD_ENOUGH:
            break
    return slowest


#: Each size is so many times smaller than the next.
_STEP = 4
#: Seconds after which nobody wants to know whether one text, or all texts, can be worse.
_BAD_ENOUGH, _LONG_ENOUGH = 0.5, 1.0


def _staged(act: Callable[[str], object], pump: Pump, size: int, quick: float) -> float:
    """Seconds for the text; for a shorter one where that is quick enough, or far too slow."""
    seconds = _seconds(act, pump(size // _STEP**2))
    for smaller in (_STEP, 1):
        # What is quadratic takes 16 times as long with four times as much text.
        least = quick / _STEP ** (4 if smaller > 1 else 2)
        if not least < seconds < _BAD_ENOUGH / _STEP**2:
            break
        seconds = _seconds(act, pump(size // smaller))
    return seconds


def grows(act: Callable[[str], object], size: int) -> Worst | None:
    """The first text with which a function grows faster than the text; quicker than `worst`."""
    for pump in texts():
        large = _seconds(act, pump(size))
        if large > _NOTICED:  # the best of three, against noise: some grow by a step once
            large = min(large, _best(act, pump(size)))
        if large > _NOTICED and large > _STEP**CURVED * _seconds(act, pump(size // _STEP)):
            growth = _exponent(act, pump, size * _STEP)
            if growth >= CURVED:
                return Worst("", str(pump), large, growth)
    return None


def _exponent(act: Callable[[str], object], pump: Pump, size: int) -> float:
    """How the time grows up to the size; where it is not linear, whether it goes on so.

    Memory is got from the system by steps: once, four times the text takes twenty times as long.
    """
    exponent = _growth(act, pump, size)
    if exponent < CURVED:
        return exponent
    seconds = _best(act, pump(size))
    if seconds > _BAD_ENOUGH / _STEP:
        return min(exponent, _growth(act, pump, size))
    return min(exponent, math.log(_best(act, pump(size * _STEP)) / seconds, _STEP))


def _growth(act: Callable[[str], object], pump: Pump, size: int) -> float:
    """The exponent from a quarter of the size, or of a quarter where that is slow enough."""
    small, large = _best(act, pump(size // _STEP**2)), _best(act, pump(size // _STEP))
    if large < _BAD_ENOUGH / _STEP**2:
        small, large = large, _best(act, pump(size))
    return math.log(large / small, _STEP)


def _best(act: Callable[[str], object], text: str) -> float:
    """Seconds of CPU, the best of three, against noise."""
    return min(_seconds(act, text) for _ in range(3))


def _seconds(act: Callable[[str], object], text: str) -> float:
    """Seconds of CPU, which other work on the machine hardly changes.

    Without the search for cycles, which goes through all objects of the process.
    """
    gc.disable()
    try:
        began = time.process_time()
        act(text)
        return time.process_time() - began
    finally:
        gc.enable()


# --- functions ------------------------------------------------------------------------------------

#: Pieces of what functions look for, alone and next to each other.
_PIECES = (
    "a", "A", " ", "\n", "1", ".", ",", "`", "``", "```", "```\n", "~~~\n", "*", "**", "_", "~",
    "~~", "<", ">", "&", "&amp;", "<!", "<@U1", "|", "[", "]", "](", "![", "(", ")", "@", "@here",
    "#", "# ", "- ", "> ", "1. ", "    ", "\t", "\\", "!", ":", ":a:", "://", "https://a.b",
    "https://", "a:b@", "{", "}", '"', '{"a":', "[[", "\u200d", "\u0301", "\U0001f3f4",
    "\U0001f1e6", "\U0001f600", "\ufe0f", "\ud7ff", "\u3002", "\u3042", "\xe9", "<br>", "|-",
    "|a", "\n|", "\n\n", "\r", "\x00", "-----BEGIN A PRIVATE KEY-----", "eyJaaaaaaaa.", "xoxb-",
    "sk-", "AKIA", "must ", "2: a\n", "a.", "-", "'", "$", "%", "1,000", "* a\n", " - ", "<a|b>",
    "\ud800",
)  # fmt: skip


def texts() -> Iterator[Pump]:
    """Hostile text for readers of Markdown, JSON, numbers, secrets and lists."""
    yield from (Pump(piece) for piece in _PIECES)
    yield from (Pump(piece, after="\n") for piece in ("a ", "*a ", "_a", "`a", "[a"))
    yield from (Pump(piece + "a") for piece in _PIECES)
    yield from (Pump(piece + "a ") for piece in _PIECES)
    yield from (Pump(piece + "\n") for piece in _PIECES)
    yield from (Pump("a", before=piece) for piece in _PIECES)
    yield from (Pump(" ", before=piece, after="a") for piece in _PIECES)
    yield from (Pump("\n", before=piece, after="a") for piece in _PIECES)
    yield from (Pump(unit) for unit in _MIXED)
    # Twice as deep on every line: lists and quotations in one another.
    yield Pump("- ", after="a")
    yield Pump("> - ", after="a")
    yield Pump("a|" * 50 + "\n", before="a|" * 50 + "\n" + "-|" * 50 + "\n")
    yield Pump("\n", before="a|" * 200 + "\n" + "-|" * 200)
    yield Pump("a\n", before="a|" * 200 + "\n" + "-|" * 200 + "\n")


_MIXED = (
    "*_", "*_~`", "*a _b ", "**a *b ", "_*a*_", "a*b_c~d`e ", "<a", "<a|", "<!a|", "a* ", " *a",
    "*a_ ", "~`a", "[a](b)", "[a](", "![a](b)", "[a][b]", "<https://a.b|", "https://a.b/)",
    "https://a.b(((", "https://a.b)))))))))", "https://a.b.........", "```\na\n```\n",
    "```json\n{\n", "{[", '{"a": {"b": [', '{"a": "', '{"a": 1, ', '"\\', "\U0001f3f4\U000e0067",
    "a\u200d", "e\u0301", "1.1,1:", "12, ", "12 ", "1 must ", "sk-aaaaaaaaaaaaaaaaaaaa ", "://a:b", "://a:b@",
    "a b. ", "A. ", "! ", "? ", "\u3002 ", "- a\n", "1. a\n", "> a\n", "> > ", "  - a\n", "# a\n",
    "a\n=\n", "| a | b |\n|---|---|\n", "|---", "a | b\n- | -\n", "<br />", "2: a\n3: b\n",
    "skip\n", "```a", "``a`", "\\*", "\\[", "&#", "&#1;", "a\n\n", "===\n", "***\n", "\n* ",
    "-----BEGIN A PRIVATE KEY-----\na\n", "-----BEGIN ", "-----END A-----",
    "eyJaaaaaaaa.eyJaaaaaaaa.", "gh", "ghp_a", "AKIAAAAA", "xoxe.xoxb-", "a@b.c ", "a.a.a", "a-",
    "_a_", "*a* ", "~a~ ", "`a` ", "*a*_b_",
)  # fmt: skip


def _structure(text: str) -> None:
    with suppress(ReplyUnreadable):
        read_answer(text, VerdictReply)


def _amount(text: str) -> None:
    with suppress(BadInput):
        cost_cap(text, None)


def _rejected(text: str) -> None:
    lacks_responses(httpx2.Response(400, content=text.encode("utf-8", "replace")))


def _debate(text: str) -> Debate:
    """A debate with the text in what people and agents said."""
    setup = a_setup(rounds=1).model_copy(update={"question": text, "context": text})
    agent = setup.agents[0].id
    contribution = Contribution(turn=Turn(act=Act.PROPOSAL, round=1, agent=agent), text=text)
    return fold(log_of([DebateStarted(setup=setup), ContributionMade(contribution=contribution)]))


def _whole(tell: Callable[[Debate], object]) -> Callable[[str], object]:
    """Reports and views of a whole debate, as functions of one text."""
    return lambda text: tell(_debate(text))


def _named(find: Callable[[str, Settings], object]) -> Callable[[str], object]:
    """Look-ups by name, as functions of a name that does not exist."""

    def tried(text: str) -> None:
        with suppress(BadInput):
            find(text, Settings())

    return tried


#: Functions that take text of people, models or servers, each as a function of that text alone.
FUNCTIONS: Mapping[str, Callable[[str], object]] = {
    "core.llm.reply_faults.is_refusal": is_refusal,
    "core.llm.reply_faults.repeats_itself": repeats_itself,
    "core.llm.reply_faults.without_preamble": without_preamble,
    "core.llm.reply_faults.writable": writable,
    "core.llm.prices.estimate_tokens": estimate_tokens,
    "core.llm.prices.size_of": size_of,
    "core.llm.providers.offline_engine.checklists.mentions": lambda text: mentions(text, "a b"),
    "core.llm.providers.offline_engine.checklists.normal": normal,
    "core.llm.providers.offline_engine.checklists.singular": singular,
    "core.llm.providers.offline_engine.question_reading.read_question": read_question,
    "core.llm.structured.read_answer": _structure,
    "core.llm.structured.repair_parts": lambda text: repair_parts(text, text),
    "core.opening.find_agent": _named(find_agent),
    "core.opening.find_playbook": _named(find_playbook),
    "core.opening.check_length": lambda text: check_length("It", text, 10**9, instead=""),
    "core.opening.check_question": lambda text: check_question(f"a{text}", 10**9),
    "core.llm.quoting.clean": quoting.clean,
    "core.llm.quoting.as_data": lambda text: quoting.as_data.__wrapped__(text, "k7f3q9"),
    "core.llm.quoting.quote": lambda text: quoting.quote(
        Part(kind=PartKind.OTHER, label=text[:100], text=""), "k7f3q9"
    ),
    "core.llm.providers.errors.a_page": lambda text: a_page("OpenAI", text),
    "core.llm.providers.errors.from_body": lambda text: from_body("OpenAI", 400, text, prompt=text),
    "core.llm.providers.errors.says_too_long": says_too_long,
    "core.llm.providers.error_bodies.read_body": read_body,
    "core.llm.providers.error_bodies.wait_in_words": wait_in_words,
    "core.transcript.evaluation.laid_out": lambda text: laid_out(text, ("Risks", [text, text])),
    "core.llm.providers.reading.without_thoughts": without_thoughts,
    "core.llm.providers.openai.lacks_responses": _rejected,
    "core.redaction.clean": clean_text,
    "core.redaction.redact": redact,
    "core.acts.replies.first_sentence": first_sentence,
    "core.acts.short_form.read_short_form": read_short_form,
    "core.acts.summarise.cut": lambda text: cut(text, len(text) - 1),
    "core.transcript.adr.adr": _whole(adr),
    "bot.debate_page.page.html": lambda text: html(text, 2, {"e1"}),
    "core.transcript.few_words.whole_sentences": lambda text: whole_sentences(text, 40),
    "core.transcript.markdown.plain_line": plain_line,
    "core.transcript.markdown.shown_as_is": shown_as_is,
    "core.transcript.words.blocks": blocks,
    "core.transcript.words.csv_cell": csv_cell,
    "core.transcript.few_words.few_words": lambda text: few_words(text, 40),
    "core.transcript.few_words.new_sentences": lambda text: new_sentences(text, set()),
    "core.transcript.found.as_code": as_code,
    "core.transcript.found.in_text": in_text,
    "core.transcript.markdown.misleads": lambda text: misleads(text, "https://a.example/"),
    "core.transcript.markdown.parse": parse,
    "core.transcript.markdown.inert": inert,
    "core.transcript.markdown.inert_line": inert_line,
    "core.transcript.markdown.visible": visible,
    "core.transcript.report.report": _whole(report),
    "core.transcript.markdown.code_block": code_block,
    "core.transcript.words.nested": lambda text: nested(text, 2),
    "core.transcript.words.quotation": quotation,
    "core.transcript.words.titled": lambda text: titled("Title", text),
    "bot.addresses.fault_of": fault_of,
    "bot.addresses.is_loopback": is_loopback,
    "bot.addresses.sends_openly": sends_openly,
    "core.use_cases.choices.cost_cap": _amount,
    "bot.slack.ids.address_keys": address_keys,
    "bot.slack.ids.fill_in": lambda text: fill_in(text, defaultdict(str)),
    "bot.slack.ids.note_ts": note_ts,
    "bot.listeners.typed.has_question_mark": has_question_mark,
    "bot.listeners.typed.is_greeted": lambda text: is_greeted(text, read(text)),
    "bot.listeners.typed.read": read,
    "bot.listeners.typed.says_nothing": says_nothing,
    "bot.listeners.typed.steering": steering,
    "bot.listeners.typed.word_count": word_count,
    "bot.slack.mrkdwn.convert.bare_gist": lambda text: bare_gist(text, 300),
    "bot.slack.mrkdwn.convert.gist": lambda text: gist.__wrapped__(text, 300),
    "bot.slack.mrkdwn.convert.mrkdwn": mrkdwn,
    "core.transcript.cited.link_citations": lambda text: link_citations(text, ()),
    "bot.slack.mrkdwn.escape.bare": lambda text: bare(text, 80),
    "bot.slack.mrkdwn.escape.clean": clean,
    "bot.slack.mrkdwn.escape.link": lambda text: link("https://a.example/", text),
    "bot.slack.mrkdwn.escape.with_links": with_links,
    "bot.slack.mrkdwn.escape.literal": literal,
    "bot.slack.mrkdwn.escape.plain": plain,
    "bot.slack.mrkdwn.split.split": lambda text: split(text, 3500),
    "bot.slack.payloads.plain": unescaped,
    "core.use_cases.reply_parsing.parse_reply": lambda text: parse_reply(
        text, {1: "How many?", 2: "Who?"}, [1, 2]
    ),
    "core.use_cases.reply_parsing.answer_in": answer_in,
    "bot.slack.typed_text.readable": lambda text: readable(text, {}),
    "bot.views.start_form.question_in": question_in,
    "bot.terminal.screen.news": _whole(
        lambda debate: [*news(debate, ContributionMade(contribution=_only(debate)), verbose=True)]
    ),
    "bot.views.message.pages": pages,
}


def _only(debate: Debate) -> Contribution:
    return next(iter(debate.contributions.values()))


def worst_of_function(name: str, size: int, quick: float = _QUICK) -> Worst:
    """The text with which a function is slowest."""
    return worst(name, FUNCTIONS[name], texts(), size, quick=quick)


def main() -> None:
    """Measure everything and print the worst cases."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--size", type=int, default=12_000, help="Characters of a text.")
    options.add_argument("--only", default="", help="Only what has this in its name.")
    options.add_argument("--rows", type=int, default=30, help="Rows of the table.")
    wish = options.parse_args()
    worsts = [worst_of_pattern(name, wish.size) for name in patterns() if wish.only in name]
    worsts += [worst_of_function(name, wish.size) for name in FUNCTIONS if wish.only in name]
    worsts.sort(key=lambda item: (-item.is_superlinear, -item.seconds))
    table = Table("What", "Exponent", "Milliseconds", "Worst text")
    for item in worsts[: wish.rows]:
        exponent = f"{item.exponent:.1f}" if item.exponent else "–"
        table.add_row(item.name, exponent, f"{item.seconds * 1000:.1f}", Text(item.text[:50]))
    Console().print(table)
    curved = sum(item.is_superlinear for item in worsts)
    print(
        f"{len(worsts)} tried with {wish.size:,} characters: {curved} grow faster than their text."
    )


if __name__ == "__main__":
    main()
