"""The verdict: the whole synthesis for the thread, a short form for the channel (pure)."""

import itertools
from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn.convert import bare_gist, gist, mrkdwn
from bot.views.decision import decision_buttons, standing
from bot.views.feedback import feedback_buttons
from bot.views.message import MessageView, context, header, in_pages, named, sections
from bot.views.vote import outcome
from bot.views.words import OFFLINE_NOTE, all_offline, confidence, cost, icon, person, title
from core.models import CitationStatus, Debate, NoteOutcome, Verdict, VerdictSource
from core.transcript.cited import cited_verdict, evidence_rows

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


def verdict(debate: Debate, reached: Verdict, assumptions: Sequence[str] = ()) -> list[MessageView]:
    """Return the posts that hold the whole synthesis, what it lacks above the answer.

    Args:
        debate: The debate after the verdict.
        reached: The verdict.
        assumptions: What was taken for granted where people gave no answer; Markdown.
    """
    reached = cited_verdict(reached)
    banner = shortcomings(reached)
    text = "\n\n".join([*([banner] if banner else []), *_parts(debate, reached, assumptions)])
    parts = in_pages(text)
    judge = debate.setup.judge
    spent = f"Confidence: {confidence(reached.confidence)} · Cost: {cost(debate.usage)}"
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        first, last = number == 1, number == len(parts)
        head = "The verdict" if first else f"The verdict, part {number} of {len(parts)}"
        foot = (spent, disclaimer(debate)) if last else ()
        message = MessageView(
            text=f"{head}\n{part}",
            blocks=[
                *([header(head)] if first else context(head)),
                *sections(part),
                *context(*foot),
            ],
            username=named(title(judge)),
            icon=icon(judge),
        )
        messages.append(message)
    return messages


def headline(debate: Debate, reached: Verdict) -> MessageView:
    """Return the short form that is shown in the channel, too."""
    reached = cited_verdict(reached)
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
    return MessageView(text=text, blocks=blocks, username=named(title(judge)), icon=icon(judge))


def shortcomings(reached: Verdict) -> str:
    """What people must know before they read the answer; empty when all went well."""
    said = [_SOURCES[reached.source], *reached.warnings]
    lines = [f"• {gist(words, _NOTE_LIMIT)}" for words in dict.fromkeys(said) if words.strip()]
    if not lines and not reached.partial:
        return ""
    name = "Partial result" if reached.partial else "Degraded result"
    why = ": not all turns were taken." if reached.partial else ""
    # As many lines as a banner has room for.
    ends = itertools.accumulate(len(line) + 1 for line in lines)
    shown = [line for line, end in zip(lines, ends, strict=True) if end <= _WARNINGS_LIMIT]
    more = ["• …"] if len(shown) < len(lines) else []
    return "\n".join([f":warning: *{name}*{why}", *shown, *more])


def disclaimer(debate: Debate) -> str:
    """Who wrote this and how far to trust it."""
    return OFFLINE_NOTE if all_offline(debate) else _DISCLAIMER


def _parts(debate: Debate, reached: Verdict, assumptions: Sequence[str]) -> Iterator[str]:
    yield _titled("Decision", mrkdwn(reached.decision))
    # The solution without a first paragraph that only says the decision again.
    first, _, rest = reached.solution.strip().partition("\n\n")
    said = [bare_gist(text, _DECISION_LIMIT).rstrip(".") for text in (first, reached.decision)]
    yield _titled("Why", mrkdwn(rest if rest.strip() and said[0] == said[1] else reached.solution))
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
    yield from (
        _titled(name, "\n".join("• " + mrkdwn(item).replace("\n", "\n    ") for item in items))
        for name, items in lists
        if items
    )
    if reached.evidence:
        yield _titled("Evidence", "\n".join(_evidence_lines(reached)))
    if reached.dissent.strip():
        yield _titled("Dissent", mrkdwn(reached.dissent))
    if debate.tally:
        yield _titled("The vote", outcome(debate, debate.tally))
    # Notes the judge says nothing about: their authors are not left without a word.
    known = {found.note for found in reached.notes}
    why = "The judge says nothing about it."
    outcomes = [
        *reached.notes,
        *[
            NoteOutcome(note=note.id, used=False, explanation=why)
            for note in debate.notes
            if note.id not in known
        ],
    ]
    if outcomes:
        notes = {note.id: note for note in debate.notes}
        lines = list[str]()
        for found in outcomes:
            note = notes.get(found.note)
            text = f"{person(note.author)}: “{gist(note.text, _NOTE_LIMIT)}”" if note else "A note"
            used = "used" if found.used else "not used"
            lines.append(f"• {text} – *{used}*. {mrkdwn(found.explanation)}".rstrip())
        yield _titled("What became of your notes", "\n".join(lines))


def _evidence_lines(reached: Verdict) -> Iterator[str]:
    """What each reason rests on, with a link to where the words stand."""
    marks = {
        "verified": ":white_check_mark:",
        "unverified": ":warning:",
        "assumed": ":grey_question:",
    }
    for claim, status, shown in evidence_rows(reached):
        rest = f": {mrkdwn(shown)}" if status != CitationStatus.ASSUMED else ""
        yield f"{marks[status]} {gist(claim, _NOTE_LIMIT)} – *{status}*{rest}"


def _titled(name: str, text: str) -> str:
    return f"*{name}*\n{text or '_not given_'}"
