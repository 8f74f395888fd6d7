"""`moot debate --dry-run`: the prompts that would be sent, and what they would cost."""

import textwrap
from collections.abc import Iterator

from core.estimate import Estimate, Played, estimate_words
from core.figures import counted, money, number, roughly
from core.llm.prompt_text import prompt_text
from core.models import OFFLINE, RESERVED_IDS, Setup, When
from core.transcript.words import tokens_words
from core.turns.acts import ACTS


def dry_run_lines(setup: Setup, estimate: Estimate) -> Iterator[str]:
    """The first round's prompts, one more of each other act, every call's cost, the whole cost."""
    yield "Dry run: no model is asked and nothing is spent. All figures are estimates."
    # Prompts in full: all up to round 1, then the first of each act that was not shown yet.
    acts = {one.turn.act for one in estimate.played if one.turn.round <= 1}
    for place, one in enumerate(estimate.played, start=1):
        if one.turn.round <= 1 or one.turn.act not in acts:
            acts.add(one.turn.act)
            yield ""
            yield _headline(setup, place, one)
            width = max(len(part.label) for part in one.parts)
            for part in one.parts:
                words = f"{part.label:<{width}}  {number(part.tokens):>7} tokens  {part.cached}"
                yield f"    {words}".rstrip()
            yield textwrap.indent(prompt_text(one.request).rstrip(), "    | ", lambda _line: True)
    yield ""
    yield "All calls"
    for place, one in enumerate(estimate.played, start=1):
        yield f"  {_headline(setup, place, one)}"
    yield ""
    # The whole debate, and whether its cap allows it.
    if not estimate.calls:
        yield estimate_words(estimate)
        return
    yield (
        f"The whole debate: {counted(estimate.calls, 'call')}, {tokens_words(estimate.usage)}, "
        f"about {roughly(estimate.seconds)}."
    )
    yield f"Cost: about {money(estimate.cost)}; in the worst case {money(estimate.at_most)}."
    if setup.when is When.SPLIT and estimate.cost_if_agreed is not None:
        yield f"If all agree at once and no round is held: about {money(estimate.cost_if_agreed)}."
    cap = setup.limits.debate_cost
    if cap is not None:
        yield f"It stops before it costs more than its cap, {money(cap)}."


def _headline(setup: Setup, place: int, one: Played) -> str:
    turn = one.turn
    who = setup.agent(turn.agent).name
    names = {agent.id: agent.name for agent in setup.agents if agent.id not in RESERVED_IDS}
    about = names.get(turn.target or "")
    of = f" of {about}" if about else ""
    what = f"{place}. Round {turn.round}: {who}, {ACTS[turn.act].label}{of}"
    if one.provider == OFFLINE:
        return f"{what} → offline engine, no model"
    return (
        f"{what} → {one.provider}/{one.request.model}: {tokens_words(one.usage)}, "
        f"{money(one.usage.cost)}, at most {money(one.at_most)}"
    )
