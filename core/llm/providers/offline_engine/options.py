"""Finds what people choose between: "A or B", "from X to Y", "should we X", lists.

German and Japanese are read modestly.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.llm.providers.offline_engine.acts import (
    REPLACE,
    TO,
    VERB,
    act_things,
    any_verb,
    bare,
    gerund,
    short_name,
)
from core.llm.providers.offline_engine.alternatives import (
    OR,
    alternatives,
    options_of,
    split,
    whether,
    with_shared_start,
)
from core.llm.providers.offline_engine.asking import (
    asking_sentence,
    asks_for_acts,
    asks_what_to_do,
    body_of,
    clean,
    without_german_verb,
)
from core.llm.providers.offline_engine.checklist import (
    WAYS,
    catalogue,
    inside,
    things_in,
    topics_of,
)
from core.llm.providers.offline_engine.option import Option
from core.llm.providers.offline_engine.wording import capital, normal, quote

_SHOULD_BE = re.compile(
    r"^should (?P<subject>(?:our|the|this|my|a)\s.+?) (?P<verb>be|use|have|become|accept|show|"
    r"offer|store|run|live|get|receive|buy|build|launch|pay|move|switch|adopt|keep|drop|cover|stay|support|require|send|start|speak|work|cost|contain|return)"
    r"\s(?P<rest>.+)$",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    r"^(?P<before>.*?)\b(?:from|vom|von)\s+(?P<old>.+?)\s+(?:to|zum|zur|zu|auf|nach)\s+(?P<new>.+)$",
    re.IGNORECASE,
)
_FROM_TO_JA = re.compile(r"^(?P<before>.*?)(?P<old>[^はをが、]+?)から(?P<new>.+?)(?:に|へ)")
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
_GERMAN_NOUN = re.compile(r"^(?:eine?[nmrs]?|de[nmr]|die|das|unsere?[nmrs]?|mehr)\s")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)]|\(?[a-d]\))\s+(?P<item>\S.{0,80})$", re.MULTILINE)
_CHOOSES = re.compile(r"\b(?:which|choose|pick|options?|decide)\b", re.IGNORECASE)
#: Fewer names than this are no choice.
_CHOICE = 2
_MOST = 6
#: What the question says is there already.
_STATUS_QUO = re.compile(
    r"\b(?:current(?:ly)?|existing|today|at the moment|present|keep|stay|still|already|"
    r"we (?:have|use|run)|our (?:old|legacy)|bisher\w*|bestehende\w*|behalten|bleiben)\b",
    re.IGNORECASE,
)
#: Asks for a way to do something.
_HOW = re.compile(
    r"^how (?:do|can|could|should|might|would|shall) (?:we|i|you|they|one) (?P<act>[a-z].{2,80})$",
    re.IGNORECASE,
)
_ASKED = 80
#: Criteria that an answer may put first; every role has one among them that it values most.
_FIRST_OF_ALL = (
    "value",
    "simplicity",
    "cost",
    "reversibility",
    "security",
    "scale",
    "correctness",
)


def options_in(question: str, context: str = "") -> tuple[Option, ...]:
    """The options of a question, in its own order; approaches from its topics if it names none."""
    asked = asking_sentence(question)
    for reader in _READERS:
        if len(found := reader(asked)) > 1:
            return _distinct(found)
    return (
        _listed(f"{question}\n{context}")
        or _single(asked)
        or _approaches(f"{question} {context}")
        or _by_criteria(asked)
    )


def _distinct(found: Sequence[Option]) -> tuple[Option, ...]:
    kept = tuple({normal(option.say): option for option in found}.values())[:_MOST]
    if len({option.name for option in kept}) == len(kept):
        return kept
    return tuple(replace(option, name=gerund(option.say)) for option in kept)


# -- from X to Y ------------------------------------------------------------------------------


def _moves(asked: str) -> list[Option]:
    if OR.search(asked):
        return []
    body = body_of(asked)
    if found := _FROM_TO_JA.match(body) or _FROM_TO.match(body):
        return _move(clean(found["old"]), clean(found["new"]), clean(found["before"]))
    if found := TO.match(body) or REPLACE.match(body):
        return _swap(clean(found["old"]), clean(without_german_verb(found["new"])), found["verb"])
    return []


def _move(old: str, new: str, before: str) -> list[Option]:
    new = clean(without_german_verb(new))
    verb = VERB.match(before)
    what = clean(verb["rest"] if verb else before).removesuffix("を").rstrip("をはが")
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


# -- what something should be --------------------------------------------------------------------


def _described(asked: str) -> list[Option]:
    """Options that describe what the question names: "Should our app be A or B"."""
    found = _SHOULD_BE.match(asked)
    if not found or asks_for_acts(asked):
        return []
    pieces = [clean(piece) for piece in split(found["rest"])] or [clean(found["rest"])]
    subject, verb = capital(found["subject"]), found["verb"]
    if len(pieces) < _CHOICE or normal(pieces[1]).strip() in {"not", "no"}:
        return _described_or_not(subject, f"{verb} {pieces[0]}")
    lead = f"{subject} should {verb}"
    return [Option(p, f"{lead} {p}", things_in(p)) for p in with_shared_start(pieces)]


def _described_or_not(subject: str, act: str) -> list[Option]:
    keys = things_in(act)
    return [
        Option("a yes", f"{subject} should {act}", (*keys, "change")),
        Option("a no", f"{subject} should not {act}", ("keep",), negated=True),
    ]


# -- yes or no --------------------------------------------------------------------------------


def _single(asked: str) -> tuple[Option, ...]:
    return tuple(_should_we(asked) or _japanese_should(asked) or _yes_no(asked))


def _should_we(asked: str) -> list[Option]:
    body = whether(asked) or body_of(asked)
    acting = asks_what_to_do(asked) or bool(VERB.match(body) and body_of(asked) == asked)
    return _whether(body) if acting else []


def _whether(body: str) -> list[Option]:
    """To do it, and not to do it."""
    body = re.sub(r"^need to\s+", "", re.sub(r"^need (?!to\b)", "use ", body))
    found = None if _GERMAN_NOUN.match(body) else any_verb(body)
    keys = act_things(body, found["verb"] if found else "")
    if not found:
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
    name = f"「{act}る」" if act.endswith("す") else f"「{act}」"
    return [
        Option(name, f"Yes: {act}べき", (*things_in(act), "change")),
        Option(f"not {name}", f"No: {act}べきではない", ("keep",), negated=True),
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
    names = [found[side].strip() for side in ("a", "b")]
    return [Option(name, f"Choose {name}", things_in(name)) for name in names]


def _listed(text: str) -> tuple[Option, ...]:
    items = [clean(found["item"]) for found in _LIST_ITEM.finditer(text)]
    if len(items) < _CHOICE or not _CHOOSES.search(text):
        return ()
    return _distinct(options_of(items))


def _approaches(text: str) -> tuple[Option, ...]:
    """Ways to go that fit the topics, for questions that name none.

    To stay with what there is can only be a way where the question says that there is something.
    """
    known = catalogue()
    keys = [key for topic in topics_of(text) for key in known.topics[topic].approaches]
    chosen = list(dict.fromkeys(keys))[:3] or ["trial", "full", "keep"]
    if WAYS.issuperset(chosen) and not _STATUS_QUO.search(text):
        return ()
    return tuple(_approach(key) for key in chosen)


def _by_criteria(asked: str) -> tuple[Option, ...]:
    """What an answer may put first, for questions that offer nothing: one option per criterion."""
    act = _HOW.match(asked)
    aim = f"To {act['act']}" if act else f"To answer {quote(asked, _ASKED)}"
    return tuple(
        Option(
            f"putting {key} first",
            f"{aim}, put {key} first: {catalogue().criteria[key].noun}",
            criterion=key,
        )
        for key in _FIRST_OF_ALL
    )


def _approach(key: str) -> Option:
    name = inside(catalogue().things[key].title)
    say = {"keep": "Stay with what we have", "wait": "Wait"}.get(key, f"Go for {name}")
    return Option(name, say, (key,))


_READERS: tuple[Callable[[str], list[Option]], ...] = (
    _moves,
    _described,
    alternatives,
    _japanese_pair,
)
