"""The host names the dashboard answers to, and the origins whose pages may call it. Nothing is resolved, by DNS or over the network.

A foreign page can make a browser call this server in two ways. By DNS rebinding, its name resolves to our address: then `Host` has that
name. By a cross-origin request: then `Origin` is not ours, or has another port of this machine.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from schemas.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  names to recognise, not to bind

_HOST = re.compile(r"(?P<name>[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/]+)", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Host:
    """The host of a `Host` header, an origin or `--allow-host`. The port is None where none is given."""

    name: str
    port: int | None = None

    @property
    def is_address(self) -> bool:
        """Whether it is an IP address."""
        return _is_address(self.name)

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


@dataclass(frozen=True)
class Addresses:
    """The hosts this server answers to: `names` in a `Host` header, `proxies` also as the origin of pages that a proxy serves for us.

    `any_address` is set for a server that listens on all interfaces: an IP address in `Host` may be one of this machine, of the host of its
    container, or of a forwarded port. DNS rebinding needs a name, so an IP address is safe.
    """

    names: frozenset[str]
    proxies: frozenset[Host] = frozenset()
    any_address: bool = False

    def is_ours(self, host: Host) -> bool:
        """Whether the server answers to the host, at any port: a proxy or container may have another port."""
        return host.name in self.names or (self.any_address and host.is_address)

    def may_ask(self, origin: str, host: Host) -> bool:
        """Whether a page of that origin may call the server: it has the same host, or that of a named proxy."""
        found = _ORIGIN.fullmatch(origin)
        asking = parse_host(found["host"]) if found else None
        if found is None or asking is None:
            return False
        usual = _DEFAULT_PORTS[found["scheme"].lower()]
        return any(asking.name == one.name and (asking.port or usual) == (one.port or usual) for one in (host, *self.proxies))


def parse_host(text: str) -> Host | None:
    """The host of a name or IP address, in lower case, with or without a port; None if the text is neither."""
    found = _HOST.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    name = found["name"].lower().removesuffix(".")
    if name.startswith("["):
        name = name[1:-1]
        if not _is_address(name):
            return None
    return Host(_canonical(name), port) if port is None or 0 < port < 65536 else None


def addresses(host: str, allowed: Iterable[str] = ()) -> Addresses:
    """The names of a server that listens on `host`, with those of `--allow-host`. Raises UsageError."""
    proxies = frozenset(map(_allowed, allowed))
    names = {*LOOPBACK, *(proxy.name for proxy in proxies)}
    names |= {_canonical(host.lower())} - set(EVERYWHERE)
    if host not in LOOPBACK:
        names |= _machine_names()
    return Addresses(frozenset(names), proxies, any_address=host in EVERYWHERE)


def _allowed(text: str) -> Host:
    host = parse_host(f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text)
    if host is None:
        raise UsageError(f"--allow-host takes a name such as runs.example.com, not {text!r}.", "Give the name without scheme and path.")
    return host


def _machine_names() -> set[str]:
    """The names of this machine in its local network: the host name, its first label, and that with `.local` (multicast DNS)."""
    name = socket.gethostname().lower()
    first = name.split(".")[0]
    return {name, first, f"{first}.local"} - {""}


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _canonical(name: str) -> str:
    """An IP address in its canonical form, as browsers write it; a name unchanged."""
    return str(ip_address(name)) if _is_address(name) else name
