"""The entry point of `moot`, which prepares the process before it loads the command line."""

import os
import signal
import sys

#: The exit code that shells use for a program ended by Ctrl-C.
_INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it.

    Ctrl-C ends the process at once and silently until a command's work begins. Closed standard
    streams are opened on the null device: otherwise a database file could get their number.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard error
        pass
    os.close(number)
    from bot.cli import main as command_line  # noqa: PLC0415 - after the above

    try:
        command_line()
    except KeyboardInterrupt:  # no command was running
        sys.exit(_INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
