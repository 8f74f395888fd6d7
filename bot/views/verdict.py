"""The verdict: the whole synthesis for the thread, a short form for the channel (pure)."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from bot.slack.limits import SECTION_TEXT
from bot.slack.mrkdwn import gist, literal, mrkdwn, split
from bot.views.agents import finding_line, findings_in_short
from bot.views.decision import decision_buttons, earlier_buttons, standing
from bot.views.fold import VERDICT, FoldedBlock, folded, has_room
from bot.views.follow_up import after_buttons, feedback_buttons
from bot.views.message import (
    PAGE_LIMIT,
    Block,
    MessageView,
    context,
    header,
    in_pages,
    item_list,
    sections,
)
from bot.views.options import anyway_button, decided_on, ending_text, how_it_went
from bot.views.results import line_text, section_text
from bot.views.vote import ballot_button, each_ballot, in_a_line, in_figures, outcome, people_votes
from bot.views.words import (
    EXAMPLE_NOTE,
    OFFLINE_NOTE,
    all_offline,
    confidence,
    cost,
    is_example,
    name_of,
)
from core.acts.verdict_faults import DOUBTED, audit_words, open_faults
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.verdict import OVERTURNED_BY, Verdict, VerdictSource
from core.figures import quantity, without_stops
from core.rules.hinges import hinge_words
from core.rules.options import options_of
from core.rules.voting import preferred_options
from core.rules.wanting import was_skipped
from core.transcript.cited import cited_verdict, source_names
from core.transcript.decision import (
    FINDINGS,
    against_words,
    dissent_title,
    dissent_words,
    earlier_lines,
    notes_section,
    verdict_sections,
)
from core.transcript.few_words import CUT, few_words, shared_words, whole_sentences
from core.transcript.models_used import judge_words
from core.transcript.options import cross_check_line
from core.transcript.single_answer import single_answer_section
from core.transcript.words import listed_names

_DISCLAIMER = (
    "Written by AI agents, who can be wrong. This is their verdict, not yet the team's decision: "
    "check what matters before you act on it."
)
_WARNINGS_LIMIT = 1200
_DECISION_LIMIT = 1500
_NOTE_LIMIT = 300
_RESTS_LIMIT = 600
_OVERTURNS_LIMIT = 600
#: Characters of a text in the short form.
_TEXT_LIMIT = 600
#: Stands for a dissent of which no sentence has room.
_ELSEWHERE = "in the whole verdict."
#: Words of the short form: in all, of its decision, of its confidence, of why rounds were skipped.
_MOST_WORDS, _DECISION_WORDS, _CONFIDENCE_WORDS, _SKIPPED_WORDS = 150, 40, 36, 30
#: Names of agents may be long, and a message holds no more than some 13,000 characters.
_HINGES_LIMIT, _HINGES_WORDS = 1000, 40
#: Reasons in the short form.
_MOST_REASONS = 3
#: Words kept for the dissent, and for what would overturn the verdict, before reasons have room.
_AGAINST_WORDS = 25
#: Words of all lines about what went wrong, and after how many no further line begins.
_WARNING_WORDS, _LAST_WARNING_AFTER = 35, 20


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
        buttons += _row(ballot, after_buttons(debate, pages=pages), anyway_button(debate))
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

    What is decided, the vote and the confidence stand as they are. Of the words that are left a
    sentence of the dissent and one of what would overturn the verdict come first, then the reasons,
    what it hangs on and the rest of what speaks against it, all in whole sentences; in a review
    fewer findings leave room for the dissent. The question is not repeated: Slack shows the
    beginning of the thread above a reply in the channel.
    """
    text, is_whole = _compose(debate, reached, _MOST_REASONS)
    for most in range(_MOST_REASONS - 1, 0, -1) if reached.findings else ():
        if is_whole:
            break
        text, is_whole = _compose(debate, reached, most)
    return text


def _compose(debate: Debate, reached: Verdict, most: int) -> tuple[str, bool]:
    """The short form with so many reasons or findings; whether what speaks against it has room."""
    hinges = literal(hinge_words(debate, reached))
    if len(hinges.split()) > _HINGES_WORDS or len(hinges) > _HINGES_LIMIT:
        hinges = ""
    last = [*_below(debate, reached)]
    room = _MOST_WORDS - _word_count(*last)
    first = "\n".join(filter(None, _decided(debate, reached, most, room)))
    # Stands last: what follows it would be read as the team's reason.
    decision = last.pop() if debate.decision else ""
    whole = cited_verdict(debate, reached)
    reasons = () if reached.findings else whole.reasons[:most]
    against = (whole.dissent, *whole.overturned_by)
    names = _names_of(debate, first, *last, decision, *reasons, *against, hinges)
    room = _MOST_WORDS - _word_count(first, *last, decision, names)
    # What speaks against it has room for a sentence, before the reasons have the rest.
    least = (_shortest(partial(_dissent, debate, whole)), _shortest(partial(_overturns, whole)))
    lines = [*_reasons(reasons, room - _word_count(*least))]
    if _word_count(*lines, *least, hinges) > room:
        hinges = ""
    room -= _word_count(hinges)
    dissent = _dissent(debate, whole, room - _word_count(*lines, least[1]))
    elsewhere = f"{_dissent_head(debate, whole)}{_ELSEWHERE}" if whole.dissent else ""
    has_room = room >= _word_count(*lines, elsewhere)
    lines.append(dissent or (elsewhere if has_room else ""))
    overturns = _overturns(whole, room - _word_count(*lines))
    text = "\n".join(filter(None, (first, *lines, overturns, *last)))
    # Of what was left out no source is to be named.
    names = _names_of(debate, text, hinges, decision)
    text = "\n".join(filter(None, (text, names, hinges, decision)))
    is_whole = bool(dissent or not whole.dissent) and bool(overturns or not whole.overturned_by)
    return text, is_whole


def _shortest(text_in: Callable[[int], str]) -> str:
    """What has room for a first sentence or fact in so few words; empty: it is a long one."""
    texts = (text_in(words) for words in range(_AGAINST_WORDS + 1))
    return next((text for text in texts if text), "")


def _word_count(*texts: str) -> int:
    return len(" ".join(texts).split())


def _names_of(debate: Debate, *texts: str) -> str:
    """Which sources the texts mean."""
    return gist(source_names(debate, " ".join(texts)), _NOTE_LIMIT)


def _reasons(reasons: Sequence[str], most: int) -> Iterator[str]:
    """The reasons in so many words; a single long sentence is cut rather than none be there."""
    texts = [gist(reason, _TEXT_LIMIT) for reason in reasons]
    # Each has a bullet.
    room = most - len(texts)
    whole = [*filter(None, shared_words(texts, room))]
    if texts and not whole:
        whole = [*filter(None, [few_words(texts[0], room)])]
    yield from (f"• {text}" for text in whole)


def _dissent(debate: Debate, whole: Verdict, most: int) -> str:
    """The dissent in so many words, and who voted against the verdict; empty: no room."""
    head, against = _dissent_head(debate, whole), gist(against_words(debate, whole), _NOTE_LIMIT)
    # Whose dissent it is tells that already; the dissent's own words go before these.
    for votes in dict.fromkeys((against or _opponents(debate, whole), against, "")):
        room = most - _word_count(head, votes)
        words = whole_sentences(gist(dissent_words(debate, whole), _TEXT_LIMIT), room)
        if room >= 0 and (words or (votes and not whole.dissent)):
            return head + " ".join(filter(None, (words, votes)))
    return ""


def _opponents(debate: Debate, whole: Verdict) -> str:
    """Who voted against the verdict where the dissent is named as no agent's; empty: nobody."""
    if whole.dissent_by not in {"", JUDGE}:
        return ""
    option = options_of(debate).resolve(whole.option)
    firsts = (preferred_options(debate) or {}) if option else {}
    names = [name_of(debate, voter) for voter, first in firsts.items() if first not in {"", option}]
    return f"{listed_names(names)} voted against the verdict." if names else ""


def _dissent_head(debate: Debate, whole: Verdict) -> str:
    return f"*{gist(dissent_title(debate, whole), _NOTE_LIMIT)}*: "


def _overturns(whole: Verdict, most: int) -> str:
    """As many facts as fit that would overturn the verdict; empty: none does."""
    texts = (gist(fact, _NOTE_LIMIT) for fact in whole.overturned_by)
    facts = without_stops([*filter(None, texts)])
    for count in range(len(facts), 0, -1):
        text = f"*{OVERTURNED_BY}*: " + item_list(facts[:count], _OVERTURNS_LIMIT, "; ")
        if len(text.split()) <= most:
            return text
    return ""


def _below(debate: Debate, reached: Verdict) -> Iterator[str]:
    """The lines below reasons and dissent, from earlier verdicts to the team's decision."""
    for line in earlier_lines(reached, whole=False):
        yield line_text(debate, line)
    if debate.tally:
        yield in_a_line(debate, debate.tally)
    if (checked := cross_check_line(debate, reached)) and checked.is_warning:
        yield line_text(debate, checked)
    if was_skipped(debate):
        # The vote's line has the figures.
        ended = re.sub(r" \([^()]*\)", "", ending_text(debate))
        yield few_words(ended, _SKIPPED_WORDS)
    yield f"*Confidence*: {_sure(reached)}"
    if debate.decision:
        yield standing(debate)


def _decided(debate: Debate, reached: Verdict, most: int, room: int) -> Iterator[str]:
    """In `room` words what went wrong and the decision; below it so many of the findings."""
    decision = f"*{few_words(decided_on(debate, reached, _DECISION_LIMIT), _DECISION_WORDS)}*"
    name, *warnings = shortcomings(debate, reached).splitlines() or [""]
    # One or two whole rather than several that end in the middle.
    starts = [0, *itertools.accumulate(len(line.split()) for line in warnings)]
    fitting = sum(start <= _LAST_WARNING_AFTER for start in starts[: len(warnings)])
    left = len(warnings) - fitting
    more = f"• … and {quantity(left, 'more note')}" if left else ""
    words = min(_WARNING_WORDS, room - _word_count(name, more, decision))
    yield name
    for start, line in zip(starts, warnings[:fitting], strict=False):
        yield few_words(line, words - start)
    yield more
    yield decision
    yield findings_in_short(debate, reached.findings, most)


def _sure(reached: Verdict) -> str:
    """How sure it is, with as many of the grounds as fit, the first always."""
    sure, texts = confidence(reached), (gist(words, _RESTS_LIMIT) for words in reached.rests_on)
    grounds = [*filter(None, (text.rstrip(".") for text in texts))]
    if reached.confidence is None or not grounds:
        return f"{sure.rstrip('.')}."
    room = _CONFIDENCE_WORDS - _word_count(f"{sure}{CUT}")
    ends = itertools.accumulate(len(words.split()) for words in grounds)
    fitting = sum(end <= room for end in ends)
    if fitting == len(grounds):
        return f"{sure}: {'; '.join(grounds)}."
    told_grounds = "; ".join(grounds[:fitting]) or few_words(grounds[0], room).rstrip(".")
    return f"{sure}: {told_grounds}.{CUT}"


def _cost_line(debate: Debate, reached: Verdict) -> str:
    spent = f"Cost: {cost(debate.usage)}"
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
    # As many lines as fit into `_WARNINGS_LIMIT`.
    ends = itertools.accumulate(len(line) + 1 for line in lines)
    fitting = [line for line, end in zip(lines, ends, strict=True) if end <= _WARNINGS_LIMIT]
    more = ["• …"] if len(fitting) < len(lines) else []
    return "\n".join([f":warning: *{name}*{why}", *fitting, *more])


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
