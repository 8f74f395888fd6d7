"""Long computations beside the event loop."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from core.evidence.ending import can_be_ended

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(compute: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function computes in a thread, which ends soon after the caller is cancelled.

    As soon as `check_ended` is called in it, that is.
    """
    with can_be_ended() as ended:
        try:
            return await asyncio.to_thread(compute, *args, **kwargs)
        finally:
            ended.set()
