"""The board: the pinned root message that shows the state of a debate (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from bot.slack.blocks import Block, button, confirmation, row
from bot.slack.ids import ActionId, address_of, board_key
from bot.slack.mrkdwn import gist, literal, plain, split
from bot.views.agents import agent_list, finding_counts, subject_line
from bot.views.decision import team_decision
from bot.views.group_post import short_answer
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
    agents_by_option,
    debate_anyway_buttons,
    decision_in_short,
    round_notes,
    rounds_summary,
    single_answer,
    tally_line,
    team_count,
)
from core.debate.contributions import SummaryKind
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.figures import quantity
from core.rules import schedule
from core.rules.ending import DebateState, fallback_words, rounds_words, state_of, state_words
from core.rules.formats.registry import format_of
from core.rules.history.strategies import summary_rank
from core.rules.options import options_of
from core.rules.sealing import SEALED, reveals_at
from core.transcript.vote import cross_check_line
from core.transcript.words import spent_words

# Most characters of each part, so that the board of any debate fits into one message.
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
    """The buttons of the board."""

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


#: For screen readers. Each contains the visible words of its button.
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
    """Return the board of a debate.

    Args:
        debate: In its current state.
        remarks: Warnings as plain text, such as "It could not be pinned: …".
        links: Name → address, shown at the end.
    """
    is_running = debate.status is Status.RUNNING
    full_text_note = (
        "" if shows_full_question(debate) else "\n_Question and context in full: in the thread._"
    )
    address = address_of(board_key(debate.setup.continues)) if debate.setup.continues else ""
    earlier_debate = (
        f"\n:arrow_right: Goes on from <{address}|an earlier debate>" if address else ""
    )
    playbook = debate.setup.playbook
    playbook_line = (
        f"\n:clipboard: Playbook: {gist(playbook.title, _REASON_LIMIT)}" if playbook else ""
    )
    top = [
        f"*Question*\n{_question_line(debate)}{full_text_note}{earlier_debate}{playbook_line}",
        subject_line(debate),
        agent_list(debate),
        _sealed_line(debate),
        *_troubles(debate, remarks),
    ]
    middle = list(_running_parts(debate) if is_running else _end_parts(debate))
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
        blocks += row("skipped", debate_anyway_buttons(debate))
    # Notifications and the list of pins show the beginning of the text.
    progress_line = f"*{stage(debate)}*: {progress(debate).words}" if is_running else ""
    lines = [f"{_headline(debate)}: {_question_line(debate)}", *top[1:], progress_line, *middle]
    text = "\n".join(line for line in lines if line)
    return MessageView(text=split(text, PAGE_LIMIT)[0], blocks=blocks)


def shows_full_question(debate: Debate) -> bool:
    """Whether the board shows the whole question, and the debate has no context."""
    return len(plain(debate.setup.question)) <= _QUESTION_LIMIT and not debate.setup.context


def _sealed_line(debate: Debate) -> str:
    """For a sealed ballot: its options and who has voted, but not for what."""
    if not debate.is_sealed:
        return ""
    voters = ", ".join(person(ballot.by) for ballot in debate.people_ballots.values())
    has_verdict = "verdict" in debate.times
    lines = (
        f":lock: *Sealed ballot*\n{SEALED}",
        f"It is revealed {moment(reveal_at)} at the latest."
        if (reveal_at := reveals_at(debate))
        else "",
        agents_by_option(debate),
        "The agents' verdict is there." if has_verdict else "",
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
    first, *others = split(plain(debate.setup.question), _QUESTION_LIMIT) or ["_nothing to read_"]
    return f"{first}…" if others else first


def _troubles(debate: Debate, remarks: Sequence[str]) -> Iterator[str]:
    is_running = debate.status is Status.RUNNING
    warnings = debate.options.warnings if debate.options else ()
    texts = (*debate.setup.warnings, *remarks, *fallback_words(debate.calls), *warnings)
    lines = [gist(words, _REASON_LIMIT) for words in texts]
    lines += [
        f"{name_of(debate, failure.turn.agent)} failed to give its "
        f"{turn_noun(debate, failure.turn)}: {gist(failure.reason, _REASON_LIMIT)}"
        f"{' The full text is used.' if failure.turn.act is Act.SUMMARY else ''}"
        for failure in debate.failures.values()
    ]
    lines += _waiting(debate) if is_running else ()
    if is_running and not schedule.has_quorum(debate):
        lines.insert(0, "Too few agents are left: the debate goes straight to the vote.")
    if debate.verdict and (banner := shortcomings(debate, debate.verdict)):
        yield banner
    elif lines:
        yield ":warning: *Please note*\n" + item_list(
            (f"• {line}" for line in lines), _TROUBLE_LIMIT
        )


def _waiting(debate: Debate) -> Iterator[str]:
    wait = "The debate goes on when one answers" if debate.outage else "The others go on"
    for reason in dict.fromkeys(debate.unavailable_agents.values()):
        names = [
            name_of(debate, agent)
            for agent, cause in debate.unavailable_agents.items()
            if cause == reason
        ]
        verb = "waits" if len(names) == 1 else "wait"
        yield f"{', '.join(names)} {verb} for a model: {gist(reason, _REASON_LIMIT)} {wait}."


def _running_parts(debate: Debate) -> Iterator[str]:
    if not debate.outage:
        yield _working(debate, schedule.ready(debate))
    yield _earlier(debate)
    if deadline := schedule.due(debate):
        yield f":raising_hand: The agents wait for answers in the thread until {moment(deadline)}."
    if debate.tally:
        yield tally_line(debate, debate.tally)
    yield _summary(debate)
    yield finding_counts(debate)
    yield "" if debate.is_sealed else agents_by_option(debate) or _positions(debate)
    yield "\n".join(round_notes(debate))


def _summary(debate: Debate) -> str:
    """The newest summary of whole rounds, which may be some rounds old."""
    summaries = [summary for summary in debate.summaries.values() if summary.kind in _WHOLE_ROUNDS]
    if not summaries:
        return ""
    newest = max(summaries, key=lambda summary: summary_rank(debate, summary.turn))
    phase = newest.turn.target
    upto = f"after {Act(phase).phase}" if phase in set(Act) else f"up to round {newest.turn.round}"
    text = gist(newest.text, _SUMMARY_LIMIT)
    letter_key = letters(debate, newest.model_copy(update={"text": text}))
    return "\n".join(filter(None, (f"*Summary {upto}*", text, letter_key)))


def _working(debate: Debate, turns: Sequence[Turn]) -> str:
    """The agents at work and their turns."""
    nouns_by_agent: dict[str, list[str]] = {}
    for turn in turns:
        if turn.act not in {Act.TALLY, Act.CASTING}:
            nouns_by_agent.setdefault(turn.agent, []).append(turn_noun(debate, turn))
    lines = (
        f"{name_of(debate, agent)} ({first}{f' and {len(others)} more' if others else ''})"
        for agent, (first, *others) in nouns_by_agent.items()
    )
    names = item_list(lines, _WORKING_LIMIT, " · ")
    return f"At work: {names}" if names else ""


def _positions(debate: Debate) -> str:
    lines = (
        f"• *{name_of(debate, position.turn.agent)}*: "
        f"{short_answer(debate.setup.agent(position.turn.agent), position, _POSITION_LIMIT)}"
        for position in format_of(debate).positions(debate).values()
    )
    text = item_list(lines, _POSITIONS_LIMIT)
    return f"*Positions so far*\n{text}" if text else ""


def _end_parts(debate: Debate) -> Iterator[str]:
    if debate.verdict:
        decision = decision_in_short(debate, debate.verdict, _DECISION_LIMIT)
        sure = confidence(debate.verdict)
        yield f"*The agents' verdict*\n{decision}\n*Confidence*: {sure}"
        yield finding_counts(debate)
        yield rounds_summary(debate)
        cross_check = cross_check_line(debate, debate.verdict, short=True)
        if cross_check and cross_check.is_warning:
            yield line_text(debate, cross_check)
        yield single_answer(debate)
        yield team_decision(debate)
    if debate.tally:
        yield tally_line(debate, debate.tally)
        # A quiet debate without a verdict has no post with the ballot button.
        if debate.verdict or not debate.setup.quiet:
            yield team_count(debate)
    yield _summary(debate)
    if debate.status is Status.FAILED:
        yield f"*Why*\n{gist(debate.failure, _DECISION_LIMIT) or 'No reason was recorded.'}"
        yield _earlier(debate)
        yield _positions(debate)


def _earlier(debate: Debate) -> str:
    """The verdict from before a person asked to debate anyway, until there is a new one."""
    earlier = None if debate.verdict else debate.earlier_verdict
    if earlier is None:
        return ""
    decision = decision_in_short(debate, earlier, _DECISION_LIMIT)
    return f"*The verdict before it was debated*\n{decision}"


def _foot(debate: Debate, links: Mapping[str, str]) -> Iterator[str]:
    setup = debate.setup
    if setup.quiet:
        yield decided_earlier(debate, _EARLIER_LIMIT)
    rounds, is_running = rounds_words(debate), debate.status is Status.RUNNING
    yield f"Asked by {person(setup.asked_by)} · {literal(setup.format)}, {rounds} · `{debate.id}`"
    yield f"{'So far' if is_running else 'Total'}: cost {spent_words(debate.usage)}"
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
        anyway = debate_anyway_buttons(debate)
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
