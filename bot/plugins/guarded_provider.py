"""A plugin's provider, so that an error it was not written for fails one call, not a debate."""

from collections.abc import Callable
from typing import cast

from bot.log import logger
from core.errors import ProviderError
from core.ports import ModelProvider
from core.request import ModelReply, ModelRequest

_log = logger(__name__)


class GuardedProvider:
    """A `ModelProvider` that asks another one; whatever that raises becomes a `ProviderError`."""

    def __init__(self, name: str, provider: ModelProvider, package: str) -> None:
        """Keep who answers.

        Args:
            name: What settings call it.
            provider: Answers.
            package: Who brings it, for people.
        """
        self.name = name
        self._provider = provider
        self._package = package

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Answer as the other provider does.

        Raises:
            ProviderError: The other provider's own; or what it raised or returned is none of what
                a provider may.
        """
        try:
            reply = cast("object", await self._provider.complete(request, on_first_token))
        except ProviderError:
            raise
        except (Exception, SystemExit) as error:
            _log.exception("plugin failed", provider=self.name, package=self._package)
            what = type(error).__name__
            raise ProviderError(
                f"The provider {self.name} of the plugin {self._package} failed: {what}."
            ) from error
        if isinstance(reply, ModelReply):
            return reply
        raise ProviderError(
            f"The provider {self.name} of the plugin {self._package} returned no ModelReply."
        )

    async def close(self) -> None:
        """Close the other provider; what it raises is logged."""
        try:
            await self._provider.close()
        except (Exception, SystemExit):  # noqa: BLE001 - whatever another's code does
            _log.exception("plugin failed", provider=self.name, package=self._package)
