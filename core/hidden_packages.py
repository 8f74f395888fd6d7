"""Keeps out packages that other packages would load only because they are installed."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from threading import get_ident


@contextmanager
def hidden(package: str) -> Generator[None]:
    """Hide a package from what this thread imports in the block, as if it were not installed.

    For a package that another one imports if it can, and does without if it cannot. Where it is
    loaded already it stays; other threads, and this one after the block, find it.

    Args:
        package: The name it is imported by.
    """
    thread = get_ident()

    class Hides(MetaPathFinder):
        """Finds nothing, and for that one name lets no other finder look."""

        def find_spec(self, fullname: str, path: object, target: object = None) -> None:
            """Look for a module, as Python asks each finder in turn."""
            del path, target
            if fullname == package and get_ident() == thread:
                raise ModuleNotFoundError(f"{package} is hidden here.", name=package)

    finder = Hides()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
