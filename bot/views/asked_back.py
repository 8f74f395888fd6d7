"""What asks a person whether typed text is a question or a command, with buttons (pure)."""

import json

from bot.slack.blocks import Block, actions, button
from bot.slack.ids import ActionId, BlockId
from bot.slack.mrkdwn import plain
from bot.views.message import MessageView, sections
from core.redaction import redact


def asked_back(
    typed: str, form: str, command: str, *, origin: str, ts: str = "", thread: str = ""
) -> MessageView:
    """Ask whether a text is to be debated, or which command was meant.

    `form` has arguments in capitals; `command` is the same as it can be run, empty where an
    argument is missing. `origin`, the command or message, starts one debate, however often the
    button is pressed; `ts` and `thread` are those of the message, if it was one.
    """
    # Slack takes no commands in threads.
    missing = "" if command or thread else f" The command is `/debate {form}`."
    command = command or ("list" if "ID" in form.split() else "help")
    return _with_buttons(
        f"“{_shown(typed)}”: nothing was started yet. What did you mean?{missing}",
        _debate_it(typed, origin=origin, ts=ts, thread=thread),
        button(f"/debate {command}", ActionId.RUN_COMMAND, command, label=f"Run /debate {command}"),
    )


def preview(text: str, *, origin: str, ts: str) -> MessageView:
    """Ask whether to debate a mention that has no question mark and names no choice."""
    return _with_buttons(
        f"Shall the agents debate this? Nothing was started yet.\n> {_shown(text)}",
        _debate_it(text, origin=origin, ts=ts, thread=""),
        _open_form(),
    )


def asked_already(
    words: str, typed: str, *, origin: str, ts: str = "", thread: str = ""
) -> MessageView:
    """Say in `words` that a debate runs on the same question, and offer one of its own.

    `typed` has its options, and at most `MOST_ORDER_CHARS` characters.
    """
    return _with_buttons(words, _debate_it(typed, origin=origin, ts=ts, thread=thread, anew=True))


def greeting() -> MessageView:
    text = ":wave: Mention me with a question, and agents with different points of view debate it."
    return _with_buttons(text, _open_form())


def _debate_it(text: str, *, origin: str, ts: str, thread: str, anew: bool = False) -> Block:
    # What only one person sees is stored as well: no secret may be in it.
    values = {"text": redact(text), "origin": origin, "ts": ts, "thread": thread}
    return button(
        "Debate it all the same" if anew else "Debate it",
        ActionId.DEBATE_IT,
        json.dumps({**values, **({"anew": "yes"} if anew else {})}, ensure_ascii=False),
        style="" if anew else "primary",
        label="Start a debate on what you wrote",
    )


def _open_form() -> Block:
    return button("Open the form", ActionId.START, label="Open the form to start a debate")


def _with_buttons(text: str, *buttons: Block) -> MessageView:
    blocks = [*sections(text), actions(BlockId.ASKED_BACK, *buttons)]
    return MessageView(text=text, blocks=blocks)


def _shown(text: str) -> str:
    return plain(" ".join(redact(text).split()))
