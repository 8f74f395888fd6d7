"""Builds the receivers of the settings, with their secrets from the environment."""

from collections.abc import Sequence

from bot.addresses import address_fault, sends_openly
from bot.landing.git import RepositoryReceiver
from bot.landing.receivers import Receiver
from bot.landing.record_files import FolderReceiver
from bot.landing.webhooks import WebhookReceiver, call_guard, check_address, parse_secret
from bot.settings import BotSettings
from core.errors import BadInput, ConfigurationBroken
from core.landing import LandingPlaces, Webhook
from core.ports import Clock


def build_receivers(
    places: LandingPlaces, environment: BotSettings, clock: Clock
) -> Sequence[Receiver]:
    """Build all receivers; raises `ConfigurationBroken` for a missing secret or a bad address."""
    receivers: list[Receiver] = [
        _webhook(webhook, environment, clock) for webhook in places.webhooks
    ]
    for place in places.records:
        if place.folder:
            receivers.append(FolderReceiver(records=place))
        else:
            label = f"The records {place.name}"
            _check_address(label, place.repository)
            token = environment.key_in(place.token_variable)
            if place.token_variable and not token:
                raise ConfigurationBroken(f"{label}: {place.token_variable} is not set.")
            receivers.append(
                RepositoryReceiver(
                    records=place, token=token, variables=environment.for_program(())
                )
            )
    return receivers


def _webhook(webhook: Webhook, environment: BotSettings, clock: Clock) -> WebhookReceiver:
    label = f"The webhook {webhook.name}"
    may_call = call_guard(webhook)
    _check_address(label, webhook.url)
    try:
        check_address(webhook.url, may_call)
    except BadInput:
        raise ConfigurationBroken(
            f"{label}: its address is in a private network. To allow it, set private_address: true."
        ) from None
    secrets = list[bytes]()
    for variable in filter(None, (webhook.secret_variable, webhook.old_secret_variable)):
        try:
            secrets.append(parse_secret(environment.key_in(variable), variable))
        except ConfigurationBroken as error:
            raise ConfigurationBroken(f"{label}: {error}") from None
    return WebhookReceiver(webhook=webhook, secrets=secrets, clock=clock, may_call=may_call)


def _check_address(label: str, url: str) -> None:
    if fault := address_fault(url):
        raise ConfigurationBroken(f"{label}: its address cannot be used: {fault}.")
    if sends_openly(url):
        raise ConfigurationBroken(
            f"{label}: data would be sent unencrypted; use https:// in its address."
        )
