"""The reading process: one file in, its text out, within limits of memory and time.

Started by `core.evidence.reading` for each file. It has no settings, no keys and no database. Its
input is a line of JSON and then the file; its output is a line of JSON. It may be killed at any
time.
"""

import contextlib
import json
import resource
import sys


def main() -> None:
    """Read the file on standard input; write what it holds to standard output."""
    order = json.loads(sys.stdin.buffer.readline())
    memory, seconds = int(order["memory"]), int(order["seconds"])
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # some systems do not know all of them
            resource.setrlimit(what, (most, most))
    try:
        answer = _answer(order, sys.stdin.buffer.read())
    except MemoryError:
        answer = {"fault": "reading it takes too much memory"}
    except RecursionError:
        answer = {"fault": "it is nested too deeply"}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


def _answer(order: dict[str, object], content: bytes) -> dict[str, object]:
    # Imported under the limits: the libraries are part of what is bounded.
    from core.evidence import formats  # noqa: PLC0415
    from core.evidence.extract import Unreadable  # noqa: PLC0415
    from core.figures import counted  # noqa: PLC0415

    left = most = int(str(order["characters"]))
    try:
        extract = formats.read(
            content, str(order["name"]), str(order["media_type"]), int(str(order["pages"]))
        )
        sections = list[dict[str, str]]()
        for section in extract.sections:
            text = section.text.strip("\n") if not section.counts else section.text.rstrip("\n")
            if len(text) > left:
                extract.warnings.append(f"only the first {counted(most, 'character')} were read")
            sections.append({"label": section.label, "text": text[:left], "counts": section.counts})
            left -= len(text)
            if left <= 0:
                break
    except Unreadable as error:
        return {"fault": str(error)}
    if not any(section["text"].strip() for section in sections):
        return {"fault": "; ".join(("it holds no text", *extract.warnings))}
    return {"kind": extract.kind, "sections": sections, "warnings": extract.warnings}


if __name__ == "__main__":
    main()
