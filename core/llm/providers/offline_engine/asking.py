"""The sentence of a question that asks: found, and without the words that only introduce it."""

import re

from core.llm.providers.offline_engine.wording import sentences

_US = (
    r"(?:we|i|you|they|one|our (?:team|company|start-?up|group|department|club|family|business)|"
    r"the (?:team|company|board|business))"
)
#: What stands before the acts that people choose between: their first word is a verb.
_ACTING = re.compile(
    r"^(?:is it (?:better|wiser|time|worth it) (?:for us )?(?:to\s+)?|"
    rf"(?:should|shall|do|can|could|would|must|may|ought)\s+{_US}\s+"
    r"(?:to\s+|(?:really|now|rather|first|just|still|also|finally|simply)\s+)*|"
    r"are we better off\s+)",
    re.IGNORECASE,
)
#: Asks what can be, not what should be.
_POSSIBLE = re.compile(r"^(?:can|could|would|may)\b", re.IGNORECASE)
_GERMAN = re.compile(
    r"^(?:sollen|sollten|wollen|müssen|können|nehmen|nutzen|verwenden)\s+wir\s+"
    r"(?:(?:lieber|besser|eher)\s+)?",
    re.IGNORECASE,
)
_GREETING = re.compile(r"^(?:(?:so|now|ok|hi|hello|please|and|debate)[,:]?\s+)+", re.IGNORECASE)
#: What stands before the names that people choose between.
_WHICH = re.compile(
    r"^(?:what|which)\s+(?:is|are|would be|should we \w+)\s+"
    r"(?:better|best|preferable|the better \w+)?[^:,?]*[:,]\s*",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"^.{{3,200}}?[,:;–—-]\s+(?=(?:should|shall|can|do)\s+{_US}\s)", re.IGNORECASE
)
_POLITE = re.compile(r"[?\uff1f!.。\s]+$")
_ASK = re.compile(r"[?\uff1f]\s*$|べきか|どちら|どっち|それとも")
_VERSUS = re.compile(r"\bvs\.(?=\s)", re.IGNORECASE)
_GERMAN_END = re.compile(
    r"\s+(?:wechseln|umsteigen|migrieren|umziehen|gehen|nehmen|verwenden|nutzen|benutzen|einsetzen|"
    r"wählen|kaufen|speichern|betreiben|schreiben|anbieten|behalten|hosten|bauen|einführen|setzen|mieten|einstellen|"
    r"umstellen|ablösen|ersetzen|überführen|verlagern|portieren|umbauen|verschieben|umschreiben|"
    r"wandern|fahren|bleiben|machen|beauftragen|aufnehmen|übernehmen|migrieren)$",
    re.IGNORECASE,
)
#: A longer sentence is read up to here only.
_ASKED = 500


def asking_sentence(question: str) -> str:
    """The sentence that asks, without its question mark."""
    found = sentences(_VERSUS.sub("vs", question)) or (question,)
    asks = [sentence for sentence in found if _ASK.search(sentence)]
    return _POLITE.sub("", (asks or found)[0][:_ASKED]).strip()


def body_of(asked: str) -> str:
    """What is asked about, without "should we" and the like."""
    started = _started(asked)
    for lead in (_ACTING, _GERMAN, _WHICH):
        if lead.match(started):
            return lead.sub("", started)
    return started


def asks_for_acts(asked: str) -> bool:
    """Whether the words after the introduction begin with a verb: "Should we …"."""
    return bool(_ACTING.match(_started(asked)))


def asks_what_to_do(asked: str) -> bool:
    """Whether it asks what people should do, in English or German."""
    started = _started(asked)
    acting = _ACTING.match(started) and not _POSSIBLE.match(started)
    return bool(acting or _GERMAN.match(started))


def asks_in_german(asked: str) -> bool:
    """Whether it begins as German questions do: "Sollen wir …"."""
    return bool(_GERMAN.match(_started(asked)))


def clean(text: str) -> str:
    """A piece of a sentence without the marks around it."""
    return _POLITE.sub("", text).strip(" ,;:\"“”'")


def without_german_verb(text: str) -> str:
    """A piece of a German sentence without the verb at its end."""
    return _GERMAN_END.sub("", text)


def _started(asked: str) -> str:
    return _BEFORE.sub("", _GREETING.sub("", asked))
