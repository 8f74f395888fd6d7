"""Reads text that people type to the bot: the subcommands and the rules in docs/team.md (pure)."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property

from bot.slack.typed_text import EMOJI_CODE
from core.debate.rules import When

#: Words of the shortest question; letters that count as a word in a script without spaces.
_LEAST_WORDS, _LETTERS_OF_A_WORD = 3, 2
#: A longer text is always a question.
MOST_COMMAND_CHARS = 300
#: Least similarity (0 to 1) of a first word to a subcommand that is then suggested.
_LEAST_SIMILARITY = 0.7
#: Patterns of the arguments, by their names in forms.
_ARGUMENTS: Mapping[str, str] = {
    "ID": r"`?(?P<id>d[a-z2-7]{7})`?",
    "WORDS": r"(?P<words>.+)",
    "NAME": r"(?P<words>.+)",
    "N": r"(?P<words>all|[1-9][0-9]{0,2})",
}
#: An option before the question. Phones replace two hyphens by a long dash.
_OPTION = re.compile(
    r"(?:--(?=[a-z])|[—–](?=(?:format|playbook|when|rounds|agents|sources?)\b))"
    r"(?P<name>[a-z][a-z-]{0,30})(?:[ =]{1,5}(?P<value>[^\s]{1,60}))?(?=\s|$)\s*",
    re.IGNORECASE,
)
_ID = re.compile(r"\bd[a-z2-7]{7}\b")
_QUOTES = "\"'`“”„’"


@dataclass(frozen=True)
class Subcommand:
    #: The syntax after `/debate`; words in capitals are arguments.
    form: str
    #: For `/debate help`.
    does: str
    #: Whether it opens a form, which needs the trigger of a command or a click.
    opens_form: bool = False
    #: Whether it changes nothing, so that a second delivery by Slack may be answered again.
    only_reads: bool = False
    #: Whether only its author may see the answer, so that a mention cannot run it.
    is_private: bool = False

    @property
    def word(self) -> str:
        return self.form.split()[0]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the whole subcommand, with the groups `id` and `words` for its arguments."""
        words = (_ARGUMENTS.get(word, word) for word in self.form.split())
        return re.compile(" ".join(words), re.IGNORECASE)


#: Of several with the same first word the shortest is first: it is suggested if none fits better.
SUBCOMMANDS: Sequence[Subcommand] = (
    Subcommand("list", "this channel's newest debates", only_reads=True),
    Subcommand("search WORDS", "debates in your channels that hold these words", only_reads=True),
    Subcommand("show ID", "where a debate stands, or its verdict", only_reads=True),
    Subcommand("outcome ID", "say how a decision your team accepted turned out", opens_form=True),
    Subcommand("export ID", "report, decision record and whole record as files in its thread"),
    Subcommand("export ID page", "a link to read a debate without Slack", is_private=True),
    Subcommand("export ID page off", "end all links to a debate's page", is_private=True),
    Subcommand("stop ID", "end a debate you started; its judge decides on what is there"),
    Subcommand("settings", "what holds for debates in this channel", opens_form=True),
    Subcommand("token", "a token to call Moot from your editor", is_private=True),
    Subcommand("token new NAME", "the same with a name of its own", is_private=True),
    Subcommand("token list", "your tokens by number", only_reads=True),
    Subcommand("token revoke N", "end one of your tokens, or `all`", is_private=True),
    Subcommand(
        "doctor",
        "whether keys, models, Slack and the database work; for workspace admins",
        is_private=True,
    ),
    Subcommand("doctor retry", "send again what did not land outside Slack; for workspace admins"),
    Subcommand("help", "this text", only_reads=True),
)
_FIRST_WORDS = frozenset(row.word for row in SUBCOMMANDS)


@dataclass(frozen=True)
class SubcommandCall:
    """A subcommand with its arguments, typed exactly in its form."""

    subcommand: Subcommand
    #: Empty if the form has no `ID`.
    debate_id: str = ""
    #: The words, name or number; empty if the form has none.
    words: str = ""


@dataclass(frozen=True)
class OpenForm:
    """A request for the form to start a debate, with the playbook if one was named."""

    playbook: str = ""


@dataclass(frozen=True)
class UnclearText:
    """Perhaps a subcommand, perhaps a question: the person chooses with a button."""

    text: str
    subcommand: Subcommand
    #: The subcommand to run on a click, with the id that was typed; empty if it cannot be run so.
    command: str
    #: Whether the first word is the subcommand's or similar to it.
    is_similar: bool = True


@dataclass(frozen=True)
class UnknownOption:
    """An option before the question that is not supported in Slack or has no valid value."""

    option: str


@dataclass(frozen=True)
class TypedQuestion:
    """A question to debate."""

    text: str
    #: The options before it; empty or None means the channel's default.
    format: str = ""
    playbook: str = ""
    when: When | None = None

    @property
    def has_options(self) -> bool:
        return bool(self.format or self.playbook or self.when)


Reading = SubcommandCall | OpenForm | UnclearText | UnknownOption | TypedQuestion


def parse_typed(text: str) -> Reading:
    """Interpret a text after `/debate` or in a mention; it must be without Slack's markup."""
    question = _split_options(text.strip())
    if isinstance(question, UnknownOption):
        return question
    text, words = question.text, question.text.split()
    if question.format or question.when or (text and question.playbook):
        return question
    if not text:
        return OpenForm(question.playbook)
    for row in SUBCOMMANDS:
        if match := row.pattern.fullmatch(" ".join(words)):
            arguments = match.groupdict()
            return SubcommandCall(row, arguments.get("id", "").lower(), arguments.get("words", ""))
    is_short = len(text) <= MOST_COMMAND_CHARS
    if is_short and (words[0].lower() in _FIRST_WORDS or _word_count(text) < _LEAST_WORDS):
        return _unclear_text(text, words)
    return question


def _split_options(text: str) -> TypedQuestion | UnknownOption:
    """Split a text into options and question; returns the first unknown option if there is one."""
    question = TypedQuestion(text)
    while option := _OPTION.match(question.text):
        name, value = option["name"].lower(), (option["value"] or "").strip(_QUOTES)
        following = question.text[option.end() :].strip()
        if name == "playbook" and value:
            question = replace(question, text=following, playbook=value)
        elif name == "format" and value:
            question = replace(question, text=following, format=value.lower())
        elif name == "when" and value.lower() in set(When):
            question = replace(question, text=following, when=When(value.lower()))
        else:
            return UnknownOption(question.text[: option.end("name")])
    return question


def _unclear_text(text: str, words: Sequence[str]) -> UnclearText:
    """The text with the subcommand that its first word resembles, and the id if one was typed."""
    similar = get_close_matches(words[0].lower(), _FIRST_WORDS, n=1, cutoff=_LEAST_SIMILARITY)
    word = next(iter(similar), "help")
    # Of several with the same first word, the one that shares most words with the text.
    typed_words = {word, *(later.lower() for later in words[1:])}
    rows = (row for row in SUBCOMMANDS if row.word == word)
    row = max(rows, key=lambda row: len(typed_words & set(row.form.split())))
    match = _ID.search(text.lower())
    command = row.form.replace("ID", match[0]) if match else row.form
    # `doctor` answers later, through the response address of the command itself.
    can_run = command.islower() and command != "doctor"
    return UnclearText(text, row, command if can_run else "", is_similar=bool(similar))


def _word_count(text: str) -> int:
    """Count words that have a letter; in scripts without spaces, two letters count as a word."""
    text = EMOJI_CODE.sub(" ", text)
    words = sum(any(map(str.isalpha, word)) for word in text.split())
    letters = sum(unicodedata.category(char) == "Lo" for char in text)
    return max(words, letters // _LETTERS_OF_A_WORD)
