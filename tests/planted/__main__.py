"""`python -m tests.planted [NAME …]`: which tests notice each planted fault.

Each fault is planted in a copy of the tree, and the tests of its area run there; the tree itself
is never changed. What fails runs again on the copy without the fault: a test that fails there, too,
kills nothing. Exit code 1 when a fault survives.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.planted.faults import ROOT, TABLE, Fault, faults, is_defined, table

#: Tests recorded for each fault: the first that fail.
MOST_KILLERS = 3
#: Also whole files that cannot be imported.
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::.+?)?)(?: - .*)?$", re.MULTILINE)
_COMPILED = ("core", "bot", "packages")


class Result(NamedTuple):
    """The result for a fault."""

    #: `killed`, `survives`, `no longer applies`, or `broken`: the tests could not run.
    state: str
    killers: Sequence[str] = ()
    #: Why it is broken.
    why: str = ""


class Copy:
    """A scratch copy of a tree in which faults are planted, one after the other."""

    def __init__(self, tree: Path, folder: Path, limit: float) -> None:
        self._tree, self._folder, self._limit = tree, folder, limit
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git of the PATH
            cwd=tree,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        for name in filter(None, listed):
            if (tree / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / name, folder / name)
        # By content, because time and size miss a change within the same second.
        self._python("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", *_COMPILED)
        files = self._python("-c", "import bot, core; print(core.__file__, bot.__file__)").stdout
        if not all(path.startswith(str(folder)) for path in files.split()):
            raise SystemExit(f"The tests would run on {files.strip()}, not on the copy.")

    def look(self, fault: Fault, first: Sequence[str] = ()) -> Result:
        """Plant a fault, run its tests until one file fails, and restore the copy.

        Args:
            fault: Which one.
            first: Ids of tests that are tried before the whole area: its known killers.
        """
        if not fault.applies(self._folder):
            return Result("no longer applies")
        result = Result("survives")
        # File by file: most faults are noticed by the first one.
        for tests in filter(None, (first, *([test] for test in fault.tests))):
            result = self._look(fault, tests)
            if result.state == "killed":
                break
        return result

    def _look(self, fault: Fault, tests: Sequence[str]) -> Result:
        """The same with these tests, without tests that also fail without the fault."""
        innocent: list[str] = []
        while True:
            try:
                fault.plant(self._folder)
                for file in fault.files:
                    compile((self._folder / file).read_text("utf-8"), file, "exec")
                failed, why = self._test([*tests, *(f"--deselect={test}" for test in innocent)])
            finally:
                for file in fault.files:
                    shutil.copy2(self._tree / file, self._folder / file)
            if not failed:
                return Result("broken", why=why) if why else Result("survives")
            anyway, why = self._test(failed)
            if why:
                return Result("broken", why=f"without the fault: {why}")
            if killers := [test for test in failed if test not in anyway]:
                return Result("killed", killers)
            innocent += failed

    def _test(self, tests: Sequence[str]) -> tuple[Sequence[str], str]:
        """Run tests; return what failed, no more than is recorded, and why they could not run.

        Tests that hang are returned as their files.
        """
        there = [test for test in tests if self._has(test)]
        if not there:
            return (), "none of its tests is there"
        command = ("-m", "pytest", "-q", "-rfE", "--tb=no", "--no-header", "-p", "no:cacheprovider")
        try:
            ran = self._python(*command, f"--maxfail={MOST_KILLERS}", *there)
        except subprocess.TimeoutExpired:
            return there, ""
        failed = list(dict.fromkeys(_FAILED.findall(ran.stdout)))
        is_broken = ran.returncode not in {0, 1}
        return failed, (ran.stdout + ran.stderr).strip()[-600:] if is_broken and not failed else ""

    def _has(self, test: str) -> bool:
        return test.startswith("-") or (self._folder / test.partition("::")[0]).exists()

    def _python(self, *words: str) -> subprocess.CompletedProcess[str]:
        paths = (self._folder, *(self._folder / "packages").glob("*"))
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}  # noqa: TID251
        return subprocess.run(  # noqa: S603 - this Python
            [sys.executable, *words],
            cwd=self._folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=self._limit,
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.planted", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which faults; default: all")
    parser.add_argument("--record", metavar="RUN", help="write the results under this name")
    parser.add_argument("--tree", type=Path, default=ROOT, help="where the code and tests are")
    parser.add_argument("--quick", action="store_true", help="try the recorded killers first")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300, help="seconds for one fault")
    return parser.parse_args()


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


def _commit(tree: Path) -> str:
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    process = subprocess.run(command, cwd=tree, capture_output=True, check=True)  # noqa: S603 - git
    return process.stdout.decode().strip()


def _record(run: str, tree: Path, name: str, result: Result) -> None:
    """Write one result at once, so that an interrupted run keeps it."""
    results = table()
    results.setdefault(run, {"faults": {}})["commit"] = _commit(tree)
    results[run]["faults"][name] = {"state": result.state, "killers": list(result.killers)}
    results[run]["faults"] = dict(sorted(results[run]["faults"].items()))
    TABLE.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _first(name: str, tree: Path) -> Sequence[str]:
    """Ids of the tests that killed a fault in the newest run that knows it, if they are there."""
    runs = [run["faults"].get(name, {}) for run in table().values()]
    killers = [run["killers"] for run in runs if run.get("killers")]
    return [test for test in killers[-1] if is_defined(test, tree)] if killers else []


def main() -> int:
    """Try the named faults; return the exit code."""
    options = _arguments()
    patches, tree = faults(), options.tree.resolve()
    if unknown := [name for name in options.names if name not in patches]:
        raise SystemExit(f"No such fault: {', '.join(unknown)}. They are in tests/planted/faults.")
    survivors, copies = 0, SimpleQueue[Copy]()

    def look(name: str) -> tuple[str, Result]:
        copy = copies.get()
        try:
            return name, copy.look(patches[name], _first(name, tree) if options.quick else ())
        finally:
            copies.put(copy)

    with (
        tempfile.TemporaryDirectory(prefix="planted-") as scratch,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        for number in range(options.jobs):
            copies.put(Copy(tree, Path(scratch) / str(number), options.limit))
        for name, result in pool.map(look, options.names or patches):
            _say(f"{result.state:17} {name}: {', '.join(result.killers) or result.why}")
            survivors += result.state in {"survives", "broken"}
            if options.record:
                _record(options.record, tree, name, result)
    _say(
        f"{len(options.names or patches)} faults, {survivors} of them survive or could not be tried"
    )
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
