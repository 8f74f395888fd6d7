"""The labelled parts of an agent's prompt: parts shared by all agents first, its own last (pure).

Every prompt includes the question, its context, and people's answers and notes. Agents see letters
instead of each other's names. The judge sees names, because it must say who dissents.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.acts.act import ACTS
from core.acts.citing import quote_check_parts, source_parts
from core.debate.contributions import Contribution
from core.debate.evidence import SourceKind
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.figures import percent, quantity
from core.request import Part, PartKind
from core.rules import voting
from core.rules.formats import panel, review
from core.rules.formats.registry import format_of
from core.rules.formats.review import is_settled_by_text
from core.rules.formats.shown import CUT_MARK, excerpt, first_paragraphs
from core.rules.history.material import round_summary
from core.rules.history.strategies import strategy_of
from core.rules.judging import raised_points
from core.rules.movement import cause_words, mind_changes
from core.rules.options import options_of, supporters
from core.rules.playbook import criteria_of, kinds_words, missing_evidence, parts_of

#: Characters of each panel statement that prompts show while its round has no summary.
_STATEMENT_CHARS = 400
#: Shorter texts may be in a prompt twice.
_LEAST_SHARED = 300


def parts_for(debate: Debate, turn: Turn) -> tuple[Part, ...]:
    """The whole prompt of this turn without the task."""
    act = ACTS[turn.act]
    if act.prompt_parts:
        return tuple(act.prompt_parts(debate, turn))
    history: Sequence[Part] = ()
    if act.sees_history and turn.round:
        history = strategy_of(debate, turn.agent).history(debate, turn)
    turn_parts = (act.turn_parts or format_of(debate).shown_parts)(debate, turn)
    if turn.act is Act.CRITIQUE:
        history, turn_parts = _common_to_critiques(history, turn_parts)
    chooses = turn.act is Act.BALLOT or act.states_stance
    options = options_part(debate) if chooses else ()
    history, turn_parts = _without_repetition(history, turn_parts)
    # Providers cache the common beginning of prompts, so shared parts come first.
    old, new = _shared_count(history), _shared_count(turn_parts)
    parts = (
        *people_parts(debate, to_list=turn.act in format_of(debate).shows),
        # Prompts of blind and final ballots are the same up to these parts.
        *(replace(option, ends_shared=turn.act is Act.BALLOT) for option in options),
        *(*history[:old], *turn_parts[:new], *history[old:], *turn_parts[new:]),
        *note_parts(debate),
        *quote_check_parts(debate, turn),
    )
    return without_cache_marks(parts) if act.skips_cache(debate) else parts


def candidates(debate: Debate, turn: Turn) -> Mapping[str, Contribution]:
    """The positions on a ballot by their labels p1…pN, shuffled for this voter.

    The order depends only on the debate, the round and the voter, so that a repeated call is the
    same. Shuffling reduces position bias: "Large Language Models are not Fair Evaluators"
    (arXiv:2305.17926).
    """
    form = format_of(debate)
    positions = form.positions(debate, turn.round or None)
    if not turn.round:  # a person called the vote before all drafts were written
        positions = form.drafts(debate) or positions
    seed = f"{debate.setup.delimiter}/{turn.key}/"
    order = sorted(positions, key=lambda agent: hashlib.sha256((seed + agent).encode()).digest())
    return {f"p{number}": positions[agent] for number, agent in enumerate(order, start=1)}


def candidate_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    return [
        Part(kind=PartKind.CANDIDATE, label=label, text=candidate.text, trim_priority=2)
        for label, candidate in candidates(debate, turn).items()
    ]


def option_labels(debate: Debate) -> tuple[str, ...]:
    return tuple(item.id for item in options_of(debate).items)


def note_labels(debate: Debate) -> tuple[str, ...]:
    """The labels of notes in prompts: note1, note2.

    A label never changes, because agents quote it.
    """
    return tuple(f"note{note.number}" for note in debate.notes)


def earlier_decision_labels(debate: Debate) -> tuple[str, ...]:
    """The ids of earlier decisions among the sources: d1, d2."""
    return tuple(
        source.id for source in debate.evidence if source.reference.kind is SourceKind.DECISION
    )


def question_parts(debate: Debate) -> list[Part]:
    """The question as asked, its context, the playbook, and the sources."""
    parts = [Part(kind=PartKind.QUESTION, label="Question", text=debate.setup.question)]
    if debate.setup.context:
        parts.append(Part(kind=PartKind.CONTEXT, label="Context", text=debate.setup.context))
    return [*parts, *playbook_part(debate), *source_parts(debate)]


def people_parts(debate: Debate, *, to_list: bool = False) -> Sequence[Part]:
    """The first parts of every prompt, the same text for all agents.

    With `to_list` the findings of a review are listed further down and not repeated here.
    """
    parts = question_parts(debate)
    # Questions with people's answers, or with the assumption if nobody answered.
    lines = list[str]()
    for item in debate.all_clarifications:
        answer = debate.answers.get(item.number)
        finding = review.finding_number(debate, item) if to_list else None
        question = f"Finding {finding}, listed below" if finding else _inset(item.question)
        lines.append(f"{item.number}. {question}")
        if answer and answer.text:
            lines.append(f"   Answer: {_inset(answer.text)}")
            more_answers = debate.other_answers(item.number)
            lines += [f"   Somebody else said: {_inset(each.text)}" for each in more_answers]
        elif is_settled_by_text(debate, item):
            lines.append("   Not answered. See the changed text.")
        else:
            lines.append(f"   Not answered. Assume: {item.assumption}")
    if lines:
        label, text = "What people were asked", "\n".join(lines)
        parts.append(Part(kind=PartKind.CLARIFICATIONS, label=label, text=text))
    parts[-1] = replace(parts[-1], ends_shared=True)
    return parts


def _without_repetition(
    history: Sequence[Part], turn_parts: Sequence[Part]
) -> tuple[Sequence[Part], Sequence[Part]]:
    """Both lists, with each text that is in both kept in only one of them.

    A shared history stays unchanged, so that it can be cached, and the turn's part points to it.
    Otherwise the history points to the turn's part.
    """
    new_history, new_turn_parts, shared = list[Part](), list(turn_parts), _shared_count(history)
    for index, part in enumerate(history):
        text, priority = part.text, part.trim_priority
        for place, turn_part in enumerate(turn_parts):
            # A shortened text is a prefix of the full text.
            if (
                len(turn_part.text) < _LEAST_SHARED
                or turn_part.text.removesuffix(CUT_MARK) not in text
            ):
                continue
            if index < shared:
                pointer = excerpt(turn_part.text, part.label)
                new_turn_parts[place] = replace(turn_part, text=pointer, ends_shared=False)
                # The part that is pointed to must not be shortened before the one that points.
                priority = min(priority, turn_part.trim_priority)
            elif not turn_part.text.endswith(CUT_MARK):
                text = text.replace(turn_part.text, f"(Quoted below: {turn_part.label}.)")
        new_history.append(replace(part, text=text, trim_priority=priority))
    return new_history, new_turn_parts


def _common_to_critiques(
    history: Sequence[Part], turn_parts: Sequence[Part]
) -> tuple[Sequence[Part], Sequence[Part]]:
    """Both lists; the agent's history is marked as shared by all its critiques of a round."""
    is_longer = sum(len(part.text) for part in history) > sum(len(part.text) for part in turn_parts)
    if not history or not is_longer or _shared_count(history):
        return history, turn_parts
    return [*history[:-1], replace(history[-1], ends_shared=True)], without_cache_marks(turn_parts)


def _shared_count(parts: Sequence[Part]) -> int:
    return max(
        (number for number, part in enumerate(parts, start=1) if part.ends_shared), default=0
    )


def without_cache_marks(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(replace(part, ends_shared=False) for part in parts)


def note_parts(debate: Debate) -> Sequence[Part]:
    if not debate.notes:
        return ()
    lines = (
        f"note{note.number} ({' '.join(note.author.name.split()) or 'somebody'}): "
        f"{_inset(note.text)}"
        for note in debate.notes
    )
    return (Part(kind=PartKind.NOTES, label="Notes people added", text="\n".join(lines)),)


def _inset(text: str) -> str:
    """The text with all lines but the first indented, so that none looks like the next entry."""
    return "\n    ".join(text.splitlines())


def options_part(debate: Debate, *, by_name: bool = False) -> Sequence[Part]:
    """The options; with `by_name` (for the judge) also the agents that favour each."""
    holders = supporters(debate)
    lines = list[str]()
    for item in options_of(debate).items:
        line = f"{item.id}: {' '.join(item.name.split())}"
        if by_name:
            names = ", ".join(name_of(debate, agent) for agent in holders[item.id])
            line += f" (favoured by {names or 'nobody'})"
        lines.append(line)
    return (Part(kind=PartKind.OPTIONS, label="Options", text="\n".join(lines)),) if lines else ()


def round_summary_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    """Summaries of a panel's rounds before the closing statements, which are the ones voted on.

    For the judge, who names dissenters, the labels explain the agents' letters.
    """
    if debate.setup.format != panel.NAME or not turn.round:
        return ()
    newest = [position.turn.round for position in panel.FORMAT.positions(debate).values()]
    rounds = range(1, max(newest, default=1))
    key = "" if turn.act is Act.BALLOT else f" ({letters(debate)})"
    parts = list[Part]()
    for number in rounds:
        # A round without a summary is shown by the beginning of each statement.
        beginnings = (
            f"[{debate.setup.letter(statement.turn.agent)}'s {statement.turn.act.noun}]\n"
            + first_paragraphs(statement.text, _STATEMENT_CHARS)
            for statement in panel.statements(debate, number)
        )
        label, ends = f"Round {number} in short{key}", number == rounds[-1]
        if text := round_summary(debate, number) or "\n\n".join(beginnings):
            kind = PartKind.SUMMARY
            parts.append(Part(kind=kind, label=label, text=text, ends_shared=ends, trim_priority=4))
    return parts


def letters(debate: Debate) -> str:
    positions = format_of(debate).positions(debate)
    return ", ".join(
        f"{debate.setup.letter(agent)} is {debate.setup.agent(agent).name}" for agent in positions
    )


def playbook_part(debate: Debate) -> Sequence[Part]:
    playbook = debate.setup.playbook
    if playbook is None:
        return ()
    criteria_title, fails = "What options are compared by", " An option that fails this is no good."
    if debate.setup.format == review.NAME:
        criteria_title, fails = (
            "What the subject is judged by",
            " Where it fails this, it is not ready.",
        )
    lists = {
        f"{criteria_title}, the gravest first:": [
            f"{criterion.name}: {criterion.meaning}" + (fails if criterion.must else "")
            for criterion in playbook.criteria
        ],
        "What the answer should rest on:": [evidence.name for evidence in playbook.evidence],
        "Sections the verdict will have besides the usual ones:": [
            f"{part.title}: {part.asks}" for part in playbook.verdict
        ],
    }
    blocks = [f"{playbook.title}: {playbook.description}"]
    blocks += ["\n- ".join([title, *items]) for title, items in lists.items() if items]
    text = "\n\n".join(blocks)
    return (Part(kind=PartKind.PLAYBOOK, label="The kind of debate", text=text),)


def judge_playbook_parts(debate: Debate) -> Sequence[Part]:
    playbook = debate.setup.playbook
    lists = {
        "What the answer should rest on and no source holds": [
            f"- {evidence.name} ({kinds_words(evidence)})" for evidence in missing_evidence(debate)
        ],
        "Labels of what the kind of debate names": [
            *(f"{label}: {criterion.name}" for label, criterion in criteria_of(playbook).items()),
            *(f"{label}: {part.title}" for label, part in parts_of(playbook).items()),
        ],
    }
    return [
        Part(kind=PartKind.PLAYBOOK, label=label, text="\n".join(lines))
        for label, lines in lists.items()
        if lines
    ]


def raised_points_part(debate: Debate) -> Sequence[Part]:
    lines = [
        f"{label}: {point.kind.value}, {name_of(debate, point.agent)}: {point.text}"
        for label, point in raised_points(debate).items()
    ]
    label = "What agents raised before they read one another"
    return [Part(kind=PartKind.OTHER, label=label, text="\n".join(lines))] if lines else ()


def tally_part(debate: Debate) -> Sequence[Part]:
    if not debate.tally:
        return ()
    options, rules = options_of(debate), debate.setup.vote
    by_weight = " by weight" if rules.weights else ""
    lines = [
        f"{options.name(score.option)} ({score.option}): first choice of "
        f"{quantity(score.first_choices, 'voter')}{by_weight}, "
        f"{percent(score.mean_probability)} on average"
        for score in debate.tally.options
    ]
    lines += [
        f"The text of {name_of(debate, score.position)}: {quantity(score.points, 'point')}, "
        f"{quantity(score.first_places, 'first place')}"
        for score in debate.tally.scores
    ]
    lines += [voting.OWN_TEXT] if rules.exclude_self else []
    for ballot in voting.counted_ballots(debate):
        order = ", then ".join(name_of(debate, position) for position in ballot.ranking)
        shares = ", ".join(
            f"{option} {percent(share)}"
            for option, share in options.probabilities(ballot.probabilities).items()
        )
        sure = f"; best for the team: {shares}" if shares else ""
        lines.append(f"The ballot of {name_of(debate, ballot.voter)}: texts {order}{sure}.")
        lines += [
            f"- on {name_of(debate, position)}: {' '.join(reason.split())}"
            for position, reason in ballot.reasons.items()
        ]
    for move in mind_changes(debate):
        before, after = options.name(move.before), options.name(move.after)
        cause = cause_words(debate, move)
        lines.append(
            f"{name_of(debate, move.voter)} held {before} best before the debate, and {after} "
            f"after it{cause}{'' if cause.endswith('.”') else '.'}"
        )
    return (Part(kind=PartKind.TALLY, label="The vote", text="\n".join(lines)),)


def name_of(debate: Debate, agent: str) -> str:
    return debate.setup.agent(agent).name
