"""What one model, asked alone, answered, and whether it chose the verdict's option (pure)."""

from collections.abc import Mapping
from typing import Any

from core.debate.state import Debate
from core.debate.verdict import OVERTURNED_BY
from core.figures import money
from core.rules import shadow
from core.rules.options import options_of
from core.transcript.cited import link_citations
from core.transcript.markdown import inert_line, plain_line
from core.transcript.words import bullets, nested, titled


def single_answer_words(debate: Debate) -> str:
    """One sentence: whether it chose the verdict's option, and its decision in its own words.

    Empty before the verdict and where no model answered alone. Plain text, as models wrote it.
    """
    alone = debate.shadow
    if alone is None or debate.verdict is None or shadow.is_sealed(debate):
        return ""
    decision = f"“{plain_line(link_citations(alone.decision, alone.citations)).rstrip('.')}”."
    # The model saw no options: its answer was placed among them afterwards.
    compared = {
        True: "That counts as the same option.",
        False: "That does not count as this option.",
        None: "Whether that is the same option is not known.",
    }[shadow.agrees(debate)]
    return f"One model, asked alone, answered: {decision} {compared}"


def cost_words(debate: Debate) -> str:
    alone = debate.shadow
    if alone is None or shadow.is_sealed(debate):
        return ""
    call = alone.call
    by = f" of {call.provider}/{call.model}" if call else ""
    cost = money(shadow.shadow_usage(debate).cost)
    return f"The single answer{by} cost {cost}, which the debate's total includes."


def single_answer_section(debate: Debate, *, level: int = 2) -> str:
    """The answer as Markdown under a heading of that level.

    Empty while the debate runs and where none was asked for.
    """
    alone, title = debate.shadow, "A single answer"
    if shadow.is_sealed(debate) or debate.setup.shadow_agent is None:
        return ""
    if alone is None:
        why = inert_line(debate.shadow_fault or "It was not there when the debate ended.")
        return titled(title, f"There is none to compare with. {why.rstrip('.')}.", level=level)
    citations = alone.citations
    alone = alone.with_texts(lambda text: link_citations(text, citations))
    lists = (
        ("What speaks for it", alone.reasons),
        ("Risks it named", alone.risks),
        (OVERTURNED_BY, alone.overturned_by),
    )
    return titled(
        title,
        inert_line(single_answer_words(debate)),
        inert_line(cost_words(debate)),
        nested(alone.solution, level + 1),
        *(titled(name, bullets(items), level=level + 1) for name, items in lists),
        level=level,
    )


def single_answer_record(debate: Debate) -> Mapping[str, Any] | None:
    alone = debate.shadow
    if alone is None or debate.verdict is None or shadow.is_sealed(debate):
        return None
    choice = debate.shadow_choice
    return {
        "option": options_of(debate).resolve(choice.option) if choice else "",
        "agrees": shadow.agrees(debate),
        "decision": alone.decision,
        "cost": shadow.shadow_usage(debate).model_dump(mode="json")["cost"],
    }
