"""The process of the sandbox: does one piece of work within limits.

`core.evidence.sandbox` starts it. It has no settings, no database and only the keys in its input,
which is a line of JSON and then bytes. Its output is a line of JSON. It may be killed at any time.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from importlib import import_module

#: The module whose function `answer` does the work, by name of the work.
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
    # Threads may wait forever for a server, and libraries may fail at exit.
    os._exit(0)


def _limit(memory: int, seconds: int) -> None:
    """Limit the resources of this process and of its later child processes."""
    for resource_kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems lack some of these limits
            resource.setrlimit(resource_kind, (most, most))


if __name__ == "__main__":
    main()
