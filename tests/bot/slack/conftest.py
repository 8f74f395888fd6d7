"""Tests marked `leaping` run on an event loop with simulated time, as in tests/core."""

from tests.core.conftest import pytest_asyncio_loop_factories

__all__ = ["pytest_asyncio_loop_factories"]
