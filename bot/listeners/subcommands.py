"""The subcommands of `/debate`: what is typed, what it does, what it needs (pure)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

#: What the capital words of a form stand for.
_ARGUMENTS: Mapping[str, str] = {
    "ID": r"`?(?P<id>d[a-z2-7]{7})`?",
    "WORDS": r"(?P<words>.+)",
    "NAME": r"(?P<words>.+)",
    "N": r"(?P<words>all|[1-9][0-9]{0,2})",
}


class Name(StrEnum):
    """Every subcommand, by its fixed words."""

    HELP = "help"
    LIST = "list"
    SEARCH = "search"
    SHOW = "show"
    OUTCOME = "outcome"
    EXPORT = "export"
    PAGE = "export page"
    PAGE_OFF = "export page off"
    STOP = "stop"
    SETTINGS = "settings"
    TOKEN = "token"  # noqa: S105 - a word
    TOKEN_NEW = "token new"  # noqa: S105
    TOKEN_LIST = "token list"  # noqa: S105
    TOKEN_REVOKE = "token revoke"  # noqa: S105
    DOCTOR = "doctor"
    DOCTOR_RETRY = "doctor retry"


@dataclass(frozen=True, kw_only=True)
class Subcommand:
    """A row of the table."""

    name: Name
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
        """Its first word."""
        return self.form.split()[0]

    def arguments(self, words: Sequence[str]) -> Mapping[str, str] | None:
        """The arguments `id` and `words` in what was typed; None: it does not fit the form."""
        match = _PATTERNS[self.form].fullmatch(" ".join(words))
        return {key: value for key, value in match.groupdict().items() if value} if match else None


SUBCOMMANDS: Sequence[Subcommand] = (
    Subcommand(name=Name.LIST, form="list", does="this channel's newest debates", only_reads=True),
    Subcommand(
        name=Name.SEARCH,
        form="search WORDS",
        does="debates in your channels that hold these words",
        only_reads=True,
    ),
    Subcommand(
        name=Name.SHOW,
        form="show ID",
        does="where a debate stands, or its verdict",
        only_reads=True,
    ),
    Subcommand(
        name=Name.OUTCOME,
        form="outcome ID",
        does="say how a decision your team accepted turned out",
        opens_form=True,
    ),
    Subcommand(
        name=Name.EXPORT,
        form="export ID",
        does="report, decision record and whole record as files in its thread",
    ),
    Subcommand(
        name=Name.PAGE,
        form="export ID page",
        does="a link to read a debate without Slack",
        is_private=True,
    ),
    Subcommand(
        name=Name.PAGE_OFF,
        form="export ID page off",
        does="end all links to a debate's page",
        is_private=True,
    ),
    Subcommand(
        name=Name.STOP,
        form="stop ID",
        does="end a debate you started; its judge decides on what is there",
    ),
    Subcommand(
        name=Name.SETTINGS,
        form="settings",
        does="what holds for debates in this channel",
        opens_form=True,
    ),
    Subcommand(
        name=Name.TOKEN,
        form="token",
        does="a token to call Moot from your editor",
        is_private=True,
    ),
    Subcommand(
        name=Name.TOKEN_NEW,
        form="token new NAME",
        does="the same with a name of its own",
        is_private=True,
    ),
    Subcommand(
        name=Name.TOKEN_LIST, form="token list", does="your tokens by number", only_reads=True
    ),
    Subcommand(
        name=Name.TOKEN_REVOKE,
        form="token revoke N",
        does="end one of your tokens, or `all`",
        is_private=True,
    ),
    Subcommand(
        name=Name.DOCTOR,
        form="doctor",
        does="whether keys, models, Slack and the database work; for workspace admins",
        is_private=True,
    ),
    Subcommand(
        name=Name.DOCTOR_RETRY,
        form="doctor retry",
        does="send again what did not land outside Slack; for workspace admins",
    ),
    Subcommand(name=Name.HELP, form="help", does="this text", only_reads=True),
)
#: First words of subcommands.
WORDS = frozenset(row.word for row in SUBCOMMANDS)
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    row.form: re.compile(
        " ".join(_ARGUMENTS.get(word, word) for word in row.form.split()), re.IGNORECASE
    )
    for row in SUBCOMMANDS
}
