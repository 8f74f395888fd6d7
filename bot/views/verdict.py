"""The verdict: the whole synthesis for the thread, a short form for the channel (pure)."""

import re
from collections.abc import Iterator, Sequence

from bot.slack.blocks import Block, row
from bot.slack.limits import SECTION_TEXT
from bot.slack.mrkdwn import gist, literal, mrkdwn, split
from bot.views.agents import finding_line, findings_in_short
from bot.views.decision import (
    after_buttons,
    decision_buttons,
    earlier_buttons,
    feedback_buttons,
    standing,
)
from bot.views.message import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    PAGE_LIMIT,
    VERDICT,
    FoldedBlock,
    MessageView,
    all_offline,
    confidence,
    context,
    folded,
    has_room,
    header,
    in_pages,
    is_example,
    item_list,
    line_text,
    name_of,
    section_text,
    sections,
)
from bot.views.vote import (
    anyway_buttons,
    ballot_button,
    decided_on,
    each_ballot,
    ending_text,
    how_it_went,
    in_a_line,
    in_figures,
    outcome,
    people_votes,
)
from core.acts.verdict import DOUBTED, audit_words, open_faults
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.verdict import OVERTURNED_BY, Verdict, VerdictSource
from core.figures import money, quantity
from core.rules.ending import was_skipped
from core.rules.movement import hinge_words
from core.rules.options import options_of
from core.rules.voting import preferred_options
from core.transcript.cited import cited_verdict, source_names
from core.transcript.decision import (
    FINDINGS,
    dissent_title,
    dissent_vote_words,
    dissent_words,
    earlier_lines,
    notes_section,
    single_answer_section,
    verdict_sections,
)
from core.transcript.vote import cross_check_line
from core.transcript.words import CUT, few_words, judge_words, listed_names, shared_words

_DISCLAIMER = (
    "Written by AI agents, who can be wrong. This is their verdict, not yet the team's decision: "
    "check what matters before you act on it."
)
_WARNINGS_LIMIT = 1200
_DECISION_LIMIT = 1500
_NOTE_LIMIT = 300
_RESTS_LIMIT = 600
#: Characters of a text in the short form.
_TEXT_LIMIT = 600
#: Words of the short form: in all, of its decision, of its confidence.
_MOST_WORDS, _DECISION_WORDS, _CONFIDENCE_WORDS = 150, 40, 36
#: Words of why rounds were skipped, of what went wrong, and with which another line begins.
_SKIPPED_WORDS, _WARNING_WORDS, _LEAST_WARNING_WORDS = 30, 35, 15
#: Words of a reason that is cut.
_LEAST_REASON_WORDS = 8
#: Words kept for reasons and dissent before another line of what went wrong has room.
_AGAINST_WORDS = 30
#: Stands for a dissent, or what would overturn the verdict, of which no sentence has room.
_ELSEWHERE = "in the whole verdict."
#: Reasons in the short form.
_MOST_REASONS = 3


def verdict(debate: Debate, reached: Verdict) -> list[MessageView]:
    """Return the posts that hold the whole synthesis, what it lacks above the answer."""
    texts = filter(None, [shortcomings(debate, reached), *_parts(debate, reached)])
    parts = in_pages("\n\n".join(texts))
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        head = "The verdict" if number == 1 else f"The verdict, part {number} of {len(parts)}"
        title = [header(head)] if number == 1 else context(head)
        is_last = number == len(parts)
        foot = context(_cost_line(debate, reached), disclaimer(debate)) if is_last else []
        blocks = [*title, *sections(part), *foot]
        view = MessageView(text=f"{head}\n{part}", blocks=blocks, speaker=debate.setup.judge)
        messages.append(view)
    return messages


def whole(debate: Debate, reached: Verdict) -> FoldedBlock:
    """Return the whole synthesis, as it is folded away below its short form."""
    parts = [*filter(None, [shortcomings(debate, reached), *_parts(debate, reached)])]
    if debate.tally:
        ballots = filter(None, each_ballot(debate, debate.tally))
        parts.append(_titled("The agents' ballots", "\n".join(ballots)))
    parts.append(_cost_line(debate, reached))
    return FoldedBlock(
        title="The whole reasoning",
        parts=[piece for part in parts for piece in split(part, SECTION_TEXT)],
        value=f"{debate.id}/{VERDICT}",
    )


def headline(
    debate: Debate, reached: Verdict, *, superseded: str = "", pages: bool = False
) -> MessageView:
    """Return the short form that is shown in the channel, too.

    `superseded` says why it counts no more, as safe mrkdwn: its buttons are gone then.
    """
    quiet = debate.setup.quiet
    text = "\n".join(filter(None, (superseded, short_text(debate, reached))))
    # People's ballots: only where the vote has no post of its own, and while it counts.
    is_vote_here = quiet and debate.tally and not superseded
    beside = people_votes(debate) if is_vote_here else ()
    below, buttons = [*context(disclaimer(debate))], list[Block]()
    if not superseded:
        ballot = ballot_button(debate) if is_vote_here else []
        buttons += _row(decision_buttons(debate), earlier_buttons(debate))
        buttons += _row(
            ballot, after_buttons(debate, pages=pages), row("skipped", anyway_buttons(debate))
        )
        below += feedback_buttons(debate)
    if quiet and debate.tally:
        figures = [*in_figures(debate, debate.tally, "*The vote*"), *below]
        below = figures if has_room([*sections(text), *buttons], figures) else below
    above = [*sections("\n".join([text, *beside])), *buttons]
    if not has_room(above, below):
        above = [*sections(text), *buttons]
    blocks = folded(whole(debate, reached), above, below) if quiet else [*above, *below]
    # Edited when the team decides: an edit takes less text than a post.
    beginning = split("\n".join([text, *beside]), PAGE_LIMIT)[0]
    return MessageView(text=beginning, blocks=blocks, speaker=debate.setup.judge)


def _row(*rows: Sequence[Block]) -> list[Block]:
    blocks = [block for row in rows for block in row]
    elements = [element for block in blocks for element in block["elements"]]
    return [{**blocks[0], "elements": elements}] if blocks else []


def short_text(debate: Debate, reached: Verdict) -> str:
    """Return the verdict in few words, 150 at most but for long names of options and sources.

    What is decided, the vote and the confidence stand as they are. Reasons, dissent and what would
    overturn the verdict share the words that are left, in whole sentences; where not all of them
    have room, there are fewer reasons, or findings of a review. The question is not repeated: Slack
    shows the beginning of the thread above a reply in the channel.
    """
    composed = [_compose(debate, reached, most) for most in range(_MOST_REASONS, 0, -1)]
    return max(composed, key=lambda each: each[1:])[0]


def _compose(debate: Debate, reached: Verdict, most: int) -> tuple[str, bool, int]:
    """The short form with so many reasons or findings.

    And whether all that belongs there has room, and how much of what speaks against it has.
    """
    whole, last = cited_verdict(debate, reached), [*_below(debate, reached)]
    # Stands last: what follows it would be read as the team's reason.
    decision = standing(debate) if debate.decision else ""
    room = _MOST_WORDS - _word_count(*last, decision)
    first = "\n".join(filter(None, _decided(debate, reached, most, room)))
    reasons = () if reached.findings else whole.reasons[:most]
    stated = [fact.rstrip(".") for fact in whole.overturned_by]
    facts = " ".join(f"{fact[:1].upper()}{fact[1:]}." for fact in stated if fact)
    texts = [gist(text, _TEXT_LIMIT) for text in (*reasons, dissent_words(debate, whole), facts)]
    head = f"*{gist(dissent_title(debate, whole), _NOTE_LIMIT)}*:"
    # Whose dissent it is may tell that already.
    votes = gist(dissent_vote_words(debate, whole), _NOTE_LIMIT) or _opponents(debate, whole)
    overturns = f"*{OVERTURNED_BY}*:"
    names = _names_of(debate, first, *last, decision, *texts)
    room -= _word_count(first, names, head, votes or _ELSEWHERE, overturns) + len(reasons)
    *shown, objection_shown, facts_shown = shared_words(texts, room)
    is_whole = [bool(text) for text in (*shown, objection_shown, facts_shown)] == [
        *map(bool, texts)
    ]
    if reasons and not any(shown):  # cut, rather than none be there, or nothing that is against it
        objection_shown, facts_shown = shared_words(texts[-2:], room - _LEAST_REASON_WORDS)
        shown = [few_words(texts[0], room - _word_count(objection_shown, facts_shown))]
    against = (objection_shown, facts_shown)
    objection = " ".join(filter(None, (objection_shown, votes)))
    if whole.dissent and not objection_shown:  # the votes alone would read as if there were none
        objection = _ELSEWHERE
    lines = [first, *(f"• {reason}" for reason in shown if reason)]
    lines += [f"{head} {objection}"] if objection else []
    has_room = room - _word_count(*shown, objection_shown) >= _word_count(_ELSEWHERE)
    facts_shown = facts_shown or (_ELSEWHERE if facts and has_room else "")
    lines += [f"{overturns} {facts_shown}"] if facts_shown else []
    lines += last
    # Of what was left out no source is to be named.
    lines += [_names_of(debate, *lines, decision), decision]
    text = "\n".join(filter(None, lines))
    return text, is_whole, sum(map(bool, against))


def _word_count(*texts: str) -> int:
    return len(" ".join(texts).split())


def _names_of(debate: Debate, *texts: str) -> str:
    """Which sources the texts mean."""
    return gist(source_names(debate, " ".join(texts)), _NOTE_LIMIT)


def _opponents(debate: Debate, whole: Verdict) -> str:
    """Who voted against the verdict where the dissent is named as no agent's; empty: nobody."""
    if whole.dissent_by not in {"", JUDGE}:
        return ""
    option = options_of(debate).resolve(whole.option)
    firsts = (preferred_options(debate) or {}) if option else {}
    names = [name_of(debate, voter) for voter, first in firsts.items() if first not in {"", option}]
    return f"{listed_names(names)} voted against the verdict." if names else ""


def _below(debate: Debate, reached: Verdict) -> Iterator[str]:
    """The lines below reasons and dissent: earlier verdicts, the vote, the confidence."""
    for line in earlier_lines(reached, with_reasons=False):
        yield line_text(debate, line)
    if debate.tally:
        yield in_a_line(debate, debate.tally)
    if (checked := cross_check_line(debate, reached)) and checked.is_warning:
        yield line_text(debate, checked)
    if was_skipped(debate):
        # The vote's line has the figures.
        ended = re.sub(r" \([^()]*\)", "", ending_text(debate))
        yield few_words(ended, _SKIPPED_WORDS)
    sure = f"*Confidence*: {confidence(reached).rstrip('.')}"
    grounds = [text for words in reached.rests_on if (text := gist(words, _RESTS_LIMIT))]
    if reached.confidence is None or not grounds:
        yield f"{sure}."
        return
    count = len(grounds)
    while count > 1 and _word_count(sure, *grounds[:count]) > _CONFIDENCE_WORDS:
        count -= 1
    rests_on = "; ".join(text.rstrip(".") for text in grounds[:count])
    short = few_words(f"{rests_on}.", _CONFIDENCE_WORDS - _word_count(sure))
    yield f"{sure}: {short}{CUT if count < len(grounds) else ''}"


def _decided(debate: Debate, reached: Verdict, most: int, room: int) -> Iterator[str]:
    """In `room` words what went wrong and the decision; below it so many of the findings."""
    decision = f"*{few_words(decided_on(debate, reached, _DECISION_LIMIT), _DECISION_WORDS)}*"
    name, *warnings = shortcomings(debate, reached).splitlines() or [""]
    yield name
    room -= _word_count(name, decision)
    words, told = min(_WARNING_WORDS, room), 0
    # One or two whole lines rather than many that are cut; what follows needs room too.
    while told < len(warnings) and (not told or words >= _LEAST_WARNING_WORDS):
        line = few_words(warnings[told], words)
        yield line
        told, room = told + 1, room - _word_count(line)
        words = min(words - _word_count(line), room - _AGAINST_WORDS)
    if told < len(warnings):
        yield f"• … and {quantity(len(warnings) - told, 'more note')}"
    yield decision
    yield findings_in_short(debate, reached.findings, most)


def _cost_line(debate: Debate, reached: Verdict) -> str:
    spent = f"Cost: {money(debate.usage.cost)}"
    if reached.judge_confidence is not None:  # what models say of themselves runs high
        spent += (
            f" · The judge itself said {reached.judge_confidence} of 100, which is not counted."
        )
    if debate.setup.judge_models and (judged := judge_words(debate)):
        spent += f" · Judge: {literal(judged)}"
    return spent


def shortcomings(debate: Debate, reached: Verdict) -> str:
    """Warnings above the answer, empty without any: that the vote was left, then audit's doubts."""
    texts = reached.warnings
    if reached.source is VerdictSource.FALLBACK_JUDGE:
        texts = ("Written by a fallback judge: the judge gave no verdict.", *texts)
    lines = [f"• {gist(words, _NOTE_LIMIT)}" for words in dict.fromkeys(texts) if words.strip()]
    if not lines and not reached.partial:
        return ""
    name, why = "Not everything went as planned", ""
    if reached.partial:
        name, why = "Partial result", ": not all turns were taken."
    elif len(open_faults(debate)) == len(lines):
        name = DOUBTED.capitalize()
    return "\n".join(filter(None, (f":warning: *{name}*{why}", item_list(lines, _WARNINGS_LIMIT))))


def disclaimer(debate: Debate) -> str:
    if is_example(debate):
        return EXAMPLE_NOTE
    return OFFLINE_NOTE if all_offline(debate) else _DISCLAIMER


def _parts(debate: Debate, reached: Verdict) -> Iterator[str]:
    yield _titled("Decision", mrkdwn(cited_verdict(debate, reached).decision))
    for section in verdict_sections(debate, cited_verdict(debate, reached)):
        if section.title == FINDINGS:
            lines = (finding_line(debate, finding, whole=True) for finding in reached.findings)
            yield _titled(FINDINGS, "\n".join(f"• {line}" for line in lines))
        else:
            yield section_text(debate, section)
    alone = single_answer_section(debate, level=1)
    texts = (
        ("Sources", mrkdwn(source_names(debate, reached.model_dump_json()))),
        ("The vote", outcome(debate, debate.tally, reached.warnings) if debate.tally else ""),
        ("How the debate went", how_it_went(debate)),
        ("Confidence", "\n".join(filter(None, _grounds(debate, reached)))),
        ("A single answer", mrkdwn(alone.partition("\n\n")[2])),
    )
    yield from (_titled(name, text) for name, text in texts if text)
    yield section_text(debate, notes_section(debate, reached))


def _grounds(debate: Debate, reached: Verdict) -> Iterator[str]:
    yield confidence(reached)
    if reached.confidence is not None:
        yield from (f"• {gist(words, _NOTE_LIMIT)}" for words in reached.rests_on)
    checked = cross_check_line(debate, reached)
    yield literal(hinge_words(debate, reached))
    yield line_text(debate, checked) if checked else ""
    yield literal(audit_words(debate))


def _titled(name: str, text: str) -> str:
    return f"*{name}*\n{text}"
