"""What people type after `/debate`, understood (pure)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from rapidfuzz.distance import OSA

from core.models import When

_DEBATE_ID = re.compile(r"`?(d[a-z2-7]{7})`?", re.IGNORECASE)
#: What looks like an id and reads as a word: "database", "deadline". One id in twelve does, too.
_WORD = re.compile(
    r"(?!.{0,4}[^aeiouy]{4})(?:[bcdfghj-np-tvwxz]{0,3}[aeiouy]){2}[a-z]{0,6}", re.IGNORECASE
)
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
_ORDERS = frozenset(
    {
        *("a", "again", "all", "already", "an", "and", "another", "anything", "at"),
        *("back", "context", "current", "debate", "debates", "debating", "decision", "decisions"),
        *("everything", "for", "here", "immediately", "in", "it", "last", "latest"),
        *("list", "me", "my", "new", "note", "now", "of", "off", "old", "on", "once", "one"),
        *("open", "our", "page", "please", "pls", "question", "questions", "report"),
        *("right", "round", "running", "something", "thank", "thanks", "that", "the"),
        *("them", "these", "thing", "this", "those", "thread", "to", "token", "tokens"),
        *("us", "verdict", "vote", "with", "you"),
    }
)
#: An order has at most so many words: "please cancel the debate about Kafka".
_ORDER_WORDS = 8
#: With so many, thanks may stand anywhere, and whoever says "please search" wants a search.
_FEW_WORDS = 4
#: What people say to somebody before they tell them what to do, a question mark or not.
_POLITE = re.compile(
    r"(?:(?:please|pls|hey|hi|hello|ok|okay|moot|just|now|kindly|thanks|thank you"
    r"|(?:can|could|would|will) you)[\s,:.!…]+)+(?=\S)",
    re.IGNORECASE,
)
_YOU = re.compile(r"\byou\b", re.IGNORECASE)
_QUOTES = "\"'`“”„’"
#: What ends a sentence, and says nothing more of a command.
_ENDS = ".,:!?？…"  # noqa: RUF001 - as it is typed in Chinese
ASKS = ("?", "？")  # noqa: RUF001
#: What tells Moot to end something; with "debate" after it, it is asked back even as a question.
_ENDING = ("stop", "cancel", "end", "close", "finish", "kill", "abort", "delete")
#: What is said to somebody who did something.
_THANKS = frozenset({"thanks", "thank", "thx", "danke", "merci"})
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
    *("start", "new", "begin", "create", "make", "config", "revoke"),
    *(ending for ending in _ENDING if ending != "stop"),
)
#: Of those, what is said to agents in the thread of a debate that runs.
SAID_TO_AGENTS = frozenset({"answer", "skip", "note", "context", "add"})


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
class Thanks:
    """Thanks, and nothing to do."""


@dataclass(frozen=True)
class Unclear:
    """A word or a few: too little for a question, and no subcommand."""

    word: str
    #: What may have been meant: a subcommand, with what follows it or without, or one of
    #: `ELSEWHERE`; empty if none is close.
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
NotDone = Thanks | Unclear | UnknownOption
Typed = LoneSubcommand | Search | OnDebate | OnTokens | NotDone | TypedQuestion
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
    queue" are questions. What tells Moot itself to do something is none, however it is put: "please
    stop the debate", "can you list them?". It is done where it is clear, and asked back where not;
    what cannot be undone is done for its plain subcommand only.
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
    is_question = text.rstrip().endswith(ASKS)
    alone = first.strip(_ENDS)
    said = {word.lower().strip(_ENDS) for word in words}
    if said == {alone} and alone in (*ALONE, *WITH_ID, *WITH_WORDS, *ELSEWHERE):
        text, words, first, is_question = alone, [alone], alone, False  # "stop!", "stop stop"
    if len(words) <= 1 and first in _ALONE:
        return _ALONE[first]
    if text.lower().split() == ["doctor", "retry"]:
        return RetryLandings()
    rest = [word.strip(_ENDS) for word in words[1:]]
    ids = [
        found[1].lower()
        for word in (alone, *rest)
        if word.lower() not in _ORDERS and (found := _DEBATE_ID.fullmatch(word))
    ]
    sure = [named for named in ids if not _WORD.fullmatch(named)]
    if first in WITH_ID and len(words) <= 2 and (sure or not is_question):  # noqa: PLR2004 - the subcommand and an id
        if ids and not is_question:
            return _BY_ID[first](ids[0])
        return Unclear(" ".join([first, *words[1:]]), first, next(iter(sure), ""))
    match [word.lower() for word in words]:
        case ["export", _, *what] if ids and what in (["page"], ["page", "off"]):
            return PageOf(ids[0], is_off=len(what) > 1)
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
        case ["token" | "tokens", "list" | "revoke", *what] if not is_question and _is_order(what):
            return Unclear(" ".join(words), "token")
        case ["token?" | "token!" | "token." | "tokens" | "tokens?"]:  # making one is no guess
            return Unclear(words[0], "token")
        case _:
            pass
    if first == "search" and not is_question:
        wanted = words[2:] if rest[0:1] == ["for"] and rest[1:] else words[1:]
        return Search(" ".join(wanted)) if wanted else Unclear("search", "search")
    # "Stop it, I made a mistake" tells in its first clause what to do.
    clause = next((end for end, word in enumerate(words, 1) if word.endswith(tuple(_ENDS))), None)
    is_order = _is_order(rest[: clause - 1 if clause else None])
    is_told = (clause or len(words)) <= _ORDER_WORDS and not is_question and not _OR & said
    is_short = len(words) <= _ORDER_WORDS
    is_ending = is_short and alone in _ENDING and "debate" in said
    is_about = is_short and bool(sure) and first not in ALONE
    verb = alone if alone in _ENDING else first
    if verb in (*ALONE, *WITH_ID, *ELSEWHERE) and (is_ending or is_about or (is_order and is_told)):
        guess = "token" if {"token", "tokens"} & said else verb
        return Unclear(" ".join(words), guess, next(iter(sure), ""))
    asked = text.strip()
    polite = _POLITE.match(asked)
    told = asked[polite.end() :].rstrip(_ENDS) if polite else ""
    # "Can you stop it?" asks no agent; "can you show prices?" does.
    if polite and (not is_question or _YOU.search(polite[0])):
        match understood(told):
            case TypedQuestion() | OpenForm() | UnknownOption() | Thanks() | Unclear(guess=""):
                pass
            case Unclear(guess=guess, debate_id=named):
                is_asked_back = isinstance(understood(f"{told}?"), Unclear)
                if not is_question or is_asked_back or _is_order(told.split()[1:]):
                    return Unclear(" ".join(words), guess, named)
            case Search(words=wanted) if len(wanted.split()) >= _FEW_WORDS:
                pass  # "please search for a cheaper queue than Kafka"
            case Search() if is_question:
                return Unclear(" ".join(words), told)
            case StopDebate() | PageOf() | MakeToken() | RevokeTokens() | RetryLandings():
                return Unclear(" ".join(words), told, next(iter(sure), ""))
            case meant:
                return meant
    most = _ORDER_WORDS if alone in _THANKS else _FEW_WORDS
    if _THANKS & said and len(words) <= most and not is_question and not _OR & said:
        return Thanks()
    known = (*ALONE, *WITH_ID, *WITH_WORDS)
    if len(words) == 1 and _LONE_WORD.fullmatch(words[0]):
        like = () if first == "how" else get_close_matches(first, known, n=1, cutoff=_LIKE_ALONE)
        return Unclear(words[0], next(iter(like), ""))
    # A few words that begin like a subcommand or name a debate are no question to pay for.
    is_few = 2 <= len(words) <= 3 and not is_question  # noqa: PLR2004 - "list all please"
    # "Stop using Kafka" is a question, and so is "Helm or Kustomize"; "list all" is none.
    is_meant = is_few and first not in (*WITH_ID, *WITH_WORDS) and words[1].lower() not in _OR
    may_slip = is_meant and first not in _NO_SLIPS
    slips = [name for name in known if may_slip and OSA.distance(first, name) <= _SLIPS]
    guess = next(iter(slips), "")
    is_tiny = len(words) == 2 and all(map(_SHORT_WORD.fullmatch, words))  # noqa: PLR2004 - "shwo x"
    if is_short and sure:  # "what's the status of d2345abc?"
        return Unclear(" ".join(words), guess or "show", sure[-1])
    if is_few and (guess or is_tiny):
        return Unclear(" ".join(words), guess)
    if rest and rest[-1].lower() == "running" and _is_order(rest):  # "is anything running?"
        return Unclear(" ".join(words), "list")
    return TypedQuestion(asked)


def _is_order(rest: Sequence[str]) -> bool:
    """Whether all that follows a word is debates' ids, numbers, "now" and the like."""
    return all(
        _DEBATE_ID.fullmatch(word) or _NUMBER.fullmatch(word) or word.lower() in _ORDERS
        for word in rest
    )
