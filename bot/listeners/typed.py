"""What people type to the bot: the subcommands, and the card of rules in docs/team.md (pure)."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property

from core.debate.people import Person, Place
from core.debate.rules import When
from core.opening import DebateRequest

#: Fewer words are no question; two letters of a script without spaces are a word.
_LEAST_WORDS, _LETTERS_OF_A_WORD = 3, 2
#: A longer text is a question, whatever it begins with.
MOST_COMMAND_CHARS = 300
#: How like a subcommand the first word of a short text must be to be offered.
_LIKENESS = 0.7
#: What the capital words of a form stand for.
_ARGUMENTS: Mapping[str, str] = {
    "ID": r"`?(?P<id>d[a-z2-7]{7})`?",
    "WORDS": r"(?P<words>.+)",
    "NAME": r"(?P<words>.+)",
    "N": r"(?P<words>all|[1-9][0-9]{0,2})",
}
#: An option before the question. Phones make one long dash of two hyphens.
_OPTION = re.compile(
    r"(?:--(?=[a-z])|[—–](?=(?:format|playbook|when|rounds|agents|sources?)\b))"
    r"(?P<name>[a-z][a-z-]{0,30})(?:[ =]{1,5}(?P<value>[^\s]{1,60}))?(?=\s|$)\s*",
    re.IGNORECASE,
)
_ID = re.compile(r"\bd[a-z2-7]{7}\b")
_EMOJI_CODE = re.compile(r":[a-z0-9_+'-]{1,60}:(?::skin-tone-[2-6]:)?")
_QUOTES = "\"'`“”„’"
_QUESTION_MARK = re.compile("[?？؟]")  # noqa: RUF001
#: A choice between two things.
_CHOICE = re.compile(r"\b(?:or|oder|vs|versus)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Subcommand:
    #: As it is typed after `/debate`; capital words stand for arguments.
    form: str
    #: For `/debate help`.
    does: str
    #: It needs the trigger of a command or a click.
    opens_form: bool = False
    #: Doing it twice changes nothing, so Slack's second delivery of it may be answered again.
    only_reads: bool = False
    #: It is answered in private only: a mention cannot do it.
    is_private: bool = False

    @property
    def word(self) -> str:
        return self.form.split()[0]

    @property
    def name(self) -> str:
        """Its fixed words."""
        return " ".join(filter(str.islower, self.form.split()))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Has the arguments `id` and `words`."""
        words = (_ARGUMENTS.get(word, word) for word in self.form.split())
        return re.compile(" ".join(words), re.IGNORECASE)


#: Of those with the same first word the shortest comes first: it is offered where nothing fits.
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
#: First words of subcommands.
_WORDS = frozenset(row.word for row in SUBCOMMANDS)


class Steering(StrEnum):
    """What a line of its own in a debate's thread does, like the button of that name."""

    STOP = "stop"
    PAUSE = "pause"
    RESUME = "resume"
    VOTE_NOW = "vote now"


@dataclass(frozen=True)
class SubcommandCall:
    """A subcommand that fits its form exactly."""

    subcommand: Subcommand
    #: The id, and the words, name or number that were typed; empty: the form has none.
    debate_id: str = ""
    words: str = ""


@dataclass(frozen=True)
class OpenForm:
    """The form to start a debate, with the kind of debate that was named if any."""

    playbook: str = ""


@dataclass(frozen=True)
class UnclearText:
    """Neither a subcommand nor surely a question: the person chooses with a button."""

    text: str
    subcommand: Subcommand
    #: The subcommand as it can be run, with the id that was typed; empty: its argument is missing.
    command: str
    #: Its first word is that of the subcommand, or like it.
    is_like: bool = True


@dataclass(frozen=True)
class UnknownOption:
    """An option before the question that Slack does not take, or without a value it can have."""

    option: str


@dataclass(frozen=True)
class TypedQuestion:
    """Something to debate."""

    text: str
    #: What options before it say; empty or None: as is usual in the channel.
    format: str = ""
    playbook: str = ""
    when: When | None = None

    @property
    def has_options(self) -> bool:
        return bool(self.format or self.playbook or self.when)

    @property
    def asks(self) -> bool:
        """Whether it has a question mark, or names a choice with "or", "oder" or "vs"."""
        return has_question_mark(self.text) or bool(_CHOICE.search(self.text))

    def request(self, by: Person, here: Place, context: str = "") -> DebateRequest:
        """The debate that this person asks for in this channel."""
        return DebateRequest(
            question=self.text,
            context=context,
            asked_by=by,
            place=here,
            format=self.format or None,
            playbook=self.playbook or None,
            when=self.when,
        )


Reading = SubcommandCall | OpenForm | UnclearText | UnknownOption | TypedQuestion


def read(text: str) -> Reading:
    """What was typed after `/debate` or to the bot, as people read it: without Slack's marks."""
    question = _options(text.strip())
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
    if is_short and (words[0].lower() in _WORDS or _word_count(text) < _LEAST_WORDS):
        return _asked_back(text, words)
    return question


def _options(text: str) -> TypedQuestion | UnknownOption:
    """The question with the options before it, or the first of them that is none."""
    question = TypedQuestion(text)
    while option := _OPTION.match(question.text):
        name, value = option["name"].lower(), (option["value"] or "").strip(_QUOTES)
        rest = question.text[option.end() :].strip()
        if name == "playbook" and value:
            question = replace(question, text=rest, playbook=value)
        elif name == "format" and value:
            question = replace(question, text=rest, format=value.lower())
        elif name == "when" and value.lower() in set(When):
            question = replace(question, text=rest, when=When(value.lower()))
        else:
            return UnknownOption(question.text[: option.end("name")])
    return question


def _asked_back(text: str, words: Sequence[str]) -> UnclearText:
    """The subcommand that the first word names or resembles, with the id that was typed."""
    close = get_close_matches(words[0].lower(), _WORDS, n=1, cutoff=_LIKENESS)
    word = next(iter(close), "help")
    # Of several with the same first word, the one most of whose fixed words were typed.
    typed = {word, *(later.lower() for later in words[1:])}
    rows = (row for row in SUBCOMMANDS if row.word == word)
    row = max(rows, key=lambda row: len(typed & set(row.name.split())))
    match = _ID.search(text.lower())
    command = row.form.replace("ID", match[0]) if match else row.form
    # What the doctor finds comes later, beside the command itself.
    is_whole = command.islower() and row.name != "doctor"
    return UnclearText(text, row, command if is_whole else "", is_like=bool(close))


def _word_count(text: str) -> int:
    """Words with a letter in them; of a script without spaces, two letters are a word."""
    text = _EMOJI_CODE.sub(" ", text)
    spaced = sum(any(map(str.isalpha, word)) for word in text.split())
    unspaced = sum(unicodedata.category(char) == "Lo" for char in text)
    return max(spaced, unspaced // _LETTERS_OF_A_WORD)


def is_emoji_only(text: str) -> bool:
    return not any(map(str.isalnum, _EMOJI_CODE.sub("", text)))


def has_question_mark(text: str) -> bool:
    """Whether a question mark of any script is in a text."""
    return bool(_QUESTION_MARK.search(text))


def is_greeting(text: str, reading: Reading) -> bool:
    """Whether a mention asks nothing of the bot: emoji alone, or a word or two such as thanks."""
    if isinstance(reading, UnclearText):
        return is_emoji_only(text) or not (reading.is_like or has_question_mark(text))
    return is_emoji_only(text) or isinstance(reading, OpenForm)


def split_steering(text: str) -> tuple[Steering | None, str]:
    """What a message in a debate's thread, without a mention, does to it, and its other words."""
    lines = text.splitlines()
    orders = [line for line in lines if line.strip().lower() in set(Steering)]
    if not orders:
        return None, text
    rest = "\n".join(line for line in lines if line not in orders).strip()
    return Steering(orders[0].strip().lower()), rest
