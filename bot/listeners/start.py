"""The form to start a debate and the form for a channel's settings, which share their menus."""

import itertools
import re
from contextlib import suppress
from decimal import Decimal
from typing import Any, Literal

from pydantic import ValidationError
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackClientError

from bot.listeners import answers
from bot.listeners.context import FieldError, ListenerContext, on_click, on_form, place
from bot.listeners.linked import link_bounds, start_with_links
from bot.log import logger
from bot.queue.rows import NewPost
from bot.slack.access import CONNECTION_ERRORS
from bot.slack.evidence import file_references, linked_references, thread_reference
from bot.slack.ids import ActionId, CallbackId, FieldId, further
from bot.slack.payloads import (
    Click,
    Command,
    FormSubmission,
    FormValues,
    MessageShortcut,
    Opener,
)
from bot.slack.typed_text import with_names
from bot.store.tables import Channel
from bot.views.message import Form, message_form
from bot.views.notices import settings_line
from bot.views.start_form import (
    AS_USUAL,
    CHANNEL_BOXES,
    COSTLY,
    STATES,
    FormDraft,
    FormOptions,
    FormTarget,
    extract_question,
    settings_form,
    split_into_fields,
    start_form,
)
from core.debate.people import Person, Place
from core.debate.rules import MOST_ROUNDS
from core.errors import BadInput, DuplicateQuestion, MootError
from core.estimate import estimate_words
from core.evidence.earlier import decision_reference
from core.opening import DebateRequest, check_question
from core.rules.formats.review import NAME as REVIEW
from core.use_cases.choices import WAITS, ChannelChoices, Choices, cost_cap
from core.use_cases.start import StartDebate

_log = logger(__name__)

#: Files of a message that the form keeps: Slack stores 3,000 characters with a form.
_MOST_FILES = 6
_CUT = " [… cut here]"
#: Used for the estimate while the form has no question.
_USUAL_QUESTION = "What shall we do, and why? " * 8


def register(app: AsyncApp, context: ListenerContext) -> None:
    @app.shortcut("debate_this")
    async def debate_this(ack: AsyncAck, body: dict[str, Any]) -> None:
        await open_for_message(context, MessageShortcut.model_validate(body))
        await ack()

    on_click(app, context, ActionId.START, open_empty_form)
    on_click(app, context, ActionId.DEBATE_ON, open_to_go_on)
    for field in COSTLY:
        on_click(app, context, field, show_estimate)
    on_form(app, context, CallbackId.START_FORM, start_from_form)
    on_form(app, context, CallbackId.SETTINGS_FORM, save_settings)


async def open_empty_form(context: ListenerContext, click: Click) -> None:
    await open_start_form(context, click, FormTarget())


async def open_to_go_on(context: ListenerContext, click: Click) -> None:
    debate = await context.debate(click.value, click)
    context.acts.decide.check_decision(debate)
    here = debate.setup.place
    address = await context.link_to(here, click.message_ts, click.thread_ts)
    decision = decision_reference(debate, click.person, address)
    target = FormTarget(channel=here.channel, references=(decision,), continues=debate.id)
    await open_start_form(context, click, target, text=debate.setup.question)


async def open_start_form(
    context: ListenerContext, act: Opener, target: FormTarget, *, text: str = "", playbook: str = ""
) -> None:
    """Open the form with an estimate.

    If `target` has no channel, the form has a field for it. `text` is the message that the form is
    opened on, or the question of the debate to continue.
    """
    here = place(act.team_id, target.channel)
    if target.channel:
        await context.check_channel(here)
    # If the message has more than a question, the whole message becomes the context.
    question = extract_question(text)
    message = "" if question == text.strip() else text
    # With the line about its source it must fit into the context.
    room = context.acts.start.bounds.context_characters - len(_source_line(target)) - 2
    if len(message) > max(0, room):
        message = message[: max(0, room - len(_CUT))] + _CUT
    first, *more_fields = split_into_fields(message)
    usual = await context.acts.start.usual(here, playbook or None)
    draft = FormDraft(question=question, context=first, more=tuple(more_fields), choices=usual)
    await context.open(act, await _form_with_estimate(context, draft, target, here, by=act.person))


def _source_line(target: FormTarget) -> str:
    return f"Asked about: {target.source}" if target.source else ""


async def _form_with_estimate(
    context: ListenerContext, draft: FormDraft, target: FormTarget, here: Place, *, by: Person
) -> Form:
    """The form, with an estimate of what its debate would cost in this channel."""
    request = DebateRequest(
        question=draft.question or _USUAL_QUESTION,
        context=draft.full_context,
        asked_by=by,
        place=here,
    )
    try:
        words = estimate_words(await context.acts.start.estimate(request, draft.choices))
    except MootError as error:
        words = f"No estimate: {error}"
    return start_form(draft, form_options(context.acts.start), target, words)


def form_options(start: StartDebate) -> FormOptions:
    settings = start.settings()
    usual = settings.mixed_models or (settings.agent_model,)
    return FormOptions(
        usual_models=", ".join(model.model for model in usual),
        agents=start.agents(),
        models=start.models,
        playbooks={name: playbook.title for name, playbook in settings.playbooks.items()},
        casts=start.built_in().agents is None,
        most_cost=settings.limits.most_debate_cost,
        agendas=settings.agendas,
        roles=settings.roles,
    )


async def open_for_message(context: ListenerContext, used: MessageShortcut) -> None:
    """Open the form with the question in a message, or a form with the reason why not."""
    message, here = used.message, place(used.team_id, used.channel_id)
    link = await context.link_to(here, used.message_ts, message.thread_ts)
    text = await with_names(context.directories.of(used.team_id), message.all_text)
    # A direct message is no source: everybody in the debate's channel could read it.
    target = FormTarget(source=link)
    if not used.is_direct:
        target = FormTarget(
            channel=used.channel_id,
            source=link,
            message=used.message_ts,
            thread=message.thread_ts,
            references=file_references(message.files, used.person)[:_MOST_FILES],
        )
    try:
        question = await _debate_question(context, used)
        await open_start_form(context, used, target, text=question or text)
    except BadInput as refusal:
        with suppress(BadInput):  # too late for this form, too
            await context.open(used, message_form("Not here", str(refusal)))


async def _debate_question(context: ListenerContext, used: MessageShortcut) -> str:
    """The question of the debate if the message is one of the bot's posts about it; else empty."""
    message, here = used.message, Channel(used.team_id, used.channel_id)
    # Only the bot's posts have rows. Posts under an agent's name have no user.
    debate_id = await context.posts.debate_of_post(here, message.ts)
    identity = (await context.clients.for_workspace(used.team_id)).identity
    if not debate_id and message.user == identity.user_id:
        # The message with a file has no row, so its thread decides.
        thread = message.thread_ts or message.ts
        debate_id = await context.posts.debate_of_post(here, thread)
    return (await context.debate(debate_id, used)).setup.question if debate_id else ""


async def show_estimate(context: ListenerContext, click: Click) -> None:
    """Update the estimate of an open form; fill in the values of the chosen playbook."""
    if click.callback_id != CallbackId.START_FORM:
        return  # the form for a channel's settings has the same menus
    draft, here = draft_of(click), place(click.team_id, channel_of(click))
    if click.action_id == FieldId.PLAYBOOK:
        usual = await context.acts.start.usual(here, draft.choices.playbook)
        values = {name: getattr(usual, name) for name in ("format", "rounds", "agents")}
        draft = draft.model_copy(update={"choices": draft.choices.model_copy(update=values)})
    view = await _form_with_estimate(context, draft, target_of(click), here, by=click.person)
    try:
        client = (await context.clients.for_workspace(click.team_id)).client
        await client.views_update(view_id=click.view_id, view=dict(view))
    except (SlackClientError, *CONNECTION_ERRORS) as error:
        _log.info("estimate not shown", reason=type(error).__name__)  # the form was closed


async def start_from_form(context: ListenerContext, form: FormSubmission) -> None:
    """Start the debate of a form, once even if it arrives again. Raises `FieldError`."""
    settings = context.acts.start.settings()
    draft = checked_draft(form, settings.question_max_chars, settings.limits.most_debate_cost)
    target, here = target_of(form), place(form.team_id, channel_of(form))
    try:
        await context.check_channel(here)
        await context.check_member(form.user_id, here)
    except BadInput as reason:
        if target.channel:
            raise
        # The channel was chosen in the form, and can be changed there.
        raise FieldError(FieldId.CHANNEL, answers.without_backticks(str(reason))) from None
    if target.continues:
        await context.debate(target.continues, form)  # raises if it is deleted or not visible
    # In a review the context can be the subject; a context with the link only would be empty.
    is_review = draft.choices.format == REVIEW
    source = "" if is_review else _source_line(target)
    references, by = target.references, form.person
    if target.message and form.choices(FieldId.THREAD):
        root = target.thread or target.message
        without, address = target.message, target.source
        thread = thread_reference(target.channel, root, without=without, by=by, address=address)
        references = (thread, *references)
    try:
        bounds = await link_bounds(context, here, by)
        linked = linked_references(form.text_of(FieldId.SOURCES), bounds)
    except BadInput as wrong:
        raise FieldError(FieldId.SOURCES, str(wrong)) from None
    request = DebateRequest(
        question=draft.question,
        context="\n\n".join(filter(None, (draft.full_context, source))),
        asked_by=by,
        place=here,
        references=(*references, *linked),
        continues=target.continues,
    )
    text, choices = f"{draft.question}\n{draft.full_context}", draft.choices
    try:
        await start_with_links(context, request, text, origin=form.view_id, choices=choices)
    except DuplicateQuestion as reminder:  # an error at a field keeps the form open
        text = answers.without_backticks(reminder.words)
        raise FieldError(FieldId.QUESTION, text) from None


def target_of(form: FormValues) -> FormTarget:
    """Return the target stored in a form; an empty one if it cannot be read."""
    try:
        return FormTarget.model_validate_json(form.private_metadata)
    except ValidationError:
        return FormTarget()


def channel_of(form: FormValues) -> str:
    """Return the channel of a form: the stored one, or the one chosen in it."""
    return target_of(form).channel or form.conversation(FieldId.CHANNEL)


def draft_of(form: FormValues) -> FormDraft:
    """Return the values of the form to start a debate; an invalid cost cap counts as none."""
    try:
        cap = cost_cap(form.text_of(FieldId.COST_CAP), None)
    except BadInput:
        cap = None
    clarify = bool(form.choices(FieldId.CLARIFY))
    fields = (further(FieldId.CONTEXT, number) for number in itertools.count(2))
    more_fields = itertools.takewhile(lambda field: field in form.values, fields)
    return FormDraft(
        question=form.text_of(FieldId.QUESTION),
        context=form.text_of(FieldId.CONTEXT),
        more=tuple(map(form.text_of, more_fields)),
        choices=choices_of(form, clarify=clarify, cap=cap),
    )


def checked_draft(form: FormValues, most_characters: int, most_cost: Decimal | None) -> FormDraft:
    """Return the values of the form to start a debate; `FieldError` if one is invalid."""
    draft = draft_of(form)
    checked_choices(form, most_cost, clarify=draft.choices.clarify)
    try:
        check_question(draft.question, most_characters)
    except BadInput as wrong:
        raise FieldError(FieldId.QUESTION, str(wrong)) from None
    return draft


def checked_choices(
    form: FormValues, most_cost: Decimal | None, *, clarify: bool | None
) -> Choices:
    """Return the choices of either form; `FieldError` for a single agent or an invalid cost cap."""
    if len(form.choices(FieldId.AGENTS)) == 1:
        raise FieldError(FieldId.AGENTS, "Choose at least two: one alone cannot debate.")
    try:
        cap = cost_cap(form.text_of(FieldId.COST_CAP), most_cost)
    except BadInput as wrong:
        raise FieldError(FieldId.COST_CAP, str(wrong)) from None
    return choices_of(form, clarify=clarify, cap=cap)


def choices_of(
    form: FormValues, *, clarify: bool | None, cap: Decimal | Literal["none"] | None
) -> Choices:
    """Return the choices of either form; None for "as usual" and for unknown values."""

    def choice(menu: FieldId) -> str | None:
        value = form.choice(menu.value)
        return None if value in {"", AS_USUAL} else value

    def number(menu: FieldId, most: int) -> int | None:
        value = choice(menu) or ""
        return (
            int(value) if re.fullmatch(r"[1-9][0-9]{0,3}", value) and int(value) <= most else None
        )

    return Choices(
        playbook=choice(FieldId.PLAYBOOK),
        format=choice(FieldId.FORMAT),
        rounds=number(FieldId.ROUNDS, MOST_ROUNDS),
        agents=form.choices(FieldId.AGENTS) or None,
        clarify=clarify,
        wait_minutes=number(FieldId.WAIT, max(WAITS)),
        models=choice(FieldId.MODELS),
        sealed=bool(form.choices(FieldId.SEALED)),
        debate_cost=cap,
    )


async def open_settings(context: ListenerContext, command: Command) -> None:
    here = place(command.team_id, command.channel_id)
    await context.check_channel(here)
    current = await context.records.channels.get(here)
    options, usual = form_options(context.acts.start), context.acts.start.built_in()
    is_open = command.team_id in context.operator.open_workspaces
    form = settings_form(command.channel_id, current, usual, options, is_open=is_open)
    await context.open(command, form)


async def save_settings(context: ListenerContext, form: FormSubmission) -> None:
    most_cost = context.acts.start.settings().limits.most_debate_cost
    settings = checked_settings(form, most_cost)
    here = place(form.team_id, form.metadata.get("channel", ""))
    await context.check_member(form.user_id, here)
    await context.check_colleague(form.user_id, here)
    await context.records.channels.put(here, settings)
    post = NewPost(
        key=f"settings/{form.view_id}",
        workspace=here.workspace,
        channel=here.channel,
        method="post",
        payload=settings_line(form.person, settings).payload,
    )
    await context.outbox.post([post])


def checked_settings(form: FormValues, most_cost: Decimal | None) -> ChannelChoices:
    fields = (FieldId.CLARIFY, FieldId.SHADOW, FieldId.OPEN_TO_OTHERS)
    clarify, shadow, is_open = (STATES.get(form.choice(field.value)) for field in fields)
    choices = checked_choices(form, most_cost, clarify=clarify)
    settings = ChannelChoices(
        choices=choices.model_copy(update={"shadow": shadow}),
        stewards=form.people(FieldId.STEWARDS),
        open_to_others=is_open,
    )
    boxes = {box.id: bool(form.choices(box.id)) for box, _ in CHANNEL_BOXES}
    return settings.model_copy(update=boxes)
