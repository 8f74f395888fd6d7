"""Which numbers of workers are refused, and in which words."""

from typing import Any

import pytest

from bot.running.worker_count import check_workers
from bot.settings import BotSettings, Mode
from core.errors import ConfigurationBroken


def of(**said: Any) -> BotSettings:
    wanted: dict[str, Any] = {"moot_database": "postgresql://moot@db/moot", **said}
    return BotSettings(**wanted)


def test_one_worker_may_have_any_database() -> None:
    check_workers(of(moot_database="moot.db"), Mode.SOCKET, 1)


def test_ten_workers_may_have_a_socket_each_and_more_are_for_http_mode() -> None:
    check_workers(of(), Mode.SOCKET, 10)
    check_workers(of(), Mode.HTTP, 11)
    with pytest.raises(ConfigurationBroken, match=r"11 Socket Mode connections.+HTTP mode"):
        check_workers(of(), Mode.SOCKET, 11)


def test_a_slip_of_the_finger_is_refused() -> None:
    with pytest.raises(ConfigurationBroken, match="64 at most"):
        check_workers(of(), Mode.HTTP, 200)


@pytest.mark.parametrize("port", [2999, 3000, 65535])
def test_a_port_for_the_figures_of_each_worker_must_be_there(port: int) -> None:
    check_workers(of(moot_metrics_port=9464), Mode.HTTP, 2)
    with pytest.raises(ConfigurationBroken, match=f"ports {port} to {port + 1}"):
        check_workers(of(moot_metrics_port=port), Mode.HTTP, 2)
