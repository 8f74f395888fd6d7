"""Finds what people choose between: "A or B", "from X to Y", "should we X", lists.

German and Japanese are read modestly.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.providers.offline_engine.acts import (
    REPLACE,
    TAIL,
    TO,
    VERB,
    act_things,
    bare,
    completed,
    gerund,
    object_of,
    short_name,
)
from core.providers.offline_engine.checklist import catalogue, inside, things_in, topics_of
from core.providers.offline_engine.wording import capital, normal, sentences

_LEAD = re.compile(
    r"^(?:(?:so|now|ok|hi|hello|please|and|debate)[,:]?\s+)*"
    r"(?:is it (?:better|wiser|time|worth it) (?:for us )?(?:to\s+)?|"
    r"(?:should|shall|do|can|could|would|must|may|ought)\s+"
    r"(?:we|i|they|our (?:team|company|\w+)|the (?:team|company)|one)\s+"
    r"(?:to\s+|really\s+|now\s+)?|"
    r"(?:sollen|sollten|wollen|müssen|können)\s+wir\s+|"
    r"(?:what|which)\s+(?:is|are|would be|should we \w+)\s+"
    r"(?:better|best|preferable|the better \w+)?"
    r"[^:,?]*[:,]\s*|are we better off\s+)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"^(?:which|what)\s+(?P<head>[\w\- ]+?)(?:\s+(?:should|do|shall|is|would|fits).*?)?"
    r"[:,]\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_SHOULD_BE = re.compile(
    r"^should (?P<subject>(?:our|the|this|my|a)\s.+?) (?P<verb>be|use|have|become|"
    r"run on|live in|stay|support)\s(?P<rest>.+)$",
    re.IGNORECASE,
)
_OR = re.compile(r",?\s+(?:or|oder|vs\.?|versus)\s+|[、,]?\s*それとも\s*", re.IGNORECASE)
_FROM_TO = re.compile(
    r"^(?P<before>.*?)\b(?:from|vom|von)\s+(?P<old>.+?)\s+(?:to|zum|zur|zu|auf|nach)\s+(?P<new>.+)$",
    re.IGNORECASE,
)
_FROM_TO_JA = re.compile(r"^(?P<before>.*?)(?P<old>[^はをが、]+?)から(?P<new>.+?)(?:に|へ)")
_BETWEEN = re.compile(
    r"\bbetween\s+(?P<a>.+?)\s+and\s+(?P<b>.+)$|zwischen\s+(?P<c>.+?)\s+und\s+(?P<d>.+)$",
    re.IGNORECASE,
)
_GERMAN_END = re.compile(
    r"\s+(?:wechseln|umsteigen|migrieren|umziehen|gehen|nehmen|verwenden|nutzen|benutzen|einsetzen|"
    r"wählen|kaufen|bauen|einführen|setzen)$",
    re.IGNORECASE,
)
_JA_PAIR = re.compile(
    r"^(?:.*は)?(?P<a>[^はをと、]+?)(?:と|か、?(?:それとも)?|、)(?P<b>[^はをと、]+?)"
    r"(?:の?(?:どちら|どっち)|か[?\uff1f]?$)"
)
_JA_SHOULD = re.compile(r"^(?P<act>.+?)べき(?:です|でしょう)?か")
_YES_NO = re.compile(
    r"^(?P<aux>is|are|was|does|do|did|has|have|can|will|could)\s+(?P<rest>.+)$", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"^(?P<subject>(?:we|they|you|it|i|he|she)\b(?=\s+(?P<bare>.+))|"
    r"(?:(?:an?|the|our|my|this|that)\s+)?[\w\- ]+?)\s+"
    r"(?P<rest>(?(bare).+|(?:an?|the|really|still|too|always|just|good|bad|better)\s+.+))$",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"^(?:(?:our|a|your|the)\s+)?(?:own|custom one|home-?grown|home-made|in-house)"
    r"(?:\s+one)?$|^build (?:our own|it ourselves|one)$",
    re.IGNORECASE,
)
_POLITE = re.compile(r"[?\uff1f!.。\s]+$")
_ASK = re.compile(r"[?\uff1f]\s*$|べきか|どちら|どっち|それとも")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)]|\(?[a-d]\))\s+(?P<item>\S.{0,80})$", re.MULTILINE)
_CHOOSES = re.compile(r"\b(?:which|choose|pick|options?|decide)\b", re.IGNORECASE)
#: Fewer names than this are no choice.
_CHOICE = 2
_MOST = 6
_LONGEST = 90
#: A longer sentence is read up to here only.
_ASKED = 500


@dataclass(frozen=True)
class Option:
    """One answer people may choose."""

    #: Short name for use inside a sentence: "PostgreSQL", "keeping our monolith".
    name: str
    #: The decision for it, an imperative in the question's words, without a full stop.
    say: str
    #: Keys of the things it stands for, see `Catalogue.things`.
    things: tuple[str, ...] = ()
    #: The answer "no" of a pair of yes and no.
    negated: bool = False


def options_in(question: str, context: str = "") -> tuple[Option, ...]:
    """The options of a question, in its own order; approaches from its topics if it names none."""
    asked = asking_sentence(question)
    for reader in _READERS:
        if len(found := reader(asked)) > 1:
            return _distinct(found)
    return (
        _listed(f"{question}\n{context}") or _single(asked) or _approaches(f"{question} {context}")
    )


def asking_sentence(question: str) -> str:
    """The sentence that asks, without its question mark."""
    found = sentences(question) or (question,)
    asks = [sentence for sentence in found if _ASK.search(sentence)]
    return _POLITE.sub("", (asks or found)[0][:_ASKED]).strip()


def _distinct(found: Sequence[Option]) -> tuple[Option, ...]:
    return tuple({normal(option.say): option for option in found}.values())[:_MOST]


def _clean(text: str) -> str:
    return _POLITE.sub("", text).strip(" ,;:\"“”'")


# -- from X to Y ------------------------------------------------------------------------------


def _moves(asked: str) -> list[Option]:
    if _OR.search(asked):
        return []
    body = _LEAD.sub("", asked)
    if found := _FROM_TO_JA.match(body) or _FROM_TO.match(body):
        return _move(_clean(found["old"]), _clean(found["new"]), _clean(found["before"]))
    if found := TO.match(body) or REPLACE.match(body):
        return _swap(_clean(found["old"]), _clean(_GERMAN_END.sub("", found["new"])), found["verb"])
    return []


def _move(old: str, new: str, before: str) -> list[Option]:
    new = _clean(_GERMAN_END.sub("", new))
    verb = VERB.match(before)
    what = _clean(verb["rest"] if verb else before).removesuffix("を").rstrip("をはが")
    act = capital(verb["verb"].lower()) if verb else "Move"
    note = f" ({what})" if what and not verb else f" {what}" if what else ""
    head = f"{act}{note}" if verb else act
    tail = "" if verb else note
    return [
        Option(new, f"{head} from {old} to {new}{tail}", (*things_in(new), "change")),
        Option(old, f"Stay with {old}{tail}", (*things_in(old), "keep")),
    ]


def _swap(old: str, new: str, verb: str) -> list[Option]:
    linking = "with" if verb.lower() in {"replace", "swap"} else "to"
    return [
        Option(bare(new), f"{capital(verb)} {old} {linking} {new}", (*things_in(new), "change")),
        Option(bare(old), f"Keep {old}", (*things_in(old), "keep")),
    ]


# -- A or B -----------------------------------------------------------------------------------


def _alternatives(asked: str) -> list[Option]:
    head, body = _headed(asked)
    if between := _BETWEEN.search(body):
        pieces = [piece for piece in between.groups() if piece]
    else:
        pieces = _split(_LEAD.sub("", body))
    pieces = [_clean(_GERMAN_END.sub("", piece)) for piece in pieces if _clean(piece)]
    if len(pieces) < _CHOICE or max(map(len, pieces)) > _LONGEST:
        return []
    if normal(pieces[-1]).strip() in {"not", "nicht", "no"}:
        return _whether(_LEAD.sub("", " ".join(pieces[:-1])))
    return _named(pieces, head)


def _described(asked: str) -> list[Option]:
    """Options that describe what the question names: "Should our app be A or B"."""
    found = _SHOULD_BE.match(asked)
    pieces = [_clean(piece) for piece in _split(found["rest"])] if found else []
    if not found or len(pieces) < _CHOICE:
        return []
    lead = capital(f"{found['subject']} should {found['verb']}")
    return [Option(piece, f"{lead} {piece}", things_in(piece)) for piece in pieces]


def _headed(asked: str) -> tuple[str, str]:
    """What kind of thing is asked for ("identity provider"), and the rest."""
    if found := _HEAD.match(asked):
        return found["head"].strip(), found["rest"]
    return "", re.sub(r"^(?:[^:]{1,60}):\s+(?=.*\b(?:or|oder|vs)\b)", "", asked)


def _split(body: str) -> list[str]:
    parts = _OR.split(body)
    if len(parts) < _CHOICE:
        return []
    first = [piece for piece in re.split(r",\s+", parts[0]) if piece.strip()]
    short = all(len(piece.split()) <= 6 for piece in first[1:])  # noqa: PLR2004 - names are short
    return [*(first if short else [parts[0]]), *parts[1:]]


def _named(pieces: list[str], head: str) -> list[Option]:
    verbs = [VERB.match(piece) if piece != "Go" else None for piece in pieces]
    if all(verbs):
        return _acts(pieces)
    if verbs[0] and any(verbs[1:]):
        return _acts([p if v else _like(pieces[0], p) for p, v in zip(pieces, verbs, strict=True)])
    verb, pieces = _shared_verb(pieces, verbs[0], head)
    pieces, tail = _shared_tail(pieces)
    if head and not tail:
        tail = f" as {head}" if not head.endswith("s") else ""
    return [_noun_option(piece, verb, tail, head) for piece in pieces]


def _like(act: str, name: str) -> str:
    """An act with another name at its end: "rewrite it in Rust", "Go" → "rewrite it in Go"."""
    return f"{act.rsplit(' ', 1)[0]} {name}"


def _shared_verb(
    pieces: list[str], found: re.Match[str] | None, head: str
) -> tuple[str, list[str]]:
    """The verb that stands before the first name and belongs to all."""
    if not found or head:
        return "Choose", pieces
    return capital(found["verb"].lower()), [found["rest"], *pieces[1:]]


def _shared_tail(pieces: list[str]) -> tuple[list[str], str]:
    """What the names are for, said once at the end of the last or of the first."""
    for place in (-1, 0):
        if found := TAIL.match(pieces[place]):
            changed = list(pieces)
            changed[place] = found["name"]
            return [_clean(piece) for piece in changed], found["tail"]
    return pieces, ""


def _noun_option(piece: str, verb: str, tail: str, head: str) -> Option:
    if _OWN.match(piece):
        name = f"our own {head}" if head else "our own"
        say = f"Build {name}" if head else f"Build our own{tail}"
        return Option(name, say, ("own",))
    if found := VERB.match(piece):
        return Option(gerund(piece), capital(piece), act_things(piece, found["verb"]))
    return Option(piece, f"{verb} {piece}{tail}", things_in(piece))


def _acts(pieces: list[str]) -> list[Option]:
    objects = [object_of(piece) for piece in pieces]
    return [_act(completed(piece, objects)) for piece in pieces]


def _act(piece: str) -> Option:
    body = re.sub(r"^(?:to|either)\s+", "", piece, flags=re.IGNORECASE)
    verb = VERB.match(body)
    return Option(gerund(body), capital(body), act_things(body, verb["verb"] if verb else ""))


# -- yes or no --------------------------------------------------------------------------------


def _single(asked: str) -> tuple[Option, ...]:
    return tuple(_should_we(asked) or _japanese_should(asked) or _yes_no(asked))


def _should_we(asked: str) -> list[Option]:
    lead = re.match(
        r"^(?:is it (?:time|worth|wise|better)|(?:should|shall|sollen|sollten|do|must)\s+"
        r"(?:wir|we|i|they|our \w+|the \w+))\b",
        _lead_out(asked),
        re.IGNORECASE,
    )
    body = _LEAD.sub("", asked)
    return _whether(body) if lead or (VERB.match(body) and body == asked) else []


def _lead_out(asked: str) -> str:
    return re.sub(r"^(?:so|now|ok|and|please)[,:]?\s+", "", asked, flags=re.IGNORECASE)


def _whether(body: str) -> list[Option]:
    """To do it, and not to do it."""
    body = re.sub(r"^need to\s+", "", re.sub(r"^need (?!to\b)", "use ", body))
    found = VERB.match(body)
    keys = act_things(body, found["verb"] if found else "")
    if not found and not re.match(r"^[a-z\-]+\s", body):
        return [
            Option(f"“{body}”", f"Yes: {body}", (*keys, "change")),
            Option(f"no to “{body}”", f"No: not “{body}”", ("keep",), negated=True),
        ]
    return [
        Option(short_name(body), capital(body), keys or ("change",)),
        Option(f"not {short_name(body)}", f"Do not {body}", ("keep",), negated=True),
    ]


def _japanese_should(asked: str) -> list[Option]:
    found = _JA_SHOULD.match(asked)
    if not found:
        return []
    act = found["act"]
    return [
        Option(f"「{act}」", f"Yes: {act}べき", (*things_in(act), "change")),
        Option(f"not 「{act}」", f"No: {act}べきではない", ("keep",), negated=True),
    ]


def _yes_no(asked: str) -> list[Option]:
    found = _YES_NO.match(asked)
    if not found:
        return []
    parts = _SUBJECT.match(found["rest"])
    aux = found["aux"].lower()
    if not parts:
        yes, no = f"Yes to “{asked}”", f"No to “{asked}”"
    else:
        said = "" if aux in {"do", "does", "did"} else f" {aux}"
        denied = "cannot" if aux == "can" else f"{aux} not"
        yes = f"Yes, {parts['subject']}{said} {parts['rest']}"
        no = f"No, {parts['subject']} {denied} {parts['rest']}"
    keys = things_in(found["rest"])
    return [
        Option("a yes", yes, (*keys, "affirm")),
        Option("a no", no, ("deny",), negated=True),
    ]


# -- others -----------------------------------------------------------------------------------


def _japanese_pair(asked: str) -> list[Option]:
    found = _JA_PAIR.match(asked)
    if not found:
        return []
    return [Option(name, f"Choose {name}", things_in(name)) for name in (found["a"], found["b"])]


def _listed(text: str) -> tuple[Option, ...]:
    items = [_clean(found["item"]) for found in _LIST_ITEM.finditer(text)]
    if len(items) < _CHOICE or not _CHOOSES.search(text):
        return ()
    return _distinct(_named(items, ""))


def _approaches(text: str) -> tuple[Option, ...]:
    """Ways to go that fit the topics, for questions that name none."""
    known = catalogue()
    keys = [key for topic in topics_of(text) for key in known.topics[topic].approaches]
    chosen = list(dict.fromkeys(keys))[:3] or ["trial", "full", "keep"]
    return tuple(_approach(key) for key in chosen)


def _approach(key: str) -> Option:
    name = inside(catalogue().things[key].title)
    return Option(name, f"Go for {name}", (key,))


_READERS: tuple[Callable[[str], list[Option]], ...] = (
    _moves,
    _described,
    _alternatives,
    _japanese_pair,
)
