"""Why a database file cannot be opened, in words."""

import errno
from pathlib import Path

import pytest

from core.store.lock import _why


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(number: int) -> None:
    text = _why(OSError(number, "no space"), Path("/data/moot.db"))

    assert text == "The disk with the database /data/moot.db is full. Free some space."
