"""Replies in the protocol of each vendor, as a stream or in one piece."""

import json
from itertools import pairwise
from typing import Any

from tests.vendors.script import Fault, ReplyEnding, Say

#: A JSON object to send.
Body = dict[str, Any]

#: Finish reasons by path: complete, length limit, refusal.
_ENDINGS = {
    "/v1/messages": ("end_turn", "max_tokens", "refusal"),
    "/v1/responses": ("completed", "incomplete", "completed"),
    "/v1/chat/completions": ("stop", "length", "content_filter"),
    "/api/chat": ("stop", "length", "stop"),
}
GARBAGE = "{this is no JSON"
_OVERLOADED = {"type": "overloaded_error", "code": "overloaded_error", "message": "Overloaded"}


def frames(path: str, say: Say, model: str) -> list[bytes]:
    """The events of a streamed reply in the protocol of this path.

    Raises:
        KeyError: No protocol has this path.
    """
    end = _ENDINGS[path][say.ending.value]
    if path == "/api/chat":
        bodies = [_ollama(say, model, piece, None) for piece in _cut(say)]
        lines = [*bodies, _ollama(say, model, "", end)]
        return [json.dumps(body).encode() + b"\n" for body in lines]
    if path == "/v1/chat/completions":
        return [*map(_event, _chunks(say, model, end)), b"data: [DONE]\n\n"]
    events = _message_events if path == "/v1/messages" else _response_events
    return [_event(body, name=str(body["type"])) for body in events(say, model, end)]


def whole(path: str, say: Say, model: str) -> bytes:
    """A reply in one piece, in the protocol of this path.

    Raises:
        KeyError: No protocol has this path.
    """
    end = None if say.fault is Fault.EARLY else _ENDINGS[path][say.ending.value]
    if say.fault is Fault.GARBAGE:
        return GARBAGE.encode()
    if say.fault is Fault.NOT_UTF8:
        return b'{"content": "\xff\xfe\xc3("}'
    if say.fault is Fault.OVERLOAD:
        error = "overloaded" if path == "/api/chat" else _OVERLOADED
        body: Body = {"type": "error", "error": error}
    elif path == "/api/chat":
        body = _ollama(say, model, say.text, end)
    elif path == "/v1/chat/completions":
        refused = say.ending is ReplyEnding.REFUSAL
        said = {"refusal": "I will not."} if refused else {"content": say.text}
        choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": end}
        usage = _usage(say, "prompt", "completion")
        body = {"object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
    elif path == "/v1/messages":
        thinking = [{"type": "thinking", "thinking": say.thinking}] if say.thinking else []
        content = [*thinking, {"type": "text", "text": say.text}]
        body = _message(say, model) | {"content": content, "stop_reason": end}
        body["usage"] = say.counts and body["usage"] | _written(say)
    else:
        body = _response(say, model, end or "in_progress")
    return json.dumps(body).encode()


def broken_frame(path: str) -> bytes:
    """An unreadable event."""
    if path == "/api/chat":
        return f"{GARBAGE}\n".encode()
    return f"event: content_block_delta\ndata: {GARBAGE}\n\n".encode()


def overload_frame(path: str) -> bytes:
    """An event within a reply that reports an overload."""
    if path == "/api/chat":
        return json.dumps({"error": "overloaded"}).encode() + b"\n"
    return _event({"type": "error", "error": _OVERLOADED}, name="error")


def _cut(say: Say) -> list[str]:
    """The text in pieces of about the same length."""
    text, ends = say.text, [len(say.text) * n // say.pieces for n in range(say.pieces + 1)]
    return [text[first:last] for first, last in pairwise(ends)]


def _event(body: Body, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(body)}\n\n".encode()


def _message(say: Say, model: str) -> Body:
    """The beginning of a message of Anthropic's."""
    usage = say.counts and {
        "input_tokens": say.counts.input - say.counts.cached - say.counts.written,
        "cache_read_input_tokens": say.counts.cached,
        "cache_creation_input_tokens": say.counts.written,
        "output_tokens": 1,
    }
    return {"type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}


def _written(say: Say) -> Body:
    """The usage at the end of a message of Anthropic's."""
    counts = say.counts
    details = counts and {"thinking_tokens": counts.reasoning}
    return {"output_tokens": counts.output, "output_tokens_details": details} if counts else {}


def _message_events(say: Say, model: str, end: str) -> list[Body]:
    bodies: list[Body] = [{"type": "message_start", "message": _message(say, model)}]
    blocks = [("thinking", [say.thinking])] if say.thinking else []
    for index, (kind, pieces) in enumerate([*blocks, ("text", _cut(say))]):
        block = {"type": kind, kind: ""}
        bodies.append({"type": "content_block_start", "index": index, "content_block": block})
        for piece in pieces:
            delta = {"type": f"{kind}_delta", kind: piece}
            bodies.append({"type": "content_block_delta", "index": index, "delta": delta})
        bodies.append({"type": "content_block_stop", "index": index})
    last = {"type": "message_delta", "delta": {"stop_reason": end}, "usage": _written(say) or None}
    return [*bodies, last, {"type": "message_stop"}]


def _response_events(say: Say, model: str, end: str) -> list[Body]:
    begun = {"type": "response.created", "response": _response(say, model, "in_progress")}
    deltas = [{"type": "response.output_text.delta", "delta": piece} for piece in _cut(say)]
    return [begun, *deltas, {"type": f"response.{end}", "response": _response(say, model, end)}]


def _response(say: Say, model: str, status: str) -> Body:
    """The response object: part of the first and last event, or a whole reply."""
    body: Body = {"object": "response", "model": model, "status": status}
    if status == "in_progress":
        return body | {"output": [], "usage": None}
    part: Body = {"type": "output_text", "text": say.text}
    if say.ending is ReplyEnding.REFUSAL:
        part = {"type": "refusal", "refusal": "I will not."}
    reasoning: list[Body] = [{"type": "reasoning", "summary": []}] if say.thinking else []
    cut = {"reason": "max_output_tokens"} if status == "incomplete" else None
    output = [*reasoning, {"type": "message", "role": "assistant", "content": [part]}]
    usage = _usage(say, "input", "output")
    return body | {"output": output, "incomplete_details": cut, "usage": usage}


def _chunks(say: Say, model: str, end: str) -> list[Body]:
    """The stream of the Chat Completions API."""
    deltas: list[Body] = [{"content": piece} for piece in _cut(say)]
    if say.ending is ReplyEnding.REFUSAL:
        deltas.append({"refusal": "I will not."})
    choices: list[Body] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": end})
    base = {"object": "chat.completion.chunk", "model": model}
    bodies: list[Body] = [base | {"choices": [choice], "usage": None} for choice in choices]
    return [*bodies, base | {"choices": [], "usage": _usage(say, "prompt", "completion")}]


def _usage(say: Say, read: str, written: str) -> Body | None:
    """The usage in one of OpenAI's protocols."""
    counts = say.counts
    return counts and {
        f"{read}_tokens": counts.input,
        f"{read}_tokens_details": {
            "cached_tokens": counts.cached,
            "cache_write_tokens": counts.written,
        },
        f"{written}_tokens": counts.output,
        f"{written}_tokens_details": {"reasoning_tokens": counts.reasoning},
        "cost": say.cost,
    }


def _ollama(say: Say, model: str, text: str, end: str | None) -> Body:
    """A line of a stream of Ollama, or a whole reply."""
    line: Body = {"model": model, "message": {"role": "assistant", "content": text}}
    line |= {"done": end is not None, "done_reason": end}
    if say.counts and end:
        line |= {"prompt_eval_count": say.counts.input, "eval_count": say.counts.output}
    return line
