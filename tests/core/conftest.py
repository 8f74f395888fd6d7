"""Runs tests marked `leaping` on an event loop with simulated time."""

import asyncio
from collections.abc import Callable, Mapping

import pytest

from tests.core.leaping_loop import LeapingLoop


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Choose a test's event loop."""
    if item.get_closest_marker("leaping"):
        return {"leaping": LeapingLoop}
    return {"usual": asyncio.new_event_loop}
