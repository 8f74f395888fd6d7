"""Where memory comes from, tried in processes of their own: it holds for a whole process."""

import os
import platform
import subprocess
import sys

import pytest

from tests.frame.files import ROOT

#: Has four threads hold memory at the same time; prints how many heaps it came from.
HEAPS = """
import ctypes, sys, tempfile, threading
from bot.gc_settings import share_memory

if sys.argv[1] == "shared":
    share_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
all_hold = threading.Barrier(5)

def hold():
    libc.malloc(10_000)
    all_hold.wait()

threads = [threading.Thread(target=hold) for _ in range(4)]
for one in threads:
    one.start()
all_hold.wait()
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as told:
    file = ctypes.c_void_p(libc.fopen(told.name.encode(), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)
    print(told.read().count(b"<heap nr="))
"""


def heaps(how: str, **chosen: str) -> int:
    names = os.environ.keys() - {"MALLOC_ARENA_MAX", "GLIBC_TUNABLES"}  # noqa: TID251 - for the child
    kept = {name: os.environ[name] for name in names}  # noqa: TID251 - for the child
    done = subprocess.run(  # noqa: S603 - our own words
        [sys.executable, "-c", HEAPS, how],
        cwd=ROOT,
        env=kept | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others have no heaps")


def test_all_threads_take_memory_from_one_heap() -> None:
    assert heaps("shared") == 1
    assert heaps("as usual") > 1


@pytest.mark.parametrize(
    "chosen", [{"MALLOC_ARENA_MAX": "3"}, {"GLIBC_TUNABLES": "glibc.malloc.arena_max=3"}]
)
def test_how_many_heaps_an_operator_chose_stays(chosen: dict[str, str]) -> None:
    assert heaps("shared", **chosen) == 3
