"""Checks of addresses that the program listens on or calls (pure)."""

import ipaddress
import re
import socket
import unicodedata
from stringprep import in_table_b1
from urllib.parse import urlsplit

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
#: Hosts of metadata services, which give credentials to any caller inside a cloud; in addition to
#: link-local addresses. Source: the vendors' pages on instance metadata (AWS, Google, Alibaba,
#: Oracle, Azure).
_METADATA = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "instance-data",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
    }
)
#: Networks that Python calls global, but that have no public hosts: protocol assignments and relays
#: of 6to4 (RFC 6890, RFC 7526).
_RESERVED = tuple(map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24")))
#: The IPv6 addresses of public hosts (RFC 4291), and the part of them that is reserved for
#: documentation (RFC 9637).
_UNICAST, _DOCUMENTATION = map(ipaddress.IPv6Network, ("2000::/3", "3fff::/20"))
#: Networks whose addresses end in an IPv4 address: NAT64 (RFC 6052, RFC 8215), and the old form
#: `::127.0.0.1`, but for `::` and `::1`.
_WRAPPING = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
#: The full stop of East Asian scripts; resolvers read it as a dot.
_FULL_STOP = "\u3002"
_SCHEMES = ("http", "https")
_OLD_FORM = re.compile(r"[0-9a-fx]+(?:\.[0-9a-fx]+){0,3}", re.IGNORECASE)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host."""
    address = _ip(host)
    return address.is_loopback if address else _plain(host) == "localhost"


def is_public(address: Ip) -> bool:
    """Return whether an address is public; of an IPv6 address that wraps one, the wrapped address.

    Unknown ranges are not public.
    """
    inner = _unwrap(address)
    if str(inner) in _METADATA or not inner.is_global or inner.is_multicast:
        return False
    if isinstance(inner, ipaddress.IPv6Address):
        return inner in _UNICAST and inner not in _DOCUMENTATION
    return not any(inner in network for network in _RESERVED)


def address_fault(url: str) -> str:
    """Return the reason why an address may not be called; empty if it may be.

    Names are not resolved: a name that leads to a forbidden address is accepted.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - raises if it is not a number
    except ValueError:
        return "it is not an address"
    if parts.scheme not in _SCHEMES or not host or re.search(r"\s|\\", url):
        return "it must begin with http:// or https:// and a host"
    if "%" in parts.netloc.partition("]")[2 if "[" in parts.netloc else 0]:
        return "a host must not contain %"
    if "@" in parts.netloc:
        return "it must not contain a user name or password"
    address = _ip(host)
    if {_plain(host), str(address)} & _METADATA or (address and address.is_link_local):
        return f"{host} is where machines get their own credentials"
    return ""


def with_scheme(address: str) -> str:
    return address if "://" in address else f"http://{address}"


def sends_openly(url: str) -> bool:
    """Return whether a token would be sent unencrypted: plain HTTP to another machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def _plain(host: str) -> str:
    """A host as resolvers read it, with circled digits and wide letters replaced by plain ones."""
    plain = unicodedata.normalize("NFKC", host).replace(_FULL_STOP, ".")
    # Resolvers ignore soft hyphens, joiners and similar characters (RFC 3454, table B.1).
    return "".join(sign for sign in plain if not in_table_b1(sign)).casefold().rstrip(".")


def _unwrap(address: Ip) -> Ip:
    """The IPv4 address inside an IPv6 address; an address without one is returned unchanged."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if int(address) > 1 and any(address in network for network in _WRAPPING):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _ip(host: str) -> Ip | None:
    """The IP address that a host is written as, in any notation of the system's resolver."""
    plain = _plain(host).partition("%")[0].strip("[]")
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        # Resolvers also accept 169.254.43518, 2852039166 and 0xa9fea9fe.
        if not _OLD_FORM.fullmatch(plain):
            return None
        try:
            return ipaddress.IPv4Address(socket.inet_aton(plain))
        except OSError:
            return None
    return _unwrap(address)
