"""What becomes of an event in Slack: posts with keys made from the event (pure).

The same event of the same log gives the same posts with the same keys, so presenting it twice
changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot.slack.ids import (
    address_of,
    asked_key,
    board_key,
    card_key,
    continued_key,
    edit_key,
    ended_key,
    event_key,
    headline_key,
    note_ts,
    outcome_key,
    pin_key,
    report_key,
    turn_key,
    unpin_key,
    vote_key,
)
from bot.store.posts import NewPost
from bot.views import asked_thread, notices
from bot.views.board import BoardAction, board, question_is_whole
from bot.views.clarifications import assumptions, card
from bot.views.decision import decided, reminder
from bot.views.follow_up import answered, asked
from bot.views.group_post import group_post
from bot.views.message import MessageView
from bot.views.outcome import outcome_post
from bot.views.turn import turn
from bot.views.turn_groups import is_shown
from bot.views.verdict import headline, verdict
from bot.views.vote import vote
from core.events import (
    ClarificationAnswered,
    ClarificationsOpened,
    ContributionMade,
    DebateContinued,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    DebateWanted,
    DecisionRecorded,
    FacilitatorDecided,
    FollowUpAnswered,
    FollowUpAsked,
    GatePassed,
    NoteAdded,
    OptionEdited,
    OutageBegan,
    OutageEnded,
    OutcomeAsked,
    OutcomeGiven,
    Recorded,
    ReminderDue,
    SourceRead,
    StopRequested,
    TimeRanOut,
    TurnFailed,
    VerdictReached,
    VoteCalled,
    VoteTallied,
)
from core.models import (
    Clarifications,
    Debate,
    DecisionKind,
    DecisionOutcome,
    NextStep,
    Person,
    SourceKind,
    Status,
    Tally,
    Verdict,
)
from core.rules.formats import review
from core.transcript.adr import adr
from core.transcript.found import task_list
from core.transcript.people import adr_status
from core.transcript.record import record_json
from core.transcript.report import report
from core.turns.acts import ACTS

#: Says "read and passed on" to the person who wrote a note.
_SEEN = "eyes"
#: Says "this is an answer" to the person who wrote one.
_TAKEN = "white_check_mark"


def posts_of_group(
    debate: Debate,
    group: Sequence[Recorded],
    enabled: Collection[BoardAction] = (),
    *,
    pages: bool = False,
) -> Sequence[NewPost]:
    """Return the posts that events which go out together lead to.

    Where the debate is quiet, what an agent said is one post, and what failed is said in it.

    Args:
        debate: The debate with these events in it.
        group: The events, in order.
        enabled: Buttons of the board.
        pages: Debates can be shared as pages.
    """
    events = [recorded.event for recorded in group]
    made = [event.contribution for event in events if isinstance(event, ContributionMade)]
    said = [one for one in made if is_shown(one)]
    if not debate.setup.quiet or not said:
        return [
            post for recorded in group for post in posts_of(debate, recorded, enabled, pages=pages)
        ]
    failures = [event.failure for event in events if isinstance(event, TurnFailed)]
    key = turn_key(debate.id, said[0].turn.key)
    return [_reply(debate, key, group_post(debate, said, failures).payload)]


def posts_of(  # noqa: C901, PLR0911, PLR0912, PLR0915 - one case per event
    debate: Debate,
    recorded: Recorded,
    enabled: Collection[BoardAction] = (),
    *,
    pages: bool = False,
) -> Sequence[NewPost]:
    """Return the posts an event leads to, in order; none for what only the board shows.

    Args:
        debate: The debate with this event in it.
        recorded: The event.
        enabled: Buttons of the board.
        pages: Debates can be shared as pages.
    """
    match recorded.event:
        case DebateStarted():
            # The board, its pin, and the question in full where the board has no room for it.
            root = replace(
                _post(debate, board_key(debate.id), "post", board(debate, enabled=enabled).payload),
                urgent=True,
            )
            pin = _post(debate, pin_key(debate.id), "pin", {"target_key": root.key})
            whole = () if question_is_whole(debate) else notices.question(debate)
            mention = _answer_to_mention(debate)
            told = _told_in_older(debate)
            return [root, *told, *mention, pin, *_in_thread(debate, recorded, whole)]
        case NoteAdded(note=note):
            # A reaction on the message that the note is; a note from a form is shown to everybody.
            seen = _reaction(debate, recorded, note.id.partition("/")[0], _SEEN)
            return seen or _in_thread(debate, recorded, [notices.added(note)])
        case VerdictReached(edition=edition) | VoteTallied(edition=edition) if (
            edition != debate.edition
        ):
            return ()  # written while somebody wanted the debate to go on
        case VerdictReached(verdict=reached, edition=edition):
            # The whole synthesis in the thread, then its short form, in the channel too.
            # In a quiet debate the short form has the whole, folded away.
            parts = [] if debate.setup.quiet else verdict(debate, reached, assumptions(debate))
            whole = _in_thread(debate, recorded, parts)
            short = {**headline(debate, reached, pages=pages).payload, "reply_broadcast": True}
            key = headline_key(debate.id, edition)
            brought = asked_thread.brought_back(debate, reached, address_of(key))
            which = "verdict" if edition == 1 else f"verdict/{edition}"
            back = _where_asked(debate, which, brought)
            return [*whole, _reply(debate, key, short), *back]
        case ContributionMade(contribution=made):
            # What an agent said; its key is made from its turn, so that others can link to it.
            # What was carried over has been read already.
            if not is_shown(made):
                return ()
            return [
                _reply(debate, turn_key(debate.id, made.turn.key, part), message.payload)
                for part, message in enumerate(turn(debate, made))
            ]
        case VoteTallied(tally=tally, edition=edition):
            # In a quiet debate it is a part of the verdict's post; until then the board has it.
            if debate.setup.quiet:
                return ()
            return [_reply(debate, vote_key(debate.id, edition), vote(debate, tally).payload)]
        case DebateWanted(by=by):
            # Said in the thread; the board is pinned again, where it had been unpinned.
            had_verdict = "verdict" in debate.times
            said = _in_thread(debate, recorded, [notices.wanted(by, had_verdict=had_verdict)])
            root = {"target_key": board_key(debate.id)}
            return [*said, _post(debate, pin_key(debate.id, debate.edition), "pin", root)]
        case ClarificationsOpened(clarifications=opened):
            # The questions, where there are any.
            key = card_key(debate.id, opened.turn.key)
            shown = _reply(debate, key, card(debate, opened).payload)
            return [replace(shown, urgent=True)] if opened.items else ()
        case ClarificationAnswered(answer=answer):
            # A reaction on the message that answers; nothing for an answer from a form.
            return _reaction(debate, recorded, answer.origin, _TAKEN)
        case TurnFailed(failure=failure) if ACTS[failure.turn.act].is_posted:
            messages = [notices.turn_failed(debate, failure)]
        case DebateFailed(reason=reason):
            board_link = address_of(board_key(debate.id))
            return [
                *_in_thread(debate, recorded, [notices.failed(reason)]),
                *_where_asked(debate, "verdict", asked_thread.failed(debate, board_link)),
            ]
        case FacilitatorDecided(guidance=guidance) if not (
            debate.setup.quiet and guidance.next_step is NextStep.GO_ON
        ):
            messages = [notices.guidance(debate, guidance)]
        case GatePassed(gate=gate) if gate.ends_rounds and not (
            debate.setup.quiet and gate.turn.round
        ):
            # That a round is held shows on the board; the verdict says when the last one was over.
            messages = [notices.rounds_ended(debate, gate)]
        case OptionEdited(edit=edit):
            messages = [notices.options_changed(debate, edit)]
        case DecisionRecorded(decision=made):
            messages = [decided(made)]
        case FollowUpAsked(question=question):
            seen = _reaction(debate, recorded, question.id, _SEEN)
            return seen or _in_thread(debate, recorded, [asked(question)])
        case FollowUpAnswered(answer=answer):
            question = debate.follow_ups[int(answer.turn.target or 1) - 1]
            messages = answered(debate, question, answer)
        case ReminderDue(decision=origin):
            found = [one for one in debate.decisions if one.origin == origin]
            messages = [reminder(debate, one) for one in found]
        case OutcomeAsked(decision=origin, number=number):
            key = outcome_key(debate.id, origin, number)
            return [_reply(debate, key, outcome_post(debate).payload)]
        case OutcomeGiven(outcome=given):
            # Where people were asked, that post shows it; else the first answer is a post itself.
            if debate.outcomes_asked.get(given.decision):
                return ()
            key = outcome_key(debate.id, given.decision, 0)
            return [_reply(debate, key, outcome_post(debate).payload)]
        case SourceRead(source=source) if source.reference.kind is SourceKind.REGISTER:
            # A line for all that was decided earlier; each of it is read without another one.
            messages = [notices.decided_earlier(debate, source)] if source.references else []
        case SourceRead(source=source):
            is_silent = source.reference.kind is SourceKind.DECISION or not source.text
            messages = [] if is_silent and not source.fault else [notices.source_read(source)]
        case DebateContinued():
            return ()  # said when the newer debate starts, right behind the board it links to
        case StopRequested(stop=stop):
            messages = [notices.stopped(stop, debate)]
        case VoteCalled(by=by):
            messages = [notices.vote_called(by)]
        case DebatePaused(by=by) if by.id:
            # Where nobody paused it, a backup was restored; the board says that.
            messages = [notices.paused(by)]
        case DebateResumed(by=by):
            messages = [notices.resumed(by)]
        case OutageBegan(reason=reason):
            messages = [notices.outage(reason)]
        case OutageEnded():
            messages = [notices.outage_over()]
        case TimeRanOut(of_outage=of_outage):
            messages = [notices.out_of_time(of_outage=of_outage)]
        case _:
            return ()
    return _in_thread(debate, recorded, messages)


def board_edit(
    debate: Debate, enabled: Collection[BoardAction] = (), remarks: Sequence[str] = ()
) -> NewPost:
    """Return the edit that brings the board up to date; only the newest one matters.

    After the end it has a key of its own, and so a place behind the posts that it links to.

    Args:
        debate: The debate.
        enabled: Buttons of the board.
        remarks: What people should know besides, as clean text.
    """
    links = dict[str, str]()
    if debate.status is not Status.RUNNING and debate.verdict:
        links["Verdict"] = address_of(headline_key(debate.id, debate.edition))
    if debate.status is not Status.RUNNING and debate.tally and not debate.setup.quiet:
        links["Vote"] = address_of(vote_key(debate.id, debate.edition))
    shown = board(debate, enabled=enabled, remarks=remarks, links=links).payload
    running = debate.status is Status.RUNNING
    key = edit_key(debate.id) if running else ended_key(debate.id, debate.edition)
    return _post(debate, key, "update", {**shown, "target_key": board_key(debate.id)})


def vote_edit(debate: Debate, tally: Tally) -> NewPost:
    """Return the edit that brings the vote's post up to date: people's ballots."""
    return _edit(debate, vote_key(debate.id, debate.edition), vote(debate, tally))


def headline_edit(debate: Debate, reached: Verdict, *, pages: bool = False) -> NewPost:
    """Return the edit that brings the verdict's short form up to date: the team's decision."""
    shown = headline(debate, reached, pages=pages)
    return _edit(debate, headline_key(debate.id, debate.edition), shown)


def outcome_edits(debate: Debate, given: DecisionOutcome) -> Sequence[NewPost]:
    """Return the edits that show how a decision turned out wherever people were asked."""
    of = next((one for one in debate.decisions if one.origin == given.decision), None)
    return _edits_about(debate, given.decision, outcome_post(debate, of))


def replaced_edits(debate: Debate) -> Sequence[NewPost]:
    """Return the edits that ask nothing more of decisions that the team has replaced."""
    return [
        edit
        for one in debate.decisions[:-1]
        if one.kind is DecisionKind.ACCEPT
        for edit in _edits_about(debate, one.origin, outcome_post(debate, one))
    ]


def _edits_about(debate: Debate, origin: str, shown: MessageView) -> Sequence[NewPost]:
    """Edits of every post about how one decision turned out."""
    numbers = list(range(1, debate.outcomes_asked.get(origin, 0) + 1))
    first = next((one for one in debate.outcomes if one.decision == origin), None)
    asked = OutcomeAsked.key_of(origin, 1)
    if first and (not numbers or debate.came_first(f"outcome/{first.origin}", asked)):
        numbers.insert(0, 0)  # said before anybody asked
    return [_edit(debate, outcome_key(debate.id, origin, one), shown) for one in numbers]


def superseded_edits(before: Debate, by: Person, *, has_vote_post: bool) -> Sequence[NewPost]:
    """Return the edits that say of the first vote and verdict that they count no more.

    Args:
        before: The debate right before it was wanted.
        by: Who wanted it.
        has_vote_post: The vote has a post of its own.
    """
    why = notices.superseded(by)
    edits = list[NewPost]()
    if before.tally and has_vote_post:
        shown = vote(before, before.tally, superseded=why)
        edits.append(_edit(before, vote_key(before.id, before.edition), shown))
    if before.verdict:
        shown = headline(before, before.verdict, superseded=why)
        edits.append(_edit(before, headline_key(before.id, before.edition), shown))
    return edits


def _edit(debate: Debate, root: str, shown: MessageView) -> NewPost:
    return _post(debate, f"{root}/edit", "update", {**shown.payload, "target_key": root})


def attachments(debate: Debate, log: Sequence[Recorded]) -> NewPost:
    """Return the files: the report, the decision record, the whole record."""
    files, words = _files(debate, log, f"moot-{debate.id}")
    words = f"{words}."
    payload = {"text": words, "files": files}
    thread = board_key(debate.id)
    key = report_key(debate.id, debate.edition)
    return _post(debate, key, "upload", payload, thread_key=thread)


def exported_files(debate: Debate, log: Sequence[Recorded]) -> NewPost:
    """Return the same files as a person wants them, once for each state of the debate."""
    files, words = _files(debate, log, f"moot-{debate.id}-{debate.seq}")
    words = f"{words}, as it stands."
    key = event_key(debate.id, debate.seq, "export")
    payload = {"text": words, "files": files}
    return _post(debate, key, "upload", payload, thread_key=board_key(debate.id))


def _files(
    debate: Debate, log: Sequence[Recorded], name: str
) -> tuple[Sequence[Mapping[str, str]], str]:
    """The files of a debate, and what they are; of a review also the list for a pull request."""
    files = [
        {"filename": f"{name}-report.md", "content": report(debate)},
        {"filename": f"{name}-decision.md", "content": adr(debate)},
        {"filename": f"{name}-record.json", "content": record_json(log)},
    ]
    if debate.setup.format != review.NAME:
        return files, "Report, decision record (ADR) and the whole record of this debate"
    files.append({"filename": f"{name}-review.md", "content": task_list(debate)})
    return files, (
        "Report, decision record (ADR), the whole record, and the findings as a task list for a "
        "pull request"
    )


def renewed_adr(debate: Debate, seq: int) -> NewPost:
    """Return the decision record with what the team made of it: who, when and why.

    Args:
        debate: The debate with the team's decision.
        seq: Number of the event that recorded it.
    """
    name = f"moot-{debate.id}-{seq}-decision.md"
    payload = {
        "text": f"The decision record (ADR), renewed: {adr_status(debate)}.",
        "files": [{"filename": name, "content": adr(debate)}],
    }
    key = event_key(debate.id, seq, "adr")
    return _post(debate, key, "upload", payload, thread_key=board_key(debate.id))


def unpinning(debate: Debate) -> NewPost:
    """Return the act of unpinning the board."""
    key = unpin_key(debate.id, debate.edition)
    return _post(debate, key, "unpin", {"target_key": board_key(debate.id)})


def card_edit(debate: Debate, asked: Clarifications) -> NewPost:
    """Return the edit that brings a card with questions up to date."""
    return _edit(debate, card_key(debate.id, asked.turn.key), card(debate, asked))


def _answer_to_mention(debate: Debate) -> Sequence[NewPost]:
    """The eyes on the message that asked, and the way to the board."""
    mention = debate.setup.mention
    if mention is None:
        return ()
    seen = {"name": _SEEN, "target_ts": mention.message}
    link = asked_thread.begun(debate, address_of(board_key(debate.id)))
    eyes = _post(debate, asked_key(debate.id, "eyes"), "react", seen)
    return [replace(eyes, urgent=True), *_where_asked(debate, "link", link, urgent=True)]


def _told_in_older(debate: Debate) -> Sequence[NewPost]:
    """The line in the thread of the debate that this one goes on from, which leads here.

    Two debates are presented side by side: only together with this board the line is sure to be
    sent after it, and so to have its address.
    """
    setup, older = debate.setup, debate.setup.continues
    if not older or older == debate.id:
        return ()
    link = address_of(board_key(debate.id))
    payload = notices.continued(link, setup.question, setup.asked_by).payload
    post = _post(
        debate, continued_key(older, debate.id), "post", payload, thread_key=board_key(older)
    )
    return [replace(post, debate_id=older)]


def _where_asked(
    debate: Debate, what: str, message: MessageView, *, urgent: bool = False
) -> Sequence[NewPost]:
    """A message for the thread of people's own that asked for the debate, if there is one."""
    mention = debate.setup.mention
    if mention is None:
        return ()
    payload = {**message.payload, "thread_ts": mention.thread}
    post = _post(debate, asked_key(debate.id, what), "post", payload)
    return [replace(post, urgent=urgent)]


def _reaction(debate: Debate, recorded: Recorded, message: str, name: str) -> Sequence[NewPost]:
    ts = note_ts(message)
    if ts is None:
        return ()
    key = event_key(debate.id, recorded.seq, name)
    return [_post(debate, key, "react", {"name": name, "target_ts": ts})]


def _in_thread(
    debate: Debate, recorded: Recorded, messages: Sequence[MessageView]
) -> Sequence[NewPost]:
    return [
        _reply(debate, event_key(debate.id, recorded.seq, part), message.payload)
        for part, message in enumerate(messages)
    ]


def _reply(debate: Debate, key: str, payload: dict[str, Any]) -> NewPost:
    return _post(debate, key, "post", payload, thread_key=board_key(debate.id))


def _post(
    debate: Debate, key: str, method: str, payload: dict[str, Any], *, thread_key: str | None = None
) -> NewPost:
    place = debate.setup.place
    return NewPost(
        key=key,
        workspace=place.workspace,
        channel=place.channel,
        method=method,
        payload=payload,
        debate_id=debate.id,
        thread_key=thread_key,
    )
