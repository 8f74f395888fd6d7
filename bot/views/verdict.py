"""The verdict: the whole synthesis for the thread, a short form for the channel (pure)."""

from collections.abc import Iterable, Iterator, Sequence

from bot.slack.mrkdwn.convert import bare_gist, gist, mrkdwn
from bot.views.decision import decision_buttons, standing
from bot.views.feedback import feedback_buttons
from bot.views.message import Block, Message, context, header, in_pages, named, sections
from bot.views.vote import outcome
from bot.views.words import OFFLINE_NOTE, all_offline, confidence, cost, icon, person, title
from core.models import Debate, Note, NoteOutcome, Verdict, VerdictSource

_DISCLAIMER = (
    "Written by AI agents, who can be wrong. This is their verdict, not yet the team's decision: "
    "check what matters before you act on it."
)
_WARNINGS_LIMIT = 1200
_DECISION_LIMIT = 1500
_NOTE_LIMIT = 300
_SOURCES = {
    VerdictSource.JUDGE: "",
    VerdictSource.FALLBACK_JUDGE: "Written by a fallback judge: the judge could not be asked.",
    VerdictSource.WINNER: "Nobody has judged: this is the winning position as it stands.",
}


def verdict(debate: Debate, reached: Verdict, assumptions: Sequence[str] = ()) -> list[Message]:
    """Return the posts that hold the whole synthesis, what it lacks above the answer.

    Args:
        debate: The debate after the verdict.
        reached: The verdict.
        assumptions: What was taken for granted where people gave no answer; Markdown.
    """
    banner = shortcomings(reached)
    text = "\n\n".join([*([banner] if banner else []), *_parts(debate, reached, assumptions)])
    parts = in_pages(text)
    return [_page(debate, reached, number, parts) for number in range(len(parts))]


def headline(debate: Debate, reached: Verdict) -> Message:
    """Return the short form that is shown in the channel, too."""
    banner = shortcomings(reached)
    decision = gist(reached.decision, _DECISION_LIMIT)
    question = gist(debate.setup.question, _NOTE_LIMIT)
    lines = [
        *([banner] if banner else []),
        f"*Decision on “{question}”*",
        decision,
        *([outcome(debate, debate.tally)] if debate.tally else []),
        f"Confidence: {confidence(reached.confidence)}. The whole reasoning is in the thread.",
        *([standing(debate)] if debate.decision else []),
    ]
    text = "\n".join(lines)
    judge = debate.setup.judge
    blocks = [
        *sections(text),
        *decision_buttons(debate),
        *context(disclaimer(debate)),
        *feedback_buttons(debate),
    ]
    return Message(text=text, blocks=blocks, username=named(title(judge)), icon=icon(judge))


def shortcomings(reached: Verdict) -> str:
    """What people must know before they read the answer; empty when all went well."""
    said = [_SOURCES[reached.source], *reached.warnings]
    lines = [f"• {gist(words, _NOTE_LIMIT)}" for words in dict.fromkeys(said) if words.strip()]
    if not lines and not reached.partial:
        return ""
    name = "Partial result" if reached.partial else "Degraded result"
    why = ": not all turns were taken." if reached.partial else ""
    return f":warning: *{name}*{why}\n{_room(lines)}".rstrip()


def disclaimer(debate: Debate) -> str:
    """Who wrote this and how far to trust it."""
    return OFFLINE_NOTE if all_offline(debate) else _DISCLAIMER


def _room(lines: Iterable[str]) -> str:
    """Lines within the room a banner has."""
    kept, size = list[str](), 0
    for line in lines:
        size += len(line) + 1
        if size > _WARNINGS_LIMIT:
            return "\n".join([*kept, "• …"])
        kept.append(line)
    return "\n".join(kept)


def _page(debate: Debate, reached: Verdict, number: int, parts: Sequence[str]) -> Message:
    judge = debate.setup.judge
    first, last = number == 0, number == len(parts) - 1
    head = "The verdict" if first else f"The verdict, part {number + 1} of {len(parts)}"
    foot = _foot(debate, reached) if last else ()
    blocks: list[Block] = [
        *([header(head)] if first else context(head)),
        *sections(parts[number]),
        *context(*foot),
    ]
    return Message(
        text=f"{head}\n{parts[number]}",
        blocks=blocks,
        username=named(title(judge)),
        icon=icon(judge),
    )


def _foot(debate: Debate, reached: Verdict) -> Iterator[str]:
    yield f"Confidence: {confidence(reached.confidence)} · Cost: {cost(debate.usage)}"
    yield disclaimer(debate)


def _parts(debate: Debate, reached: Verdict, assumptions: Sequence[str]) -> Iterator[str]:
    yield _titled("Decision", mrkdwn(reached.decision))
    yield _titled("Why", mrkdwn(_reasons(reached)))
    texts = (("How to do it", reached.implementation),)
    lists = (
        ("Trade-offs", reached.tradeoffs),
        ("Recommendations", reached.recommendations),
        ("Requirements that are not met", reached.unmet_requirements),
        ("Open questions", reached.open_questions),
        ("Assumptions", assumptions),
        ("What would overturn it", reached.overturned_by),
    )
    yield from (_titled(name, mrkdwn(text)) for name, text in texts if text.strip())
    yield from (_titled(name, _bullets(items)) for name, items in lists if items)
    if reached.dissent.strip():
        yield _titled("Dissent", mrkdwn(reached.dissent))
    if debate.tally:
        yield _titled("The vote", outcome(debate, debate.tally))
    outcomes = [*reached.notes, *_unmentioned(debate, reached)]
    if outcomes:
        yield _titled("What became of your notes", _notes(debate, outcomes))


def _reasons(reached: Verdict) -> str:
    """The solution without a first paragraph that only says the decision again."""
    first, _, rest = reached.solution.strip().partition("\n\n")
    said = [bare_gist(text, _DECISION_LIMIT).rstrip(".") for text in (first, reached.decision)]
    return rest if rest.strip() and said[0] == said[1] else reached.solution


def _titled(name: str, text: str) -> str:
    return f"*{name}*\n{text or '_not given_'}"


def _bullets(items: Iterable[str]) -> str:
    return "\n".join("• " + mrkdwn(item).replace("\n", "\n    ") for item in items)


def _notes(debate: Debate, outcomes: Iterable[NoteOutcome]) -> str:
    notes = {note.id: note for note in debate.notes}
    return "\n".join(_note(notes.get(found.note), found) for found in outcomes)


def _unmentioned(debate: Debate, reached: Verdict) -> Sequence[NoteOutcome]:
    """Notes the judge says nothing about: their authors are not left without a word."""
    known = {found.note for found in reached.notes}
    why = "The judge says nothing about it."
    return [
        NoteOutcome(note=note.id, used=False, explanation=why)
        for note in debate.notes
        if note.id not in known
    ]


def _note(note: Note | None, found: NoteOutcome) -> str:
    used = "used" if found.used else "not used"
    said = f"{person(note.author)}: “{gist(note.text, _NOTE_LIMIT)}”" if note else "A note"
    return f"• {said} – *{used}*. {mrkdwn(found.explanation)}".rstrip()
