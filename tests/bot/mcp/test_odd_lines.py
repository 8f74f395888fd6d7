"""Lines on standard input that are no message are mended or answered."""

import mcp_types as types
import pytest
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from bot.mcp.stdio import read_line

CALL = '{{"jsonrpc": "2.0", "id": {}, "method": "tools/call", "params": {}}}'


def fault_of(line: str) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


@pytest.mark.parametrize(
    ("line", "params"),
    [
        ("\ufeff" + CALL.format(1, '{"a": "b"}'), {"a": "b"}),
        (CALL.format(1, r'{"a": "x\ud83d", "b": "\ud83d\ude00"}'), {"a": "x\ufffd", "b": "😀"}),
        (CALL.format(1, r'{"a": "\ude00", "b": "\\ud83d"}'), {"a": "\ufffd", "b": r"\ud83d"}),
    ],
)
def test_a_line_with_a_mark_or_half_a_pair_is_read(line: str, params: dict[str, str]) -> None:
    read = read_line(fault_of(line))
    assert isinstance(read, SessionMessage)
    assert isinstance(read.message, types.JSONRPCRequest)
    assert read.message.params == params


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (CALL.format(7, "[" * 5000 + "]" * 5000), 7, types.PARSE_ERROR),
        (CALL.format('"seven"', "{"), "seven", types.PARSE_ERROR),
        (f"[{CALL.format(7, '{}')}]", None, types.INVALID_REQUEST),
        ("no protocol", None, types.PARSE_ERROR),
    ],
)
def test_a_line_that_is_no_message_is_answered(
    line: str, number: int | str | None, code: int
) -> None:
    answer = read_line(fault_of(line))
    assert isinstance(answer, types.JSONRPCError)
    assert (answer.id, answer.error.code) == (number, code)
