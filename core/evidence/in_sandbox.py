"""The sandbox's own process: one piece of work, one line of JSON in and one out, within limits.

Started by `core.evidence.sandbox`. It has no settings, no database, and of our keys only what its
work is handed. Its input is a line of JSON and then bytes. It may be killed at any time.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from importlib import import_module

#: Work → the module whose function `answer` does it.
_WORKS = {"file": "core.evidence.formats", "tool": "core.evidence.tool_call"}


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    work = import_module(_WORKS[order["work"]])
    memory, seconds = int(order["memory"]), int(order["cpu"])
    try:
        answer = work.answer(order, content, lambda: _limit(memory, seconds))
    except MemoryError:
        answer = {"fault": "it takes too much memory"}
    except RecursionError:
        answer = {"fault": "it is nested too deeply"}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    # A thread may wait for ever for somebody who answers nothing; a library may fail at its end.
    os._exit(0)


def _limit(memory: int, seconds: int) -> None:
    """Bound what this process, and whatever it starts from now on, may take."""
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems do not know all of them
            resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    main()
