"""A reply as each vendor's protocol sends it: in pieces, or in one."""

import json
from itertools import pairwise
from typing import Any

from tests.vendors.script import Fault, ReplyEnding, Say

_RESPONSES_ENDINGS = {ReplyEnding.WHOLE: "completed", ReplyEnding.LENGTH: "incomplete"}
_CHAT_ENDINGS = {
    ReplyEnding.WHOLE: "stop",
    ReplyEnding.LENGTH: "length",
    ReplyEnding.REFUSAL: "content_filter",
}
_MESSAGES_ENDINGS = {
    ReplyEnding.WHOLE: "end_turn",
    ReplyEnding.LENGTH: "max_tokens",
    ReplyEnding.REFUSAL: "refusal",
}
_OLLAMA_ENDINGS = {
    ReplyEnding.WHOLE: "stop",
    ReplyEnding.LENGTH: "length",
    ReplyEnding.REFUSAL: "stop",
}

#: A JSON object on its way.
Body = dict[str, Any]

GARBAGE = "{this is no JSON"
_OVERLOADED = {"type": "overloaded_error", "code": "overloaded_error", "message": "Overloaded"}


def frames(path: str, say: Say, model: str) -> list[bytes]:
    """The pieces of a reply, in order, for the protocol that is spoken at this path.

    Raises:
        KeyError: No vendor speaks anything there.
    """
    makers = {
        "/v1/messages": _messages,
        "/v1/responses": _responses,
        "/v1/chat/completions": _chat,
        "/api/chat": _ollama,
    }
    return makers[path](say, model)


def whole(path: str, say: Say, model: str) -> bytes:
    """A reply in one piece, or what takes its place, for the protocol that is spoken at this path.

    Raises:
        KeyError: No vendor speaks anything there.
    """
    makers = {
        "/v1/messages": _whole_message,
        "/v1/responses": _whole_response,
        "/v1/chat/completions": _whole_completion,
        "/api/chat": _whole_of_ollama,
    }
    match say.fault:
        case Fault.GARBAGE:
            return GARBAGE.encode()
        case Fault.NOT_UTF8:
            return b'{"content": "\xff\xfe\xc3("}'
        case Fault.OVERLOAD:
            error: object = "overloaded" if path == "/api/chat" else _OVERLOADED
            return json.dumps({"type": "error", "error": error}).encode()
        case _:
            return json.dumps(makers[path](say, model)).encode()


def broken_frame(path: str) -> bytes:
    """A piece that cannot be read."""
    if path == "/api/chat":
        return f"{GARBAGE}\n".encode()
    return f"event: content_block_delta\ndata: {GARBAGE}\n\n".encode()


def overload_frame(path: str) -> bytes:
    """A piece that says in the middle of a reply that the server is overloaded."""
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


def _messages(say: Say, model: str) -> list[bytes]:
    """Anthropic's Messages API."""
    counts = say.counts
    first = counts and {
        "input_tokens": counts.input - counts.cached - counts.written,
        "cache_read_input_tokens": counts.cached,
        "cache_creation_input_tokens": counts.written,
        "output_tokens": 1,
    }
    message: Body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": first}
    bodies: list[Body] = [{"type": "message_start", "message": message}]
    if say.thinking:
        delta = {"type": "thinking_delta", "thinking": say.thinking}
        bodies += _block({"type": "thinking", "thinking": "", "signature": ""}, [delta], 0)
    deltas = [{"type": "text_delta", "text": piece} for piece in _cut(say)]
    bodies += _block({"type": "text", "text": ""}, deltas, len(bodies))
    usage = counts and {
        "output_tokens": counts.output,
        "output_tokens_details": {"thinking_tokens": counts.reasoning},
    }
    stop = {"stop_reason": _MESSAGES_ENDINGS[say.ending], "stop_sequence": None}
    bodies += [{"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]
    return [_event(body, name=str(body["type"])) for body in bodies]


def _whole_message(say: Say, model: str) -> Body:
    """The same in one piece."""
    counts = say.counts
    thinking: Body = {"type": "thinking", "thinking": say.thinking, "signature": "c2ln"}
    early = say.fault is Fault.EARLY
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [*([thinking] if say.thinking else []), {"type": "text", "text": say.text}],
        "stop_reason": None if early else _MESSAGES_ENDINGS[say.ending],
        "stop_sequence": None,
        "usage": counts
        and {
            "input_tokens": counts.input - counts.cached - counts.written,
            "cache_read_input_tokens": counts.cached,
            "cache_creation_input_tokens": counts.written,
            "output_tokens": counts.output,
            "output_tokens_details": {"thinking_tokens": counts.reasoning},
        },
    }


def _block(start: Body, deltas: list[Body], index: int) -> list[Body]:
    """The events of one content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _responses(say: Say, model: str) -> list[bytes]:
    """OpenAI's Responses API."""
    bodies = [{"type": "response.created", "response": _response(say, model, status="in_progress")}]
    bodies += [
        {"type": "response.output_text.delta", "item_id": "m", "delta": piece}
        for piece in _cut(say)
    ]
    status = _RESPONSES_ENDINGS.get(say.ending, "completed")
    final = _response(say, model, status=status)
    bodies.append({"type": f"response.{status}", "response": final})
    numbered = [body | {"sequence_number": at} for at, body in enumerate(bodies)]
    return [_event(body, name=str(body["type"])) for body in numbered]


def _whole_response(say: Say, model: str) -> Body:
    """The same in one piece."""
    early = say.fault is Fault.EARLY
    status = "in_progress" if early else _RESPONSES_ENDINGS.get(say.ending, "completed")
    return _response(say, model, status=status)


def _response(say: Say, model: str, *, status: str) -> Body:
    """The object that the first and the last event carry, and that a reply in one piece is."""
    body: Body = {"id": "resp_1", "object": "response", "model": model, "status": status}
    if status == "in_progress":
        return body | {"output": [], "usage": None}
    part: Body = {"type": "output_text", "text": say.text, "annotations": []}
    if say.ending is ReplyEnding.REFUSAL:
        part = {"type": "refusal", "refusal": "I will not."}
    message: Body = {"type": "message", "id": "m", "role": "assistant", "content": [part]}
    reasoning: list[Body] = (
        [{"type": "reasoning", "id": "r", "summary": []}] if say.thinking else []
    )
    cut = {"reason": "max_output_tokens"} if say.ending is ReplyEnding.LENGTH else None
    usage = say.counts and {
        "input_tokens": say.counts.input,
        "input_tokens_details": {
            "cached_tokens": say.counts.cached,
            "cache_write_tokens": say.counts.written,
        },
        "output_tokens": say.counts.output,
        "output_tokens_details": {"reasoning_tokens": say.counts.reasoning},
        "total_tokens": say.counts.input + say.counts.output,
    }
    return body | {"output": [*reasoning, message], "incomplete_details": cut, "usage": usage}


def _chat(say: Say, model: str) -> list[bytes]:
    """The Chat Completions API."""
    base = {"id": "chatcmpl_1", "object": "chat.completion.chunk", "created": 1, "model": model}
    deltas: list[Body] = [{"content": piece} for piece in _cut(say)]
    if say.ending is ReplyEnding.REFUSAL:
        deltas.append({"refusal": "I will not."})
    choices: list[Body] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": _CHAT_ENDINGS[say.ending]})
    bodies: list[Body] = [base | {"choices": [choice], "usage": None} for choice in choices]
    bodies.append(base | {"choices": [], "usage": _chat_usage(say)})
    return [*(_event(body) for body in bodies), b"data: [DONE]\n\n"]


def _whole_completion(say: Say, model: str) -> Body:
    """The same in one piece."""
    refused = say.ending is ReplyEnding.REFUSAL
    message = {
        "role": "assistant",
        "content": None if refused else say.text,
        "refusal": "I will not." if refused else None,
    }
    ending = None if say.fault is Fault.EARLY else _CHAT_ENDINGS[say.ending]
    return {
        "id": "chatcmpl_1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": ending}],
        "usage": _chat_usage(say),
    }


def _chat_usage(say: Say) -> Body | None:
    """What a reply of the Chat Completions API has cost."""
    counts = say.counts
    return counts and {
        "prompt_tokens": counts.input,
        "prompt_tokens_details": {
            "cached_tokens": counts.cached,
            "cache_write_tokens": counts.written,
        },
        "completion_tokens": counts.output,
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.input + counts.output,
        "cost": say.cost,
    }


def _ollama(say: Say, model: str) -> list[bytes]:
    """Ollama's native API."""
    bodies: list[Body] = [
        {"model": model, "message": {"role": "assistant", "content": piece}, "done": False}
        for piece in _cut(say)
    ]
    bodies.append(_last_of_ollama(say, model, ""))
    return [json.dumps(body).encode() + b"\n" for body in bodies]


def _whole_of_ollama(say: Say, model: str) -> Body:
    """The same in one piece."""
    message = _last_of_ollama(say, model, say.text)
    return message | {"done": False, "done_reason": None} if say.fault is Fault.EARLY else message


def _last_of_ollama(say: Say, model: str, text: str) -> Body:
    """The last line of a stream, and the only one of a reply in one piece."""
    last: Body = {"model": model, "message": {"role": "assistant", "content": text}}
    last |= {"done": True, "done_reason": _OLLAMA_ENDINGS[say.ending]}
    if say.counts:
        last |= {"prompt_eval_count": say.counts.input, "eval_count": say.counts.output}
    return last
