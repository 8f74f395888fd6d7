"""The subcommands of `/debate`: what is typed, what it does, what it needs (pure)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: What the capital words of a form stand for.
_ARGUMENTS: Mapping[str, str] = {
    "ID": r"`?(?P<id>d[a-z2-7]{7})`?",
    "WORDS": r"(?P<words>.+)",
    "NAME": r"(?P<words>.+)",
    "N": r"(?P<words>all|[1-9][0-9]{0,2})",
}


@dataclass(frozen=True)
class Subcommand:
    """A row of the table."""

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
    def name(self) -> str:
        """Its fixed words."""
        return " ".join(filter(str.islower, self.form.split()))

    @property
    def word(self) -> str:
        return self.form.split()[0]

    def arguments(self, words: Sequence[str]) -> Mapping[str, str] | None:
        """The arguments `id` and `words` in what was typed; None: it does not fit the form."""
        match = _PATTERNS[self.form].fullmatch(" ".join(words))
        return {key: value for key, value in match.groupdict().items() if value} if match else None


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
WORDS = frozenset(row.word for row in SUBCOMMANDS)
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    row.form: re.compile(
        " ".join(_ARGUMENTS.get(word, word) for word in row.form.split()), re.IGNORECASE
    )
    for row in SUBCOMMANDS
}
