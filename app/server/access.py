"""Access to a dashboard.

The names it answers to, the origins it trusts, and the people on a list with their rights.

A foreign page can make a browser call this server in two ways. With DNS rebinding, its name
resolves to our address, and `Host` has that name. With a cross-origin request, `Origin` is not
ours, or has another port of this machine. Nothing here uses the network.

People sign in with Streamlit's own `st.login` (OpenID Connect); its settings file has our list
beside it:

    [auth]
    redirect_uri = "https://runs.example.com/oauth2callback"
    cookie_secret = "a long random text"
    client_id = "…"
    client_secret = "…"
    server_metadata_url = "https://accounts.google.com/.well-known/openid-configuration"

    [tachograph]
    allow = ["@example.com", "guest@example.org"]
    verified_claim = "xms_edov"   # only for a provider without `email_verified`
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ingest.system.command_lines import extra_command
from ingest.system.files import parse_toml, read_small_text
from schemas.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  names to recognise, not to bind

EMAIL, EMAIL_VERIFIED = "email", "email_verified"
"""Claims of OpenID Connect Core 1.0, section 5.1."""

PROVIDER = ("client_id", "client_secret", "server_metadata_url")
FEWEST_CHARACTERS = 16
"""Fewest characters of the cookie secret: anybody who guesses it can sign in as anybody."""

_HOST = re.compile(
    r"(?P<name>[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>[^/]+)", re.IGNORECASE)
_EXAMPLE = "docs/dashboard.md, “Share it”, has an example."


@dataclass(frozen=True)
class Access:
    """Rights of visitors. `sign_in` is the file with the settings of the sign-in, None without one.

    `hosts` are names under which a proxy serves the dashboard, each with a port if it is not the
    usual one.
    """

    read_only: bool = False
    sign_in: Path | None = None
    hosts: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """Return environment variables for the process of the dashboard."""
        return {
            "TACHOGRAPH_READ_ONLY": "1" if self.read_only else "",
            "TACHOGRAPH_SIGN_IN": str(self.sign_in or ""),
        }


def is_read_only() -> bool:
    """Return whether visitors of this process's dashboard may only read.

    This is read from the variables of `Access.environment`.
    """
    return os.environ.get("TACHOGRAPH_READ_ONLY", "") not in ("", "0")


@dataclass(frozen=True)
class Guests:
    """Who is let in: addresses and domains (`@example.com`) in lower case.

    `verified_claim`: the claim that vouches for an address.
    """

    allowed: tuple[str, ...]
    verified_claim: str = EMAIL_VERIFIED


@dataclass(frozen=True)
class Host:
    """The host of a `Host` header, an origin or `--allow-host`. The port is None if not given."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


@dataclass(frozen=True)
class Addresses:
    """The hosts this server answers to.

    `names` in a `Host` header, `proxies` also as origin of pages served by a proxy.

    `any_address` is set if the server listens on all interfaces: an IP address in `Host` may be one
    of this machine, of the host of its container, or of a forwarded port. DNS rebinding needs a
    name, so an IP address is safe.
    """

    names: frozenset[str]
    proxies: frozenset[Host] = frozenset()
    any_address: bool = False

    def is_ours(self, host: Host) -> bool:
        """Return whether the server answers to the host, at any port.

        A proxy or container may have another port.
        """
        return host.name in self.names or (self.any_address and _is_address(host.name))

    def may_ask(self, origin: str, host: Host) -> bool:
        """Return whether a page of that origin may call the server.

        It has the same host, or that of a named proxy.
        """
        found = _ORIGIN.fullmatch(origin)
        asking = parse_host(found["host"]) if found else None
        if found is None or asking is None:
            return False
        usual = 443 if found["scheme"].lower() == "https" else 80
        return any(
            asking.name == one.name and (asking.port or usual) == (one.port or usual)
            for one in (host, *self.proxies)
        )


def parse_host(text: str) -> Host | None:
    """Parse a name or IP address with or without a port, in lower case and canonical form.

    None if it is neither.
    """
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
    """Return the names of a server that listens on `host`, with those of `--allow-host`.

    Raises UsageError.
    """
    proxies = set()
    for text in allowed:
        proxy = parse_host(
            f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text
        )
        if proxy is None:
            raise UsageError(
                f"--allow-host takes a name such as runs.example.com, not {text!r}.",
                "Give the name without scheme and path.",
            )
        proxies.add(proxy)
    names = {*LOOPBACK, *(proxy.name for proxy in proxies)}
    names |= {_canonical(host.lower())} - set(EVERYWHERE)
    if (
        host not in LOOPBACK
    ):  # then also the machine's names in its local network, `.local` by multicast DNS
        machine = socket.gethostname().lower()
        first = machine.split(".")[0]
        names |= {machine, first, f"{first}.local"} - {""}
    return Addresses(frozenset(names), frozenset(proxies), any_address=host in EVERYWHERE)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _canonical(name: str) -> str:
    """Return an IP address in its canonical form, as browsers write it; a name unchanged."""
    return str(ip_address(name)) if _is_address(name) else name


def read_guests(path: Path) -> Guests:
    """Return who is let in by a settings file.

    Raises UsageError for invalid settings, and for an empty list: a sign-in that lets everybody in
    is a mistake.
    """
    try:
        settings = parse_toml(read_small_text(path))
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}.",
            "Give the TOML file with the sign-in settings.",
        ) from error
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.", _EXAMPLE) from error
    auth = settings.get("auth")
    if not isinstance(auth, Mapping):
        raise UsageError(f"{path} has no section [auth].", _EXAMPLE)
    missing = [key for key in ("redirect_uri", "cookie_secret") if not auth.get(key)]
    providers = [auth, *(value for value in auth.values() if isinstance(value, Mapping))]
    if not any(all(provider.get(key) for key in PROVIDER) for provider in providers):
        missing += [key for key in PROVIDER if not auth.get(key)]
    if missing:
        raise UsageError(f"[auth] of {path} is missing {', '.join(missing)}.", _EXAMPLE)
    if len(str(auth["cookie_secret"])) < FEWEST_CHARACTERS:
        raise UsageError(
            f"cookie_secret in {path} is too short.",
            "Make a random one: python -c 'import secrets; print(secrets.token_hex())'",
        )
    if find_spec("authlib") is None:
        raise UsageError("sign-in needs the library Authlib.", f"Install it: {extra_command()}")
    section = settings.get("tachograph")
    listed = section.get("allow") if isinstance(section, Mapping) else None
    entries = (
        [str(entry).strip().lower() for entry in listed]
        if isinstance(listed, Sequence) and not isinstance(listed, str)
        else []
    )
    if not entries or not all(re.fullmatch(r"[^@ ]*@[^@ ]+", entry) for entry in entries):
        raise UsageError(
            f"{path} does not say who is allowed.",
            '[tachograph] takes a list such as allow = ["@example.com", "guest@example.org"].',
        )
    claim = (
        section.get("verified_claim", EMAIL_VERIFIED)
        if isinstance(section, Mapping)
        else EMAIL_VERIFIED
    )
    if not isinstance(claim, str) or not claim:
        raise UsageError(
            f"verified_claim in {path} is no name of a claim.",
            'For example: verified_claim = "xms_edov"',
        )
    return Guests(tuple(entries), claim)


def is_allowed(user: Mapping[str, Any], guests: Guests) -> bool:
    """Return whether a signed-in user is on the list, by address or its domain.

    The claim that vouches for the address must be true, too.

    An address that the provider calls unverified is never let in.
    """
    email = user.get(EMAIL)
    if not isinstance(email, str) or user.get(EMAIL_VERIFIED, True) is not True:
        return False
    claim = guests.verified_claim
    # Entra writes `xms_edov` as true, 1 or "1"; `email` itself is named where its directory alone
    # sets addresses
    is_vouched = user.get(claim) is True or (
        claim not in (EMAIL, EMAIL_VERIFIED) and str(user.get(claim)) in ("1", "true")
    )
    address = email.strip().lower()
    name, sign, domain = address.partition("@")
    is_address = bool(name and sign) and "@" not in domain
    return (
        (is_vouched or claim == EMAIL)
        and is_address
        and (address in guests.allowed or f"@{domain}" in guests.allowed)
    )
