"""What people type after `/debate`, understood (pure)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rapidfuzz.distance import OSA

from core.models import When

_DEBATE_ID = re.compile(r"`?(d[a-z2-7]{7})`?", re.IGNORECASE)
#: Of a token.
_NUMBER = re.compile(r"[1-9][0-9]{0,2}", re.ASCII)
#: "--format review", before anything else.
_FORMAT = re.compile(r"\s{0,20}(?:--|—|–)format[ =]{1,5}([A-Za-z]{1,20})(?=\s|$)", re.IGNORECASE)
#: "--when always", before anything else.
_WHEN = re.compile(r"\s{0,20}(?:--|—|–)when[ =]{1,5}(split|always|never)(?=\s|$)", re.IGNORECASE)
#: What begins like an option and is none of those: a long dash alone begins a list as well.
_OPTION = re.compile(
    r"(?:--[a-z][a-z-]{0,30}|[—–](?:format|playbook|when|rounds|agents|sources?))(?:=\S{0,40})?(?=\s|$)",
    re.IGNORECASE,
)
#: Between two things that are to be chosen from.
_OR = frozenset({"or", "vs", "vs.", "versus", "oder"})
#: Two of these without a question mark are no question yet; Chinese puts a whole one in a word.
_SHORT_WORD = re.compile(r"[A-Za-z0-9'’-]{1,12}", re.ASCII)
#: How like a subcommand a lone word must be to be taken for a slip. The first word of a few is one
#: where a letter is wrong, missing, too many, or changed places with its neighbour.
_LIKE_ALONE, _SLIPS = 0.6, 1
#: Words of their own that are a letter away from a subcommand.
_NO_SLIPS = frozenset(
    {"held", "how", "last", "least", "lost", "shop", "shot", "slow", "snow", "step", "top"}
)
#: Longer than any subcommand is a text, not a slip.
_LONE_WORD = re.compile(r"[A-Za-z]{1,40}")
#: Telephones make a dash of two hyphens.
_FLAG = r"(?:--|—|–)playbook(?:=|[^\S\n]{1,9})([^\s]{1,60})"
_PLAYBOOK = re.compile(rf"\s{{0,9}}{_FLAG}(?!\S)", re.IGNORECASE)
_PLAYBOOK_LAST = re.compile(rf"(?<=\s){_FLAG}\s{{0,9}}\Z", re.IGNORECASE)
#: What follows a subcommand that is told to do something, and asks nothing.
_ORDERS = frozenset({"now", "please", "it", "the", "this", "that", "all", "debate", "debates"})
#: An order has at most so many words: "stop the debate now".
_ORDER_WORDS = 4
_QUOTES = "\"'`“”„’"
#: Subcommands that stand alone, and those that take a debate's id.
ALONE = ("help", "list", "settings", "doctor")
#: Subcommands that want words.
WITH_WORDS = ("search",)
WITH_ID = ("show", "stop", "outcome", "export")
#: What people type though it is done elsewhere: on the board, on a card, in the thread.
ELSEWHERE = (
    *("vote", "ballot", "pause", "resume", "continue"),
    *("answer", "skip", "note", "context", "add", "status"),
    *("accept", "reject", "revisit", "supersede"),
    *("start", "new", "cancel", "end", "kill", "abort", "delete", "config"),
)


@dataclass(frozen=True)
class Help:
    """What can be typed."""


@dataclass(frozen=True)
class OpenForm:
    """The form to start a debate."""

    #: The kind of debate that was named; empty: none.
    playbook: str = ""


@dataclass(frozen=True)
class OpenSettings:
    """The form for what holds in the channel."""


@dataclass(frozen=True)
class Doctor:
    """Whether everything works."""


@dataclass(frozen=True)
class RetryLandings:
    """Send again what did not land outside Slack."""


@dataclass(frozen=True)
class ListDebates:
    """The channel's debates."""


@dataclass(frozen=True)
class Search:
    """Debates by their words."""

    words: str


@dataclass(frozen=True)
class Show:
    """One debate."""

    debate_id: str


@dataclass(frozen=True)
class Export:
    """The files of one debate."""

    debate_id: str


@dataclass(frozen=True)
class PageOf:
    """A link to one debate's page, or the end of all there are."""

    debate_id: str
    is_off: bool = False


@dataclass(frozen=True)
class StopDebate:
    """Stop one debate."""

    debate_id: str


@dataclass(frozen=True)
class SayOutcome:
    """The form to say how an accepted decision turned out."""

    debate_id: str


@dataclass(frozen=True)
class MakeToken:
    """A token for one's programs."""

    name: str = ""


@dataclass(frozen=True)
class ListTokens:
    """One's tokens."""


@dataclass(frozen=True)
class RevokeTokens:
    """One of one's tokens, or all, ends."""

    #: None: all.
    number: int | None = None


@dataclass(frozen=True)
class Unclear:
    """A word or a few: too little for a question, and no subcommand."""

    word: str
    #: The subcommand, or one of `ELSEWHERE`, that may have been meant; empty if none is close.
    guess: str
    #: The debate that was named; empty: none.
    debate_id: str = ""


@dataclass(frozen=True)
class UnknownOption:
    """An option at the beginning that Slack does not take, or not so."""

    option: str


@dataclass(frozen=True)
class TypedQuestion:
    """Something to debate."""

    text: str
    #: The format that was asked for; empty: as is usual in the channel.
    format: str = ""
    #: The kind of debate that was named; empty: none.
    playbook: str = ""
    #: When the first answers are to be debated; None: as is usual in the channel.
    when: When | None = None

    @property
    def has_flags(self) -> bool:
        """Whether it says how it is to be debated, so that it is no question about the past."""
        return bool(self.format or self.playbook or self.when)


LoneSubcommand = Help | OpenForm | OpenSettings | Doctor | RetryLandings | ListDebates
OnDebate = Show | StopDebate | SayOutcome | Export | PageOf
OnTokens = MakeToken | ListTokens | RevokeTokens
Typed = LoneSubcommand | Search | OnDebate | OnTokens | Unclear | UnknownOption | TypedQuestion
_BY_ID: Mapping[str, type[Show] | type[StopDebate] | type[SayOutcome] | type[Export]] = {
    "show": Show,
    "stop": StopDebate,
    "outcome": SayOutcome,
    "export": Export,
}
_ALONE: Mapping[str, LoneSubcommand] = {
    "": OpenForm(),
    "help": Help(),
    "list": ListDebates(),
    "settings": OpenSettings(),
    "doctor": Doctor(),
}


def understood(text: str) -> Typed:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one case per thing
    """Return what was typed.

    A subcommand is one only when nothing else follows it: "stop using Kafka?" and "help us choose a
    queue" are questions.
    """
    form = playbook = ""
    when: When | None = None
    for _ in ("format", "playbook", "when"):  # in any order
        if chosen := _FORMAT.match(text):
            text, form = text[chosen.end() :].strip(), chosen[1].lower()
        elif chosen := _WHEN.match(text):
            text, when = text[chosen.end() :].strip(), When(chosen[1].lower())
        elif flag := _PLAYBOOK.match(text) or _PLAYBOOK_LAST.search(text):
            text = f"{text[: flag.start()]} {text[flag.end() :]}".strip()
            playbook = flag[1].strip(_QUOTES)
    if other := _OPTION.match(text.strip()):
        return UnknownOption(other[0])
    if form or when or (playbook and text):
        return TypedQuestion(text.strip(), format=form, playbook=playbook, when=when)
    if playbook:
        return OpenForm(playbook)
    words = text.split()
    first = words[0].lower() if words else ""
    if len(words) <= 1 and first in _ALONE:
        return _ALONE[first]
    if text.lower().split() == ["doctor", "retry"]:
        return RetryLandings()
    asked = words[-1].rstrip("?？") if words else ""  # noqa: RUF001
    is_asked = len(words) == 2 and asked != words[-1] and not _DEBATE_ID.fullmatch(asked)  # noqa: PLR2004
    if first in WITH_ID and len(words) <= 2 and not is_asked:  # noqa: PLR2004 - the subcommand and an id
        found = _DEBATE_ID.fullmatch(words[-1])
        if found is None:
            return Unclear(" ".join([first, *words[1:]]), first)
        debate_id = found.group(1).lower()
        return _BY_ID[first](debate_id)
    is_question = text.rstrip().endswith("?")
    match [word.lower() for word in words]:
        case ["export", named, *rest] if found := _DEBATE_ID.fullmatch(named):
            if rest not in (["page"], ["page", "off"]):
                return Unclear(" ".join(words), "export")
            return PageOf(found.group(1), is_off=len(rest) > 1)
        case ["token"]:
            return MakeToken()
        case ["token", "new", _, *_] if not is_question:
            return MakeToken(" ".join(words[2:]))
        case ["token", "list"]:
            return ListTokens()
        case ["token", "revoke", which] if which == "all" or _NUMBER.fullmatch(which):
            return RevokeTokens(None if which == "all" else int(which))
        case ["token", _] | ["token", _, _] if not is_question:  # too few words for a question
            return Unclear(" ".join(words), "token")
        case _:
            pass
    if first == "search" and not is_question:
        wanted = text.strip()[len("search") :].strip()
        return Search(wanted) if wanted else Unclear("search", "search")
    named = _DEBATE_ID.fullmatch(words[-1]) if words else None
    rest = [word.strip(".,!") for word in words[1:]]
    ids = [found[1].lower() for word in rest if (found := _DEBATE_ID.fullmatch(word))]
    is_about = (bool(ids) and first not in ALONE) or _is_order(rest)
    is_told = len(words) <= _ORDER_WORDS and not text.rstrip().endswith(("?", "？"))  # noqa: RUF001
    if first in (*ALONE, *WITH_ID, *ELSEWHERE) and is_told and is_about:
        return Unclear(" ".join(words), first, next(iter(ids), ""))
    known = (*ALONE, *WITH_ID, *WITH_WORDS)
    if len(words) == 1 and _LONE_WORD.fullmatch(words[0]):
        like = () if first == "how" else get_close_matches(first, known, n=1, cutoff=_LIKE_ALONE)
        return Unclear(words[0], next(iter(like), ""))
    # A few words that begin like a subcommand or end in an id are no question to pay for.
    is_few = 2 <= len(words) <= 3 and not words[-1].endswith(("?", "？"))  # noqa: PLR2004, RUF001 - "list all please"
    # "Stop using Kafka" is a question, and so is "Helm or Kustomize"; "list all" is none.
    is_meant = is_few and first not in (*WITH_ID, *WITH_WORDS) and words[1].lower() not in _OR
    may_slip = is_meant and first not in _NO_SLIPS
    slips = [name for name in known if may_slip and OSA.distance(first, name) <= _SLIPS]
    guess = next(iter(slips), "")
    is_short = len(words) == 2 and all(map(_SHORT_WORD.fullmatch, words))  # noqa: PLR2004 - "shwo x"
    if is_few and (guess or is_short or named):
        return Unclear(" ".join(words), guess, named.group(1).lower() if named else "")
    return TypedQuestion(text.strip())


def _is_order(rest: Sequence[str]) -> bool:
    """Whether all that follows a word is debates' ids, "now" and the like."""
    return all(_DEBATE_ID.fullmatch(word) or word.lower() in _ORDERS for word in rest)
