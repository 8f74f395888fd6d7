"""Replies as a rehearsal has them: of the usual length, and as long as they may be (pure)."""

import json

from core.models import Act, NextStep
from core.request import ModelRequest, PartKind
from core.turns.acts import ACTS

#: What stands in for everything that people or models write.
SENTENCE = "The reasons, the risks and the cost of each step are set out one by one."
_CHARS_PER_WORD = 6.0
#: Characters of a token in English prose.
_CHARS_PER_TOKEN = 4
#: Questions to people of one agent.
_USUAL_QUESTIONS, _MOST_QUESTIONS = 2, 5
#: Characters of a section of the verdict that a playbook asks for.
_SECTION_CHARACTERS = 800
#: A structured reply's list has so many items.
_ITEMS = 3


def usual_reply(request: ModelRequest) -> str:
    """A reply in the form an act asks for and of the length it usually has."""
    length = request.most_chars or int(ACTS[request.act].words * _CHARS_PER_WORD)
    return _reply(request, length, SENTENCE, questions=_USUAL_QUESTIONS, close=False)


def longest_reply(request: ModelRequest) -> str:
    """A reply in that form that uses all the room it has."""
    length = request.most_chars or request.max_output_tokens * _CHARS_PER_TOKEN
    labels = sum(part.kind is PartKind.CANDIDATE for part in request.parts)
    fields = {Act.BALLOT: max(1, labels), Act.QUESTIONS: 2 * _MOST_QUESTIONS}
    sentence = lengthened(SENTENCE, length // fields.get(request.act, 1))
    return _reply(request, length, sentence, questions=_MOST_QUESTIONS, close=True)


def lengthened(text: str, length: int) -> str:
    """The text over and over, so many characters long."""
    return (f"{text} " * (length // len(text) + 1))[:length]


def _reply(  # noqa: C901, PLR0912, PLR0915 - one case per act
    request: ModelRequest, length: int, sentence: str, *, questions: int, close: bool
) -> str:
    """A reply in the form an act asks for; each field that people or agents read is `sentence`.

    Args:
        request: What is asked.
        length: Characters of a text.
        sentence: Stands in every field.
        questions: How many are asked.
        close: Whether voters hold all options alike, so that the vote is judged twice.
    """
    text = lengthened(SENTENCE, length)
    items = [SENTENCE] * _ITEMS
    match request.act:
        case Act.QUESTIONS:
            asked = [f"{request.role} {number}: {sentence}" for number in range(1, questions + 1)]
            reply = {"questions": [{"question": one, "assumption": sentence} for one in asked]}
        case Act.BALLOT:
            labels = [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]
            reasons = [sentence for _ in labels]
            options = [
                line
                for part in request.parts
                if part.kind is PartKind.OPTIONS
                for line in part.text.splitlines()
            ]
            first = 100 // len(options) if close and options else 60
            rest = first if close else 40 // max(1, len(options) - 1)
            shares = [first, *[rest] * (len(options) - 1)] if options else []
            reply = {"reasons": reasons, "ranking": labels, "probabilities": shares}
            reply |= {"moved_by": "none"}
        case Act.REVIEW:
            # What matters is put to the author, and looked at again.
            about = {"source": "e1", "words": SENTENCE, "severity": "major"}
            found = [{**about, "wrong": sentence, "mend": sentence} for _ in items]
            reply = {"findings": found, "summary": sentence, "verdict": "o2"}
        case Act.FINDINGS:
            found = [part.text for part in request.parts if part.kind is PartKind.CRITIQUE]
            count = sum(len(text.splitlines()) for text in found)
            reply = {"same_as": list(range(1, count + 1))}
        case Act.SECOND_LOOK:
            mine = [part.text for part in request.parts if part.kind is PartKind.CRITIQUE]
            labels = [line.partition(":")[0] for text in mine for line in text.splitlines()]
            looks = [{"finding": one, "why": sentence, "status": "open"} for one in labels]
            reply = {"looks": looks, "new": [], "summary": sentence, "verdict": "o2"}
        case Act.OPTIONS:
            labels = [part.label for part in request.parts if part.kind is PartKind.CANDIDATE]
            names = [f"option {number}" for number, _ in enumerate(items, start=1)]
            stands_for = [number % len(names) + 1 for number, _ in enumerate(labels)]
            reply = {"options": names, "stands_for": stands_for, "kind": "choice"}
        case Act.CROSS_CHECK | Act.SHADOW_CHOICE:
            reply = {"reason": SENTENCE, "option": "o1"}
        case Act.SHADOW:
            reply = {
                "options": items,
                "reasons": items,
                "risks": items,
                "overturned_by": items,
                "decision": SENTENCE,
                "solution": text[:length],
            }
        case Act.CASTING:
            # No role: the agents that the estimate is made for stand.
            reply = {"agents": [{"reason": SENTENCE, "role": ""} for _ in items]}
        case Act.FACILITATION:
            step = NextStep.GO_ON
            reply = {"decision": step, "focus": sentence, "question": "", "assumption": ""}
        case Act.SYNTHESIS:
            reply = {
                "reasons": items,
                "requirements": [
                    {"requirement": SENTENCE, "words": SENTENCE, "status": "met"} for _ in items
                ],
                "criteria": [
                    {"option": "o1", "criterion": SENTENCE, "judgement": SENTENCE} for _ in items
                ],
                "decision": SENTENCE,
                "option": "o1",
                "solution": text[:length],
                "implementation": " ".join(items),
                "tradeoffs": items,
                "recommendations": items,
                "open_questions": items,
                "dissent": SENTENCE,
                "overturned_by": items,
                "notes": [],
                "confidence": 70,
            }
            if request.answer and (labels := request.answer.labels("parts", "part")):
                # Sections that a playbook asks for, each about as long as the prompt allows.
                section = lengthened(SENTENCE, min(length, _SECTION_CHARACTERS))
                reply["parts"] = [{"part": one, "text": section} for one in labels]
        case _:
            return text
    return json.dumps(reply)
