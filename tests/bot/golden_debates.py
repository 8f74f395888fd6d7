"""Whole debates of 0.x on disk: how they are read, shown, and their turns taken once more.

A folder of `tests/golden/debates` holds a debate's log (`log.json`), what models replied on each
turn (`replies.json`), and what is made from both: texts, the thread, the prompts.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from bot.presenter.sink import LivingPosts, Presenter
from bot.queue.rows import DebateProgress, NewPost, PostRow, PostState
from core.acts.take import Turns
from core.debate.contributions import FindingStatus, ReviewFinding
from core.debate.log import Event, RecordedEvent, apply, event_from_json
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import (
    ContributionMade,
    GatePassed,
    OptionsMerged,
    SummaryMade,
    VerdictReached,
)
from core.debate.verdict import VerdictSource
from core.errors import CallFailed, DebateUnknown, RequestRejected
from core.llm.call import ModelCalls
from core.llm.prompt_text import prompt_text
from core.request import ModelRequest
from core.rules.options import NONE_OF_THESE
from core.testing import ManualClock, ScriptedProvider
from core.transcript.record import record_json

FOLDER = Path(__file__).parents[1] / "golden" / "debates"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
#: The words of a provider that rejects a request.
REJECTED = "The scripted provider rejects this request."
#: Fields that tell what a call took and cost.
_OF_CALLS = frozenset({"call", "usage", "wasted"})
#: What 0.x put before a summary, and what ends one that was cut.
_REMINDER, _CUT = re.compile(r"\AKeep in mind: .*?\. (?=\[)"), " […]"
#: Ends the key under which the newest state of a living post is shown, and its method.
_EDIT, _EDITED = "/edit", "update"
#: Characters from which on a repeated paragraph or block is written only where it comes first.
_WORTH_NAMING = 60


def stored_log(name: str) -> Sequence[RecordedEvent]:
    """A debate's log, read as the store reads it."""
    return log_in(FOLDER / name / "log.json")


def log_in(file: Path) -> Sequence[RecordedEvent]:
    stored = json.loads(file.read_text(encoding="utf-8"))
    return [
        RecordedEvent(
            debate_id=stored["debate_id"],
            seq=row["seq"],
            at=datetime.fromisoformat(row["at"]),
            event=event_from_json(json.dumps(row["event"])),
        )
        for row in stored["events"]
    ]


# --- what people read -----------------------------------------------------------------------------


class PostedOnce:
    """A post queue that keeps the first post of a key, and the newest state of a living one."""

    def __init__(self, log: Sequence[RecordedEvent]) -> None:
        self.posts: dict[str, NewPost] = {}
        self._log = log

    async def post(self, posts: Sequence[NewPost], progress: DebateProgress | None = None) -> None:
        assert progress
        for post in posts:
            if post.post and post.key not in self.posts:
                payload = await self._shown(post, progress.seq)
                self.posts[post.key] = replace(post, payload={**payload, **post.payload})
            self.posts.setdefault(post.key, post)
        for post in [post for post in self.posts.values() if post.post]:
            payload = await self._shown(post, progress.seq)
            key = post.key if post.key.endswith(_EDIT) else f"{post.key}{_EDIT}"
            first = self.posts[key.removesuffix(_EDIT)]
            newest = self.posts.get(key, first)
            if any(newest.payload.get(name) != value for name, value in payload.items()):
                self.posts.pop(key, None)
                self.posts[key] = replace(post, key=key, payload=payload, method=_EDITED)

    async def _shown(self, post: NewPost, seq: int) -> Mapping[str, Any]:
        """What a living post shows after an event."""
        log = [recorded for recorded in self._log if recorded.seq <= seq]
        return await shown(log, replace(post, key=post.key.removesuffix(_EDIT), payload={}))


async def shown(log: Sequence[RecordedEvent], post: NewPost, **facts: Any) -> Mapping[str, Any]:
    """What a living post shows at the end of a log."""
    values: dict[str, Any] = vars(post)
    row = PostRow(
        **values,
        id=1,
        state=PostState.SENT,
        owner=None,
        attempted_at=None,
        attempts=1,
        ts=None,
        error=None,
    )
    living = LivingPosts(LogInMemory(log), **facts)
    return (await living.render([row])).contents[post.key]


@dataclass(frozen=True)
class LogInMemory:
    """The log of one debate, as a store gives it."""

    log: Sequence[RecordedEvent]

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        assert {recorded.debate_id for recorded in self.log} <= {debate_id}
        if not self.log:
            raise DebateUnknown(f"There is no debate {debate_id}.")
        return [recorded for recorded in self.log if recorded.seq > after]


async def thread(log: Sequence[RecordedEvent]) -> str:
    """All that the presenter posts, in its order; of edits the last, where it comes last."""
    queue = PostedOnce(log)
    presenter = Presenter(queue, LogInMemory(log))
    debate: Debate | None = None
    for recorded in log:
        debate = apply(debate, recorded)
        await presenter.publish(debate, recorded)
    marks: set[str] = set()
    return "\n".join(_post(post, marks) for post in queue.posts.values())


def _post(post: NewPost, marks: set[str]) -> str:
    payload = dict(post.payload)
    lines = [f"## {post.key}", "", f"{post.method}, in {post.thread_key or 'the channel'}"]
    if post.urgent:
        lines[-1] += ", urgent"
    for file in payload.pop("files", ()):
        lines += [f"- file {file['filename']}"]  # what is in it stands beside this
    lines += ["", str(payload.pop("text", "")), ""]
    blocks: Sequence[Any] = payload.pop("blocks", ())
    lines += [_named(_compact(block), marks) for block in blocks]
    if payload:
        lines += [json.dumps(payload, ensure_ascii=False, sort_keys=True)]
    return "\n".join(lines) + "\n"


def short_record(log: Sequence[RecordedEvent]) -> str:
    """The record; of an event that reads there as in the log only the key."""
    record = json.loads(record_json(log))
    for row, recorded in zip(record["events"], log, strict=True):
        as_logged = {
            "seq": recorded.seq,
            "at": recorded.at.isoformat(),
            "key": recorded.event.key,
            "event": recorded.event.model_dump(mode="json"),
        }
        if row == as_logged:
            del row["seq"], row["at"], row["event"]
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


# --- what models are asked ------------------------------------------------------------------------


@dataclass
class Replies:
    """What models replied on one turn, in the order of the calls."""

    turn: Turn
    #: The `seq` of the last event that was in the log when the turn began.
    after: int
    #: None: the provider rejected the request.
    replies: list[str | None] = field(default_factory=list[str | None])


def stored_replies(name: str) -> Mapping[str, Replies]:
    """What models replied in a debate, by the key of the turn."""
    stored = json.loads((FOLDER / name / "replies.json").read_text(encoding="utf-8"))
    return {
        key: Replies(Turn.model_validate(item["turn"]), item["after"], item["replies"])
        for key, item in stored.items()
    }


async def take_again(
    before: Debate, replies: Replies
) -> tuple[Sequence[ModelRequest], Event | None]:
    """Take a turn of a debate with stored replies: what is asked, and what comes of it.

    Nothing (None) comes of it where models failed: the engine records that.
    """
    left = list(replies.replies)

    def reply(_: ModelRequest) -> str | RequestRejected:
        text = left.pop(0)
        return RequestRejected(REJECTED) if text is None else text

    provider = ScriptedProvider(reply)
    calls = ModelCalls({provider.name: provider}, ManualClock())
    try:
        outcome = await Turns(calls).take(before, replies.turn)
    except CallFailed:
        outcome = None
    return provider.requests, outcome


def prompts_text(by_turn: Mapping[str, Sequence[ModelRequest]]) -> str:
    """The requests of a debate's turns, in the order of their keys.

    A long paragraph is written where it comes first; from then on its mark stands for it.
    """
    lines: list[str] = []
    marks: set[str] = set()
    for key in sorted(by_turn):
        for request in by_turn[key]:
            form = request.answer.name if request.answer else "none"
            conditions = (
                f"{request.act} by {request.role} of {request.model}; most tokens "
                f"{request.max_output_tokens}, effort {request.effort}, temperature "
                f"{request.temperature}, form {form}"
            )
            lines += [f"# {key}", "", conditions, ""]
            schema = _compact(request.answer.schema) if request.answer else ""
            for text in (request.system, *prompt_text(request).split("\n\n"), schema):
                lines += [_named(text, marks), ""]
    return "\n".join(lines)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _named(paragraph: str, marks: set[str]) -> str:
    if len(paragraph) < _WORTH_NAMING:
        return paragraph
    mark = hashlib.sha256(paragraph.encode()).hexdigest()[:8]
    if mark in marks:
        return f"[as in {mark}]"
    marks.add(mark)
    return f"[{mark}]\n{paragraph}"


def without_calls(event: Event) -> object:
    """An event's fields but for what a call took and cost."""
    return _stripped(event.model_dump(mode="json"))


def as_made_now(stored: Event, fresh: Event) -> Event:
    """The stored event with what is made on purpose in another way than in 0.x.

    A speech has an answer and points of its own. A choice has an option that says no to all others.
    How sure all are is told with what each gave, and the confidence is computed from that; notes
    above a verdict tell what failed, and nothing of how the vote came out. A summary does not begin
    with the figures that 0.x put back; they took room at its end: the one made now goes on where
    the stored one is cut. A finding is resolved only where a changed text shows it. A decision
    holds no marks of Markdown; without a judge it holds no words of an unreadable reply.
    """
    match stored, fresh:
        case ContributionMade(contribution=before), ContributionMade(contribution=now):
            changes: dict[str, object] = {"answer": now.answer, "points": now.points}
            if before.turn.act is Act.SECOND_LOOK:
                changes["findings"] = tuple(map(_answered, before.findings, now.findings))
                changes["text"] = before.text.replace(", resolved**", ", answered**")
            return stored.model_copy(update={"contribution": before.model_copy(update=changes)})
        case OptionsMerged(options=before), OptionsMerged(options=now):
            added = now.items[len(before.items) :]
            assert {option.name for option in added} <= {NONE_OF_THESE}
            options = before.model_copy(update={"items": (*before.items, *added)})
            return stored.model_copy(update={"options": options})
        case GatePassed(gate=before), GatePassed(gate=now):
            changes = {name: getattr(now, name) for name in ("option", "lowest", "highest")}
            return stored.model_copy(update={"gate": before.model_copy(update=changes)})
        case VerdictReached(verdict=before), VerdictReached(verdict=now):
            changes = {name: getattr(now, name) for name in ("confidence", "rests_on", "warnings")}
            changes["decision"] = before.decision.replace("**", "")
            if before.source is VerdictSource.WINNER:
                changes["sections"] = ()
            return stored.model_copy(update={"verdict": before.model_copy(update=changes)})
        case SummaryMade(summary=before), SummaryMade(summary=now):
            text = _REMINDER.sub("", before.text)
            if text == before.text or not now.text.startswith(text.removesuffix(_CUT)):
                return stored
            cut = {"text": now.text, "after_chars": now.after_chars}
            return stored.model_copy(update={"summary": before.model_copy(update=cut)})
        case _:
            return stored


def _answered(stored: ReviewFinding, fresh: ReviewFinding) -> ReviewFinding:
    """The stored finding as answered where no changed text was handed in."""
    is_answered = (stored.status, fresh.status) == (FindingStatus.RESOLVED, FindingStatus.ANSWERED)
    return stored.model_copy(update={"status": fresh.status}) if is_answered else stored


def _stripped(value: object) -> object:
    if isinstance(value, dict):
        fields = cast("Mapping[str, object]", value)
        return {name: _stripped(fields[name]) for name in fields if name not in _OF_CALLS}
    items = cast("Sequence[object]", value)
    return [_stripped(item) for item in items] if isinstance(value, list) else value
