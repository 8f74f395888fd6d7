"""Proxies from the environment. Addresses of this machine are accessed directly."""

from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from core.errors import ConfigurationBroken

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: For `mounts` of an httpx client (None: no proxy). It reads the proxies by itself.
DIRECT: Mapping[str, None] = dict.fromkeys(
    ("all://localhost", "all://*.localhost", "all://127.0.0.1", "all://[::1]")
)
_SCHEMES = frozenset({"http", "https", "socks5", "socks5h"})


def proxies() -> Mapping[str, str]:
    addresses = getproxies_environment()
    return {
        f"{scheme.upper()}_PROXY": address if "://" in address else f"http://{address}"
        for scheme, address in addresses.items()
        if scheme in {"http", "https", "all"}
    }


def proxy_of(url: str) -> str:
    """Return the proxy for a URL; empty if there is none."""
    parts = urlsplit(url)
    host = (parts.hostname or "").casefold()
    if host in _LOOPBACK or host.endswith(".localhost") or proxy_bypass(host):
        return ""
    addresses = proxies()
    return addresses.get(f"{parts.scheme.upper()}_PROXY") or addresses.get("ALL_PROXY", "")


def names_socks() -> bool:
    """Whether the environment names a SOCKS proxy, which aiohttp does not support."""
    return any(address.casefold().startswith("socks") for address in proxies().values())


def check_proxies() -> None:
    """Raise `ConfigurationBroken` for an invalid proxy address, without its password."""
    for variable, address in proxies().items():
        try:
            parts = urlsplit(address)
            is_right = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_right = False
        if not is_right:
            raise ConfigurationBroken(
                f"{variable} is no address of a proxy. Give one such as http://proxy.example:3128 "
                "or socks5://127.0.0.1:1080, or take the variable away."
            )


def proxy_hint() -> str:
    """Return a hint for a failed connection: the proxy variables; empty if there are none."""
    variables = " and ".join(proxies())
    return f"; {variables} names a proxy, which may be away" if variables else ""
