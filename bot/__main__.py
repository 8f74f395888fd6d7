"""Starts `moot`: what happens before its command line is loaded."""

import os
import signal
import sys

#: What a shell calls the end of a program by Ctrl-C.
_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it.

    Ctrl-C ends the process at once and without words until a command's work begins.
    Standard streams that are closed are opened on nothing: a database would else get their place.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard error
        pass
    os.close(number)
    from bot.cli import main as command_line  # noqa: PLC0415 - after the above

    try:
        command_line()
    except KeyboardInterrupt:  # where nothing was under way
        sys.exit(_INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
