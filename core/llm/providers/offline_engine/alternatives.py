"""Options in "A or B": names, acts, and acts that differ in one place ("store X in A or B")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.llm.providers.offline_engine.acts import (
    PREPOSITION,
    TAIL,
    VERB,
    act_things,
    any_verb,
    bare,
    completed,
    gerund,
    object_of,
    tail_of,
    things_named,
)
from core.llm.providers.offline_engine.asking import (
    asks_for_acts,
    asks_in_german,
    body_of,
    clean,
    without_german_verb,
)
from core.llm.providers.offline_engine.checklist import things_in
from core.llm.providers.offline_engine.german import german_pieces
from core.llm.providers.offline_engine.listing import listed_in
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.wording import capital, normal

OR = re.compile(r",?\s+(?:or|oder|vs\.?|versus)\s+|[、,]?\s*それとも\s*", re.IGNORECASE)
_HEAD = re.compile(
    r"^(?:which|what)\s+(?!(?:should|shall|do|does|is|are|would|one|of)\b)(?P<head>[\w\- ]+?)"
    r"(?:\s+(?:should|do|shall|is|would|fits).*?)?"
    r"[:,]\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_WH = re.compile(
    r"^(?:who|where|when|how|why|which|what)\b[^,:?]{2,90}[,:]\s+(?=.*\bor\b)", re.IGNORECASE
)
_COLON = re.compile(r"^(?P<before>[^:]{1,60}):\s+(?=.*\b(?:or|oder|vs)\b)")
_BETWEEN = re.compile(
    r"\bbetween\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$|zwischen\s+(?P<c>.+?)\s+und\s+(?P<d>.+)$",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"^(?:(?:our|a|your|the)\s+)?(?:own|custom one|home-?grown|home-made|in-house)"
    r"(?:\s+one)?$|^build (?:our own|it ourselves|one)$",
    re.IGNORECASE,
)
_ADVERB = (
    r"(?:(?!family|supply|assembly|reply)[a-z]+ly|now|later|today|tomorrow|online|offline|together|alone|"
    r"early|late|never|again|here|abroad|in-house|(?:this|next|every|each|once|twice)\s[\w ]+)"
)
_IS_ADVERB = re.compile(rf"^{_ADVERB}$")
_ENDS_IN_ADVERB = re.compile(rf"^(?P<before>.*\S)\s+(?P<adverb>{_ADVERB})$")
#: The last preposition of an act, with what is before and after it.
_PLACE = re.compile(
    rf"^(?P<before>(?:.*\s)?)(?P<word>{PREPOSITION})\s+(?P<name>\S.*)$", re.IGNORECASE
)
_STARTS = re.compile(rf"^(?P<word>{PREPOSITION})\s+(?P<name>\S.*)$", re.IGNORECASE)
_DEFINITE = re.compile(
    r"^(?:our|the|this|that|these|those|my|your|its|it|them|all)\b", re.IGNORECASE
)
_INDEFINITE = re.compile(
    r"^(?:an?|one|two|three|four|five|another|more|some|many|several|\d+)\b", re.IGNORECASE
)
#: Begins a name, and has a capital only because a question began with it.
_DETERMINER = re.compile(r"^(?:An?|The|Our|My|One|Two|Three|More|Another)(?=\s)")
_GERMAN_MOVE = re.compile(r"^(?:von|vom)\s+(?P<old>.+?)\s+(?:zu|zum|zur|auf)\s+(?P<new>.+)$")
_GERMAN_STAY = re.compile(
    r"^(?:bei|beim|mit)\s+(?P<name>.+?)(?:\s+(?:bleiben|weitermachen))?$", re.IGNORECASE
)
#: Verbs whose object is what is chosen: "use Kafka for events or PostgreSQL".
_CHOOSING = frozenset(
    [
        "use",
        "choose",
        "pick",
        "adopt",
        "buy",
        "take",
        "introduce",
        "hire",
        "rent",
        "lease",
        "prefer",
        "need",
        "want",
        "select",
        "try",
    ]
)
_ADJECTIVES = re.compile(
    r"^(?:monthly|weekly|yearly|daily|annual|quarterly|remote|hybrid|internal|external|public|"
    r"private|fixed|flexible|synchronous|asynchronous|managed|self-hosted|open|closed)$",
    re.IGNORECASE,
)
#: Fewer names than this are no choice.
_CHOICE = 2
_LONGEST = 90


@dataclass(frozen=True)
class _Frame:
    """What acts that differ in one place have in common."""

    #: The words before the place, from the verb on.
    before: str
    #: What stands in the place, one per act.
    names: tuple[str, ...]
    #: The words after the place.
    after: str = ""
    #: Whether what stands there is no name: "monthly", "from home".
    adverbial: bool = False


def alternatives(asked: str) -> list[Option]:
    """The options of "A or B", "between A and B"; none if the sentence offers none."""
    if listed := listed_in(asked):
        return options_of(listed.names, tail=listed.tail)
    head, tail, asked = _headed(asked)
    if between := _BETWEEN.search(asked):
        pieces = [piece for piece in between.groups() if piece]
    else:
        pieces = split(body_of(asked))
    pieces = [clean(piece) for piece in pieces if clean(piece)]
    if pieces and asks_in_german(asked):
        pieces = german_pieces(pieces)
    else:
        pieces = [clean(without_german_verb(piece)) for piece in pieces]
    if len(pieces) < _CHOICE or max(map(len, pieces)) > _LONGEST or _is_denial(pieces[-1]):
        return []
    acting = asks_for_acts(asked) and not between
    return options_of(pieces, head, tail=tail, acting=acting)


def whether(asked: str) -> str:
    """The act in "… or not"; empty where the sentence does not end so."""
    pieces = split(body_of(asked))
    denied = len(pieces) >= _CHOICE and _is_denial(clean(pieces[-1]))
    return clean(" or ".join(pieces[:-1])) if denied else ""


def split(body: str) -> list[str]:
    """The pieces between "or" and the commas before it; none without an "or"."""
    parts = OR.split(body)
    if len(parts) < _CHOICE:
        return []
    first = [piece for piece in re.split(r",\s+", parts[0]) if piece.strip()]
    short = all(len(piece.split()) <= 6 for piece in first[1:])  # noqa: PLR2004 - names are short
    return [*(first if short else [parts[0]]), *parts[1:]]


def with_shared_start(pieces: Sequence[str]) -> list[str]:
    """Pieces that all have the preposition of the first: "in Berlin", "Munich" → "in Munich"."""
    started = _STARTS.match(pieces[0])
    if not started or any(_STARTS.match(piece) for piece in pieces[1:]):
        return list(pieces)
    return [pieces[0], *(f"{started['word']} {piece}" for piece in pieces[1:])]


def options_of(
    pieces: Sequence[str], head: str = "", *, tail: str = "", acting: bool = False
) -> list[Option]:
    """The options that the pieces of a choice stand for.

    Args:
        pieces: Names or acts, in order.
        head: What kind of thing is asked for ("identity provider"), if it was said.
        tail: What they are for, if it was said before them.
        acting: The first piece is known to begin with a verb.
    """
    first = (any_verb(pieces[0]) if acting else None) or _verb(pieces[0])
    verbs = [first, *(_verb(piece) for piece in pieces[1:])]
    if first and all(verbs):
        return _acts(pieces)
    if first and not head:
        return _framed(first, pieces, verbs)
    pieces = [_DETERMINER.sub(lambda m: m[0].lower(), pieces[0]), *pieces[1:]]
    pieces, said = _shared_tail(_without_place(_shared_noun(_without_start(pieces))))
    tail = said or tail or (f" as {head}" if head and not head.endswith("s") else "")
    return [_noun_option(piece, tail, head) for piece in pieces]


def _verb(piece: str) -> re.Match[str] | None:
    return None if piece == "Go" or piece.startswith("Go ") else VERB.match(piece)


def _is_denial(piece: str) -> bool:
    return normal(piece).strip() in {"not", "nicht", "no", "nein"}


def _headed(asked: str) -> tuple[str, str, str]:
    """What kind of thing is asked for ("identity provider"), what it is for, and the rest."""
    if found := _HEAD.match(asked):
        return found["head"].strip(), "", found["rest"]
    if found := _WH.match(asked):
        return "", "", asked[found.end() :]
    if found := _COLON.match(asked):
        before = found["before"].strip()
        tail = f" {before[:1].lower()}{before[1:]}" if before.lower().startswith("for ") else ""
        return "", tail, asked[found.end() :]
    return "", "", asked


# -- acts ---------------------------------------------------------------------------------------


def _acts(pieces: Sequence[str]) -> list[Option]:
    objects = [object_of(piece) for piece in pieces]
    return [act_option(completed(piece, objects)) for piece in pieces]


def act_option(piece: str) -> Option:
    """An act as an option."""
    body = re.sub(r"^(?:to|either)\s+", "", piece, flags=re.IGNORECASE)
    verb = any_verb(body)
    return Option(gerund(body), capital(body), act_things(body, verb["verb"] if verb else ""))


def _framed(
    verb: re.Match[str], pieces: Sequence[str], verbs: Sequence[re.Match[str] | None]
) -> list[Option]:
    """Acts that share the words of the first one; pieces with a verb of their own stand alone."""
    names = [piece for piece, own in zip(pieces[1:], verbs[1:], strict=True) if not own]
    frame = _frame(verb, names)
    filled = iter([_in_frame(frame, name) for name in frame.names])
    first, objects = next(filled), [object_of(pieces[0])]
    return [
        first,
        *(
            act_option(completed(piece, objects)) if own else next(filled)
            for piece, own in zip(pieces[1:], verbs[1:], strict=True)
        ),
    ]


def _in_frame(frame: _Frame, name: str) -> Option:
    if _OWN.match(name):
        return Option("our own", f"Build our own{frame.after}", ("own",))
    verb, _, last = frame.before.partition(" ")
    act = f"{frame.before} {name}"
    stands_alone = not frame.adverbial and (not last or _is_name(name))
    says = f"Choose {name}" if verb == "need" else capital(act)
    keys = things_named(name, last.rsplit(" ", 1)[-1]) if last else act_things(act, verb)
    return Option(bare(name) if stands_alone else gerund(act), f"{says}{frame.after}", keys)


def _is_name(words: str) -> bool:
    """Whether words can stand alone in a sentence: "PostgreSQL", "the database"."""
    return bool(words[:1].isupper() or _DEFINITE.match(words) or things_in(words))


def _frame(verb: re.Match[str], names: Sequence[str]) -> _Frame:
    """Where the acts differ: in an adverb, after a preposition, or in the object."""
    rest, word = verb["rest"].strip(), verb["verb"].lower()
    names, tail = _last_tail(names)
    if all(_IS_ADVERB.match(name) for name in names):
        return _adverbs(word, rest, names)
    if _have_other_places(rest, names):
        return _places(word, rest, names, tail)
    place = _PLACE.match(rest)
    if place and not _swaps_object(word, rest, names[0]):
        before = f"{word} {place['before']}{place['word']}"
        names = [_without(place["word"], name) for name in names]
        return _Frame(before, (clean(place["name"]), *names), tail)
    return _objects(word, rest, names, tail)


def _have_other_places(rest: str, names: Sequence[str]) -> bool:
    """Whether names bring prepositions of their own: all of them, or others than the act has."""
    place, starts = _PLACE.match(rest), [_STARTS.match(name) for name in names]
    own = place["word"].lower() if place else ""
    return all(starts) or any(start and start["word"].lower() != own for start in starts)


def _adverbs(word: str, rest: str, names: Sequence[str]) -> _Frame:
    if found := _ENDS_IN_ADVERB.match(f"{word} {rest}"):
        return _Frame(found["before"], (found["adverb"], *names), adverbial=True)
    if place := _PLACE.match(rest):
        before = f"{word} {place['before']}".strip()
        return _Frame(before, (f"{place['word']} {place['name']}", *names), adverbial=True)
    return _Frame(word, (rest, *names), adverbial=True)


def _places(word: str, rest: str, names: Sequence[str], tail: str) -> _Frame:
    """Acts like "host on A or on B", "work from home or in the office"."""
    starts = [start for name in names if (start := _STARTS.match(name))]
    words = {start["word"].lower() for start in starts}
    same = _place_of(rest, next(iter(words))) if len(words) == 1 else None
    if same:
        before = f"{word} {same['before']}{same['word']}"
        return _Frame(before, (same["name"], *(start["name"] for start in starts)), tail)
    if not (place := _PLACE.match(rest)):
        return _Frame(f"{word} {rest}", ("", *names), tail, adverbial=True)
    first = f"{place['word']} {place['name']}"
    return _Frame(f"{word} {place['before']}".strip(), (first, *names), tail, adverbial=True)


def _place_of(rest: str, word: str) -> re.Match[str] | None:
    """The last place in an act where this preposition stands."""
    return re.match(
        rf"^(?P<before>(?:.*\s)?)(?P<word>{word})\s+(?P<name>\S.*)$", rest, re.IGNORECASE
    )


def _without(word: str, name: str) -> str:
    """A name without the preposition that is said before all of them."""
    start = _STARTS.match(name)
    return start["name"] if start and start["word"].lower() == word.lower() else name


def _objects(word: str, rest: str, names: Sequence[str], tail: str) -> _Frame:
    found = TAIL.match(rest)
    if found and not tail:
        return _Frame(word, (clean(found["name"]), *names), found["tail"])
    return _Frame(word, (rest, *names), tail)


def _swaps_object(word: str, rest: str, name: str) -> bool:
    """Whether a name stands for the object of the act, and not for what follows a preposition."""
    before_tail = TAIL.match(f" {rest}") or TAIL.match(rest)
    thing = before_tail["name"].strip() if before_tail else ""
    if not thing or _STARTS.match(rest):
        return False
    if _DEFINITE.match(thing):
        return False
    if things_in(thing) and things_in(name):
        return True
    if bool(_INDEFINITE.match(thing)) != bool(_INDEFINITE.match(name)):
        return False
    return bool(_INDEFINITE.match(thing)) or word in _CHOOSING


def _last_tail(names: Sequence[str]) -> tuple[list[str], str]:
    """What all are for, said once at the end."""
    found = tail_of(names[-1])
    if not found or _STARTS.match(names[-1]) or _IS_ADVERB.match(names[-1]):
        return list(names), ""
    return [*names[:-1], clean(found["name"])], found["tail"]


# -- names --------------------------------------------------------------------------------------


def _without_start(pieces: Sequence[str]) -> list[str]:
    """Names alone: "on AWS", "on Azure" → "AWS", "Azure"."""
    starts = [_STARTS.match(piece) for piece in pieces]
    words = {start["word"].lower() if start else "" for start in starts}
    if len(words) == 1 and "" not in words:
        return [start["name"] for start in starts if start]
    return list(pieces)


def _shared_noun(pieces: Sequence[str]) -> list[str]:
    """Names with their noun: "monthly", "yearly billing" → "monthly billing", "yearly billing"."""
    first, _, noun = pieces[-1].partition(" ")
    if noun and _ADJECTIVES.match(first) and all(_ADJECTIVES.match(p) for p in pieces[:-1]):
        return [*(f"{piece.lower()} {noun}" for piece in pieces[:-1]), pieces[-1]]
    return list(pieces)


def _without_place(pieces: Sequence[str]) -> list[str]:
    """Names without what they are for: "Customer data in MongoDB" → "MongoDB"."""
    place = _PLACE.match(pieces[0])
    if place and not things_in(place["before"]) and things_in(place["name"]):
        return [place["name"], *pieces[1:]]
    return list(pieces)


def _shared_tail(pieces: Sequence[str]) -> tuple[list[str], str]:
    """What the names are for, said once at the end of the last or of the first."""
    for place in (-1, 0):
        found = tail_of(pieces[place])
        if found and not _verb(pieces[place]):
            changed = list(pieces)
            changed[place] = found["name"]
            return [clean(piece) for piece in changed], found["tail"]
    return list(pieces), ""


def _noun_option(piece: str, tail: str, head: str) -> Option:
    if _OWN.match(piece):
        name = f"our own {head}" if head else "our own"
        return Option(name, f"Build {name}" if head else f"Build our own{tail}", ("own",))
    if stays := _GERMAN_STAY.match(piece):
        return Option(
            stays["name"], f"Stay with {stays['name']}", (*things_in(stays["name"]), "keep")
        )
    if moves := _GERMAN_MOVE.match(piece):
        say = f"Move from {moves['old']} to {moves['new']}"
        return Option(moves["new"], say, (*things_in(moves["new"]), "change"))
    if verb := _verb(piece):
        return Option(gerund(piece), capital(piece), act_things(piece, verb["verb"]))
    return Option(piece, f"Choose {piece}{tail}", things_named(piece))
