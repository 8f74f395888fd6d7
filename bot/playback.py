"""The pace of a written example: whoever watches can pause it and take the next step."""

import asyncio

#: Seconds between two looks at a pause.
_TICK_SECONDS = 0.1


class Playback:
    """Time to read what an example has shown, as far as nobody pauses or skips it."""

    def __init__(self) -> None:
        self.is_paused = False
        self._skip = asyncio.Event()

    def press(self, name: str) -> None:
        match name:
            case "pause":
                self.is_paused = True
            case "go-on":
                self.is_paused = False
            case "step":
                self._skip.set()
            case _:
                pass

    async def read(self, seconds: float) -> None:
        """Wait so many seconds, and while it is paused."""
        remaining = seconds
        while remaining > 0 or self.is_paused:
            tick = min(remaining, _TICK_SECONDS) if remaining > 0 else _TICK_SECONDS
            try:
                async with asyncio.timeout(tick):
                    await self._skip.wait()
            except TimeoutError:
                remaining -= 0 if self.is_paused else tick
            else:
                break
        self._skip.clear()
