"""The verdict: the whole synthesis for the thread, a short form for the channel (pure)."""

import itertools
from collections.abc import Iterator, Sequence

from bot.slack.mrkdwn.convert import bare_gist, gist, mrkdwn
from bot.slack.mrkdwn.escape import link, literal
from bot.slack.mrkdwn.split import split
from bot.views.clarifications import assumptions
from bot.views.decision import decision_buttons, earlier_buttons, standing
from bot.views.feedback import feedback_buttons
from bot.views.fold import VERDICT, Fold, folded, has_room
from bot.views.follow_up import after_buttons
from bot.views.message import (
    PAGE_LIMIT,
    SECTION_LIMIT,
    Block,
    MessageView,
    context,
    header,
    in_pages,
    listed,
    named,
    sections,
)
from bot.views.options import (
    anyway_button,
    cross_check_words,
    decided_on,
    how_it_ended,
    how_it_went,
    option_name,
    single_answer,
)
from bot.views.people_vote import ballot_button, people_votes
from bot.views.review import finding_line, findings_in_short
from bot.views.vote import each_ballot, in_figures, outcome, result
from bot.views.words import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    all_offline,
    confidence,
    cost,
    icon,
    is_example,
    name_of,
    person,
    title,
)
from core.figures import percent
from core.models import (
    Debate,
    NoteOutcome,
    Relation,
    Verdict,
    VerdictSource,
)
from core.rules.hinges import hinge_words
from core.rules.options import held_by, leading
from core.transcript.cited import check_words, cited_verdict
from core.transcript.models_used import judge_words
from core.transcript.options import criteria_table, criteria_title
from core.transcript.single_answer import single_answer_section
from core.transcript.words import table

_DISCLAIMER = (
    "Written by AI agents, who can be wrong. This is their verdict, not yet the team's decision: "
    "check what matters before you act on it."
)
_WARNINGS_LIMIT = 1200
_DECISION_LIMIT = 1500
_NOTE_LIMIT = 300
_RESTS_LIMIT = 600
_OVERTURNS_LIMIT = 600
#: Reasons in the short form.
_MOST_REASONS = 3
_RELATIONS = {
    Relation.CONFIRMS: "Confirms",
    Relation.REFINES: "Refines",
    Relation.CONTRADICTS: "Contradicts",
}
_SOURCES = {
    VerdictSource.JUDGE: "",
    VerdictSource.FALLBACK_JUDGE: "Written by a fallback judge: the judge gave no verdict.",
    VerdictSource.WINNER: "",  # its first warning says so
}


def verdict(debate: Debate, reached: Verdict, assumed: Sequence[str] = ()) -> list[MessageView]:
    """Return the posts that hold the whole synthesis, what it lacks above the answer.

    Args:
        debate: The debate after the verdict.
        reached: The verdict.
        assumed: What was taken for granted where people gave no answer; Markdown.
    """
    banner = shortcomings(reached)
    sections_of = _parts(debate, reached, assumed)
    text = "\n\n".join([*([banner] if banner else []), *sections_of])
    parts = in_pages(text)
    judge = debate.setup.judge
    spent = _spent(debate, reached)
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


def whole(debate: Debate, reached: Verdict) -> Fold:
    """Return the whole synthesis, as it is folded away below its short form."""
    parts = [*_parts(debate, reached, assumptions(debate))]
    if debate.tally:
        ballots = filter(None, each_ballot(debate, debate.tally))
        parts.append(_titled("The agents' ballots", "\n".join(ballots)))
    parts.append(_spent(debate, reached))
    return Fold(
        title="The whole reasoning",
        parts=[piece for part in parts for piece in split(part, SECTION_LIMIT)],
        value=f"{debate.id}/{VERDICT}",
    )


def headline(
    debate: Debate, reached: Verdict, *, superseded: str = "", pages: bool = False
) -> MessageView:
    """Return the short form that is shown in the channel, too.

    Args:
        debate: The debate.
        reached: The verdict.
        superseded: Why it counts no more, as safe mrkdwn; its buttons are gone then.
        pages: Debates can be shared as pages.
    """
    judge = debate.setup.judge
    text = "\n".join(filter(None, (superseded, told(debate, reached))))
    # People's ballots: only where the vote has no post of its own, and while it counts.
    is_vote_here = debate.setup.quiet and debate.tally and not superseded
    beside = [words for words in people_votes(debate) if words] if is_vote_here else []
    below = [*context(disclaimer(debate))]
    buttons = list[Block]()
    if not superseded:
        buttons += [
            *(ballot_button(debate) if is_vote_here else []),
            *decision_buttons(debate),
            *earlier_buttons(debate),
            *after_buttons(debate, pages=pages),
            *anyway_button(debate),
        ]
        below += feedback_buttons(debate)
    above = [*sections("\n".join([text, *beside])), *buttons]
    if not has_room(above, below):
        above = [*sections(text), *buttons]
    if debate.setup.quiet and debate.tally:
        # The table says by option what the text does; where it has no room the text stays.
        figures = [
            *sections("\n".join([*filter(None, [superseded]), *_argued(debate, reached)])),
            *in_figures(debate, debate.tally, "*The vote*"),
            *sections("\n".join([*_weighed(debate, reached), *beside])),
            *buttons,
        ]
        above = figures if has_room(figures, below) else above
    quiet = debate.setup.quiet
    blocks = folded(whole(debate, reached), above, below) if quiet else [*above, *below]
    # Edited when the team decides: an edit takes less text than a post.
    beginning = split("\n".join([text, *beside]), PAGE_LIMIT)[0]
    return MessageView(
        text=beginning, blocks=blocks, username=named(title(judge)), icon=icon(judge)
    )


def told(debate: Debate, reached: Verdict) -> str:
    """Return the verdict in as few lines as tell it, and what the team made of it."""
    voted = ""
    if debate.tally:
        # In a quiet debate no other post tells of the vote.
        by_option = (outcome if debate.setup.quiet else result)(debate, debate.tally)
        voted = f"*The vote*\n{by_option}" if debate.tally.options else by_option
    return "\n".join(filter(None, (*_argued(debate, reached), voted, *_weighed(debate, reached))))


def _argued(debate: Debate, reached: Verdict) -> Iterator[str]:
    """What stands above the vote: what is decided and why."""
    if lacks := shortcomings(reached):
        yield lacks
    reached = cited_verdict(debate, reached)
    yield f"*{decided_on(debate, reached, _DECISION_LIMIT)}*"
    yield f"> {gist(debate.setup.question, _NOTE_LIMIT)}"
    if findings := findings_in_short(debate, reached.findings):
        yield findings
    for reason in reached.reasons[:_MOST_REASONS]:
        yield f"• {gist(reason, _NOTE_LIMIT)}"
    if reached.dissent.strip():
        yield f"*Dissent*: {gist(reached.dissent, _NOTE_LIMIT)}"
    if reached.overturned_by:
        found = (gist(one, _NOTE_LIMIT) for one in reached.overturned_by)
        overturns = listed(found, _OVERTURNS_LIMIT, "; ")
        yield f"*What would overturn it*: {overturns}"
    for one in reached.earlier:
        title = gist(one.title, _NOTE_LIMIT)
        shown = link(one.address, one.title) if one.address else title
        why = f": {gist(one.why, _NOTE_LIMIT)}" if one.why else ""
        mark = ":warning: " if one.relation is Relation.CONTRADICTS else ""
        yield f"{mark}*{_RELATIONS[one.relation]}* {one.source}, {shown}{why}"


def _weighed(debate: Debate, reached: Verdict) -> Iterator[str]:
    """What stands below the vote: how it came about, how sure it is, what the team decided."""
    checked = cross_check_words(debate, reached)
    if checked.startswith(":warning:"):
        yield checked
    yield from filter(None, (how_it_ended(debate), single_answer(debate)))
    sure = f"*Confidence*: {confidence(reached)}"
    if reached.confidence is not None and reached.rests_on:
        sure = f"{sure}: {gist('; '.join(reached.rests_on), _RESTS_LIMIT)}"
    sure = f"{sure}."
    yield sure if debate.setup.quiet else f"{sure} The whole reasoning is in the thread."
    if hangs_on := hinge_words(debate, reached):
        yield literal(hangs_on)
    if debate.decision:
        yield standing(debate)


def _spent(debate: Debate, reached: Verdict) -> str:
    """What the debate cost, and who judged."""
    own = reached.judge_confidence
    # A footnote: what models say of themselves runs high.
    spent = f"Cost: {cost(debate.usage)}" + (
        f" · The judge itself said {own} of 100, which is not counted." if own is not None else ""
    )
    if debate.setup.judge_models and (judged := judge_words(debate)):
        spent += f" · Judge: {literal(judged)}"
    return spent


def shortcomings(reached: Verdict) -> str:
    """What people must know before they read the answer; empty when all went well."""
    said = [_SOURCES[reached.source], *reached.warnings]
    lines = [f"• {gist(words, _NOTE_LIMIT)}" for words in dict.fromkeys(said) if words.strip()]
    if not lines and not reached.partial:
        return ""
    name = "Partial result" if reached.partial else "Not everything went as planned"
    why = ": not all turns were taken." if reached.partial else ""
    # As many lines as a banner has room for.
    ends = itertools.accumulate(len(line) + 1 for line in lines)
    shown = [line for line, end in zip(lines, ends, strict=True) if end <= _WARNINGS_LIMIT]
    more = ["• …"] if len(shown) < len(lines) else []
    return "\n".join([f":warning: *{name}*{why}", *shown, *more])


def disclaimer(debate: Debate) -> str:
    """Who wrote this and how far to trust it."""
    if is_example(debate):
        return EXAMPLE_NOTE
    return OFFLINE_NOTE if all_offline(debate) else _DISCLAIMER


def _parts(debate: Debate, reached: Verdict, assumed: Sequence[str]) -> Iterator[str]:
    reached = cited_verdict(debate, reached)
    yield _titled("Decision", mrkdwn(reached.decision))
    if reached.findings:
        lines = (f"• {finding_line(debate, one, whole=True)}" for one in reached.findings)
        yield _titled("Findings", "\n".join(lines))
    if reached.reasons:
        listed_reasons = (_listed(reached.reasons), check_words(debate))
        yield _titled("Reasons", "\n".join(filter(None, listed_reasons)))
    # The solution without a first paragraph that only says the decision again.
    first, _, rest = reached.solution.strip().partition("\n\n")
    said = [bare_gist(text, _DECISION_LIMIT).rstrip(".") for text in (first, reached.decision)]
    why = mrkdwn(rest if rest.strip() and said[0] == said[1] else reached.solution)
    yield _titled("Why", why)
    yield from (_titled(gist(one.title, 60), mrkdwn(one.text)) for one in reached.sections)
    if reached.implementation.strip():
        yield _titled("How to do it", mrkdwn(reached.implementation))
    if reached.requirements:
        heads = ("Requirement", "Status", "Words that show it")
        rows = [(one.text, one.status.value, one.words or "–") for one in reached.requirements]
        yield _titled("Requirements", mrkdwn(table(heads, rows)))
    if judged := criteria_table(debate, reached):
        yield _titled(criteria_title(debate), mrkdwn(judged))
    unmet = () if reached.requirements else reached.unmet_requirements
    lists = (
        ("Trade-offs", reached.tradeoffs),
        ("Recommendations", reached.recommendations),
        ("Requirements that are not met", unmet),
        ("Open questions", reached.open_questions),
        ("Assumptions", assumed),
        ("What would overturn it", reached.overturned_by),
    )
    yield from (_titled(name, _listed(items)) for name, items in lists if items)
    minority = "\n".join(filter(None, (mrkdwn(reached.dissent), _held_out(debate, reached))))
    if minority.strip():
        yield _titled("Minority report", minority)
    if debate.tally:
        yield _titled("The vote", outcome(debate, debate.tally))
    if course := how_it_went(debate):
        yield _titled("How the debate went", course)
    checked = (cross_check_words(debate, reached),) if debate.cross_check else ()
    grounds = reached.rests_on if reached.confidence is not None else ()
    rests = [f"• {gist(words, _NOTE_LIMIT)}" for words in grounds]
    yield _titled("Confidence", "\n".join([confidence(reached), *rests, *checked]))
    if alone := single_answer_section(debate, level=1):
        yield _titled("A single answer", mrkdwn(alone.partition("\n\n")[2]))
    if notes := _notes(debate, reached):
        yield _titled("What became of your notes", notes)


def _notes(debate: Debate, reached: Verdict) -> str:
    """What became of each note, a line each; none is passed over, as its author would be."""
    known = {found.note for found in reached.notes}
    why = "The judge says nothing about it."
    silent = (
        NoteOutcome(note=note.id, used=False, explanation=why)
        for note in debate.notes
        if note.id not in known
    )
    notes = {note.id: note for note in debate.notes}
    lines = list[str]()
    for found in (*reached.notes, *silent):
        if found.note in debate.withdrawn:
            continue  # it was deleted after the judge had read it
        note = notes.get(found.note)
        text = f"{person(note.author)}: “{gist(note.text, _NOTE_LIMIT)}”" if note else "A note"
        used = "used" if found.used else "not used"
        lines.append(f"• {text} – *{used}*. {mrkdwn(found.explanation)}".rstrip())
    return "\n".join(lines)


def _held_out(debate: Debate, reached: Verdict) -> str:
    """Agents who hold another option best at the end, and how likely."""
    if not reached.option:
        return ""
    lines = list[str]()
    for agent in debate.setup.agents:
        shares = held_by(debate, agent.id)
        best = leading(shares)
        if best and best != reached.option:
            name = option_name(debate, best)
            lines.append(
                f"• {name_of(debate, agent.id)} ended with {name} ({percent(shares[best])})"
            )
    return "\n".join(lines)


def _listed(items: Sequence[str]) -> str:
    return "\n".join("• " + mrkdwn(item).replace("\n", "\n    ") for item in items)


def _titled(name: str, text: str) -> str:
    return f"*{name}*\n{text or '_not given_'}"
