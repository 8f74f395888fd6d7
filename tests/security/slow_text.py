"""All compiled patterns and functions that read text of others, and text that could slow them down.

Text of people, models and servers is read on the event loop, so what reads it must be linear. A
pattern is tried with text made from its own parts, repeated; a function with pieces of Markdown,
JSON, numbers, secrets and the like.
"""

import ast
import gc
import importlib
import inspect
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

from bot.debate_page.page import html
from bot.slack import ids, mrkdwn, payloads
from bot.slack.typed_text import readable
from bot.terminal.screen import event_lines
from bot.views.start_form import extract_question
from core import opening
from core.acts.speak import read_short_form
from core.acts.summarise import cut
from core.acts.verdict import VerdictReply
from core.debate.contributions import Contribution
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade
from core.errors import BadInput, ReplyUnreadable
from core.llm import prompt_text
from core.llm.providers import errors
from core.llm.providers.offline import mentions
from core.llm.providers.openai import lacks_responses
from core.llm.replies import read_answer, repair_parts
from core.request import Part, PartKind
from core.settings import Settings
from core.testing import a_setup, log_of
from core.transcript.cited import link_citations
from core.transcript.decision import adr
from core.transcript.evaluation import layout
from core.transcript.markdown import misleads
from core.transcript.report import report
from core.transcript.words import few_words, nested, new_sentences, titled, whole_sentences
from core.use_cases.choices import cost_cap
from core.use_cases.reply_parsing import parse_reply

#: Packages whose patterns read text of others; the local Slack gets it from bots.
PACKAGES = ("core", "bot", "slack_on_loopback")
#: Modules whose public functions take text of others as their first argument.
PLACES = (
    "core.llm",
    "core.opening",
    "core.redaction",
    "core.acts.replies",
    "core.acts.summarise",
    "core.transcript",
    "bot.addresses",
    "bot.listeners.typed",
    "bot.slack.mrkdwn",
    "core.use_cases.reply_parsing",
    "bot.views.message",
)
#: Functions that get Moot's own text or settings: names of vendors, models and packages.
OURS = {
    "bot.slack.blocks.read_all_button",
    "bot.views.message.context",
    "bot.views.message.header",
    "bot.views.message.mrkdwn_pages",
    "bot.views.message.message_form",
    "bot.views.message.notice",
    "bot.views.message.titled_pieces",
    "bot.views.message.sections",
    "bot.views.message.text_form",
    "core.llm.sizes.prefix_keys",
    "core.llm.providers.example.example_settings",
    "core.llm.known_models.is_known",
    "core.llm.known_models.nearest_model",
    "core.llm.prices.price",
    "core.llm.prices.worst_cost",
    "core.llm.providers.errors.check_key",
    "core.llm.providers.errors.refusal",
    "core.llm.providers.errors.translate",
    "core.llm.providers.openai.openai_client",
    "core.llm.providers.factory.build",
}
_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
#: A larger exponent is not linear; noise stays below.
_CURVED = 1.5
#: Factor between two lengths.
_STEP = 4
#: Lengths at which exponential time is noticeable, but ends.
_FEW = (24, 36)
#: Seconds; a slower text is not measured with a longer one.
_LONG = 0.1


@dataclass(frozen=True)
class Pump:
    """Text of any length, made of a repeated part."""

    unit: str
    before: str = ""
    after: str = ""

    def __call__(self, size: int) -> str:
        return self.before + (self.unit * (size // len(self.unit) + 1))[:size] + self.after

    def __str__(self) -> str:
        return ascii(self.before)[1:-1] + f"({ascii(self.unit)[1:-1]})*" + ascii(self.after)[1:-1]


# --- patterns -------------------------------------------------------------------------------------


@cache
def modules(*packages: str) -> Sequence[ModuleType]:
    """All modules of the packages, or the module itself if it is no package."""
    found = [importlib.import_module(package) for package in packages]
    for package in [*found]:
        names = pkgutil.walk_packages(getattr(package, "__path__", []), f"{package.__name__}.")
        wanted = (
            name for _, name, _ in names if not name.endswith(("__main__", ".migrations.env"))
        )
        found += map(importlib.import_module, wanted)
    return found


@cache
def patterns() -> Mapping[str, tuple[re.Pattern[str], set[str]]]:
    """All patterns of modules and calls, with the methods that use them."""
    used = defaultdict[str, set[str]](set)
    for module in modules(*PACKAGES):
        uses = rf"(\w+)(?:\[[^\[\]]*\])*\.({'|'.join(_METHODS)})\b"
        for name, method in re.findall(uses, _source(module)):
            used[name].add(method)
    found = dict[int, tuple[str, re.Pattern[str], set[str]]]()
    for module in modules(*PACKAGES):
        for name, value in vars(module).items():
            for place, pattern in _patterns_in(value):
                # A pattern in a record's field is used by the name of the field.
                methods = used[place.rpartition(".")[2] or name] or {"search"}
                full = f"{module.__name__}.{name}{place}"
                # A pattern imported from another module is the same object.
                found.setdefault(id(pattern), (full, pattern, methods))
        for call, text in _calls_in_functions(module):
            if text is not None:
                flags = re.IGNORECASE if "IGNORECASE" in ast.dump(call) else 0
                pattern = re.compile(text, flags)
                full = f"{module.__name__}:{call.lineno}"
                method = cast("ast.Attribute", call.func).attr.replace("compile", "search")
                found.setdefault(id(pattern), (full, pattern, set()))[2].add(method)
    return {name: (pattern, methods) for name, pattern, methods in found.values()}


def makers_of_patterns() -> set[str]:
    """Modules with a function that compiles a pattern which is not a constant."""
    return {
        module.__name__
        for module in modules(*PACKAGES)
        for _, text in _calls_in_functions(module)
        if text is None
    }


def _patterns_in(value: object, place: str = "") -> Iterator[tuple[str, re.Pattern[str]]]:
    """A pattern, or those inside a collection or a record."""
    inside: Iterable[tuple[str, object]] = ()
    match value:
        case re.Pattern():
            if isinstance(value.pattern, str):
                yield place, cast("re.Pattern[str]", value)
        case dict():
            mapping = cast("dict[object, object]", value)
            inside = ((f"[{key}]", item) for key, item in mapping.items())
        case list() | tuple():
            items = cast("Sequence[object]", value)
            inside = ((f"[{number}]", item) for number, item in enumerate(items))
        case _ if is_dataclass(value) and not isinstance(value, type):
            lazy = [
                key for key, kept in vars(type(value)).items() if isinstance(kept, cached_property)
            ]
            names = (*(field.name for field in fields(value)), *lazy)
            inside = ((f".{name}", getattr(value, name)) for name in names)
        case _:
            pass
    for key, item in inside:
        yield from _patterns_in(item, place + key)


@cache
def _source(module: ModuleType) -> str:
    return Path(module.__file__ or "").read_text(encoding="utf-8")


def _calls_in_functions(module: ModuleType) -> Iterator[tuple[ast.Call, str | None]]:
    """Calls of `re`'s functions that run with the code, and their pattern if it is a constant."""
    if not re.search(r"\bre\s*\.", _source(module)):
        return
    calls = {
        call
        for function in ast.walk(ast.parse(_source(module)))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        if re.fullmatch(rf"re\.({'|'.join(_METHODS)}|compile)", ast.unparse(call.func))
    }
    for call in calls:
        match call.args:
            case [ast.Constant(value=str(text)), *_]:
                yield call, text
            case _:
                yield call, None


def runs(name: str) -> Iterator[Callable[[str], object]]:
    """Functions that apply a pattern to a text, one for each method in use."""
    pattern, methods = patterns()[name]
    # `sub`, `split` and their like go through the whole text as `findall` does.
    for method in {m if m in {"search", "match", "fullmatch"} else "findall" for m in methods}:
        yield getattr(pattern, method)


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
    signs = list(dict.fromkeys((*_signs(tree), " ", "a", "\n", "1")))[:_MOST_SIGNS]
    pumps = [
        Pump(unit, before, after)
        for before, unit in _parts(tree)
        for after in ("", "\x00", "!")
        if unit
    ]
    pumps += [
        Pump(sign if sign == other else sign + other) for sign, other in product(signs, signs)
    ]
    return islice(dict.fromkeys(pumps), most)


def _parts(tree: Any) -> Iterator[tuple[str, str]]:
    """For each repeated part: a text that may come before it, and the repeated text."""
    for kind in range(3):
        whole = "".join(_sample(node, kind) for node in tree)
        yield "", whole
        yield "", whole[:-1]
        yield from _repeated(tree, "", kind)


def _repeated(tree: Any, before: str, kind: int) -> Iterator[tuple[str, str]]:
    for node in tree:
        for body in _bodies(node):
            if "REPEAT" in str(node[0]):
                unit = "".join(_sample(inside, kind) for inside in body)
                yield before, unit
                yield "", before + unit
                yield "", before
            yield from _repeated(body, before, kind)
        before += _sample(node, kind)


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


def _sample(node: Any, kind: int) -> str:
    """A text that the node matches, without look-arounds; `kind` selects one of several."""
    name, value = str(node[0]), node[1]
    if name.startswith("ASSERT") or name in {"AT", "GROUPREF"}:
        return ""
    if bodies := _bodies(node):
        text = "".join(_sample(inside, kind) for inside in bodies[kind % len(bodies)])
        return text * max(int(value[0]), min(1, int(value[1]))) if "REPEAT" in name else text
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
            signs += ["a", " ", "~"] if str(value[0][0]) == "NEGATE" else _signs(value)
        elif name in {"ANY", "NOT_LITERAL"}:
            signs += ["a", " "]
        for body in _bodies(node):
            signs += _signs(body)
    return list(dict.fromkeys(signs))


# --- measuring ------------------------------------------------------------------------------------


def slow_text(
    act: Callable[[str], object],
    pumps: Iterable[Pump],
    size: int,
    *,
    noticed: float,
    most: float = math.inf,
    patience: float = math.inf,
) -> str:
    """Describe the first text whose time grows faster than its length; empty if there is none.

    Args:
        act: The function under test.
        pumps: The texts.
        size: Characters.
        noticed: Seconds of CPU for the size, below which the growth does not matter.
        most: Seconds of CPU for the size that are too many, for any growth.
        patience: Seconds of CPU for all texts; later ones are not tried.
    """
    began = time.process_time()
    for pump in pumps:
        seconds, length = 0.0, size
        for length in (*_FEW, size // _STEP**2, size // _STEP, size):
            seconds = _seconds(act, pump(length))
            # Quadratic time is 16 times as long for four times the text.
            if seconds > _LONG or seconds < noticed * (length / size) ** 2:
                break
        if seconds > most or (seconds > _LONG and length in _FEW):
            return f"{pump}: {length} characters take {seconds:.2f} s"
        if seconds > noticed * (length / size) ** 2:
            exponent = _exponent(act, pump, length)
            if exponent >= _CURVED:
                return f"{pump}: grows with power {exponent:.1f}"
        if time.process_time() - began > patience:
            break
    return ""


def _exponent(act: Callable[[str], object], pump: Pump, length: int) -> float:
    """The exponent of the time by length: the lesser of two steps.

    The system gives memory in steps, so one step can take twenty times as long.
    """
    if _seconds(act, pump(length)) > _LONG:
        length //= _STEP
    lengths = (length // _STEP, length, length * _STEP)
    # The best of three, against noise.
    small, medium, large = (min(_seconds(act, pump(n)) for _ in range(3)) for n in lengths)
    return math.log(min(medium / small, large / medium), _STEP)


def _seconds(act: Callable[[str], object], text: str) -> float:
    """Seconds of CPU, nearly independent of other work on the machine.

    Without the cyclic garbage collector, which visits all objects of the process.
    """
    gc.disable()
    try:
        began = time.process_time()
        act(text)
        return time.process_time() - began
    finally:
        gc.enable()


# --- functions ------------------------------------------------------------------------------------

#: Texts that functions search for, alone and in pairs.
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


def text_functions() -> Mapping[str, Callable[..., object]]:
    """Public functions of PLACES whose first argument is a text, without OURS."""
    found = dict[str, Callable[..., object]]()
    for module in modules(*PLACES):
        for name, value in vars(module).items():
            function = inspect.unwrap(value) if callable(value) else None
            full = f"{module.__name__}.{name}"
            if name.startswith("_") or full in OURS or not inspect.isfunction(function):
                continue
            first = next(iter(inspect.signature(function).parameters.values()), None)
            if function.__module__ == module.__name__ and first and first.annotation is str:
                found[full] = function
    return found


@cache
def functions() -> Mapping[str, Callable[[str], object]]:
    """All functions that are tried, by name."""
    alone = {name: act for name, act in text_functions().items() if not needs_more(act)}
    return {**alone, **WITH_MORE}


def needs_more(function: Callable[..., object]) -> bool:
    """Whether a function cannot be called with one text alone."""
    try:
        inspect.signature(function).bind("")
    except TypeError:
        return True
    return False


def _tolerant(act: Callable[[str], object]) -> Callable[[str], object]:
    """A function that may refuse a text."""

    def tried(text: str) -> None:
        with suppress(BadInput, ReplyUnreadable):
            act(text)

    return tried


def _of_debate(tell: Callable[[Debate, Contribution], object]) -> Callable[[str], object]:
    """A view of a debate with the text in every message of people and agents."""

    def told(text: str) -> object:
        setup = a_setup(rounds=1).model_copy(update={"question": text, "context": text})
        turn = Turn(act=Act.PROPOSAL, round=1, agent=setup.agents[0].id)
        said = ContributionMade(contribution=Contribution(turn=turn, text=text))
        return tell(fold(log_of([DebateStarted(setup=setup), said])), said.contribution)

    return told


#: Functions elsewhere, and those that need more than a text.
WITH_MORE: Mapping[str, Callable[[str], object]] = {
    "core.acts.speak.read_short_form": read_short_form,
    "core.acts.summarise.cut": lambda text: cut(text, len(text) - 1),
    "core.llm.providers.errors.from_body": lambda text: errors.from_body(
        "OpenAI", 400, text, prompt=text
    ),
    "core.llm.providers.offline.mentions": lambda text: mentions(text, "a b"),
    "core.llm.providers.openai.lacks_responses": lambda text: lacks_responses(
        httpx2.Response(400, content=text.encode("utf-8", "replace"))
    ),
    "core.llm.prompt_text.clean": prompt_text.clean,
    "core.llm.prompt_text.as_data": lambda text: prompt_text.as_data.__wrapped__(text, "k7f3q9"),
    "core.llm.prompt_text.quote": lambda text: prompt_text.quote(
        Part(kind=PartKind.OTHER, label=text[:100], text=""), "k7f3q9"
    ),
    "core.llm.replies.read_answer": _tolerant(lambda text: read_answer(text, VerdictReply)),
    "core.llm.replies.repair_parts": lambda text: repair_parts(text, text),
    "core.opening.check_length": lambda text: opening.check_length("It", text, 10**9, instead=""),
    "core.opening.check_question": lambda text: opening.check_question(f"a{text}", 10**9),
    "core.opening.find_agent": _tolerant(lambda text: opening.find_agent(text, Settings())),
    "core.opening.find_playbook": _tolerant(lambda text: opening.find_playbook(text, Settings())),
    "core.transcript.decision.adr": _of_debate(lambda debate, _: adr(debate)),
    "core.transcript.cited.link_citations": lambda text: link_citations(text, ()),
    "core.transcript.evaluation.layout": lambda text: layout(text, ("Risks", [text, text])),
    "core.transcript.words.few_words": lambda text: few_words(text, 40),
    "core.transcript.words.new_sentences": lambda text: new_sentences(text, set()),
    "core.transcript.words.whole_sentences": lambda text: whole_sentences(text, 40),
    "core.transcript.markdown.misleads": lambda text: misleads(text, "https://a.example/"),
    "core.transcript.report.report": _of_debate(lambda debate, _: report(debate)),
    "core.transcript.words.nested": lambda text: nested(text, 2),
    "core.transcript.words.titled": lambda text: titled("Title", text),
    "core.use_cases.choices.cost_cap": _tolerant(lambda text: cost_cap(text, None)),
    "core.use_cases.reply_parsing.parse_reply": lambda text: parse_reply(text, {1, 2}, [1, 2]),
    "bot.debate_page.page.html": lambda text: html(text, 2, {"e1"}),
    "bot.slack.ids.address_keys": ids.address_keys,
    "bot.slack.ids.fill_addresses": lambda text: ids.fill_addresses(text, defaultdict(str)),
    "bot.slack.ids.note_ts": ids.note_ts,
    "bot.slack.mrkdwn.bare_gist": lambda text: mrkdwn.bare_gist(text, 300),
    "bot.slack.mrkdwn.gist": lambda text: mrkdwn.gist.__wrapped__(text, 300),
    "bot.slack.mrkdwn.bare": lambda text: mrkdwn.bare(text, 80),
    "bot.slack.mrkdwn.link": lambda text: mrkdwn.link("https://a.example/", text),
    "bot.slack.mrkdwn.split": lambda text: mrkdwn.split(text, 3500),
    "bot.slack.payloads.plain": payloads.plain,
    "bot.slack.typed_text.readable": lambda text: readable(text, {}),
    "bot.terminal.screen.event_lines": _of_debate(
        lambda debate, contribution: [
            *event_lines(debate, ContributionMade(contribution=contribution), verbose=True)
        ]
    ),
    "bot.views.start_form.extract_question": extract_question,
}
