"""A judge that leaves the option which the vote chose: only on a ground that is there (pure).

A judge that overturns a majority without new evidence loses on balance (arXiv:2606.29270). So it
names the requirement that the vote's option breaks, in the team's words, or a quote; whether these
words exist is looked up here. Else the vote's option stands, and the objection becomes the dissent.
"""

from core.acts.citing import without_quotes
from core.acts.replies import first_sentence, label_in
from core.acts.verdict_faults import stands_in
from core.debate.evidence import CitationStatus
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.verdict import Overrule, RequirementStatus, Verdict, VerdictSection
from core.evidence.citations import check_citations
from core.evidence.words import words_of
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.options import options_of, short_name
from core.rules.playbook import criteria_of
from core.rules.voting import best_texts, counted_ballots, option_voted_for

#: A requirement is named by at least so many of the team's words in a row.
_LEAST_WORDS = 3
#: Reasons that the voters' ballots lend to a verdict.
_MOST_REASONS = 3
#: Longest ground that was not found, as it is told.
_NAMED_CHARS = 200


def binding_option(debate: Debate) -> str:
    """Id of the option that the judge may leave on a ground only; empty: it is free to choose.

    The verdict of a review is bound by its findings instead.
    """
    return "" if debate.setup.format == review.NAME else option_voted_for(debate)


def bound_by_vote(debate: Debate, verdict: Verdict, ground: str) -> Verdict:
    """The judge's verdict, or what the vote chose where the judge left that without a ground.

    `ground` is the broken requirement or the quote that the judge names for leaving the vote.
    """
    voted = binding_option(debate)
    if not voted or verdict.is_undecided or options_of(debate).resolve(verdict.option) == voted:
        return verdict
    words, source = checked_ground(debate, ground)
    overrule = Overrule(vote=voted, judge=verdict.option, ground=words, source=source)
    options = options_of(debate)
    vote, named = options.name(voted), short_name(ground, _NAMED_CHARS)
    if overrule.stands:
        # Only the words of a ground are looked up: that a requirement is broken is its opinion.
        why = f"{source} says" if source else "it holds that this breaks"
        text = f'The judge overruled the vote for "{vote}": {why} "{words}".'
    else:
        verdict = _verdict_of_vote(debate, verdict, voted)
        judge = f'"{options.name(overrule.judge)}"' if overrule.judge else "none of the options"
        why = f"because of “{named}”, which was found nowhere" if named else "without a ground"
        text = (
            f"The judge would have decided for {judge}, {why}: "
            f'the vote for "{vote}" stands, and the objection is the dissent.'
        )
    return verdict.model_copy(update={"overrule": overrule, "warnings": (text, *verdict.warnings)})


def checked_ground(debate: Debate, ground: str) -> tuple[str, str]:
    """The words that a ground rests on and the id of their source, if they are there; else empty.

    A requirement has no source: it stands in what the team wrote, or the playbook names it.
    """
    citations = check_citations(ground, debate.evidence)[1]
    quoted = (citation for citation in citations if citation.status is CitationStatus.VERIFIED)
    if quote := next(quoted, None):
        return quote.words, quote.source
    criteria = criteria_of(debate.setup.playbook)
    musts = {label: criterion.name for label, criterion in criteria.items() if criterion.must}
    label = label_in(ground, tuple(musts))
    if label in musts:
        return musts[str(label)], ""
    named = without_quotes(ground).strip(" \"'“”„")
    if len(words_of(named)) < _LEAST_WORDS:
        return "", ""
    notes = (note.text for note in debate.notes)
    answers = (answer.text for answer in debate.answers.values())
    written = (debate.setup.question, debate.setup.context, *notes, *answers, *musts.values())
    is_there = any(stands_in(named, words_of(text)) for text in written)
    return (named, "") if is_there else ("", "")


def best_holder(debate: Debate) -> str:
    """Id of the agent with the best text for what the vote chose, the first where nobody voted."""
    best = best_texts(debate.tally) if debate.tally else ()
    return next(iter((*best, *format_of(debate).positions(debate))))


def _verdict_of_vote(debate: Debate, verdict: Verdict, voted: str) -> Verdict:
    """What the vote chose, in the words of the best text for it, with the judge's as the dissent.

    What the judge says of its own decision does not hold of this one: a requirement that nobody
    judged is unknown.
    """
    best = best_holder(debate)
    position = format_of(debate).positions(debate)[best]
    reasons = tuple(
        f"{debate.setup.agent(ballot.voter).name}: {ballot.reasons[best]}"
        for ballot in (counted_ballots(debate, debate.tally) if debate.tally else ())
        if ballot.ranking[:1] == (best,)
    )
    unknown = {"status": RequirementStatus.UNKNOWN, "words": ""}
    own = VerdictSection(title="The judge's objection in full", text=verdict.solution)
    return verdict.model_copy(
        update={
            "decision": first_sentence(position.answer) or first_sentence(position.text),
            "option": voted,
            "reasons": reasons[:_MOST_REASONS],
            "solution": position.text,
            "implementation": "",
            "tradeoffs": (),
            "recommendations": (),
            "overturned_by": (),
            "unmet_requirements": (),
            "requirements": tuple(it.model_copy(update=unknown) for it in verdict.requirements),
            "dissent": " ".join((verdict.decision, *verdict.reasons)),
            "dissent_by": JUDGE,
            "lone": tuple(point for point in verdict.lone if point.agent != best),
            "sections": (own,) if verdict.solution else (),
        }
    )
