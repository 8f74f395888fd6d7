"""Shows in an open form what its debate would cost; a newer choice ends the older estimate."""

import asyncio
from dataclasses import dataclass, field

from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.log import logger
from bot.slack.access import UNREACHED
from bot.views.start_form import (
    FormDraft,
    FormOptions,
    FormTarget,
    start_form,
)
from core.errors import MootError
from core.estimate import estimate_words
from core.models import Person, Place
from core.opening import DebateRequest
from core.use_cases.start import StartDebate

_log = logger(__name__)

PENDING = "Estimating cost and time …"
#: Stands for a question nobody has typed yet.
_USUAL_QUESTION = "What shall we do, and why? " * 8


@dataclass(frozen=True, kw_only=True)
class OpenStartForm:
    """A form to start a debate that somebody has open."""

    view_id: str
    draft: FormDraft
    target: FormTarget
    #: The channel that is meant; empty as long as none is chosen.
    place: Place
    by: Person


def form_options(start: StartDebate) -> FormOptions:
    """Return what a form lets people choose among."""
    settings = start.settings()
    usual = settings.mixed_models or (settings.agent_model,)
    return FormOptions(
        usual_models=", ".join(one.model for one in usual),
        agents=start.agents(),
        models=start.models,
        playbooks={name: one.title for name, one in settings.playbooks.items()},
        casts=start.built_in().agents is None,
        most_cost=settings.limits.most_debate_cost,
        agendas=settings.agendas,
        roles=settings.roles,
    )


@dataclass
class Estimates:
    """One estimate at a time for each open form."""

    start: StartDebate
    _under_way: dict[str, asyncio.Task[None]] = field(
        default_factory=dict[str, asyncio.Task[None]], init=False
    )

    def show(self, client: AsyncWebClient, opened: OpenStartForm) -> None:
        """Estimate in the background, then show it in the form."""
        older = self._under_way.get(opened.view_id)
        if older:
            older.cancel()
        task = asyncio.create_task(self._show(client, opened), name=f"estimate/{opened.view_id}")
        self._under_way[opened.view_id] = task
        task.add_done_callback(lambda done: self._forget(opened.view_id, done))

    async def close(self) -> None:
        """Drop all estimates."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _show(self, client: AsyncWebClient, opened: OpenStartForm) -> None:
        request = DebateRequest(
            question=opened.draft.question or _USUAL_QUESTION,
            context=opened.draft.whole_context,
            asked_by=opened.by,
            place=opened.place,
        )
        try:
            found = await self.start.estimate(request, opened.draft.choices)
            words = estimate_words(found)
        except MootError as error:
            words = f"No estimate: {error}"
        view = start_form(opened.draft, form_options(self.start), opened.target, words)
        try:
            await client.views_update(view_id=opened.view_id, view=dict(view))
        except (SlackClientError, *UNREACHED) as error:
            _log.info("estimate not shown", reason=type(error).__name__)  # the form was closed

    def _forget(self, view_id: str, done: asyncio.Task[None]) -> None:
        if self._under_way.get(view_id) is done:
            del self._under_way[view_id]
        if not done.cancelled() and (error := done.exception()):
            _log.error("estimate failed", reason=type(error).__name__, exc_info=error)
