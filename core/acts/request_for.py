"""The request a turn makes of a model, and on which terms (pure)."""

from collections.abc import Mapping, Sequence

from core.acts import prompt as render
from core.acts.act import ACTS
from core.acts.citing import is_to_cite, left_out, may_look_up
from core.acts.context import (
    candidates,
    earlier_shown,
    held_before,
    movers_shown,
    note_labels,
    options_shown,
    parts_for,
    sources_shown,
)
from core.llm.call import CallOptions, ModelRef
from core.models import (
    SUMMARIZER,
    Act,
    Agent,
    Debate,
    NextStep,
    SourceKind,
    Turn,
)
from core.request import ModelRequest, Part, PartKind
from core.rules import casting
from core.rules.findings import MOST_FINDINGS, own, raised
from core.rules.formats import critique, panel, review
from core.rules.formats.clarifying import MOST_ROUNDS
from core.rules.gate import closing_gate, in_words
from core.rules.history.told import reads_letters
from core.rules.options import MOST_OPTIONS, options_of
from core.rules.playbook import criteria_of, missing_evidence, parts_of
from core.rules.schedule import is_cut_short, is_patient
from core.rules.subject import handed_in, subject
from core.rules.voting import best_texts, winning_options
from core.settings import ROLES

#: Longest section that a playbook adds, and cell of its table, in tokens.
_PART_TOKENS, _CELL_TOKENS = 450, 60
#: What was decided earlier; as one text in debates of older versions.
_DECIDED = frozenset({SourceKind.REGISTER, SourceKind.DECISION})


def request_for(debate: Debate, turn: Turn) -> ModelRequest:  # noqa: C901, PLR0912, PLR0915
    """What to ask a model on this turn."""
    # The agent reads its own letter where what it is shown calls agents by letters.
    letter = debate.setup.letter(turn.agent) if reads_letters(debate, turn) else ""
    values: dict[str, object] = {"words": ACTS[turn.act].words, "letter": letter}
    match turn.act:
        case Act.PROPOSAL:
            values["fresh"] = turn.round > 1
        case Act.CRITIQUE:
            before = debate.text_of(turn.act, turn.round - 1, turn.agent, turn.target)
            values |= {"repeated": bool(before), "author": debate.setup.letter(turn.target or "")}
        case Act.STATEMENT:
            values["first"] = turn.round == 1
            values["closing"] = panel.is_closing(debate, turn)
        case Act.FACILITATION:
            values |= {"round": turn.round, "left": panel.rounds_left(debate, turn.round)}
            steps = panel.steps_open(debate, turn)
            values["may_vote"] = NextStep.VOTE in steps
            values["may_ask"] = panel.questions_left(debate)
        case Act.QUESTIONS:
            asking = int(turn.target or 1)
            values |= {"most": debate.setup.clarifying.per_agent, "followup": asking > 1}
            values["last"] = asking == MOST_ROUNDS
        case Act.REVIEW | Act.SECOND_LOOK:
            changed = [one.id for one in handed_in(debate)] if turn.act is Act.SECOND_LOOK else []
            read = [one.id for one in subject(debate)]
            values |= {
                "subject": ", ".join((*read, *changed)) or "the question",
                "handed_in": ", ".join(changed),
                "in_part": bool(left_out(debate)),
                "labels": ", ".join(f"f{one.number}" for one in own(debate, turn.agent)),
                "most": MOST_FINDINGS,
                "options": ", ".join(f'"{one}" ({name})' for one, name in review.VERDICTS.items()),
            }
        case Act.FINDINGS:
            numbers = range(1, len(raised(debate)) + 1)
            values["labels"] = ", ".join(f"f{number}" for number in numbers)
        case Act.OPTIONS:
            labels = (candidate.label for candidate in candidates(debate, turn))
            values |= {"labels": ", ".join(labels), "most": MOST_OPTIONS}
        case Act.CASTING:
            who = {role: " ".join(render.persona(role).split()) for role in ROLES}
            more = debate.setup.casting.roles if debate.setup.casting else ()
            who |= {one.id: " ".join(one.prompt.split("\n\n")[0].split()) for one in more}
            values |= {"roles": who, "sceptic": casting.SCEPTIC}
            values |= {"fewest": casting.FEWEST, "most": casting.MOST}
        case Act.BALLOT:
            shown = candidates(debate, turn)
            letters = [
                f"Position {debate.setup.letter(one.position)} is {one.label}"
                for one in shown
                if turn.round and debate.setup.format not in {critique.NAME, review.NAME}
            ]
            values |= {
                "review": debate.setup.format == review.NAME,
                "count": len(shown),
                "labels": ", ".join(candidate.label for candidate in shown),
                "options": ", ".join(options_shown(debate)),
                "before": options_of(debate).name(held_before(debate, turn)),
                "movers": ", ".join(movers_shown(debate, turn)),
                "letters": ", ".join(letters),
                "sources": ", ".join(sources_shown(debate)),
            }
        case Act.CROSS_CHECK | Act.SHADOW_CHOICE:
            values["options"] = ", ".join(options_shown(debate))
        case Act.SYNTHESIS:
            shown = {"options": options_shown(debate), "earlier": earlier_shown(debate)}
            values |= {name: ", ".join(labels) for name, labels in shown.items()}
            ended = closing_gate(debate)
            values["ended"] = in_words(debate, ended) if ended else ""
            values |= {"winner": _winner_words(debate), "partial": _why_early(debate)}
            values["review"] = debate.setup.format == review.NAME
            values["several"] = bool(debate.tally) and len(best_texts(debate.tally)) > 1
            values["notes"] = ", ".join(note_labels(debate)) or "there are none"
            criteria = criteria_of(debate.setup.playbook)
            values["compared"] = ", ".join(criteria)
            values["musts"] = ", ".join(label for label, one in criteria.items() if one.must)
            values["parts"] = ", ".join(parts_of(debate.setup.playbook))
            values["missing"] = bool(missing_evidence(debate))
        case _:
            pass
    if ACTS[turn.act].states_stance:
        values["options"] = ", ".join(options_shown(debate))
    agent, parts = debate.setup.agent(turn.agent), parts_for(debate, turn)
    if turn.act is Act.SHADOW_CHOICE:
        agent = debate.setup.agent(SUMMARIZER)
    return request_with(debate, turn, agent, parts=parts, values=values)


def request_with(
    debate: Debate,
    turn: Turn,
    agent: Agent,
    *,
    parts: Sequence[Part],
    values: Mapping[str, object],
) -> ModelRequest:
    """What to ask a model about these parts."""
    text = render.task(turn.act, agent, **values)
    if is_to_cite(debate, turn):
        text += "\n\n" + render.citing(
            is_judge=turn.act is Act.SYNTHESIS,
            may_look_up=may_look_up(debate, turn),
            has_register=any(one.reference.kind in _DECIDED for one in debate.evidence),
        )
    task = Part(kind=PartKind.TASK, label="Task", text=text)
    tokens, playbook = ACTS[turn.act].max_tokens, debate.setup.playbook
    if turn.act is Act.SYNTHESIS and playbook:
        # What a playbook asks of the verdict takes more.
        cells = len(playbook.criteria) * len(options_shown(debate))
        tokens += _PART_TOKENS * len(playbook.verdict) + _CELL_TOKENS * cells
    return ModelRequest(
        model=agent.model,
        act=turn.act,
        role=agent.role,
        system=render.system(),
        parts=(*parts, task),
        delimiter=debate.setup.delimiter,
        max_output_tokens=tokens,
        temperature=agent.temperature,
        effort=ACTS[turn.act].effort,
        cache_key=debate.id,
    )


def terms_for(debate: Debate, turn: Turn, agent: Agent | None = None) -> CallOptions:
    """The conditions a debate sets for the model call of a turn."""
    agent = agent or debate.setup.agent(turn.agent)
    return CallOptions(
        seconds=debate.setup.limits.turn_seconds,
        fallbacks=[ModelRef(other.provider, other.model) for other in agent.fallbacks or ()],
        prompt_source=render.source(turn.act, agent),
        patient=is_patient(debate, turn.act),
    )


def _why_early(debate: Debate) -> str:
    """Why not all turns were taken, in a sentence; empty if they were."""
    if not is_cut_short(debate):
        return ""
    if debate.stop:
        return "a person stopped it."
    if debate.vote_called_by:
        return "a person called the vote."
    if debate.out_of_time:
        return "its time was over."
    if debate.out_of_money:
        return "its money was spent."
    return "too few agents could go on."


def _winner_words(debate: Debate) -> str:
    """Whose position the judge starts from."""
    if not debate.tally or not debate.tally.winners:
        return "the position that meets the requirements best (there was no vote)"
    names = [debate.setup.agent(agent).name for agent in best_texts(debate.tally)]
    won = [options_of(debate).name(option) for option in winning_options(debate.tally.options)]
    whose = f"position{'s' if len(names) > 1 else ''} of {' and '.join(names)}"
    if not won:
        tied = "tied winners" if len(names) > 1 else "winner"
        return f"the {tied} of the vote, the {whose}"
    if len(won) > 1:
        return f"the best texts for the options that are tied ({', '.join(won)}): the {whose}"
    texts = "best texts" if len(names) > 1 else "best text"
    return f"the {texts} for the option that won the vote ({won[0]}): the {whose}"
