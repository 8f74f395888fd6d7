"""Reads a package's own module only when something in it is asked for."""

import ast
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from threading import Lock, RLock
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")

_one_at_a_time = Lock()


def late_or_whole(package: str, make: Callable[[], T]) -> T:
    """What `make` makes with a package read late; read whole where that fails.

    For a package of others', whose next version may be one that cannot be read late.

    Args:
        package: The name it is imported by.
        make: Imports it, or the package around it.

    Raises:
        Exception: Whatever `make` raises with the package read whole.
    """
    around = package.partition(".")[0]
    with _one_at_a_time:  # else another thread would have what is taken out here
        before = set(sys.modules)
        try:
            with read_late(package):
                return make()
        except Exception:  # noqa: BLE001 - a package that is half there may raise anything
            new = set(sys.modules) - before
            for name in [one for one in new if f"{one}.".startswith(f"{around}.")]:
                del sys.modules[name]
        return make()


@contextmanager
def read_late(package: str) -> Generator[None]:
    """Have a package, and packages below it, read no more of their `__init__` than is asked for.

    For a package whose `__init__` imports hundreds of modules, of which its callers want few: who
    imports one of those gets it alone. A name that `__init__` imports from one of those is taken
    from there; for any other name `__init__` is read, and what else it does is done then. What is
    loaded already stays as it is.

    Not for a package whose modules import such other names from its `__init__`, which imports
    them: whoever asks for such a module first gets an ImportError.

    Args:
        package: The name it is imported by.
    """

    class ReadsLate(MetaPathFinder):
        """Finds that package and what is below it, as far as these are packages."""

        def find_spec(
            self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
        ) -> ModuleSpec | None:
            """Look for a module, as Python asks each finder in turn."""
            if not f"{fullname}.".startswith(f"{package}."):
                return None
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is None or spec.loader is None or spec.submodule_search_locations is None:
                return None
            spec.loader = _LateLoader(spec.loader)
            return spec

    finder = ReadsLate()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _LateLoader(Loader):
    """Python's own loader, called when the first name is missing that needs it.

    Not `importlib.util.LazyLoader`: that one reads a package before any module in it.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        lock, has_begun, is_read = RLock(), False, False
        contents = _Contents(module, self._loader)

        def read(name: str) -> object:
            """Python asks a module's `__getattr__` for names that it lacks."""
            nonlocal has_begun, is_read
            # Without the lock: an import has its own, and may wait here for another thread's; and
            # who has the lock and reads the module may wait for this thread's.
            if not is_read and contents.take(name):
                return vars(module)[name]
            with lock:  # another thread may ask meanwhile; a half-read module asks itself
                if not has_begun:
                    has_begun, given = True, contents.given()
                    try:
                        self._loader.exec_module(module)
                        is_read = True
                    except BaseException:  # whoever asks next tries again, as with any import
                        has_begun, module.__dict__["__getattr__"] = False, read
                        raise
                    finally:
                        contents.known = dict(vars(module))
                        vars(module).update(given)
                if name in vars(module):
                    return vars(module)[name]
                own = vars(module)["__getattr__"]
                if own is read:
                    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
                return own(name)

        module.__dict__["__getattr__"] = read
        contents.known = dict(vars(module))
        if module.__spec__:
            module.__spec__.loader = module.__loader__ = self._loader


class _Contents:
    """What a package's `__init__` binds, by its source."""

    def __init__(self, module: ModuleType, loader: Loader) -> None:
        self._module, self._loader = module, loader
        #: What Python and the package itself have bound in it so far.
        self.known: Mapping[str, object] = {}

    def given(self) -> Mapping[str, object]:
        """What others have set in the package, which reading it must not undo."""
        unset = object()
        return {
            name: value
            for name, value in dict(vars(self._module)).items()
            if self.known.get(name, unset) is not value
            and sys.modules.get(f"{self._module.__name__}.{name}", unset) is not value
        }

    def take(self, name: str) -> bool:
        """Bind one name as `__init__` would; whether that can be done without the rest of it.

        It can if a single import at the top binds the name, from a module of the package, or if
        nothing binds it and it is such a module.
        """
        times, imports = self._bound
        # A star binds no name that begins so, as good as always.
        if name not in times and ("*" not in times or name.startswith("_")):
            source, own = name, ""
        elif name in imports and times[name] == 1:
            source, own = imports[name]
        else:
            return False
        full = f"{self._module.__name__}.{source}"
        try:
            if find_spec(full) is None:
                return False
            found = import_module(full)
        except ModuleNotFoundError:  # it needs what is not installed: the package may do without
            return False
        if own and not hasattr(found, own):  # it is being loaded just now, and waits for this
            return False
        value = getattr(found, own) if own else found
        vars(self._module)[name], self.known = value, {**self.known, name: value}
        return True

    @cached_property
    def _bound(self) -> tuple[Mapping[str, int], Mapping[str, tuple[str, str]]]:
        """How often each name is bound, anywhere in there, and what imports at the top bind.

        The latter by name: the module it is in, and its name there, or "" for the module itself.
        """
        package = self._module.__name__
        source = self._loader.get_source(package) if isinstance(self._loader, InspectLoader) else ""
        tree, times = ast.parse(source or ""), Counter[str]()
        for node in ast.walk(tree):
            match node:
                case ast.alias(name=name, asname=None):
                    times[name.partition(".")[0]] += 1
                case ast.alias(asname=str(name)):
                    times[name] += 1
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    times[name] += 1
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    times[name] += 1
                case ast.ClassDef(name=name):
                    times[name] += 1
                case _:
                    pass
        imports = {
            alias.asname or alias.name: (one.module, alias.name) if one.module else (alias.name, "")
            for one in tree.body
            if isinstance(one, ast.ImportFrom) and one.level == 1
            for alias in one.names
        }
        return times, imports
