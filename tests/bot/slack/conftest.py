"""Tests marked `leaping` run on a loop whose time leaps, as in tests/core."""

from tests.core.conftest import pytest_asyncio_loop_factories

__all__ = ["pytest_asyncio_loop_factories"]
