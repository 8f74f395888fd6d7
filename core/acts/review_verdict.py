"""The verdict of a review: headline and list are the findings', the reasons the judge's (pure)."""

from core.acts.citing import left_out
from core.figures import counted
from core.models import Debate, Severity, Verdict
from core.rules.findings import WEIGHTY, answered_words, counted_words, standing
from core.rules.formats.review import NAME, NOT_YET, READY, VERDICTS, WITH_CHANGES
from core.rules.options import options_of
from core.rules.schedule import is_cut_short
from core.rules.subject import subject
from core.rules.voting import option_voted_for

_NOT_READY = (
    "The judge called it ready while findings that weigh are open, so it is ready with changes at "
    "most."
)


def reviewed(debate: Debate, verdict: Verdict) -> Verdict:
    """Of a review the verdict with every finding as it stands, and how many are open as headline.

    What the judge says in a sentence opens the reasoning. "Ready" needs that nothing that weighs is
    open, whoever says otherwise.
    """
    if debate.setup.format != NAME:
        return verdict
    found = standing(debate)
    said = list[str]()
    read = {one.id for one in subject(debate)}
    if missing := sum(count for name, count in left_out(debate).items() if name in read):
        passages = counted(missing, "passage")
        said.append(f"Not all of the subject was read: no agent was shown {passages} of it.")
    verdict = verdict.model_copy(update={"findings": found, "warnings": (*verdict.warnings, *said)})
    if verdict.is_undecided:
        return verdict
    options, weighs = options_of(debate), [one for one in found if one.severity in WEIGHTY]
    is_weighty = any(one.is_open for one in weighs)
    chosen = options.resolve(verdict.option) or option_voted_for(debate)
    if not chosen and is_cut_short(debate):  # not all have said what they found
        name = "Stopped before it was done" if debate.stop else "Not finished"
        decision = ": ".join(filter(None, (name, counted_words(found))))
        return verdict.model_copy(update={"decision": decision, "solution": _opened(verdict)})
    if not chosen:  # nobody chose: what is open says it
        blocked = any(one.is_open and one.severity is Severity.BLOCKER for one in weighs)
        chosen = NOT_YET if blocked else WITH_CHANGES if counted_words(found) else READY
    warnings = verdict.warnings
    if chosen == READY and is_weighty:
        chosen, warnings = WITH_CHANGES, (*warnings, _NOT_READY)
    # Criteria judge the subject, not one verdict against the others: one row, under the verdict's.
    judged = {one.criterion: one for one in verdict.criteria}
    judged |= {one.criterion: one for one in verdict.criteria if one.option == verdict.option}
    row = (one.model_copy(update={"option": chosen}) for one in judged.values())
    name = options.name(chosen) or VERDICTS.get(chosen, "")
    count = ", ".join(filter(None, (counted_words(found), answered_words(found))))
    return verdict.model_copy(
        update={
            "option": options.resolve(chosen),
            "decision": f"{name}: {count}" if count else name,
            "solution": _opened(verdict),
            "criteria": tuple(row),
            "warnings": warnings,
        }
    )


def _opened(verdict: Verdict) -> str:
    """The solution, opened by what the judge decided in a sentence."""
    decision, solution = verdict.decision.strip(), verdict.solution.strip()
    return solution if decision in solution else f"{decision}\n\n{solution}".strip()
