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
    check_places(places)
    receivers: list[Receiver] = [
        _webhook(webhook, environment, clock) for webhook in places.webhooks
    ]
    for place in places.records:
        if place.folder:
            receivers.append(FolderReceiver(records=place))
        else:
            token = environment.key_in(place.token_variable)
            if place.token_variable and not token:
                text = f"The records {place.name}: {place.token_variable} is not set."
                raise ConfigurationBroken(text)
            receivers.append(
                RepositoryReceiver(
                    records=place, token=token, variables=environment.for_program(())
                )
            )
    return receivers


def check_places(places: LandingPlaces) -> None:
    """Raise `ConfigurationBroken` for an address that may not be called."""
    for place in places.records:
        if place.repository:
            _check_address(f"The records {place.name}", place.repository)
    for webhook in places.webhooks:
        label = f"The webhook {webhook.name}"
        _check_address(label, webhook.url)
        try:
            check_address(webhook.url, call_guard(webhook))
        except BadInput:
            raise ConfigurationBroken(
                f"{label}: its address is in a private network. To allow it, set "
                "private_address: true."
            ) from None


def _webhook(webhook: Webhook, environment: BotSettings, clock: Clock) -> WebhookReceiver:
    secrets = list[bytes]()
    for variable in filter(None, (webhook.secret_variable, webhook.old_secret_variable)):
        try:
            secrets.append(parse_secret(environment.key_in(variable), variable))
        except ConfigurationBroken as error:
            raise ConfigurationBroken(f"The webhook {webhook.name}: {error}") from None
    return WebhookReceiver(
        webhook=webhook, secrets=secrets, clock=clock, may_call=call_guard(webhook)
    )


def _check_address(label: str, url: str) -> None:
    if fault := address_fault(url):
        raise ConfigurationBroken(f"{label}: its address cannot be used: {fault}.")
    if sends_openly(url):
        raise ConfigurationBroken(
            f"{label}: data would be sent unencrypted; use https:// in its address."
        )
