"""The Markdown report of a debate: the decision, its reasons, its agents and its cost (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.debate.contributions import Contribution
from core.debate.setup import Forecast
from core.debate.state import Debate, roster
from core.debate.turn import Act
from core.debate.vote import Guidance
from core.figures import duration, money, number, percent, quantity, roughly, when
from core.rules.ending import fallback_words, rounds_words, state_words
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.formats.review import is_settled_by_text
from core.transcript.cited import link_citations, sources_section
from core.transcript.decision import notes_section, single_answer_section, verdict_section
from core.transcript.markdown import code_block, inert_line
from core.transcript.people import follow_ups_section, team_section, unanswered_words
from core.transcript.vote import holds_words, vote_section
from core.transcript.words import (
    as_markdown,
    blocks,
    bullets,
    calls_words,
    debate_models_words,
    estimated_words,
    few_words,
    judge_words,
    name_of,
    new_sentences,
    quotation,
    seconds_taken,
    spent_words,
    table,
    titled,
    tokens_words,
    turn_words,
)
from core.usage import Usage

#: Most words of a speech without a short form; most points of an agent's last text.
_SPEECH_WORDS, _MOST_POINTS = 40, 3
_FULL_TEXTS = "In short. The full texts are in the debate's record (JSON)."


def report(debate: Debate) -> str:
    # Failed summaries are left out, because agents saw the full text instead. So are failures that
    # the warnings of the verdict mention.
    text = " ".join(debate.verdict.warnings) if debate.verdict else ""
    missing = [
        (turn_words(debate, failure.turn), failure.reason)
        for failure in debate.failures.values()
        if failure.turn.act is not Act.SUMMARY and failure.reason not in text
    ]
    reasons = debate.setup.reasons
    agents = debate.setup.agents if reasons else ()
    cast = [(agent.name, agent.full_name, reasons.get(agent.id, "")) for agent in agents]
    document = blocks(
        "# Debate report",
        verdict_section(debate),
        vote_section(debate),
        single_answer_section(debate),
        team_section(debate),
        follow_ups_section(debate),
        as_markdown(notes_section(debate, debate.verdict), 2),
        titled("Debate", table(("", ""), about_rows(debate))),
        titled("Context", quotation(debate.setup.context)),
        sources_section(debate),
        titled("Agents, chosen for this question", table(("Agent", "Model", "Why"), cast)),
        clarifications_section(debate),
        _rounds(debate),
        titled("Turns that failed", table(("Turn", "Why"), missing)),
        _warnings(debate),
        spending_section(debate),
    )
    return f"{document}\n"


def about_rows(debate: Debate) -> Iterator[Sequence[str]]:
    setup = debate.setup
    yield "Debate", f"`{debate.id}`, {state_words(debate)}"
    yield "Asked by", setup.asked_by.display_name
    yield "Format", f"{setup.format}, {rounds_words(debate)}"
    if playbook := setup.playbook:
        yield "Playbook", f"{playbook.title} (`{playbook.name}`)"
    yield "Agents", ", ".join(f"{agent.name} ({agent.role})" for agent in setup.agents)
    yield "Models", debate_models_words(setup)
    if judge := judge_words(debate):
        yield "Judge", judge
    if debate.options and setup.format != review.NAME:
        yield "What is asked", debate.options.question_kind.words
    yield "Started", when(debate.started_at)
    if debate.ended_at:
        yield "Ended", when(debate.ended_at)
    yield "Took", duration(seconds_taken(debate))
    yield "Waited for usable replies, all calls added up", waited_words(debate)
    yield "Cost", spent_words(debate.usage)


def waited_words(debate: Debate) -> str:
    return duration(sum(call.latency_ms for call in debate.calls) / 1000)


def clarifications_section(debate: Debate) -> str:
    parts = list[str]()
    for item in debate.all_clarifications:
        names = ", ".join(name_of(debate, agent) for agent in item.asked_by)
        finding = review.finding_number(debate, item) if debate.verdict else None
        question = (
            f"Finding {finding}." if finding else code_block(link_citations(item.question, ()))
        )
        answer = debate.answers.get(item.number)
        if answer and answer.text:
            author, text = f" ({inert_line(answer.by.display_name)})", answer.text
        else:
            author, text = "", f"{unanswered_words(debate, item)}."
            if not debate.verdict and not is_settled_by_text(debate, item):
                text += f" Assumed: {item.assumption}"
        title = f"Question {item.number}, asked by {inert_line(names)}"
        parts.append(titled(title, question, f"Answer{author}:", code_block(text), level=3))
    return titled("Clarifications", *parts)


def _rounds(debate: Debate) -> str:
    """Short forms of contributions, and the guidance, by round and phase.

    Contributions that were carried over are left out. A sentence is not repeated, and points are
    shown only for each agent's last text.
    """
    ends = {position.turn.key for position in format_of(debate).positions(debate).values()}
    rounds, sentences = list[str](), set[str]()
    for round_, contributions in by_round(debate).items():
        lines = list[str]()
        for contribution in contributions:
            if contribution.carried_from:
                continue
            lines.append(_in_short(debate, contribution, sentences))
            points = contribution.points[:_MOST_POINTS] if contribution.turn.key in ends else ()
            new = filter(None, [new_sentences(point, sentences) for point in points])
            lines += [f"  - {inert_line(point)}" for point in new]
            lines += [f"  - **Note:** {inert_line(text)}" for text in contribution.warnings]
        guidance = [item for item in debate.guidance.values() if item.turn.round == round_]
        lines += [f"- **{author}:** {words}" for author, words in map(guidance_words, guidance)]
        rounds += filter(None, [titled(round_name(round_), "\n".join(lines), level=3)])
    return titled("Rounds", _FULL_TEXTS, *rounds) if rounds else ""


def _in_short(debate: Debate, contribution: Contribution, sentences: set[str]) -> str:
    """A contribution in one line, without `sentences`, to which its new sentences are added."""
    full_text = contribution.answer or few_words(
        link_citations(contribution.text, contribution.citations), _SPEECH_WORDS
    )
    text = inert_line(new_sentences(" ".join(full_text.split()), sentences))
    if is_solution(debate, contribution):
        text = "The solution in the decision above."
    minds = holds_words(debate, contribution)
    holds = f" *Now holds: {inert_line(minds)}*" if minds else ""
    return f"- **{title_words(debate, contribution)}:** {text or 'As above.'}{holds}"


def _warnings(debate: Debate) -> str:
    warnings = [*debate.setup.warnings, *(debate.options.warnings if debate.options else ())]
    for item in (*debate.summaries.values(), *debate.questions.values()):
        warnings += [f"{turn_words(debate, item.turn)}: {warning}" for warning in item.warnings]
    for card in debate.clarifications.values():
        warnings += card.warnings
    warnings += debate.findings.warnings if debate.findings else ()
    warnings += fallback_words(debate.calls)
    of_verdict = debate.verdict.warnings if debate.verdict else ()
    new = [warning for warning in dict.fromkeys(warnings) if warning not in of_verdict]
    return titled("Warnings", bullets(new))


@dataclass(frozen=True, kw_only=True)
class AgentSpending:
    agent: str
    name: str
    usage: Usage
    #: Calls with an outcome in the log; `usage.attempts` counts all requests.
    calls: int
    latency_ms: int
    models: tuple[str, ...]
    prompt_sources: tuple[str, ...]


def spending(debate: Debate) -> Sequence[AgentSpending]:
    entries: list[AgentSpending] = []
    others = (item.agent for item in debate.expenses if item.agent)
    for agent in dict.fromkeys([*roster(debate), *others]):
        expenses = [expense for expense in debate.expenses if expense.agent == agent]
        calls = [expense.call for expense in expenses if expense.call]
        entries.append(
            AgentSpending(
                agent=agent,
                name=name_of(debate, agent),
                usage=sum((expense.usage for expense in expenses), start=Usage()),
                calls=len(calls),
                latency_ms=sum(call.latency_ms for call in calls),
                models=tuple(dict.fromkeys(call.model_name for call in calls)),
                prompt_sources=tuple(dict.fromkeys(call.prompt_source for call in calls)),
            )
        )
    return entries


def _forecast_words(debate: Debate, forecast: Forecast | None) -> str:
    """The estimate compared with the result; empty without an estimate of model calls."""
    if forecast is None or not forecast.calls:
        return ""
    text = (
        f"Estimated before: {quantity(forecast.calls, 'call')}, {money(forecast.cost)}, "
        f"{roughly(forecast.seconds)}. It took {calls_words(debate)}, "
        f"{duration(seconds_taken(debate))}"
    )
    if not forecast.cost or debate.usage.cost is None:
        return f"{text}."
    difference = debate.usage.cost / forecast.cost - 1
    direction = "more than" if difference > 0 else "less than"
    return f"{text}: {percent(float(abs(difference)))} {direction} the cost estimated."


def spending_section(debate: Debate, forecast: Forecast | None = None) -> str:
    rows: list[Sequence[object]] = [
        (
            item.name,
            ", ".join(item.models) or ("no usable reply" if item.usage.attempts else "none"),
            item.calls,
            *_figures(item.usage, duration(item.latency_ms / 1000) if item.calls else "–"),
        )
        for item in spending(debate)
    ]
    # Expenses without an agent are of calls that were cancelled, of several agents together.
    if wasted := [expense.lost for expense in debate.expenses if not expense.agent]:
        rows.append(("Cancelled requests", "", 0, *_figures(sum(wasted, start=Usage()), "")))
    rows.append(("**All**", "", len(debate.calls), *_figures(debate.usage, waited_words(debate))))
    head = ("Agent", "Models", "Calls", "Requests", "Tokens in", "of these cached", "Tokens out")
    note = (
        "A call is a turn that a model answered; only calls count as waited. Requests are all that "
        "were made of a model, also those of failed turns and summaries, repairs, retries and a "
        "verdict that was written again."
    )
    figures = table((*head, "Waited", "Cost"), rows)
    comparison = _forecast_words(debate, forecast or debate.setup.forecast)
    estimated = estimated_words(debate.usage).capitalize()
    texts = (figures, estimated and f"{estimated}.", note, comparison)
    return titled("Usage and cost", *texts)


def _figures(usage: Usage, wait: str) -> Sequence[object]:
    tokens = map(number, (usage.input_tokens, usage.cached_tokens, usage.output_tokens))
    return (usage.attempts, *tokens, wait, money(usage.cost))


def by_round(debate: Debate) -> Mapping[int, Sequence[Contribution]]:
    """Contributions by round number, in the order of phases; 0 stands for "before round 1"."""
    order = {act: place for place, act in enumerate(format_of(debate).phases)}
    rounds = dict[int, list[Contribution]]()
    for contribution in debate.contributions.values():
        rounds.setdefault(contribution.turn.round, []).append(contribution)
    for contributions in rounds.values():
        contributions.sort(key=lambda speech: order.get(speech.turn.act, len(order)))
    return dict(sorted(rounds.items()))


def round_name(number: int) -> str:
    return f"Round {number}" if number else "Before round 1"


def title_words(debate: Debate, contribution: Contribution) -> str:
    """The author and the kind of text: `Ann (architect): Critique of Bob`."""
    target = f" of {name_of(debate, contribution.turn.target)}" if contribution.turn.target else ""
    agent = debate.setup.agent(contribution.turn.agent)
    return f"{inert_line(agent.name)} ({agent.role}): {contribution.turn.act.label}{target}"


def origin_words(debate: Debate, contribution: Contribution) -> str:
    call = contribution.call
    if contribution.carried_from or call is None:
        return f"Carried over unchanged from `{contribution.carried_from}`; 0 tokens, 0 s"
    instead = f" in place of {call.stands_in_for}" if call.stands_in_for else ""
    origin = (
        f"{call.model_name}{instead}; {tokens_words(call.usage)}; "
        f"{duration(call.latency_ms / 1000)}; {money(call.usage.cost)}"
    )
    minds = holds_words(debate, contribution)
    return f"{origin}. Now holds: {inert_line(minds)}" if minds else origin


def is_solution(debate: Debate, contribution: Contribution) -> bool:
    return (
        debate.verdict is not None and contribution.text.strip() == debate.verdict.solution.strip()
    )


def guidance_words(guidance: Guidance) -> tuple[str, str]:
    words = guidance.next_step.value.replace("_", " ")
    focus = f" Focus: {inert_line(guidance.focus)}" if guidance.focus else ""
    question = inert_line(guidance.question.text) if guidance.question else ""
    question_words = f" Question to people: {question}" if question else ""
    # With a gate a rule decided, not the facilitator.
    return "Moot" if guidance.gate else "Facilitator", f"Next: {words}.{focus}{question_words}"
