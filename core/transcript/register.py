"""The register of a channel's decisions as Markdown, newest first (pure)."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.figures import day
from core.models import Debate, DecisionKind
from core.redaction import clean
from core.transcript.adr import title_of
from core.transcript.inert import inert_line
from core.transcript.people import adr_status, outcome_words

#: Decisions that one register lists.
MOST_LISTED = 100
_OWN_WORDS = (
    "Moot writes this list anew whenever something is decided in this channel. Nobody else can "
    "write in it."
)
_MARKS = str.maketrans("`[]", "'()")
_NONE = "No decision of this channel is kept any more."


def register(debates: Sequence[Debate], links: Mapping[str, str]) -> str:
    """The list of decisions that the team accepted at some time, with what became of them.

    Args:
        debates: Of one channel, as they are now; those nobody accepted are left out.
        links: Where each verdict is, by the debate's id; empty or missing: nobody knows.
    """
    accepted = sorted(
        (one for one in debates if one.accepted), key=lambda one: (_at(one), one.id), reverse=True
    )
    known = {one.id: one for one in accepted}
    lines = list[str]()
    for debate in accepted[:MOST_LISTED]:
        by, newest = debate.accepted and debate.accepted.by, debate.decision
        stands = newest is None or newest.kind in {DecisionKind.ACCEPT, DecisionKind.REVISIT}
        mark, who = "**" if stands else "~~", (by.name or by.id) if by else ""
        words = [f"{day(_at(debate))} {mark}{_title(debate)}{mark}: accepted by {_plain(who)}"]
        newer = newest.superseded_by if newest else None
        if newer and newer in known:
            words.append(f"superseded by “{_title(known[newer])}”")
        elif newest and newest.kind is not DecisionKind.ACCEPT:
            changed_by = _plain(newest.by.name or newest.by.id)
            words.append(f"{adr_status(debate)} (said by {changed_by})")
        if debate.outcome:
            words.append(_plain(outcome_words(debate.outcome)).rstrip("."))
        link = links.get(debate.id, "")
        lines.append(f"- {', '.join(words)}" + (f". [Thread]({link})" if link else "."))
    if len(accepted) > len(lines):
        lines.append("- Older ones are not listed: `/debate search` finds them")
    return "\n\n".join([_OWN_WORDS, "\n".join(lines) or _NONE]) + "\n"


def _at(debate: Debate) -> datetime:
    """When it was accepted."""
    origin = debate.accepted.origin if debate.accepted else ""
    return debate.times.get(f"decision/{origin}", debate.now)


def _title(debate: Debate) -> str:
    """What was decided, without marks that would end the line's own."""
    return _plain(title_of(debate)).replace("**", "").replace("~", "")


def _plain(text: str) -> str:
    """Foreign words without a mark that, with those of a neighbour, could make code or a link."""
    return inert_line(clean(text).translate(_MARKS)).replace("<", "&lt;")
