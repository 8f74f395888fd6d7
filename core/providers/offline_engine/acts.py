"""Acts people choose between ("move X to Y"): their verb, object, names and things."""

import re
from collections.abc import Mapping, Sequence

from core.providers.offline_engine.checklist import things_in
from core.providers.offline_engine.wording import normal

_VERBS = (
    "adopt|allow|ask|automate|ban|begin|bring|build|buy|cache|centralise|centralize|change|charge|"
    "choose|close|consolidate|continue|create|cut|delay|delete|deploy|develop|drop|encrypt|expand|"
    "extend|extract|fine-tune|fire|fix|focus|fork|freeze|go|grow|hire|host|improve|increase|"
    "introduce|invest|keep|launch|lease|leave|let|limit|make|merge|migrate|monitor|move|offer|open|"
    "outsource|pay|pick|postpone|put|raise|rebuild|redesign|reduce|refactor|release|remain|remove|"
    "rename|rent|replace|require|retire|rewrite|roll|run|scale|self-host|sell|send|separate|ship|"
    "shard|shut|skip|split|sponsor|standardise|standardize|start|stay|stick|stop|store|switch|take|"
    "teach|test|train|turn|update|upgrade|use|wait|work|write"
)
VERB = re.compile(rf"^(?:to\s+|either\s+)*(?P<verb>(?:{_VERBS}))\b\s*(?P<rest>.*)$", re.IGNORECASE)
TAIL = re.compile(
    r"^(?P<name>.+?)(?P<tail>\s+(?:as|for|in|on|to|with|when|if|because|given|at|from"
    r"|this|next)\s+.+)$",
    re.IGNORECASE,
)
TO = re.compile(
    r"^(?P<verb>move|migrate|switch|change|upgrade)\s+(?P<old>.+?)\s+to\s+(?P<new>.+)$",
    re.IGNORECASE,
)
REPLACE = re.compile(
    r"^(?P<verb>replace|swap)\s+(?P<old>.+?)\s+(?:with|by|for)\s+(?P<new>.+)$", re.IGNORECASE
)
_PRONOUN = re.compile(
    r"^(?P<verb>keep|leave|stay|stick|continue)(?:\s+with)?(?:\s+(?:it|them|as is|"
    r"what we have|things as they are|put))?(?P<as>\s+as (?:it|they) (?:is|are))?$",
    re.IGNORECASE,
)
#: Things that an act stands for by its verb alone.
_VERB_THINGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("build", "write", "develop", "create"), ("own",)),
    **dict.fromkeys(("buy", "rent", "lease"), ("managed",)),
    **dict.fromkeys(("outsource", "hire"), ()),
    "need": (),
}
#: Longest name of an act, in characters.
_NAME = 30


def bare(name: str) -> str:
    """A name without what it is for."""
    tail = TAIL.match(name)
    return tail["name"] if tail else name


def act_things(piece: str, verb: str) -> tuple[str, ...]:
    """What an act leads to: of "move X to Y" only Y counts; the verb itself is a thing too."""
    target = TO.match(piece) or REPLACE.match(piece)
    named = things_in(target["new"] if target else piece)
    if "freelancer" in named:
        named = tuple(key for key in named if key != "hire")
    return tuple(dict.fromkeys((*named, *_VERB_THINGS.get(verb.lower(), things_in(verb)))))


def object_of(piece: str) -> str:
    """What an act is done to: of "move X to Y" it is X."""
    if found := TO.match(piece) or REPLACE.match(piece):
        return found["old"]
    found = VERB.match(piece)
    return bare(found["rest"].strip()) if found else ""


def completed(piece: str, objects: Sequence[str]) -> str:
    """An act without an object of its own takes the others': "build or buy a CRM", "keep it"."""
    thing = next((o for o in objects if o and normal(o).strip() not in {"it", "them"}), "")
    if found := _PRONOUN.match(piece):
        linking = " with " if found["verb"].lower() in {"stay", "stick", "continue"} else " "
        return f"{found['verb']}{linking}{thing}{found['as'] or ''}" if thing else piece
    found = VERB.match(piece)
    if found and not found["rest"].strip() and thing:
        return f"{found['verb']} {thing}"
    return re.sub(r"\b(?:it|them)$", thing, piece) if thing else piece


def short_name(act: str) -> str:
    """An act as a name that can be said often: without what it is for, if that makes it long."""
    full, without = gerund(act), gerund(bare(act))
    names = (full, without, gerund(act.split(" ", maxsplit=1)[0]))
    return next((name for name in names if len(name) <= _NAME), names[-1])


def gerund(act: str) -> str:
    """The act as a noun: "move our monolith" → "moving our monolith"."""
    verb, _, rest = act.partition(" ")
    low = verb.lower()
    doubled = {
        "run",
        "cut",
        "put",
        "let",
        "stop",
        "drop",
        "ship",
        "shut",
        "begin",
        "split",
        "get",
        "ban",
    }
    if low in doubled:
        stem = low + low[-1]
    else:
        stem = low[:-1] if low.endswith("e") and not low.endswith("ee") else low
    return f"{stem}ing {rest}".strip()
