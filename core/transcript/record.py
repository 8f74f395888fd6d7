"""The complete record of a debate as JSON; `docs/record.md` explains every key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from core.debate.log import Event, RecordedEvent, fold
from core.debate.message_events import ClarificationAnswered, NoteAdded, NoteChanged
from core.debate.state import Debate
from core.debate.turn_events import ShadowAnswered, ShadowPlaced
from core.debate.verdict import ShadowAnswer
from core.rules import schedule, shadow, voting
from core.rules.confidence import Confidence
from core.rules.ending import ending_sentences, round_reasons, tie_break, was_skipped
from core.rules.formats.review import current_findings
from core.rules.movement import mind_changes
from core.rules.options import current_stance, options_of, stance_in, supporters
from core.rules.voting import count_people
from core.transcript.report import spending
from core.transcript.words import seconds_taken
from core.usage import Usage

#: Version of the outer form. Events have a form of their own, and readers accept older ones.
VERSION = 3
_USAGE = TypeAdapter(Usage)


def record_json(log: Sequence[RecordedEvent]) -> str:
    debate = fold(log)
    record = {
        "moot": VERSION,
        "debate_id": debate.id,
        "status": debate.status.value,
        "outcome": outcome(debate),
        "totals": totals(debate),
        "events": [
            {
                "seq": recorded.seq,
                "at": recorded.at.isoformat(),
                "key": recorded.event.key,
                "event": _public_event(recorded.event, debate).model_dump(mode="json"),
            }
            for recorded in log
        ],
    }
    # Ten times as fast as `json.dumps`, which indents in Python.
    return to_json(record, indent=2).decode() + "\n"


#: Replaces text in a record that nobody may read before the verdict.
SEALED = "Sealed until the verdict."
#: Replaces text in a record that its author deleted.
WITHDRAWN = "Deleted by its author."


def _public_event(event: Event, debate: Debate) -> Event:
    """The event without a sealed single answer and without deleted texts.

    The answer of a deleted message stays if agents may have read it.
    """
    match event:
        case NoteAdded(note=note) if note.id in debate.deleted_messages:
            blank = note.model_copy(update={"text": WITHDRAWN})
            return event.model_copy(update={"note": blank})
        case NoteChanged(note=note) if note in debate.deleted_messages:
            return event.model_copy(update={"text": WITHDRAWN})
        case ClarificationAnswered(answer=answer) if (
            answer.origin in debate.deleted_messages
            and answer.text
            and answer != debate.answers.get(answer.number)
        ):
            blank = answer.model_copy(update={"text": WITHDRAWN})
            return event.model_copy(update={"answer": blank})
        case ShadowAnswered(shadow=answer) if shadow.is_sealed(debate):
            sealed = ShadowAnswer(turn=answer.turn, decision=SEALED, call=answer.call)
            return ShadowAnswered(shadow=sealed)
        case ShadowPlaced(choice=choice) if shadow.is_sealed(debate):
            return ShadowPlaced(choice=choice.model_copy(update={"option": ""}))
        case _:
            return event


def outcome(debate: Debate) -> Mapping[str, Any]:
    verdict, tally, options = debate.verdict, debate.tally, options_of(debate)
    people_outcome, word = debate.outcome, None
    if verdict and verdict.confidence is not None and verdict.rests_on:
        word = Confidence(percent=verdict.confidence, rests_on=verdict.rests_on).word
    return {
        "playbook": debate.setup.playbook.name if debate.setup.playbook else None,
        "option": options.resolve(verdict.option) if verdict else "",
        "question_kind": debate.options.question_kind.value if debate.options else None,
        "options": [*_options(debate)],
        "merged_options": dict(options.merged),
        "vote_leads": list(voting.winning_options(tally.options)) if tally else [],
        "tie_break": tie_break(debate),
        "held": _round_shares(
            {agent.id: current_stance(debate, agent.id) for agent in debate.setup.agents}
        ),
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
        "stances": _round_shares(
            {key: stance_in(debate, speech) for key, speech in debate.contributions.items()}
        ),
        "was_skipped": was_skipped(debate) and not debate.reopened_by,
        "why_held": list(round_reasons(debate)),
        "how_it_ended": list(ending_sentences(debate)),
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
            for finding in (verdict.findings if verdict else current_findings(debate))
        ],
        "single_answer": _single_answer(debate),
        "turned_out": people_outcome
        and {
            "kind": people_outcome.kind.value,
            "by": people_outcome.by.id,
            "why": people_outcome.why,
            "at": debate.times[f"outcome/{people_outcome.origin}"].isoformat(),
        },
    }


def _options(debate: Debate) -> Iterator[Mapping[str, Any]]:
    agents = supporters(debate)
    people = {score.option: score.first_choices for score in count_people(debate).scores}
    scores = {score.option: score for score in debate.option_scores}
    for item in options_of(debate).items:
        score = scores.get(item.id)
        yield {
            "id": item.id,
            "name": item.name,
            "positions_of": list(agents.get(item.id, ())),
            "first_choices": score and score.first_choices,
            "mean_probability": score and score.mean_probability,
            "people_first": people.get(item.id, 0),
        }


def _round_shares(by_key: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
    return {
        key: {option: round(share, 4) for option, share in shares.items()}
        for key, shares in by_key.items()
        if shares
    }


def _single_answer(debate: Debate) -> Mapping[str, Any] | None:
    answer, choice = debate.shadow, debate.shadow_choice
    if answer is None or debate.verdict is None or shadow.is_sealed(debate):
        return None
    return {
        "option": options_of(debate).resolve(choice.option) if choice else "",
        "agrees": shadow.agrees(debate),
        "decision": answer.decision,
        "cost": _USAGE.dump_python(shadow.shadow_usage(debate), mode="json")["cost"],
    }


def totals(debate: Debate) -> Mapping[str, Any]:
    """Sums for the debate and for each agent. Costs are in US dollars, as exact decimal text."""
    return {
        "seconds": round(seconds_taken(debate), 3),
        "seconds_worked": round(debate.work_seconds, 3),
        "rounds_held": schedule.rounds_held(debate),
        "contributions": len(debate.contributions),
        "summaries": len(debate.summaries),
        "ballots": len(debate.ballots),
        "abstentions": len(debate.abstentions),
        "failed_turns": len(debate.failures),
        "calls": len(debate.calls),
        **_USAGE.dump_python(debate.usage, mode="json"),
        "agents": {
            item.agent: {"calls": item.calls, **_USAGE.dump_python(item.usage, mode="json")}
            for item in spending(debate)
        },
    }
