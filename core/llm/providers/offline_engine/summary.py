"""Compresses texts: picks the sentences that carry requirements, figures and choices."""

import re
from dataclasses import dataclass

from core.llm.providers.offline_engine.checklist import catalogue
from core.llm.providers.offline_engine.material import Material, Text
from core.llm.providers.offline_engine.positions import items_under
from core.llm.providers.offline_engine.question import names
from core.llm.providers.offline_engine.wording import FOOTER, normal, sentences

_FIGURE = re.compile(r"\d")
_BINDING = re.compile(
    r"\b(?:must|shall|should|not met|fails|missing|accept|reject|moved|because)\w*\b", re.IGNORECASE
)
#: Heading over one of several contributions in a text: its last word says whose it is.
_SECTION = re.compile(r"^\[(?:[^\]\n]*,|Position of) (?P<who>[^\],\n]+)\]$", re.MULTILINE)
#: Room in characters for a position's decision, requirements and steps.
_ROOM_FOR_ALL = 500
#: A summary longer than this would save nothing (characters).
_LONGEST = 2400
_SHORTEST = 320
#: Share of the texts that a summary may take.
_SHARE = 0.2


@dataclass(frozen=True)
class _Sentence:
    order: int
    text: str
    worth: float


def summary(material: Material) -> str:
    """The texts in few words: who takes what, requirements first, then what carries most."""
    texts = [t for t in _texts(material) if t.text.strip()]
    if sections := _in_full_enough(material, texts):
        return "\n\n".join((*sections, FOOTER))
    room = _room(material, texts) - len(FOOTER) - 4  # two blank lines
    head = _requirements(material, texts)
    head = head if len(head) <= room else head[:room].rsplit(";", 1)[0]
    body = _chosen(material, texts, room - len(head))
    return "\n\n".join(part for part in (head, body, FOOTER) if part)


def _texts(material: Material) -> tuple[Text, ...]:
    own = (Text("", material.own),) if material.own else ()
    parts = (material.summaries, own, material.positions, material.critiques, material.candidates)
    found = [text for part in (*parts, material.others) for text in part]
    return tuple(piece for text in found for piece in sections_of(text))


def sections_of(text: Text) -> tuple[Text, ...]:
    """The contributions in a text that holds several under headings like "[Round 2, act, A]"."""
    pieces = _SECTION.split(text.text)
    if len(pieces) < 3:  # noqa: PLR2004 - no heading, nothing to split
        return (text,)
    labels, texts = pieces[1::2], pieces[2::2]
    found = (Text(a.strip(), b.strip()) for a, b in zip(labels, texts, strict=True))
    return tuple(piece for piece in found if piece.text)


def _in_full_enough(material: Material, texts: list[Text]) -> list[str]:
    """Each position with its decision, requirements and steps, if there is room for all of that."""
    room = min(material.room, _LONGEST) // max(len(texts), 1)
    if room < _ROOM_FOR_ALL or len(texts) < 2:  # noqa: PLR2004 - one text is only shortened
        return []
    return [f"[Position, {text.label}]\n{_essence(text.text, room)}" for text in texts]


def _essence(text: str, room: int) -> str:
    hows = dict.fromkeys(role.headings.how for role in catalogue().roles.values())
    how = next((how for how in hows if items_under(text, how)), "")
    steps = [f"{n}. {step}" for n, step in enumerate(items_under(text, how)[:3], start=1)]
    said = [f"**{sentence}**" for sentence in sentences(text)[:1]]
    said += [f"- {s}" for s in sentences(text)[1:] if s.startswith("“") and "”: " in s][:4]
    said += [s for s in sentences(text)[1:] if s.startswith("I started from")]
    said += [f"**{how}**", *steps] if steps else []
    kept: list[str] = []
    for line in said:
        if sum(map(len, kept)) + len(kept) + len(line) < room:
            kept.append(line)
    return "\n".join(kept)


def _room(material: Material, texts: list[Text]) -> int:
    said = sum(len(text.text) for text in texts)
    return min(material.room, _LONGEST, max(_SHORTEST, int(said * _SHARE)))


def _requirements(material: Material, texts: list[Text]) -> str:
    known = [requirement.text for requirement in material.reading.requirements]
    said = " ".join(text.text for text in texts)
    spoken = [r.text for r in material.reading.requirements if r.is_met_in(said)]
    if not known:
        return ""
    left = [text for text in known if text not in spoken]
    tail = f" (not spoken of yet: {'; '.join(left)})" if left else ""
    return f"Requirements: {'; '.join(known)}{tail}."


def _chosen(material: Material, texts: list[Text], room: int) -> str:
    """The weightiest sentences that fit, in their own order."""
    weighed = _weighed(material, texts)
    kept: list[_Sentence] = []
    for sentence in sorted(weighed, key=lambda s: (-s.worth, s.order)):
        if len(sentence.text) + 1 <= room:
            kept.append(sentence)
            room -= len(sentence.text) + 1
    return "\n".join(s.text for s in sorted(kept, key=lambda s: s.order))


def _weighed(material: Material, texts: list[Text]) -> list[_Sentence]:
    found: dict[str, _Sentence] = {}
    for text in texts:
        for place, said in enumerate(sentences(text.text)):
            line = f"{text.label}: {said}" if place == 0 and text.label else said
            worth = _worth(material, said) + (4.0 if place == 0 else 0.0)
            found.setdefault(said, _Sentence(len(found), line, worth))
    return list(found.values())


def _worth(material: Material, sentence: str) -> float:
    reading, words = material.reading, normal(sentence)
    worth = 2.0 * sum(r.is_named_in(words) for r in reading.requirements)
    worth += 1.0 if _FIGURE.search(sentence) else 0.0
    worth += 1.0 if _BINDING.search(sentence) else 0.0
    worth += (
        1.0 if any(names(option, reading.options, words) for option in reading.options) else 0.0
    )
    return worth - len(sentence) / 200
