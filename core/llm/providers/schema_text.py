"""The form of a structured answer in words, for vendors without strict schemas (pure)."""

import json

from core.request import AnswerForm


def in_words(answer: AnswerForm) -> str:
    """What to add to a prompt so that the model answers in this form."""
    schema = json.dumps(answer.schema, ensure_ascii=False)
    return (
        "\n\nReply with one JSON object and nothing else. It must fit this JSON Schema, with every"
        f" field filled:\n{schema}"
    )
