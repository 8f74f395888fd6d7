"""Acts people choose between ("move X to Y"): their verb, object, names and things."""

import re
from collections.abc import Mapping, Sequence

from core.llm.providers.offline_engine.checklist import things_in
from core.llm.providers.offline_engine.wording import normal

_VERBS = (
    "accept|add|adopt|allow|announce|apply|archive|ask|automate|avoid|ban|be|begin|book|break|"
    "bring|build|buy|cache|cancel|carry on|celebrate|centralise|centralize|change|charge|choose|"
    "close|collect|combine|connect|consolidate|continue|convert|create|cut|decline|decompose|"
    "delay|delete|deploy|deprecate|develop|disable|do|drop|enable|encrypt|expand|expose|extend|"
    "extract|fine-tune|fire|fix|focus|follow|fork|freeze|get|give|go|grow|hire|hold|host|improve|"
    "increase|install|integrate|introduce|invest|join|keep|launch|lease|leave|let|license|limit|"
    "lower|make|meet|merge|migrate|modernise|modernize|monitor|move|offer|open[- ]source|open|"
    "outsource|pay|pick|postpone|publish|purchase|put|raise|rebuild|redesign|reduce|refactor|reject|release|remain|"
    "remove|rename|renew|rent|replace|require|retire|reuse|rewrite|roll|run|save|scale|self-host|"
    "sell|send|separate|serve|ship|shard|shut|skip|spend|split|sponsor|standardise|standardize|"
    "start|stay|stick|stop|store|subscribe|switch|take|teach|test|train|travel|try|turn|update|"
    "upgrade|use|wait|work|write"
)
PREPOSITION = (
    r"(?:about|after|around|as|at|before|by|during|for|from|in|into|on|onto|over|per|"
    r"through|to|towards|under|until|via|with|within|without)"
)
VERB = re.compile(rf"^(?:to\s+|either\s+)*(?P<verb>(?:{_VERBS}))\b\s*(?P<rest>.*)$", re.IGNORECASE)
_ANY_VERB = re.compile(r"^(?P<verb>[a-z][a-z-]+)\b\s*(?P<rest>.*)$")
TAIL = re.compile(
    rf"^(?P<name>.+?)(?P<tail>\s+(?:{PREPOSITION}|when|if|because|given|this|next)\s+.+)$",
    re.IGNORECASE,
)
_FOR = re.compile(r"^(?P<name>.+?)(?P<tail>\s+(?:for|as)\s+.+)$", re.IGNORECASE)
TO = re.compile(
    r"^(?P<verb>move|migrate|switch|change|upgrade|convert)\s+(?:away\s+)?(?:from\s+)?(?P<old>.+?)"
    r"\s+to\s+(?P<new>.+)$",
    re.IGNORECASE,
)
REPLACE = re.compile(
    r"^(?P<verb>replace|swap)\s+(?P<old>.+?)\s+(?:with|by|for)\s+(?P<new>.+)$", re.IGNORECASE
)
_INTO = re.compile(
    r"^(?P<verb>split|break|cut|turn|convert|divide|decompose|carve|refactor|merge|combine|rewrite|"
    r"rebuild|port)\s+(?P<old>.+?)\s+(?:up\s+)?(?:into|in|as)\s+(?P<new>.+)$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?P<verb>keep|leave|stay|stick|continue)(?:\s+with)?(?:\s+(?:it|them|as is|"
    r"what we have|things as they are|put|where we are))?(?P<as>\s+as (?:it|they) (?:is|are))?$",
    re.IGNORECASE,
)
#: "It" after a verb, which stands for what another act named: "keep it private", "build one".
_STANDS_FOR = re.compile(r"^(?P<verb>\S+(?:\s(?:with|on))?)\s(?:it|them|one)\b")
_PRONOUNS = frozenset({"it", "them", "one"})
#: Things that an act stands for by its verb alone.
_VERB_THINGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("build", "write", "develop", "create"), ("own",)),
    **dict.fromkeys(("buy", "rent", "lease"), ("managed",)),
    **dict.fromkeys(("outsource", "hire"), ()),
    "need": (),
}
#: Verbs that need no object.
_COMPLETE = frozenset(("wait", "remain", "do", "decline"))
#: Words of one syllable with one vowel before one last consonant, which is doubled: "planning".
_DOUBLES = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
#: Longest name of an act, in characters.
_NAME = 30


def tail_of(name: str) -> re.Match[str] | None:
    """A name and what it is for; "pages made on the server for X" is for X."""
    return _FOR.match(name) or TAIL.match(name)


def bare(name: str) -> str:
    """A name without what it is for."""
    tail = tail_of(name)
    return tail["name"] if tail else name


def act_things(piece: str, verb: str) -> tuple[str, ...]:
    """What an act leads to: of "move X to Y" only Y counts; the verb itself is a thing too."""
    target = target_of(piece)
    named = things_named(target["new"] if target else piece, "in")
    if "freelancer" in named:
        named = tuple(key for key in named if key != "hire")
    return tuple(dict.fromkeys((*named, *_VERB_THINGS.get(verb.lower(), things_in(verb)))))


def things_named(name: str, before: str = "") -> tuple[str, ...]:
    """The things that a name stands for where it stands alone, or after a word: "Go", "in Go"."""
    return ("golang",) if name == "Go" else things_in(f"{before} {name}")


def target_of(piece: str) -> re.Match[str] | None:
    """The old and the new in an act that makes one out of the other."""
    return TO.match(piece) or REPLACE.match(piece) or _INTO.match(piece)


def any_verb(piece: str) -> re.Match[str] | None:
    """An act's verb, known or not: its first word. Only for what is known to be an act."""
    return VERB.match(piece) or _ANY_VERB.match(piece)


def object_of(piece: str) -> str:
    """What an act is done to: of "move X to Y" it is X."""
    if found := target_of(piece):
        return found["old"]
    found = any_verb(piece)
    return bare(found["rest"].strip()) if found else ""


def completed(piece: str, objects: Sequence[str]) -> str:
    """An act without an object of its own takes the others': "build or buy a CRM", "keep it"."""
    thing = next((o for o in objects if o and normal(o).strip() not in _PRONOUNS), "")
    if found := _PRONOUN.match(piece):
        linking = " with " if found["verb"].lower() in {"stay", "stick", "continue"} else " "
        return f"{found['verb']}{linking}{thing}{found['as'] or ''}" if thing else piece
    found = VERB.match(piece)
    if found and found["verb"].lower() in _COMPLETE:
        return piece
    if found and not found["rest"].strip() and thing:
        return f"{found['verb']} {thing}"
    return _STANDS_FOR.sub(lambda m: f"{m['verb']} {thing}", piece) if thing else piece


def short_name(act: str) -> str:
    """An act as a name that can be said often: without what it is for, if that makes it long."""
    full, without = gerund(act), gerund(bare(act))
    names = (full, without, gerund(act.split(" ", maxsplit=1)[0]))
    return next((name for name in names if len(name) <= _NAME), names[-1])


def gerund(act: str) -> str:
    """The act as a noun: "move our monolith" → "moving our monolith"."""
    verb, _, rest = re.sub("^open source", "open-source", act, flags=re.IGNORECASE).partition(" ")
    low = verb.lower()
    if low == "be":
        stem = "be"
    elif _DOUBLES.match(low) or low == "begin":
        stem = low + low[-1]
    else:
        stem = low[:-1] if low.endswith("e") and not low.endswith("ee") else low
    return f"{stem}ing {rest}".strip()
