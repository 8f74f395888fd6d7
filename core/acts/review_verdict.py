"""The verdict of a review: headline and list are the findings', the reasons the judge's (pure)."""

from collections.abc import Iterator

from core.acts.citing import left_out
from core.debate.contributions import NoteOutcome
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.verdict import Judgement, Verdict
from core.figures import quantity
from core.rules.findings import WEIGHTY, answered_words, counted_words, standing
from core.rules.formats.review import FORMAT, NAME, NOT_READY, READY, VERDICTS, WITH_CHANGES
from core.rules.options import options_of
from core.rules.schedule import is_cut_short
from core.rules.subject import is_handing_in, subject
from core.rules.voting import option_voted_for


def verdict_of_review(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict of a review with the state of every finding; its headline counts the open ones.

    The judge's sentence opens the reasoning. "Ready" becomes "with changes" while a finding of a
    weighty severity is open.
    """
    if debate.setup.format != NAME:
        return verdict
    findings = standing(debate)
    texts = list[str]()
    read = {source.id for source in subject(debate)}
    if missing := sum(count for name, count in left_out(debate).items() if name in read):
        passages = quantity(missing, "passage")
        texts.append(f"Not all of the subject was read: no agent was shown {passages} of it.")
    notes, warnings = _notes(debate, verdict), (*verdict.warnings, *texts)
    verdict = verdict.model_copy(
        update={"findings": findings, "warnings": warnings, "notes": notes}
    )
    if verdict.is_undecided:
        return verdict
    options = options_of(debate)
    is_weighty = any(finding.is_open for finding in findings if finding.severity in WEIGHTY)
    option = options.resolve(verdict.option) or option_voted_for(debate)
    count = ", ".join(filter(None, (counted_words(findings), answered_words(findings))))
    if why_none := _why_no_verdict(debate, option):
        decision = ": ".join(filter(None, (why_none, count)))
        none = {
            "option": "",
            "decision": decision,
            "solution": _solution_text(verdict),
            "criteria": (),
        }
        return verdict.model_copy(update=none)
    warnings = verdict.warnings
    if option == READY and is_weighty:
        option, warnings = WITH_CHANGES, (*warnings, NOT_READY)
    name = options.name(option) or VERDICTS.get(option, "")
    return verdict.model_copy(
        update={
            "option": options.resolve(option),
            "decision": f"{name}: {count}" if count else name,
            "solution": _solution_text(verdict),
            "criteria": tuple(_criteria(verdict, option)),
            "warnings": warnings,
        }
    )


def _criteria(verdict: Verdict, option: str) -> Iterator[Judgement]:
    """One row of criteria, under the verdict's option: they judge the subject, not the verdicts."""
    own = [criterion for criterion in verdict.criteria if criterion.option == verdict.option]
    judged = {criterion.criterion: criterion for criterion in (*verdict.criteria, *own)}
    for criterion in judged.values():
        yield criterion.model_copy(update={"option": option})


def _notes(debate: Debate, verdict: Verdict) -> tuple[NoteOutcome, ...]:
    """What became of the notes; for those that hand in a text no judge has to answer."""
    looked = any(
        contribution.turn.act is Act.SECOND_LOOK for contribution in debate.contributions.values()
    )
    why = "The agents read it and looked again." if looked else "Nobody looked again."
    handing_in = {note.id for note in debate.notes if is_handing_in(note)}
    return tuple(
        NoteOutcome(note=outcome.note, used=looked, explanation=why)
        if outcome.note in handing_in
        else outcome
        for outcome in verdict.notes
    )


def _why_no_verdict(debate: Debate, option: str) -> str:
    """Why the review has none of the three verdicts, as a headline; empty where it has one.

    `option` is the verdict that the judge, or the vote, gave; empty: none.
    """
    if debate.stop and not debate.tally:
        return "Stopped before it was done"
    if option:
        return ""
    if len(FORMAT.positions(debate)) <= 1:  # there are no options, and nobody votes
        return "No verdict, as only one agent reviewed it"
    return "Not finished" if is_cut_short(debate) else "No verdict"


def _solution_text(verdict: Verdict) -> str:
    """The solution, opened by what the judge decided in a sentence."""
    decision, solution = verdict.decision.strip(), verdict.solution.strip()
    return solution if decision in solution else f"{decision}\n\n{solution}".strip()
