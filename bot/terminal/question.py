"""The question: typed, or in a file; exactly one of the two."""

from pathlib import Path

from core.errors import BadInput, MootError

_HOW = 'Type it (moot debate "Kafka or SQS?") or name a file (--problem-file FILE).'


def read_question(typed: str | None, file: Path | None) -> str:
    """The question.

    Raises:
        BadInput: Both or neither is given, it is blank, or the file is no readable text file.
        MootError: The file is there and cannot be read.
    """
    if typed is not None and file is not None:
        raise BadInput(f"The question is here twice, typed and as a file. {_HOW}")
    if typed is None and file is None:
        raise BadInput(f"There is no question. {_HOW}")
    text = typed if file is None else _from_file(file)
    if not text or not text.strip():
        what = "The question" if file is None else f"The problem file {file}"
        raise BadInput(f"{what} is blank. {_HOW}")
    return text


def _from_file(file: Path) -> str:
    if file.is_dir():
        raise BadInput(f"The problem file {file} is a folder.")
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"There is no problem file {file}.") from None
    except UnicodeDecodeError:
        raise BadInput(f"The problem file {file} is not UTF-8 text.") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise MootError(f"The problem file {file} cannot be read: {reason}.") from None
