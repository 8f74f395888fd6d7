"""Packages whose own module is read when a name in it is missing, each in a new process."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.frame.files import ROOT

#: The files of a package with packages in it; each says when it is read.
FILES = {
    "shelf/__init__.py": "print('shelf')\nfrom shelf.books import BOOK as BEST, lost\n",
    "shelf/books/__init__.py": "print('books')\nfrom shelf.books.novel import BOOK\n"
    "def __getattr__(name):\n    if name == 'lost': return 'found'\n"
    "    raise AttributeError(name)\n",
    "shelf/books/novel.py": "print('novel')\nBOOK = 'a novel'\n",
    "shelf/books/poems.py": "print('poems')\nfrom shelf import BEST\nPOEM = f'not {BEST}'\n",
    # One that imports from what is below it, and does more than that.
    "chest/__init__.py": "print('chest')\nfrom .drawer import SPOON as LADLE\n"
    "from .drawer import KNIFE, fork\nfrom . import lid\nKNIFE = 'a blunt knife'\n"
    "from .lid import *\nif True:\n    from .drawer import CUP\n",
    "chest/lid.py": "print('lid')\nfrom chest import LADLE\nHINGE = f'for {LADLE}'\n",
    "chest/drawer/__init__.py": "print('drawer')\nfrom .spoon import SPOON\n"
    "from .fork import FORK as fork\nKNIFE = CUP = 'a drawer'\n",
    "chest/drawer/spoon.py": "print('spoon')\nSPOON = 'a spoon'\n",
    "chest/drawer/fork.py": "print('fork')\nFORK = 'a fork'\n",
    "chest/drawer/tray.py": "print('tray')\n",
    "chest/_lock.py": "print('lock')\n",
    "shelves.py": "print('shelves')\n",
    # Modules that import from their package, which imports them.
    "ring/__init__.py": "print('ring')\nfrom ring.gems.ruby import RUBY\n",
    "ring/gems/__init__.py": "from ring.gems.gold import GOLD\nfrom ring.gems.ruby import RUBY\n",
    "ring/gems/gold.py": "GOLD = 'gold'\n",
    "ring/gems/ruby.py": "from ring.gems import GOLD\nRUBY = f'a ruby in {GOLD}'\n",
    # One with a module that needs another package.
    "mill/__init__.py": "from .wheel import WHEEL\nGRAIN = 'rye'\n",
    "mill/wheel.py": "WHEEL = 'turns'\n",
    "mill/steam.py": "import not_installed\n",
    # Two threads meet in it: one reads the package, the other a module of it.
    "meet.py": "from threading import Event\npackage, module = Event(), Event()\n",
    "pair/__init__.py": "import meet\nmeet.package.set()\nfrom .left import LEFT\n"
    "from . import right\nBOTH = 'both'\n",
    "pair/left.py": "import meet\nmeet.module.set()\nassert meet.package.wait(20)\n"
    "from pair import right\nLEFT = right.RIGHT\n",
    "pair/right.py": "RIGHT = 'right'\n",
}


def printed(folder: Path, program: str) -> list[str]:
    """What a program writes that reads these packages late."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    begin = f"import sys; sys.path[:0] = [{str(folder)!r}]"
    done = subprocess.run(  # noqa: S603 - our own program
        [
            sys.executable,
            "-c",
            f"{begin}\nfrom core.late_packages import late_or_whole, read_late\n{program}",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("import shelf", []),
        ("from shelf.books import novel", ["novel"]),
        ("import shelf.books.novel", ["novel"]),
        ("from shelf.books.novel import BOOK; print(BOOK)", ["novel", "a novel"]),
        ("import shelf; print(shelf.BEST)", ["shelf", "books", "novel", "a novel"]),
        ("from shelf import lost; print(lost)", ["shelf", "books", "novel", "found"]),
        (
            "from shelf.books.poems import POEM; print(POEM)",
            ["poems", "shelf", "books", "novel", "not a novel"],
        ),
        ("import shelves", ["shelves"]),
        ("import chest; print(chest.LADLE)", ["spoon", "a spoon"]),
        ("from chest import fork, LADLE; print(fork)", ["fork", "spoon", "a fork"]),
        ("from chest import lid; print(lid.HINGE)", ["lid", "spoon", "for a spoon"]),
        ("from chest import _lock; print(_lock.__name__)", ["lock", "chest._lock"]),
        ("from chest.drawer import tray; print(tray.__name__)", ["tray", "chest.drawer.tray"]),
        # Bound twice, within another statement, by a star: only the whole of it says what it is.
        *(
            (f"import chest; print(chest.{name})", ["chest", "spoon", "drawer", "fork", "lid", is_])
            for name, is_ in (
                ("KNIFE", "a blunt knife"),
                ("CUP", "a drawer"),
                ("HINGE", "for a spoon"),
            )
        ),
        (
            "import chest; print(chest.LADLE); print(chest.CUP, chest.LADLE, chest.fork)",
            ["spoon", "a spoon", "chest", "drawer", "fork", "lid", "a drawer a spoon a fork"],
        ),
    ],
)
def test_a_package_is_read_when_a_name_of_its_own_is_asked_for(
    tmp_path: Path, asked: str, said: list[str]
) -> None:
    assert printed(tmp_path, f"with read_late('shelf'), read_late('chest'):\n    {asked}") == said


@pytest.mark.parametrize(
    "asked",
    [
        "import shelf; shelf.none",
        "import shelf.books; shelf.books.none",
        "import shelf; shelf.BEST; shelf.none",
    ],
)
def test_what_a_package_does_not_have_is_missing(tmp_path: Path, asked: str) -> None:
    program = (
        f"with read_late('shelf'):\n    try:\n        {asked}\n"
        "    except AttributeError as error:\n        print(error)"
    )
    assert "none" in printed(tmp_path, program)[-1]


def test_a_package_that_could_not_be_read_is_read_again(tmp_path: Path) -> None:
    program = """
from pathlib import Path
init = Path(sys.path[0], "shelf/__init__.py")
whole = init.read_text()
init.write_text("def __getattr__(name): return 'half'\\nraise OSError('the shelf fell')")
with read_late('shelf'):
    import shelf
for repaired in ("", "", whole):
    if repaired:
        init.write_text(repaired)
    try:
        print(shelf.BEST)
    except OSError as error:
        print(error)
"""
    said = ["the shelf fell", "the shelf fell", "shelf", "books", "novel", "a novel"]
    assert printed(tmp_path, program) == said


def test_after_the_block_a_package_loads_as_ever(tmp_path: Path) -> None:
    program = "with read_late('shelf'):\n    pass\nimport shelf.books.poems"
    assert printed(tmp_path, program)[:1] == ["shelf"]


def test_two_threads_that_ask_at_once_both_get_the_name(tmp_path: Path) -> None:
    program = """
from concurrent.futures import ThreadPoolExecutor
with read_late('shelf'):
    import shelf
with ThreadPoolExecutor(8) as threads:
    print(*set(threads.map(lambda _: shelf.BEST, range(64))))
"""
    assert printed(tmp_path, program) == ["shelf", "books", "novel", "a novel"]


def test_a_thread_that_loads_a_module_and_one_that_reads_its_package_both_go_on(
    tmp_path: Path,
) -> None:
    program = """
import meet
from threading import Thread
with read_late('pair'):
    import pair
def whole():
    assert meet.module.wait(20)
    said.append(pair.BOTH)
def part():
    import pair.left
    said.append(pair.left.LEFT)
said = []
threads = [Thread(target=whole, daemon=True), Thread(target=part, daemon=True)]
for one in threads:
    one.start()
for one in threads:
    one.join(20)
print(*sorted(said))
"""
    assert printed(tmp_path, program) == ["both right"]


def test_a_module_that_needs_what_is_not_installed_is_missing(tmp_path: Path) -> None:
    program = """
with read_late('mill'):
    import mill
print(hasattr(mill, 'steam'), mill.WHEEL)
try:
    from mill import steam
except ImportError as error:
    print(error.name)
"""
    assert printed(tmp_path, program) == ["False turns", "not_installed"]


def test_what_others_set_in_a_package_stays_when_it_is_read(tmp_path: Path) -> None:
    program = """
with read_late('chest'):
    import chest
print(chest.LADLE)
chest.LADLE, chest.HINGE = 'a new one', None
print(chest.CUP, chest.LADLE, chest.HINGE, chest.fork)
"""
    assert printed(tmp_path, program)[-1] == "a drawer a new one None a fork"


def test_a_package_that_fails_in_any_way_when_read_late_is_read_whole(tmp_path: Path) -> None:
    program = """
def make():
    import mill
    if 'mill.wheel' not in sys.modules:
        raise KeyError('too early')
    return mill.GRAIN
print(late_or_whole('mill', make))
"""
    assert printed(tmp_path, program) == ["rye"]


def test_a_package_that_cannot_be_read_late_is_read_whole(tmp_path: Path) -> None:
    program = """
def make():
    import ring
    return ring.RUBY
print(late_or_whole('ring.gems', make))
import ring
print(ring.gems is sys.modules['ring.gems'])
"""
    assert printed(tmp_path, program) == ["ring", "ring", "a ruby in gold", "True"]


def test_a_package_that_can_be_read_late_is_not_read_whole(tmp_path: Path) -> None:
    program = """
def make():
    from shelf.books.novel import BOOK
    return BOOK
print(late_or_whole('shelf', make))
"""
    assert printed(tmp_path, program) == ["novel", "a novel"]


def test_what_is_not_there_stays_an_error_and_what_was_loaded_stays_loaded(tmp_path: Path) -> None:
    program = """
import shelf.books
loaded = dict(sys.modules)
def make():
    import shelf.books.none
try:
    late_or_whole('shelf.books', make)
except ImportError as error:
    print(error.name, sys.modules == loaded)
"""
    assert printed(tmp_path, program)[-1] == "shelf.books.none True"
