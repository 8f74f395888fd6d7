"""Makes the receivers that the settings name, with their secrets from the environment."""

from collections.abc import Sequence

from bot.addresses import fault_of, sends_openly
from bot.landing.git import RepositoryReceiver
from bot.landing.receivers import Receiver
from bot.landing.record_files import FolderReceiver
from bot.landing.webhooks import WebhookReceiver, check_address, guard_of, secret_of
from bot.settings import BotSettings
from core.errors import BadInput, ConfigurationBroken
from core.landing import LandingPlaces, Webhook
from core.ports import Clock


def build_receivers(
    places: LandingPlaces, environment: BotSettings, clock: Clock
) -> Sequence[Receiver]:
    """Raises `ConfigurationBroken` where a secret is missing or an address must not be called."""
    receivers: list[Receiver] = [
        _webhook(webhook, environment, clock) for webhook in places.webhooks
    ]
    for place in places.records:
        if place.folder:
            receivers.append(FolderReceiver(records=place))
        else:
            who = f"The records {place.name}"
            _check_address(who, place.repository)
            token = environment.key_in(place.token_variable)
            if place.token_variable and not token:
                raise ConfigurationBroken(f"{who}: {place.token_variable} is not set.")
            receivers.append(
                RepositoryReceiver(records=place, token=token, usual=environment.for_program(()))
            )
    return receivers


def _webhook(webhook: Webhook, environment: BotSettings, clock: Clock) -> WebhookReceiver:
    who = f"The webhook {webhook.name}"
    may_call = guard_of(webhook)
    _check_address(who, webhook.url)
    try:
        check_address(webhook.url, may_call)
    except BadInput:
        raise ConfigurationBroken(
            f"{who}: its address is one of a private network. If it is to be called, set "
            "private_address: true."
        ) from None
    secrets = list[bytes]()
    for variable in filter(None, (webhook.secret_variable, webhook.old_secret_variable)):
        try:
            secrets.append(secret_of(environment.key_in(variable), variable))
        except ConfigurationBroken as error:
            raise ConfigurationBroken(f"{who}: {error}") from None
    return WebhookReceiver(webhook=webhook, secrets=secrets, clock=clock, may_call=may_call)


def _check_address(who: str, url: str) -> None:
    if why := fault_of(url):
        raise ConfigurationBroken(f"{who}: its address cannot be used: {why}.")
    if sends_openly(url):
        raise ConfigurationBroken(
            f"{who}: what is sent would travel unencrypted; use https:// in its address."
        )
