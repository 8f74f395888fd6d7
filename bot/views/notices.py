"""Short messages: lines for events, failures, and questions about unclear commands (pure)."""

import json
from collections.abc import Mapping, Sequence

from bot.slack.blocks import Block, actions, button
from bot.slack.ids import ActionId
from bot.slack.mrkdwn import gist, link, literal, plain, split
from bot.views.decision import team_decision
from bot.views.lists import DebateRow
from bot.views.message import (
    PAGE_LIMIT,
    MessageView,
    confidence,
    context,
    header,
    item_list,
    line_text,
    moment,
    name_of,
    notice,
    person,
    sections,
    turn_noun,
)
from bot.views.verdict import shortcomings
from core.debate.contributions import Failure, Note
from core.debate.evidence import Source, SourceKind
from core.debate.people import Person, Stop
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.debate.vote import Gate, Guidance, NextStep, OptionEdit
from core.figures import day, money, quantity
from core.redaction import redact
from core.rules.ending import SENTENCES, EndingReason
from core.rules.gate import gate_words
from core.rules.sources import label_of
from core.transcript.cited import decision_line, decision_or_question
from core.transcript.people import recalled_title
from core.transcript.vote import edit_lines
from core.use_cases.choices import NO_CAP, ChannelChoices
from core.use_cases.share import PageLink

_REASON_LIMIT = 600
_TITLE_LIMIT = 120
_QUESTION_LIMIT = 300
_DECISION_LIMIT = 1500
_STEPS: Mapping[NextStep, str] = {
    NextStep.GO_ON: "the facilitator lets the debate go on",
    NextStep.ASK: "the facilitator asks people first",
    NextStep.VOTE: "the facilitator calls the vote",
}
_LIMIT = 300
_MOST_REASONS = 3
_TO_DEBATE = (
    "To have it debated, ask it as a choice: `/debate A or B?`, or type `/debate` for a form."
)
_FROM = "From the decisions of channels that you are in, found by their"
_BY_WORDS = f"{_FROM} words; no model was asked. Only you can see this."
_BY_MEANING = (
    f"{_FROM} words and meaning: your question and the decisions go to the embeddings model that "
    "is set up for this; no other model was asked. Only you can see this."
)


def usage(commands: Mapping[str, str], retention_days: int | None = None) -> MessageView:
    intro = (
        "Agents with different points of view debate your question in a thread and write a verdict."
    )
    lines = (f"• `{literal(command)}` – {literal(text)}" for command, text in commands.items())
    text = f"{intro}\n{item_list(lines, PAGE_LIMIT - 200)}"
    remark = "Only you can see this."
    if retention_days is not None:
        days = quantity(retention_days, "day")
        remark += f" Moot deletes what it keeps of a debate {days} after its end; the thread stays."
    blocks = [header("How to use Moot"), *sections(text), *context(remark)]
    return MessageView(text=f"How to use Moot\n{text}", blocks=blocks)


def question_posts(debate: Debate) -> list[MessageView]:
    """Return posts with the full question and its context, if the board has no room for them."""
    setup = debate.setup
    text = f"*The question in full*\n{plain(setup.question)}"
    if setup.context:
        text += f"\n\n*Context*\n{plain(setup.context)}"
    return [notice(part) for part in split(text, PAGE_LIMIT)]


def decided_earlier(debate: Debate, most: int = PAGE_LIMIT - 200) -> str:
    """Return the team's earlier decisions with their citation labels; empty if there are none.

    At most `most` characters, without the heading.
    """
    lines = list[str]()
    for register in debate.sources:
        if register.reference.kind is not SourceKind.REGISTER or not register.references:
            continue
        for number, reference in enumerate(debate.references, start=1):
            if reference in register.references:
                address = reference.address
                title = link(address, reference.title) if address else plain(reference.title)
                lines.append(f"• {label_of(debate.references, number)}: {title}")
        lines += [f"• {gist(warning, _TITLE_LIMIT)}" for warning in register.warnings]
    text = item_list(lines, most)
    heading = ":books: Decided here earlier, for agents to cite where it bears on this:"
    return f"{heading}\n{text}" if text else ""


def continuation_line(board: str, question: str, asker: Person) -> MessageView:
    """Return the line that links to a debate which continues from this verdict.

    `board` is the address of that debate's board.
    """
    return notice(
        f":arrow_right: {person(asker)} has it debated on: "
        f"<{board}|“{gist(question, _TITLE_LIMIT)}”>"
    )


def source_line(source: Source) -> MessageView:
    """Return the line with a source's citation label; for an unreadable source, the reason."""
    title, address = gist(source.reference.title, _TITLE_LIMIT), source.reference.address
    if source.fault:
        return notice(
            f":warning: {person(source.reference.by)}, I could not read {title}:"
            f" {gist(source.fault, _REASON_LIMIT)}. The agents do without it."
        )
    linked_title = f"{title} ({link(address, 'open')})" if address else title
    remarks = "".join(f"; {gist(text, _REASON_LIMIT).rstrip('.')}" for text in source.warnings)
    length = quantity(len(source.text), "character")
    return notice(
        f":page_facing_up: Agents quote {linked_title} as `{source.id}`: {length} read{remarks}."
    )


def settings_line(changed_by: Person, settings: ChannelChoices) -> MessageView:
    choices, cap = settings.choices, settings.choices.debate_cost
    stewards = ", ".join(person(Person(id=steward)) for steward in settings.stewards)
    minutes = quantity(choices.wait_minutes, "minute") if choices.wait_minutes else ""
    words: Mapping[str, object] = {
        f"playbook {literal(choices.playbook or '')}": choices.playbook,
        f"format {choices.format}": choices.format,
        quantity(choices.rounds or 0, "round"): choices.rounds,
        f"agents {literal(', '.join(choices.agents or ()))}": choices.agents,
        "agents ask people first": choices.clarify,
        "agents begin at once": choices.clarify is False,
        f"{minutes} to answer": minutes,
        f"models {literal(choices.models or '')}": choices.models,
        "sealed ballots": choices.sealed,
        "a single answer beside each debate": choices.shadow,
        "no single answer": choices.shadow is False,
        "no cost cap": cap == NO_CAP,
        f"at most {money(cap) if cap and cap != NO_CAP else ''} a debate": cap and cap != NO_CAP,
        f"steered also by {stewards}": stewards,
        "boards stay pinned at the end": settings.keep_pinned,
        "every turn is a post of its own": settings.every_turn,
        "no pages of debates": settings.no_pages,
        "open to people of other organisations": settings.open_to_others,
        "only people of this workspace start debates and answer": settings.open_to_others is False,
    }
    texts = [text for text, is_set in words.items() if is_set]
    summary = item_list(texts, 1000, "; ") or "as Moot is set up"
    return notice(
        f":gear: {person(changed_by)} changed what holds for debates in this channel: {summary}. "
        "`/debate settings` shows all of it."
    )


def turn_failure_line(debate: Debate, failure: Failure) -> MessageView:
    agent, noun = name_of(debate, failure.turn.agent), turn_noun(debate, failure.turn)
    reason = gist(failure.reason, _REASON_LIMIT).rstrip(".")
    place = f"round {failure.turn.round}"
    return notice(
        f":warning: *{agent}* failed to give its {noun} ({place}): {reason}. It is missing."
    )


def added_note(note: Note) -> MessageView:
    """Return the post for a note from a form, which nobody has seen as a message."""
    head = f":memo: {person(note.author)} adds for the agents:"
    texts = split(plain(note.text), PAGE_LIMIT - len(head) - 1)
    return notice(f"{head}\n{texts[0] if texts else ''}")


def stop_line(stop: Stop) -> MessageView:
    text = SENTENCES[EndingReason.STOPPED].format(who=person(stop.by))
    return notice(
        f":octagonal_sign: {text} The judge writes a partial decision from what is there."
    )


def vote_call_line(caller: Person) -> MessageView:
    text = SENTENCES[EndingReason.VOTE_CALLED].format(who=person(caller))
    return notice(f":ballot_box_with_ballot: {text} The agents rank the positions as they are now.")


def pause_line(paused_by: Person) -> MessageView:
    return notice(
        f":double_vertical_bar: {person(paused_by)} paused the debate. "
        "Turns in hand are dropped and taken again when it goes on."
    )


def resume_line(resumed_by: Person) -> MessageView:
    return notice(f":arrow_forward: {person(resumed_by)} let the debate go on.")


def option_change_line(debate: Debate, edit: OptionEdit) -> MessageView:
    lines = zip(debate.option_edits, edit_lines(debate), strict=True)
    text = next(line_text(debate, line) for item, line in lines if item.origin == edit.origin)
    return notice(f":pencil2: {text} The agents go by it from their next turn on.")


def rounds_end_line(debate: Debate, gate: Gate) -> MessageView:
    """Return the line with the reason why no round, or no further round, is held."""
    return notice(f":scales: {gist(gate_words(debate, gate), _REASON_LIMIT)}")


def debate_request_line(wanted_by: Person, *, had_verdict: bool) -> MessageView:
    again = " The verdict above counts no more; another one follows." if had_verdict else ""
    return notice(f":speech_balloon: {person(wanted_by)} wants it debated anyway.{again}")


def guidance_line(debate: Debate, guidance: Guidance) -> MessageView:
    if guidance.gate and guidance.gate.ends_rounds:
        return rounds_end_line(debate, guidance.gate)
    text = f":compass: *After round {guidance.turn.round}*: {_STEPS[guidance.next_step]}."
    if guidance.focus.strip():
        text += f"\nFocus: {gist(guidance.focus, _REASON_LIMIT)}"
    return notice(text)


def outage(reason: str) -> MessageView:
    return notice(
        f":electric_plug: *No model can be reached*: {gist(reason, _REASON_LIMIT)} "
        "The debate waits and goes on by itself when one answers; no time of it runs."
    )


def outage_end() -> MessageView:
    return notice(":electric_plug: The debate goes on.")


def out_of_time(*, of_outage: bool = False) -> MessageView:
    if of_outage:
        sentence = SENTENCES[EndingReason.NO_MODEL_ANSWERS]
        return notice(f":hourglass: {sentence} What is there is all there is.")
    sentence = SENTENCES[EndingReason.OUT_OF_TIME]
    return notice(f":hourglass: {sentence} What is there goes to the vote and the judge.")


def failure_line(debate: Debate, reason: str, board: str = "") -> MessageView:
    """Return the line that a debate ended without a decision, with the reason and who stopped it.

    `board` is the address of the board, for lines in another thread.
    """
    stop = SENTENCES[EndingReason.STOPPED].format(who=person(debate.stop.by)) if debate.stop else ""
    link_to_board = f"<{board}|The board>" if board else ""
    text = " ".join(filter(None, (stop, gist(reason, _REASON_LIMIT), link_to_board)))
    return notice(f":x: *The debate ended without a decision.* {text}")


def board_link_line(debate: Debate, board: str) -> MessageView:
    """Return the link to the board, for the thread in which a person asked for the debate."""
    return notice(
        f":eyes: {person(debate.setup.asked_by)}, the agents debate this now: <{board}|the board>. "
        "What they should know, write in its thread. The verdict comes back here."
    )


def verdict_in_short(debate: Debate, verdict: Verdict, address: str) -> MessageView:
    """Return the short verdict for the same thread; `address` is that of the verdict's post."""
    lines = (
        f"*The agents' verdict* on “{gist(debate.setup.question, _QUESTION_LIMIT)}”",
        shortcomings(debate, verdict),
        gist(decision_line(verdict), _DECISION_LIMIT),
        f"*Confidence*: {confidence(verdict)} · <{address}|Read it all, and decide>",
    )
    return notice("\n".join(filter(None, lines)))


def page_link(debate: Debate, link: PageLink) -> MessageView:
    """Return the link to a page, with a warning about who can read it."""
    return notice(
        f":page_facing_up: A page of debate `{debate.id}`: <{link.address}>\n"
        f":warning: Whoever has this link can read everything that people and agents wrote in the "
        f"debate, without Slack and without being in <#{debate.setup.place.channel}>, until "
        f"{moment(link.until)}. Only you see this; `/debate export {debate.id} page off` ends all "
        "links to this debate."
    )


def page_withdrawal(debate_id: str, *, had_page: bool) -> MessageView:
    if not had_page:
        return notice(f"Debate `{debate_id}` has no page; nothing was changed.")
    return notice(f"No link to a page of debate `{debate_id}` leads anywhere any more.")


def decision_matches(
    rows: Sequence[DebateRow], *, sure: bool, by_meaning: bool = False
) -> MessageView:
    """Return the decisions that match a question, the best match first.

    Args:
        rows: The matching debates.
        sure: The first match is probably the decision that the person meant.
        by_meaning: An embeddings model helped to find them.
    """
    if not rows:
        return notice(f"I know of no decision on this in your channels. {_TO_DEBATE}")
    head = f"*{recalled_title(rows[0].debate)}*" if sure else "*The closest decisions that I know*"
    parts = list[str]()
    for row in rows[:1] if sure else rows:
        verdict = row.debate.verdict
        reasons = [f"• {gist(reason, _LIMIT)}" for reason in (verdict.reasons if verdict else ())]
        lines = [f"*{_line(row)}*", f"> {gist(row.debate.setup.question, _LIMIT)}"]
        parts.append("\n".join([*lines, *reasons[:_MOST_REASONS], team_decision(row.debate)]))
    if sure and len(rows) > 1:
        parts.append("*See also*\n" + "\n".join(f"• {_line(row)}" for row in rows[1:]))
    text = "\n\n".join([head, *parts, f"No debate was started. {_TO_DEBATE}"])
    foot = context(_BY_MEANING if by_meaning else _BY_WORDS)
    return notice(text, *foot)


def _line(row: DebateRow) -> str:
    date = day(row.debate.ended_at or row.debate.now)
    text = gist(decision_or_question(row.debate), _LIMIT)
    date_link = f"<{row.address}|{date}>" if row.address else date
    return f"{text} ({date_link})"


def confirm_command(
    text: str, form: str, command: str, *, origin: str, ts: str = "", thread: str = ""
) -> MessageView:
    """Ask whether the person meant a question to debate or a command.

    Args:
        text: What the person typed.
        form: The command's usage, with arguments in capitals.
        command: The command as it can be run; empty if an argument is missing.
        origin: Id of the command or message. It starts at most one debate.
        ts: The message's timestamp, if the text was a message.
        thread: Timestamp of the root of the message's thread.
    """
    # Slack takes no commands in threads.
    missing = "" if command or thread else f" The command is `/debate {form}`."
    command = command or ("list" if "ID" in form.split() else "help")
    return _with_buttons(
        f"“{_in_line(text)}”: nothing was started yet. What did you mean?{missing}",
        _debate_button(text, origin=origin, ts=ts, thread=thread),
        button(f"/debate {command}", ActionId.RUN_COMMAND, command, label=f"Run /debate {command}"),
    )


def preview(text: str, *, origin: str, ts: str) -> MessageView:
    """Ask whether to debate a mention without a question mark or a choice."""
    return _with_buttons(
        f"Shall the agents debate this? Nothing was started yet.\n> {_in_line(text)}",
        _debate_button(text, origin=origin, ts=ts, thread=""),
        _open_form(),
    )


def confirm_duplicate(
    notice_text: str, question: str, *, origin: str, ts: str = "", thread: str = ""
) -> MessageView:
    """Return `notice_text`, which names a running debate on the question, and a button for another.

    `question` includes options of the command, and has at most `MOST_COMMAND_CHARS` characters.
    """
    return _with_buttons(
        notice_text,
        _debate_button(question, origin=origin, ts=ts, thread=thread, is_duplicate=True),
    )


def greeting() -> MessageView:
    text = ":wave: Mention me with a question, and agents with different points of view debate it."
    return _with_buttons(text, _open_form())


def _debate_button(
    text: str, *, origin: str, ts: str, thread: str, is_duplicate: bool = False
) -> Block:
    # Redacted because the queue stores ephemeral messages, too.
    values = {"text": redact(text), "origin": origin, "ts": ts, "thread": thread}
    return button(
        "Debate it all the same" if is_duplicate else "Debate it",
        ActionId.DEBATE_IT,
        json.dumps({**values, **({"anew": "yes"} if is_duplicate else {})}, ensure_ascii=False),
        style="" if is_duplicate else "primary",
        label="Start a debate on what you wrote",
    )


def _with_buttons(text: str, *buttons: Block) -> MessageView:
    return notice(text, actions("asked_back", *buttons))


def _open_form() -> Block:
    return button("Open the form", ActionId.START, label="Open the form to start a debate")


def _in_line(text: str) -> str:
    return plain(" ".join(redact(text).split()))
