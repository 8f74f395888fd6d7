"""Whether a debate that was skipped can still be held (pure)."""

from core.debate.gate import NoDebateReason
from core.debate.state import Debate, Status
from core.rules.gate import gate_after, undebatable
from core.rules.schedule import is_cut_short
from core.rules.voting import is_people_vote_closed


def was_skipped(debate: Debate) -> bool:
    """Whether the first vote stood, so that no round was held; also if somebody wanted it since."""
    first = gate_after(debate, 0)
    return first is not None and first.ends_rounds and not first.undebatable


def why_not_wanted(debate: Debate) -> str:
    match undebatable(debate):
        case NoDebateReason.NO_MODEL:
            return "No model was asked. Set one up, and start a new debate."
        case NoDebateReason.ALONE:
            return "One agent has nobody to debate with. Start a new debate with at least two."
        case None:
            pass
    if not was_skipped(debate):
        return "Nothing was skipped: the rounds are held as they were asked for."
    if debate.status is Status.FAILED:
        return "It ended without a verdict. Start a new debate instead."
    if is_people_vote_closed(debate):
        return "The team has decided already. Start a new debate, and supersede this one with it."
    if is_cut_short(debate):
        return "It was cut short (stopped, or out of time or money). Start a new debate instead."
    return ""
