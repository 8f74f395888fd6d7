"""What the doctor says of what is sent outside Slack."""

import asyncio
import json
from pathlib import Path

import pytest

from bot.building import database_url
from bot.landing.build_receivers import build_receivers
from bot.operations.doctor.examine import check_receivers
from bot.operations.doctor.findings import CheckMark
from bot.settings import BotSettings
from core.clock import SystemClock
from core.errors import ConfigurationBroken
from core.landing import LandingPlaces, RecordPlace
from tests.bot.landing.office import open_office
from tests.bot.landing.test_webhooks import SECRET, a_webhook, open_shop, receiver
from tests.command_line import Ended, moot

FILE = """
landing:
  records:
    - {{name: files, folder: "{folder}"}}
  webhooks:
    - {{name: shop, url: "{url}", secret_variable: SHOP_SECRET, private_address: true}}
"""


async def run(*words: str, folder: Path, **variables: str) -> Ended:
    env = {"MOOT_DATABASE": str(folder / "moot.db"), "MOOT_PORT": "1", **variables}
    return await asyncio.to_thread(moot, *words, folder=folder, env=env)


async def test_the_doctor_names_what_did_not_land(
    tmp_path: Path,
) -> None:
    settings = tmp_path / "moot.yaml"
    location = database_url(str(tmp_path / "moot.db"))
    async with open_shop() as shop:
        settings.write_text(FILE.format(folder=tmp_path, url=shop.url))
        variables = {"MOOT_CONFIG": str(settings), "SHOP_SECRET": SECRET}
        async with open_office([receiver(a_webhook(shop.url))], location) as office:
            shop.codes = [500] * 8 + [410]
            await office.debated()
            await office.until("dead")
            while (await office.landings.backlog(1)).closed == {}:
                await office.until("failed")
        doctor = await run("doctor", "--json", folder=tmp_path, **variables)

    findings = {load["what"]: load for load in json.loads(doctor.stdout)["findings"]}
    assert findings["receiver files"]["found"] == "can be written"
    assert findings["receiver shop"]["mark"] == "bad"
    assert "wants nothing more" in findings["receiver shop"]["found"]
    assert findings["landings"]["found"].startswith("1 dead letter")
    assert "/debate doctor retry" in findings["landings"]["remedy"]
    assert "answered with the code 500" in findings["dead letter 1 to shop"]["found"]
    assert "kept-from-people" not in doctor.stdout


async def test_a_receiver_that_cannot_be_reached_is_told(tmp_path: Path) -> None:
    async with open_shop() as shop:
        there = receiver(a_webhook(shop.url))
        [good] = await check_receivers([there])
    [bad] = await check_receivers([there])

    assert (good.mark, good.found) == (CheckMark.GOOD, "can be reached")
    assert bad.mark is CheckMark.BAD
    assert "cannot be reached" in bad.found
    assert shop.seen == []


@pytest.mark.parametrize(
    ("webhook", "words"),
    [
        ({"url": "http://shop.example.com/"}, "unencrypted"),
        ({"url": "http://127.0.0.1/", "private_address": False}, "private_address: true"),
        ({"url": "https://169.254.169.254/"}, "credentials"),
        ({"secret_variable": "OTHER_SECRET"}, "OTHER_SECRET is not set"),
        ({"old_secret_variable": "BAD_SECRET"}, "BAD_SECRET is no secret"),
    ],
)
def test_what_cannot_be_used_is_named_at_the_start(webhook: dict[str, object], words: str) -> None:
    environment = BotSettings()
    environment.take_variables({"SHOP_SECRET": SECRET, "BAD_SECRET": "a-bad-secret"})
    places = LandingPlaces(
        webhooks=(a_webhook("https://shop.example.com/").model_copy(update=webhook),)
    )
    with pytest.raises(ConfigurationBroken, match=f"The webhook shop: .*{words}") as refused:
        build_receivers(places, environment, SystemClock())
    assert "a-bad-secret" not in str(refused.value)


def test_a_token_that_is_not_set_is_named_at_the_start() -> None:
    place = RecordPlace(
        name="adr", repository="https://git.example.com/a.git", token_variable="ADR_TOKEN"
    )
    with pytest.raises(ConfigurationBroken, match="The records adr: ADR_TOKEN is not set"):
        build_receivers(LandingPlaces(records=(place,)), BotSettings(), SystemClock())
