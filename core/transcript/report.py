"""The Markdown report of a debate: everything that was said, decided and spent (pure)."""

from collections.abc import Iterator, Sequence

from core.figures import counted, duration, money, number, when
from core.models import Contribution, Debate
from core.rules.fallback_models import answering, fallback_words
from core.rules.formats.registry import format_of
from core.transcript.agent_spending import forecast_words, spending
from core.transcript.ballots import vote_section
from core.transcript.cited import cited, cited_verdict, sources_section
from core.transcript.decision import verdict_section
from core.transcript.inert import inert_line
from core.transcript.ledger import facts_section
from core.transcript.people import team_section
from core.transcript.words import (
    bullets,
    confidence,
    fenced,
    name_of,
    nested,
    quoted,
    seconds_taken,
    status_words,
    table,
    tokens_words,
    turn_words,
)
from core.turns.acts import ACTS


def report(debate: Debate) -> str:
    """The debate from question to cost."""
    setup, verdict = debate.setup, debate.verdict and cited_verdict(debate.verdict)
    rows = [
        ("Debate", f"`{debate.id}`, {status_words(debate)}"),
        ("Asked by", setup.asked_by.name or setup.asked_by.id),
        ("Format", f"{setup.format}, {counted(setup.rounds, 'round')}"),
        ("Agents", ", ".join(f"{agent.name} ({agent.role})" for agent in setup.agents)),
        ("Started", when(debate.started_at)),
        ("Took", duration(seconds_taken(debate))),
        ("Cost", money(debate.usage.cost)),
    ]
    if verdict:
        rows.append(("Decision", f"{verdict.decision} (confidence {confidence(verdict)})"))
    warnings = list(dict.fromkeys(_all_warnings(debate)))
    failures = [(turn_words(debate, f.turn), f.reason) for f in debate.failures.values()]
    prompts = [(one.name, ", ".join(one.prompt_sources) or "none") for one in spending(debate)]
    sections = (
        "# Debate report\n\n" + table(("", ""), rows),
        f"## Question\n\n{quoted(debate.setup.question)}",
        f"## Context\n\n{quoted(debate.setup.context)}" if debate.setup.context else "",
        sources_section(debate),
        _clarifications(debate),
        _rounds(debate),
        vote_section(debate),
        verdict_section(debate),
        facts_section(debate),
        team_section(debate),
        _notes(debate),
        "## Turns that failed\n\n" + table(("Turn", "Why"), failures) if failures else "",
        f"## Warnings\n\n{bullets(warnings)}" if warnings else "",
        _summaries(debate),
        _spending(debate),
        "## Prompts\n\n" + table(("Agent", "Source"), prompts),
        _timing(debate),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _clarifications(debate: Debate) -> str:
    """What people were asked, and what they said."""
    items = [item for asked in debate.clarifications.values() for item in asked.items]
    if not items:
        return ""
    blocks: list[str] = []
    for item in items:
        answer = debate.answers.get(item.number)
        who = ", ".join(name_of(debate, agent) for agent in item.asked_by)
        said = answer.text if answer and answer.text else f"NA. Assumed: {item.assumption}"
        by = f" ({inert_line(answer.by.name or answer.by.id)})" if answer and answer.text else ""
        blocks.append(
            f"### Question {item.number}, asked by {inert_line(who)}\n\n{fenced(item.question)}\n\n"
            f"Answer{by}:\n\n{fenced(said)}"
        )
    return "## Clarifications\n\n" + "\n\n".join(blocks)


def _rounds(debate: Debate) -> str:
    """What the agents said, round by round and phase by phase, and how they were guided."""
    order = {act: place for place, act in enumerate(format_of(debate).PHASES)}
    made = sorted(
        debate.contributions.values(),
        key=lambda one: (one.turn.round, order.get(one.turn.act, len(order))),
    )
    blocks: list[str] = []
    for at in dict.fromkeys(one.turn.round for one in made):
        blocks.append(f"### Round {at}" if at else "### Before round 1")
        blocks += [_contribution(debate, one) for one in made if one.turn.round == at]
        for guidance in debate.guidance.values():
            if guidance.turn.round == at:
                words = guidance.next_step.value.replace("_", " ")
                focus = f" Focus: {inert_line(guidance.focus)}" if guidance.focus else ""
                question = inert_line(guidance.question.text) if guidance.question else ""
                asked = f" Question to people: {question}" if question else ""
                blocks.append(f"#### Facilitator\n\nNext: {words}.{focus}{asked}")
    return "\n\n".join(["## Rounds", *blocks]) if blocks else ""


def _contribution(debate: Debate, made: Contribution) -> str:
    turn = made.turn
    about = f" of {name_of(debate, turn.target)}" if turn.target else ""
    agent = debate.setup.agent(turn.agent)
    title = f"#### {inert_line(agent.name)} ({agent.role}): {ACTS[turn.act].label}{about}"
    call = made.call
    if made.carried_from or call is None:
        origin = f"Carried over unchanged from `{made.carried_from}`; 0 tokens, 0 s"
    else:
        instead = f" in place of {call.stands_in_for}" if call.stands_in_for else ""
        origin = (
            f"{answering(call)}{instead}; {tokens_words(call.usage)}; "
            f"{duration(call.latency_ms / 1000)}; {money(call.usage.cost)}"
        )
    parts = [title, f"*{origin}*", nested(cited(made.text, made.citations), 4)]
    parts += [f"> **Note:** {inert_line(warning)}" for warning in made.warnings]
    return "\n\n".join(parts)


def _notes(debate: Debate) -> str:
    """What people added, and what became of it."""
    if not debate.notes:
        return ""
    outcomes = {one.note: one for one in (debate.verdict.notes if debate.verdict else ())}
    rows: list[Sequence[str]] = []
    for note in debate.notes:
        outcome = outcomes.get(note.id)
        used = "" if outcome is None else "used" if outcome.used else "not used"
        why = outcome.explanation if outcome else "There is no verdict that answers it."
        rows.append((note.author.name or note.author.id, note.text, used, why))
    return "## Notes from people\n\n" + table(("Who", "Note", "Outcome", "Why"), rows)


def _all_warnings(debate: Debate) -> Iterator[str]:
    yield from debate.setup.warnings
    for made in debate.contributions.values():
        for warning in made.warnings:
            yield f"{turn_words(debate, made.turn)}: {warning}"
    for summary in debate.summaries.values():
        for warning in summary.warnings:
            yield f"{turn_words(debate, summary.turn)}: {warning}"
    for asked in debate.questions.values():
        for warning in asked.warnings:
            yield f"{turn_words(debate, asked.turn)}: {warning}"
    for put in debate.clarifications.values():
        yield from put.warnings
    yield from fallback_words(debate.calls)
    if debate.verdict:
        yield from debate.verdict.warnings


def _summaries(debate: Debate) -> str:
    """What stood in for older turns, and how much shorter it was."""
    if not debate.summaries:
        return ""
    rows = [
        (
            one.turn.round,
            name_of(debate, one.turn.agent),
            one.kind.value,
            one.method,
            f"{number(one.before_chars)} → {number(one.after_chars)}",
            number(one.call.usage.output_tokens if one.call else 0),
            duration(one.call.latency_ms / 1000) if one.call else "",
        )
        for one in debate.summaries.values()
    ]
    head = ("Round", "Whose", "Kind", "Method", "Characters", "Tokens out", "Latency")
    return "## Summaries\n\n" + table(head, rows)


def _spending(debate: Debate) -> str:
    """Tokens and money per agent and in all."""
    rows: list[Sequence[object]] = [
        (
            one.name,
            ", ".join(one.models) or "none",
            one.calls,
            number(one.usage.input_tokens),
            number(one.usage.cached_tokens),
            number(one.usage.output_tokens),
            duration(one.latency_ms / 1000),
            money(one.usage.cost),
        )
        for one in spending(debate)
    ]
    all_of_it = debate.usage
    waited = duration(sum(call.latency_ms for call in debate.calls) / 1000)
    figures = (all_of_it.input_tokens, all_of_it.cached_tokens, all_of_it.output_tokens)
    tokens = [number(figure) for figure in figures]
    rows.append(("**All**", "", len(debate.calls), *tokens, waited, money(all_of_it.cost)))
    head = (
        "Agent",
        "Models",
        "Calls",
        "Tokens in",
        "of these cached",
        "Tokens out",
        "Waited",
        "Cost",
    )
    compared = forecast_words(debate, debate.setup.forecast)
    below = f"\n\n{compared}" if compared else ""
    return "## Usage and cost\n\n" + table(head, rows) + below


def _timing(debate: Debate) -> str:
    rows = [("Started", when(debate.started_at))]
    if debate.ended_at:
        rows.append(("Ended", when(debate.ended_at)))
    rows.append(("Took", duration(seconds_taken(debate))))
    waited = sum(call.latency_ms for call in debate.calls) / 1000
    rows.append(("Waited for models, all calls added up", duration(waited)))
    return "## Timing\n\n" + table(("", ""), rows)
