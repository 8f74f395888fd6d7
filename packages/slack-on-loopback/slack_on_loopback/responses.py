"""Answers to commands and clicks, visible to the person only: acknowledgements, response URLs.

Source: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
"""

from slack_on_loopback import posting
from slack_on_loopback.blocks import block_problems, with_ids
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, copy, objects, present, text_at
from slack_on_loopback.methods.chat import apply_changes, by_app
from slack_on_loopback.rules import cut_text
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.triggers import ResponseUrl


def respond(runtime: Runtime, url: ResponseUrl, body: Json) -> None:
    """Apply an answer: show a message to the person, or replace the clicked message."""
    blocks = objects(body.get("blocks"))
    if problems := block_problems(body.get("blocks") or [], "message"):
        raise SlackRefusal("invalid_blocks", problems)
    if not has_message(body):
        raise SlackRefusal("no_text")
    if body.get("response_type") == "in_channel":
        raise SlackRefusal("invalid_response_type")
    text = cut_text(text_at(body, "text"))[0]
    content = {"text": text, "blocks": with_ids(blocks, runtime.state.new_id("b"))}
    if body.get("replace_original") and url.source_ts:
        place = (url.source_ts, url.user)
        own = (item for item in runtime.ephemeral if (item["ts"], item["viewer"]) == place)
        if (original := next(own, None)) is None:
            raise SlackRefusal("message_not_found")
        apply_changes(original, content)
        changed = {"type": "message_changed", "message": copy(original)}
        runtime.feed.tell_user(url.user, changed)
        runtime.notify_change()
        return
    channel = runtime.state.channels[url.channel]
    message = {**by_app(runtime), **present(text=text, blocks=content["blocks"] or None)}
    if thread_ts := text_at(body, "thread_ts"):
        message["thread_ts"] = posting.thread_root(channel, thread_ts)["ts"]
    posting.post_ephemeral(runtime, channel, message, url.user)


def has_message(body: Json) -> bool:
    """Whether an acknowledgement contains a message."""
    return bool(body.get("text") or body.get("blocks"))
