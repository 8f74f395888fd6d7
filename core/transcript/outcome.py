"""What a debate came to and what it took, as JSON values: what its events do not say (pure).

`docs/record.md` has every key. Texts are not repeated: options are named once, everything else
refers to them and to agents by id.
"""

from collections.abc import Mapping
from typing import Any

from core.models import Debate
from core.rules import schedule, voting
from core.rules.confidence import Confidence
from core.rules.degradations import tie_break
from core.rules.ending import how_it_ended, why_held
from core.rules.findings import standing
from core.rules.mind_changes import mind_changes
from core.rules.options import by_option, held_by, options_of, stance_in
from core.rules.people_count import count_people
from core.rules.wanting import was_skipped
from core.transcript.agent_spending import spending
from core.transcript.single_answer import single_answer_record
from core.transcript.words import seconds_taken


def outcome(debate: Debate) -> Mapping[str, Any]:
    """Options as they stand, who stands where, who moved, and how the rounds ended."""
    verdict, tally = debate.verdict, debate.tally
    options, stands = options_of(debate), by_option(debate)
    people = {score.option: score.first_choices for score in count_people(debate).scores}
    scores = {one.option: one for one in (tally.options if tally else ())}
    sure = verdict.confidence if verdict else None
    word = None
    if verdict and sure is not None and verdict.rests_on:
        word = Confidence(percent=sure, rests_on=verdict.rests_on).word
    return {
        "playbook": debate.setup.playbook.name if debate.setup.playbook else None,
        "option": options.resolve(verdict.option) if verdict else "",
        "question_kind": debate.options.question_kind.value if debate.options else None,
        "options": [
            {
                "id": item.id,
                "name": item.name,
                "positions_of": list(stands.get(item.id, ())),
                "first_choices": scores[item.id].first_choices if item.id in scores else None,
                "mean_probability": scores[item.id].mean_probability if item.id in scores else None,
                "people_first": people.get(item.id, 0),
            }
            for item in options.items
        ],
        "merged_options": dict(options.merged),
        "vote_leads": list(voting.winning_options(tally.options)) if tally else [],
        "tie_break": tie_break(debate),
        "held": {
            agent.id: {option: round(share, 4) for option, share in held.items()}
            for agent in debate.setup.agents
            if (held := held_by(debate, agent.id))
        },
        "moved": [
            {
                "agent": change.voter,
                "from": change.before,
                "to": change.after,
                "moved_by": change.moved_by,
                "why": change.why,
            }
            for change in mind_changes(debate)
        ],
        "stances": {
            key: {option: round(share, 4) for option, share in stance.items()}
            for key, made in debate.contributions.items()
            if (stance := stance_in(debate, made))
        },
        "was_skipped": was_skipped(debate) and not debate.wanted_by,
        "why_held": list(why_held(debate)),
        "how_it_ended": list(how_it_ended(debate)),
        "confidence_word": word,
        "findings": [
            {
                "number": finding.number,
                "severity": finding.severity.value,
                "status": finding.status.value,
                "source": finding.citation.source,
                "place": finding.citation.place,
                "raised_by": list(finding.raised_by),
            }
            for finding in (verdict.findings if verdict else standing(debate))
        ],
        "single_answer": single_answer_record(debate),
        "turned_out": _turned_out(debate),
    }


def _turned_out(debate: Debate) -> Mapping[str, Any] | None:
    """How the accepted decision turned out, as somebody said last; None if nobody did."""
    said = debate.outcome
    if said is None:
        return None
    at = debate.times[f"outcome/{said.origin}"]
    return {"kind": said.kind.value, "by": said.by.id, "why": said.why, "at": at.isoformat()}


def totals(debate: Debate) -> Mapping[str, Any]:
    """Sums over the whole debate, and per agent. Costs are US dollars as exact text."""
    return {
        "seconds": round(seconds_taken(debate), 3),
        "seconds_worked": round(debate.worked, 3),
        "rounds_held": schedule.rounds_held(debate),
        "contributions": len(debate.contributions),
        "summaries": len(debate.summaries),
        "ballots": len(debate.ballots),
        "abstentions": len(debate.abstentions),
        "failed_turns": len(debate.failures),
        "calls": len(debate.calls),
        **debate.usage.model_dump(mode="json"),
        "agents": {
            one.agent: {"calls": one.calls, **one.usage.model_dump(mode="json")}
            for one in spending(debate)
        },
    }
