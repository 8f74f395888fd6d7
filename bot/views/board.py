"""The board: the pinned root message that shows where a debate stands (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from bot.slack.blocks import Block, button, confirmation, row
from bot.slack.ids import ActionId, address_of, board_key
from bot.slack.mrkdwn import gist, literal, plain, split
from bot.views.agents import agent_list, finding_counts, subject_line
from bot.views.decision import standing
from bot.views.group_post import answer_of
from bot.views.message import (
    OFFLINE_NOTE,
    PAGE_LIMIT,
    MessageView,
    all_offline,
    confidence,
    context,
    header,
    item_list,
    letters,
    line_text,
    moment,
    name_of,
    person,
    sections,
    turn_noun,
)
from bot.views.notices import decided_earlier
from bot.views.progress import plan, progress, stage
from bot.views.verdict import disclaimer, shortcomings
from bot.views.vote import (
    anyway_buttons,
    decided_on,
    how_it_goes,
    how_it_went,
    in_a_line,
    single_answer,
    team_count,
    who_stands_where,
)
from core.debate.contributions import SummaryKind
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.figures import money, quantity
from core.rules import schedule
from core.rules.ending import DebateState, fallback_words, rounds_words, state_of, state_words
from core.rules.formats.registry import format_of
from core.rules.history.strategies import summary_rank
from core.rules.options import options_of
from core.rules.sealing import SEALED, reveals_at
from core.transcript.vote import cross_check_line

# Room for each part, so that the board stays within a message for any debate.
_QUESTION_LIMIT = 700
_WORKING_LIMIT = 400
_POSITIONS_LIMIT = 1300
_POSITION_LIMIT = 180
_SUMMARY_LIMIT = 700
_DECISION_LIMIT = 1200
_TROUBLE_LIMIT = 600
_EARLIER_LIMIT = 700
_REASON_LIMIT = 160


class BoardAction(StrEnum):
    """What a person can do to a running debate."""

    ANSWER = "Answer questions"
    STOP = "Stop"
    VOTE_NOW = "Vote now"
    PAUSE = "Pause"
    RESUME = "Resume"
    ADD_CONTEXT = "Add context"
    OPTIONS = "Options"
    BALLOT = "Cast your ballot"
    DEBATE_ANYWAY = "Debate anyway"
    REVEAL = "Reveal"


#: For screen readers; each holds the words that others see.
_LABELS: Mapping[BoardAction, str] = {
    BoardAction.STOP: "Stop this debate",
    BoardAction.VOTE_NOW: "Let the agents vote now",
    BoardAction.PAUSE: "Pause this debate",
    BoardAction.RESUME: "Resume this debate",
    BoardAction.ADD_CONTEXT: "Add context that the agents should know",
    BoardAction.OPTIONS: "Rename, merge or add options",
    BoardAction.BALLOT: "Cast your ballot: choose between the options yourself",
    BoardAction.REVEAL: "Reveal what the agents hold and decide",
}
_WHOLE_ROUNDS = frozenset({SummaryKind.ROUND, SummaryKind.META})


def board(
    debate: Debate, *, remarks: Sequence[str] = (), links: Mapping[str, str] | None = None
) -> MessageView:
    """Return the board for the debate as it is now.

    `remarks` are clean text ("It could not be pinned: …"); `links`, name → address, stand at the
    end.
    """
    is_running = debate.status is Status.RUNNING
    more = "" if question_is_whole(debate) else "\n_Question and context in full: in the thread._"
    earlier = address_of(board_key(debate.setup.continues)) if debate.setup.continues else ""
    goes_on = f"\n:arrow_right: Goes on from <{earlier}|an earlier debate>" if earlier else ""
    playbook = debate.setup.playbook
    held_as = f"\n:clipboard: Playbook: {gist(playbook.title, _REASON_LIMIT)}" if playbook else ""
    top = [
        f"*Question*\n{_question_line(debate)}{more}{goes_on}{held_as}",
        subject_line(debate),
        agent_list(debate),
        _sealed_line(debate),
        *_troubles(debate, remarks),
    ]
    middle = list(_now(debate) if is_running else _result(debate))
    blocks: list[Block] = [header(_headline(debate))]
    for text in filter(None, top):
        blocks += sections(text)
    blocks += [plan(debate)] if is_running else []
    for text in filter(None, middle):
        blocks += sections(text)
    blocks += context(*_foot(debate, links or {}))
    if is_running or debate.is_sealed:
        blocks += _buttons(debate)
    else:
        blocks += row("skipped", anyway_buttons(debate))
    # Notifications and the list of pins show its beginning.
    way = f"*{stage(debate)}*: {progress(debate).words}" if is_running else ""
    lines = [f"{_headline(debate)}: {_question_line(debate)}", *top[1:], way, *middle]
    text = "\n".join(line for line in lines if line)
    return MessageView(text=split(text, PAGE_LIMIT)[0], blocks=blocks)


def question_is_whole(debate: Debate) -> bool:
    """Whether the board has room for the whole question and there is no context besides it."""
    return len(plain(debate.setup.question)) <= _QUESTION_LIMIT and not debate.setup.context


def _sealed_line(debate: Debate) -> str:
    """That the ballot is sealed, between what, and who has voted; never what."""
    if not debate.is_sealed:
        return ""
    voters = ", ".join(person(ballot.by) for ballot in debate.people_ballots.values())
    there = "verdict" in debate.times
    lines = (
        f":lock: *Sealed ballot*\n{SEALED}",
        f"It is revealed {moment(until)} at the latest." if (until := reveals_at(debate)) else "",
        who_stands_where(debate),
        "The agents' verdict is there." if there else "",
        f"Voted so far: {voters}." if voters else "Nobody has voted yet.",
    )
    return "\n".join(filter(None, lines))


def _headline(debate: Debate) -> str:
    state, verdict = state_of(debate), debate.verdict
    if state is DebateState.CONCLUDED and verdict and not (verdict.is_undecided or verdict.partial):
        return "The agents' verdict"
    if debate.paused_by and not debate.paused_by.id:
        return "Debate held: restored from a backup"
    is_stopping = debate.stop and not state.has_ended
    return "Debate stopping" if is_stopping else f"Debate {state_words(debate)}"


def _question_line(debate: Debate) -> str:
    first, *rest = split(plain(debate.setup.question), _QUESTION_LIMIT) or ["_nothing to read_"]
    return f"{first}…" if rest else first


def _troubles(debate: Debate, remarks: Sequence[str]) -> Iterator[str]:
    is_running = debate.status is Status.RUNNING
    warnings = debate.options.warnings if debate.options else ()
    texts = (*debate.setup.warnings, *remarks, *fallback_words(debate.calls), *warnings)
    lines = [gist(words, _REASON_LIMIT) for words in texts]
    lines += [
        f"{name_of(debate, failed.turn.agent)} failed to give a {turn_noun(debate, failed.turn)}: "
        f"{gist(failed.reason, _REASON_LIMIT)}"
        f"{' The full text is used.' if failed.turn.act is Act.SUMMARY else ''}"
        for failed in debate.failures.values()
    ]
    lines += _waiting(debate) if is_running else ()
    if is_running and not schedule.has_quorum(debate):
        lines.insert(0, "Too few agents are left: the debate goes straight to the vote.")
    if debate.verdict and (banner := shortcomings(debate, debate.verdict)):
        yield banner
    elif lines:
        yield ":warning: *Please note*\n" + item_list((f"• {x}" for x in lines), _TROUBLE_LIMIT)


def _waiting(debate: Debate) -> Iterator[str]:
    wait = "The debate goes on when one answers" if debate.outage else "The others go on"
    for reason in dict.fromkeys(debate.unavailable_agents.values()):
        names = [
            name_of(debate, agent)
            for agent, why in debate.unavailable_agents.items()
            if why == reason
        ]
        verb = "waits" if len(names) == 1 else "wait"
        yield f"{', '.join(names)} {verb} for a model: {gist(reason, _REASON_LIMIT)} {wait}."


def _now(debate: Debate) -> Iterator[str]:
    if not debate.outage:
        yield _working(debate, schedule.ready(debate))
    yield _earlier(debate)
    if until := schedule.due(debate):
        yield f":raising_hand: The agents wait for answers in the thread until {moment(until)}."
    if debate.tally:
        yield in_a_line(debate, debate.tally)
    yield _summary(debate)
    yield finding_counts(debate)
    yield "" if debate.is_sealed else who_stands_where(debate) or _positions(debate)
    yield "\n".join(how_it_goes(debate))


def _summary(debate: Debate) -> str:
    """The newest background summary, which may be some rounds behind."""
    summaries = [summary for summary in debate.summaries.values() if summary.kind in _WHOLE_ROUNDS]
    if not summaries:
        return ""
    newest = max(summaries, key=lambda summary: summary_rank(debate, summary.turn))
    phase = newest.turn.target
    upto = f"after {Act(phase).phase}" if phase in set(Act) else f"up to round {newest.turn.round}"
    text = gist(newest.text, _SUMMARY_LIMIT)
    who = letters(debate, newest.model_copy(update={"text": text}))
    return "\n".join(filter(None, (f"*Summary {upto}*", text, who)))


def _working(debate: Debate, turns: Sequence[Turn]) -> str:
    """Which agents take which turns."""
    own: dict[str, list[str]] = {}
    for turn in turns:
        if turn.act not in {Act.TALLY, Act.CASTING}:
            own.setdefault(turn.agent, []).append(turn_noun(debate, turn))
    lines = (
        f"{name_of(debate, agent)} ({first}{f' and {len(rest)} more' if rest else ''})"
        for agent, (first, *rest) in own.items()
    )
    names = item_list(lines, _WORKING_LIMIT, " · ")
    return f"At work: {names}" if names else ""


def _positions(debate: Debate) -> str:
    lines = (
        f"• *{name_of(debate, position.turn.agent)}*: "
        f"{answer_of(debate.setup.agent(position.turn.agent), position, _POSITION_LIMIT)}"
        for position in format_of(debate).positions(debate).values()
    )
    text = item_list(lines, _POSITIONS_LIMIT)
    return f"*Positions so far*\n{text}" if text else ""


def _result(debate: Debate) -> Iterator[str]:
    if debate.verdict:
        decision = decided_on(debate, debate.verdict, _DECISION_LIMIT)
        sure = confidence(debate.verdict)
        yield f"*The agents' verdict*\n{decision}\n*Confidence*: {sure}"
        yield finding_counts(debate)
        yield how_it_went(debate)
        if (checked := cross_check_line(debate, debate.verdict)) and checked.is_warning:
            yield line_text(debate, checked)
        yield single_answer(debate)
        yield standing(debate)
    if debate.tally:
        yield in_a_line(debate, debate.tally)
        # Nobody is invited to vote where the post is missing that has the button.
        if debate.verdict or not debate.setup.quiet:
            yield team_count(debate)
    yield _summary(debate)
    if debate.status is Status.FAILED:
        yield f"*Why*\n{gist(debate.failure, _DECISION_LIMIT) or 'No reason was recorded.'}"
        yield _earlier(debate)
        yield _positions(debate)


def _earlier(debate: Debate) -> str:
    """The verdict that stood before the skipped debate was wanted, while there is no other."""
    earlier = None if debate.verdict else debate.earlier_verdict
    if earlier is None:
        return ""
    return f"*The verdict before it was debated*\n{decided_on(debate, earlier, _DECISION_LIMIT)}"


def _foot(debate: Debate, links: Mapping[str, str]) -> Iterator[str]:
    setup = debate.setup
    if setup.quiet:
        yield decided_earlier(debate, _EARLIER_LIMIT)
    rounds, is_running = rounds_words(debate), debate.status is Status.RUNNING
    yield f"Asked by {person(setup.asked_by)} · {literal(setup.format)}, {rounds} · `{debate.id}`"
    yield f"{'So far' if is_running else 'Total'}: cost {money(debate.usage.cost)}"
    yield " · ".join(f"<{address}|{literal(name)}>" for name, address in links.items())
    if is_running:
        yield "Reply in the thread to add what the agents should know."
    if debate.verdict:
        yield disclaimer(debate)
    elif all_offline(debate):
        yield OFFLINE_NOTE


def _buttons(debate: Debate) -> list[Block]:
    has_options = len(options_of(debate).items)
    possible = {BoardAction.BALLOT: has_options > 1, BoardAction.REVEAL: debate.is_sealed}
    waiting = len(schedule.open_questions(debate))
    anyway = list[Block]()
    if debate.status is Status.RUNNING:
        if debate.stop or debate.verdict:
            return []
        can_vote = len(format_of(debate).positions(debate)) > 1
        goes_on = not schedule.is_cut_short(debate)
        anyway = anyway_buttons(debate)
        possible |= {
            BoardAction.ANSWER: waiting > 0,
            BoardAction.STOP: True,
            BoardAction.VOTE_NOW: goes_on and can_vote and not debate.tally,
            BoardAction.PAUSE: goes_on and not debate.paused_by,
            BoardAction.RESUME: goes_on and bool(debate.paused_by),
            BoardAction.ADD_CONTEXT: True,
            BoardAction.OPTIONS: has_options > 0 and not debate.tally,
        }
    answer = f"Answer {quantity(waiting, 'question')}"
    labels = {**_LABELS, BoardAction.ANSWER: f"{answer} of the agents in a form"}
    buttons = (
        button(
            answer if action is BoardAction.ANSWER else action.value,
            ActionId[action.name],
            debate.id,
            label=labels[action],
            style=_STYLES.get(action, ""),
            confirm=_CONFIRMATIONS.get(action),
        )
        for action in BoardAction
        if possible.get(action)
    )
    return row("controls", [*anyway, *buttons])


_STYLES = {BoardAction.ANSWER: "primary", BoardAction.STOP: "danger"}
_CONFIRMATIONS = {
    BoardAction.STOP: confirmation(
        "Stop the debate?",
        "No agent speaks again. The judge writes a partial decision from what is there.",
        confirm="Stop it",
        deny="Let it go on",
    ),
    BoardAction.REVEAL: confirmation(
        "Reveal it?",
        "Everybody sees what the agents hold and decide. Ballots from then on count apart.",
        confirm="Reveal it",
        deny="Not yet",
    ),
}
