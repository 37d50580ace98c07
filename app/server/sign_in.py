"""Who may see a dashboard that asks for a sign-in: the settings file, and the list of those allowed.

The file is Streamlit's own for `st.login` (OpenID Connect), with our list beside it:

    [auth]
    redirect_uri = "https://runs.example.com/oauth2callback"
    cookie_secret = "a long random text"
    client_id = "…"
    client_secret = "…"
    server_metadata_url = "https://accounts.google.com/.well-known/openid-configuration"

    [tachograph]
    allow = ["@example.com", "guest@example.org"]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ingest.system import toml_files
from ingest.system.installing import extra_command
from schemas.errors import UsageError

NEEDED = ("redirect_uri", "cookie_secret")
PROVIDER = ("client_id", "client_secret", "server_metadata_url")
FEWEST_CHARACTERS = 16
"""The fewest characters of the cookie secret: who guesses it can sign in as anybody."""

_EXAMPLE = "docs/dashboard.md, “Share it”, has an example."


def read_allowed(path: Path) -> tuple[str, ...]:
    """The addresses and domains (`@example.com`) that a settings file allows. Raises UsageError for anything wrong in it."""
    try:
        settings = toml_files.parse(toml_files.read_text(path))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}.", "Give the TOML file with the sign-in settings.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.", _EXAMPLE) from error
    _require_provider(settings.get("auth"), path)
    if find_spec("authlib") is None:
        raise UsageError("sign-in needs the library Authlib.", f"Install it: {extra_command('sign-in')}")
    return allowed_in(settings, path)


def allowed_in(settings: Mapping[str, Any], path: Path | str) -> tuple[str, ...]:
    """The allow-list of settings, in lower case. Raises UsageError where there is none: a sign-in that lets everybody in is a mistake."""
    section = settings.get("tachograph")
    listed = section.get("allow") if isinstance(section, Mapping) else None
    entries = [str(entry).strip().lower() for entry in listed] if isinstance(listed, Sequence) and not isinstance(listed, str) else []
    if not entries or not all(_is_entry(entry) for entry in entries):
        raise UsageError(
            f"{path} does not say who is allowed.", '[tachograph] takes a list such as allow = ["@example.com", "guest@example.org"].'
        )
    return tuple(entries)


def is_allowed(user: Mapping[str, Any], allowed: Sequence[str]) -> bool:
    """Whether a signed-in user is on the list, by address or by its domain. An address that the provider has not verified never is."""
    email = user.get("email")
    if not isinstance(email, str) or user.get("email_verified", True) is not True:
        return False
    address = email.strip().lower()
    name, sign, domain = address.rpartition("@")
    return bool(name and sign) and (address in allowed or f"@{domain}" in allowed)


def _is_entry(entry: str) -> bool:
    name, sign, domain = entry.rpartition("@")
    return bool(sign and domain) and "@" not in name and " " not in entry


def _require_provider(auth: object, path: Path) -> None:
    if not isinstance(auth, Mapping):
        raise UsageError(f"{path} has no section [auth].", _EXAMPLE)
    missing = [key for key in NEEDED if not auth.get(key)]
    providers = [auth, *(value for value in auth.values() if isinstance(value, Mapping))]
    if not any(all(provider.get(key) for key in PROVIDER) for provider in providers):
        missing += [key for key in PROVIDER if not auth.get(key)]
    if missing:
        raise UsageError(f"[auth] of {path} is missing {', '.join(missing)}.", _EXAMPLE)
    if len(str(auth["cookie_secret"])) < FEWEST_CHARACTERS:
        raise UsageError(
            f"cookie_secret in {path} is too short.", "Make a random one: python -c 'import secrets; print(secrets.token_hex())'"
        )
