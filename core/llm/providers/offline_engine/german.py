"""What German questions choose between: "Sollen wir X mit A oder B bauen?" is about A and B."""

import re
from collections.abc import Sequence

#: An infinitive; nouns would have a capital.
_INFINITIVE = r"(?!morgen|zusammen|oben|unten|innen|außen)[a-zäöüß]{2,}(?:en|ern|eln)"
_LONE = re.compile(_INFINITIVE)
#: The verb at the end of a sentence, with the little word before it.
_VERB = re.compile(rf"\s+(?:(?:neu|selbst|wieder)\s+)?{_INFINITIVE}$")
#: What compares the names before the verb: "A oder B besser für uns einsetzen".
_COMPARING = re.compile(r"\s+(?:lieber|besser|eher|am besten)(?:\s.*)?$")
#: What the names are for, said once behind the last of them.
_PURPOSE = re.compile(r"\s+(?:für|als)\s.*$")
_STAYS = re.compile(r"\s(?:bleiben|weitermachen)$")
_TO = re.compile(r"^(?:zu|zum|zur|auf|nach)\s+")
_PLACE = re.compile(
    r"^(?:\S.*\s)?(?P<word>mit|per|bei|auf|über|in|via)\s+(?P<name>\S.*)$", re.IGNORECASE
)
_STARTS = re.compile(r"^(?P<word>mit|per|bei|auf|über|in|via|zu|zum|zur|von|vom)\s+(?P<name>\S.*)$")


def german_pieces(pieces: Sequence[str]) -> list[str]:
    """The names in the pieces of a choice, without the verb that all of them share.

    Who stays with something keeps the verb: it tells that there is a change on the other side.
    """
    verb = _VERB.search(pieces[0])
    if verb and all(_LONE.fullmatch(piece) for piece in pieces[1:]):
        thing = pieces[0][: verb.start()]
        return [pieces[0], *(f"{thing} {other}" for other in pieces[1:])]
    if any(_STAYS.search(piece) for piece in pieces):
        return [piece if _STAYS.search(piece) else _changed_to(piece) for piece in pieces]
    bare = [_COMPARING.sub("", _VERB.sub("", piece)) for piece in pieces]
    return _without_place([*bare[:-1], _PURPOSE.sub("", bare[-1]) or bare[-1]])


def _changed_to(piece: str) -> str:
    return _TO.sub("", _VERB.sub("", piece))


def _without_place(pieces: Sequence[str]) -> list[str]:
    """Names without what they are for: "Jobs mit Redis", "mit Kafka" → "Redis", "Kafka"."""
    place = _PLACE.match(pieces[0])
    starts = [_STARTS.match(piece) for piece in pieces[1:]]
    if not place or any(start and start["word"] != place["word"] for start in starts):
        return list(pieces)
    others = zip(pieces[1:], starts, strict=True)
    return [place["name"], *(start["name"] if start else piece for piece, start in others)]
