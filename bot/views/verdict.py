"""The verdict: the full synthesis for the thread, and a short form for the channel (pure)."""

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
    team_decision,
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
    has_room,
    header,
    is_example,
    item_list,
    line_text,
    mrkdwn_pages,
    name_of,
    section_text,
    sections,
    with_fold,
)
from bot.views.vote import (
    ballot_button,
    ballot_lines,
    debate_anyway_buttons,
    decision_in_short,
    ending_text,
    people_votes,
    rounds_summary,
    tally_blocks,
    tally_line,
    tally_text,
)
from core.acts.verdict import DOUBTED, audit_words, open_faults
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.verdict import OVERTURNED_BY, Verdict, VerdictSource
from core.figures import listed, quantity
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
from core.transcript.words import CUT, few_words, judge_words, shared_words, spent_words

_DISCLAIMER = (
    "Written by AI agents, who can be wrong{state}: check what matters before you act on it."
)
_UNDECIDED = ". This is their verdict, not yet the team's decision"
_WARNINGS_LIMIT = 1200
_DECISION_LIMIT = 1500
_NOTE_LIMIT = 300
_RESTS_LIMIT = 600
#: Most characters of a text in the short form.
_TEXT_LIMIT = 600
#: Most words of the short form: in total, of its decision, of its confidence.
_MOST_WORDS, _DECISION_WORDS, _CONFIDENCE_WORDS = 150, 40, 36
#: Most words of the reason why rounds were skipped and of the warnings; another warning is shown if
#: at least this many words are left.
_SKIPPED_WORDS, _WARNING_WORDS, _LEAST_WARNING_WORDS = 30, 35, 15
#: Words reserved for a reason that is cut.
_LEAST_REASON_WORDS = 8
#: Words reserved for reasons and dissent before another warning is shown.
_AGAINST_WORDS = 30
#: Replaces a dissent, or the facts that would overturn the verdict, if no sentence of it has room.
_ELSEWHERE = "in the whole verdict."
#: Most reasons in the short form.
_MOST_REASONS = 3


def verdict_posts(debate: Debate, verdict: Verdict) -> list[MessageView]:
    """Return the posts with the full synthesis, with its shortcomings above the answer."""
    texts = filter(None, [shortcomings(debate, verdict), *_parts(debate, verdict)])
    parts = mrkdwn_pages("\n\n".join(texts))
    messages = list[MessageView]()
    for number, part in enumerate(parts, start=1):
        head = "The verdict" if number == 1 else f"The verdict, part {number} of {len(parts)}"
        title = [header(head)] if number == 1 else context(head)
        is_last = number == len(parts)
        foot = context(_cost_line(debate, verdict), disclaimer(debate)) if is_last else []
        blocks = [*title, *sections(part), *foot]
        view = MessageView(text=f"{head}\n{part}", blocks=blocks, speaker=debate.setup.judge)
        messages.append(view)
    return messages


def full_verdict(debate: Debate, verdict: Verdict) -> FoldedBlock:
    """Return the full synthesis as the fold below the short form."""
    parts = [*filter(None, [shortcomings(debate, verdict), *_parts(debate, verdict)])]
    if debate.tally:
        ballots = filter(None, ballot_lines(debate, debate.tally))
        parts.append(_with_title("The agents' ballots", "\n".join(ballots)))
    parts.append(_cost_line(debate, verdict))
    return FoldedBlock(
        title="The whole reasoning",
        parts=[piece for part in parts for piece in split(part, SECTION_TEXT)],
        value=f"{debate.id}/{VERDICT}",
    )


def headline(
    debate: Debate, verdict: Verdict, *, superseded: str = "", pages: bool = False
) -> MessageView:
    """Return the short form, which the channel shows, too.

    Args:
        debate: The debate with the verdict.
        verdict: The verdict to show.
        superseded: Why the verdict counts no more, as safe mrkdwn. Removes the buttons.
        pages: Whether debates can be shared as pages.
    """
    quiet = debate.setup.quiet
    text = "\n".join(filter(None, (superseded, short_text(debate, verdict))))
    # The vote of a quiet debate has no post of its own.
    is_vote_here = quiet and debate.tally and not superseded
    votes = people_votes(debate) if is_vote_here else ()
    below, buttons = [*context(disclaimer(debate))], list[Block]()
    if not superseded:
        ballot = ballot_button(debate) if is_vote_here else []
        buttons += _row(decision_buttons(debate), earlier_buttons(debate))
        buttons += _row(
            ballot,
            after_buttons(debate, pages=pages),
            row("skipped", debate_anyway_buttons(debate)),
        )
        below += feedback_buttons(debate)
    if quiet and debate.tally:
        figures = [*tally_blocks(debate, debate.tally, "*The vote*"), *below]
        below = figures if has_room([*sections(text), *buttons], figures) else below
    above = [*sections("\n".join([text, *votes])), *buttons]
    if not has_room(above, below):
        above = [*sections(text), *buttons]
    blocks = with_fold(full_verdict(debate, verdict), above, below) if quiet else [*above, *below]
    # Cut because the team's decision edits the post, and an edit takes less text than a post.
    beginning = split("\n".join([text, *votes]), PAGE_LIMIT)[0]
    return MessageView(text=beginning, blocks=blocks, speaker=debate.setup.judge)


def _row(*rows: Sequence[Block]) -> list[Block]:
    blocks = [block for row in rows for block in row]
    elements = [element for block in blocks for element in block["elements"]]
    return [{**blocks[0], "elements": elements}] if blocks else []


def short_text(debate: Debate, verdict: Verdict) -> str:
    """Return the verdict in at most 150 words; long names of options and sources may add more.

    The decision, the vote and the confidence are always shown. Reasons, dissent and the facts that
    would overturn the verdict share the remaining words, in whole sentences; if not all of them
    have room, fewer reasons or findings are shown. The question is left out, because Slack shows
    the beginning of the thread above a reply in the channel.
    """
    candidates = [_compose(debate, verdict, most) for most in range(_MOST_REASONS, 0, -1)]
    return max(candidates, key=lambda candidate: candidate[1:])[0]


def _compose(debate: Debate, verdict: Verdict, most: int) -> tuple[str, bool, int]:
    """Return the short form with at most `most` reasons or findings, and how good it is.

    That is: whether all texts have room, and how many of dissent and overturning facts it shows.
    """
    cited, below = cited_verdict(debate, verdict), [*_below(debate, verdict)]
    # Last, because people would read what follows it as the team's reason.
    decision = team_decision(debate) if debate.decision else ""
    room = _MOST_WORDS - _word_count(*below, decision)
    first = "\n".join(filter(None, _decision_lines(debate, verdict, most, room)))
    reasons = () if verdict.findings else cited.reasons[:most]
    facts = " ".join(
        f"{fact[:1].upper()}{fact[1:].rstrip('.')}."
        for fact in cited.overturned_by
        if fact.rstrip(".")
    )
    texts = [gist(text, _TEXT_LIMIT) for text in (*reasons, dissent_words(debate, cited), facts)]
    head = f"*{gist(dissent_title(debate, cited), _NOTE_LIMIT)}*:"
    # The title of the dissent may name the agents against the verdict already.
    votes = gist(dissent_vote_words(debate, cited), _NOTE_LIMIT) or _opponents(debate, cited)
    overturns = f"*{OVERTURNED_BY}*:"
    names = _source_names(debate, first, *below, decision, *texts)
    room -= _word_count(first, names, head, votes or _ELSEWHERE, overturns) + len(reasons)
    (*shown_reasons, dissent, shown_facts), is_complete = _share_words(texts, room)
    shown_against = sum(map(bool, (dissent, shown_facts)))
    objection = " ".join(filter(None, (dissent, votes)))
    if cited.dissent and not dissent:  # votes alone would look as if there were no dissent
        objection = _ELSEWHERE
    lines = [first, *(f"• {reason}" for reason in shown_reasons if reason)]
    lines += [f"{head} {objection}"] if objection else []
    has_room = room - _word_count(*shown_reasons, dissent) >= _word_count(_ELSEWHERE)
    shown_facts = shown_facts or (_ELSEWHERE if facts and has_room else "")
    lines += [f"{overturns} {shown_facts}"] if shown_facts else []
    lines += below
    # Names only sources of texts that are shown.
    lines += [_source_names(debate, *lines, decision), decision]
    return "\n".join(filter(None, lines)), is_complete, shown_against


def _share_words(texts: Sequence[str], room: int) -> tuple[Sequence[str], bool]:
    """Shorten reasons, dissent and overturning facts to `room` words, and say if all have room.

    If no reason has room, the first one is cut, so that one is shown beside the dissent.
    """
    *reasons, dissent, facts = shared_words(texts, room)
    is_complete = [bool(text) for text in (*reasons, dissent, facts)] == [*map(bool, texts)]
    if reasons and not any(reasons):
        dissent, facts = shared_words(texts[-2:], room - _LEAST_REASON_WORDS)
        reasons = [few_words(texts[0], room - _word_count(dissent, facts))]
    return [*reasons, dissent, facts], is_complete


def _word_count(*texts: str) -> int:
    return len(" ".join(texts).split())


def _source_names(debate: Debate, *texts: str) -> str:
    """The titles of the sources that the texts cite."""
    return gist(source_names(debate, " ".join(texts)), _NOTE_LIMIT)


def _opponents(debate: Debate, whole: Verdict) -> str:
    """The agents that voted against the verdict, if the dissent is not attributed to an agent."""
    if whole.dissent_by not in {"", JUDGE}:
        return ""
    option = options_of(debate).resolve(whole.option)
    firsts = (preferred_options(debate) or {}) if option else {}
    names = [name_of(debate, voter) for voter, first in firsts.items() if first not in {"", option}]
    return f"{listed(names)} voted against the verdict." if names else ""


def _below(debate: Debate, verdict: Verdict) -> Iterator[str]:
    """The lines below reasons and dissent: earlier decisions, the vote, the confidence."""
    for line in earlier_lines(verdict, with_reasons=False):
        yield line_text(debate, line)
    if debate.tally:
        yield tally_line(debate, debate.tally)
    cross_check = cross_check_line(debate, verdict, short=True)
    if cross_check and cross_check.is_warning:
        yield line_text(debate, cross_check)
    if was_skipped(debate):
        # Without figures, which the line of the vote has.
        ending = re.sub(r" \([^()]*\)", "", ending_text(debate))
        yield few_words(ending, _SKIPPED_WORDS)
    sure = f"*Confidence*: {confidence(verdict).rstrip('.')}"
    grounds = [text for words in verdict.rests_on if (text := gist(words, _RESTS_LIMIT))]
    if verdict.confidence is None or not grounds:
        yield f"{sure}."
        return
    count = len(grounds)
    while count > 1 and _word_count(sure, *grounds[:count]) > _CONFIDENCE_WORDS:
        count -= 1
    rests_on = "; ".join(text.rstrip(".") for text in grounds[:count])
    short = few_words(f"{rests_on}.", _CONFIDENCE_WORDS - _word_count(sure))
    yield f"{sure}: {short}{CUT if count < len(grounds) else ''}"


def _decision_lines(debate: Debate, verdict: Verdict, most: int, room: int) -> Iterator[str]:
    """Warnings and the decision in `room` words, then at most `most` findings."""
    decision = (
        f"*{few_words(decision_in_short(debate, verdict, _DECISION_LIMIT), _DECISION_WORDS)}*"
    )
    name, *warnings = shortcomings(debate, verdict).splitlines() or [""]
    yield name
    room -= _word_count(name, decision)
    words, count = min(_WARNING_WORDS, room), 0
    # Show one or two whole lines rather than many cut ones, and leave room for the texts below.
    while count < len(warnings) and (not count or words >= _LEAST_WARNING_WORDS):
        line = few_words(warnings[count], words)
        yield line
        count, room = count + 1, room - _word_count(line)
        words = min(words - _word_count(line), room - _AGAINST_WORDS)
    if count < len(warnings):
        yield f"• … and {quantity(len(warnings) - count, 'more note')}"
    yield decision
    yield findings_in_short(debate, verdict.findings, most)


def _cost_line(debate: Debate, verdict: Verdict) -> str:
    text = f"Cost: {spent_words(debate.usage)}"
    if verdict.judge_confidence is not None:  # models overrate themselves
        text += f" · The judge itself said {verdict.judge_confidence} of 100, which is not counted."
    if debate.setup.judge_models and (models := judge_words(debate)):
        text += f" · Judge: {literal(models)}"
    return text


def shortcomings(debate: Debate, verdict: Verdict) -> str:
    """The warnings above the answer, as one text; empty if there are none."""
    texts = verdict.warnings
    if verdict.source is VerdictSource.FALLBACK_JUDGE:
        texts = ("Written by a fallback judge: the judge gave no verdict.", *texts)
    lines = [f"• {gist(words, _NOTE_LIMIT)}" for words in dict.fromkeys(texts) if words.strip()]
    if not lines and not verdict.partial:
        return ""
    name, reason = "Not everything went as planned", ""
    if verdict.partial:
        name, reason = "Partial result", ": not all turns were taken."
    elif len(open_faults(debate)) == len(lines):
        name = DOUBTED.capitalize()
    return "\n".join(
        filter(None, (f":warning: *{name}*{reason}", item_list(lines, _WARNINGS_LIMIT)))
    )


def disclaimer(debate: Debate) -> str:
    if is_example(debate):
        return EXAMPLE_NOTE
    if all_offline(debate):
        return OFFLINE_NOTE
    return _DISCLAIMER.format(state="" if debate.decision else _UNDECIDED)


def _parts(debate: Debate, verdict: Verdict) -> Iterator[str]:
    yield _with_title("Decision", mrkdwn(cited_verdict(debate, verdict).decision))
    for section in verdict_sections(debate, cited_verdict(debate, verdict)):
        if section.title == FINDINGS:
            lines = (finding_line(debate, finding, whole=True) for finding in verdict.findings)
            yield _with_title(FINDINGS, "\n".join(f"• {line}" for line in lines))
        else:
            yield section_text(debate, section)
    single_answer = single_answer_section(debate, level=1)
    texts = (
        ("Sources", mrkdwn(source_names(debate, verdict.model_dump_json()))),
        ("The vote", tally_text(debate, debate.tally, verdict.warnings) if debate.tally else ""),
        ("How the debate went", rounds_summary(debate)),
        ("Confidence", "\n".join(filter(None, _grounds(debate, verdict)))),
        ("A single answer", mrkdwn(single_answer.partition("\n\n")[2])),
    )
    yield from (_with_title(name, text) for name, text in texts if text)
    yield section_text(debate, notes_section(debate, verdict))


def _grounds(debate: Debate, verdict: Verdict) -> Iterator[str]:
    yield confidence(verdict)
    if verdict.confidence is not None:
        yield from (f"• {gist(words, _NOTE_LIMIT)}" for words in verdict.rests_on)
    cross_check = cross_check_line(debate, verdict)
    yield literal(hinge_words(debate, verdict))
    yield line_text(debate, cross_check) if cross_check else ""
    yield literal(audit_words(debate))


def _with_title(name: str, text: str) -> str:
    return f"*{name}*\n{text}"
