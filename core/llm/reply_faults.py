"""Replies that are none, cut off or an echo of the prompt, and what no database can hold (pure).

Servers of small models say "completed" where the token cap cut the text, and repeat the prompt.
"""

import re

from core.capabilities import Capability
from core.errors import ReplyCutOff
from core.llm.prices import output_reserve
from core.request import ModelRequest, PartKind
from core.usage import Usage

#: A whole reply that refuses. One that goes on ("… from the record: nobody asked") is an answer.
_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |really )?sorry|i apologi[sz]e|sorry|unfortunately|as an ai)?\b"
    r"[^.\n]{0,60}?\bi (?:can(?:no|['’])?t|am unable to|am not able to|won['’]t|will not)"
    r" (?:help|assist|comply|participate|take part|do that|fulfil that)"
    r"(?: (?:in |with )?(?:this|that|it|you|debates?|(?:this|that|your|the) request))?[.!]?",
    re.IGNORECASE,
)
#: Words at the end of a reply, and how often the same ones in a row are a loop.
_LOOKED_AT, _REPEATED = 240, 8
#: A fence around a whole reply, and a line for whoever asked.
_FENCED = re.compile(r"```(?:markdown|md|text)?[ ]*\n(.*)\n```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok)[!,.]? (?:here(?:['’]s| is| are)|below is)\b"
    r"[^\n.:]{0,80}:[ ]*\n+",
    re.IGNORECASE,
)
#: A shorter task may stand in an honest reply.
_LEAST_ECHOED = 80


def is_cut_off(request: ModelRequest, usage: Usage, limits: Capability) -> bool:
    return usage.output_tokens >= output_reserve(limits, request.max_output_tokens, request.effort)


def fault_in(request: ModelRequest, text: str, model: str) -> str:
    """What is wrong with a whole reply; empty if it is an answer."""
    if _is_echo(request, text):
        return f"{model} repeated its prompt instead of answering."
    if _REFUSAL.fullmatch(text.strip()):  # nothing but that the model will not answer
        return f"{model} refused to answer: {' '.join(text.split())}"
    if _repeats_itself(text):
        return f"{model} repeated the same words again and again."
    return ""


def _is_echo(request: ModelRequest, text: str) -> bool:
    marks = (f"<<<{request.delimiter}", f">>>{request.delimiter}")
    if request.delimiter and any(mark in text for mark in marks):
        return True
    word_lists = [part.text.split() for part in request.parts if part.kind is PartKind.TASK]
    # Whitespace may differ. Most replies lack some word of the task, and that is seen at once.
    tasks = [" ".join(words) for words in word_lists if all(word in text for word in words)]
    reply_text = " ".join(text.split()) if tasks else ""
    return any(len(task) >= _LEAST_ECHOED and task in reply_text for task in tasks)


def _repeats_itself(text: str) -> bool:
    """Whether the reply ends in the same words again and again, as a model that is caught does."""
    words = text.split()[-_LOOKED_AT:]
    return any(
        words[-length * _REPEATED :] == words[-length:] * _REPEATED
        for length in range(1, len(words) // _REPEATED + 1)
    )


def without_preamble(text: str) -> str:
    """A text without the fence around all of it, and without "Sure! Here is my proposal:"."""
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    if fenced and "```" not in fenced[1]:
        bare = fenced[1].strip()
    preamble = _PREAMBLE.match(bare)
    return (bare[preamble.end() :] if preamble else bare) or text


def cut_off(provider: str, request: ModelRequest, limits: Capability, usage: Usage) -> ReplyCutOff:
    """The error; with the setting to change where the model may reason and no record says so."""
    text = f"The reply of {provider} was cut off at its length limit."
    if any(limits.reasoning_tokens.values()) or limits.efforts:
        return ReplyCutOff(text, usage=usage)
    record = (
        f"{{provider: {provider}, match: {request.model!r}, "
        "reasoning_tokens: {low: 4096, medium: 12288, high: 32768}}"
    )
    hint = f"If {request.model} reasons before it answers, give it room: `models: [{record}]`."
    if request.max_output_tokens >= limits.output_tokens:
        hint += f" `output_tokens` there bounds a reply too; it is {limits.output_tokens}."
    return ReplyCutOff(f"{text} {hint}", usage=usage)


def writable(text: str) -> str:
    """The text as databases and JSON hold it: without NUL, and no half of a surrogate pair.

    A character beyond U+FFFF may come in halves, one at the end of a stream's chunk and one at the
    beginning of the next: they are joined. A half alone becomes U+FFFD.
    """
    pairs = text.replace("\0", "").encode("utf-16-le", "surrogatepass")
    return pairs.decode("utf-16-le", "replace")
