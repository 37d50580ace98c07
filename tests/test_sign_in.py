"""Who gets past the door.

Settings that are checked before anything is served, and a list that nobody talks his way around.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from app.server.access import Access, Guests, is_allowed, read_guests
from app.server.serve import command
from ingest.store.database import Store
from schemas.errors import UsageError
from tests.conftest import PATIENCE_SECONDS, ROOT, Run, said

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

Open = Callable[[], "AppTest"]

GOOD = """
[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "a secret of more than sixteen characters"
client_id = "x"
client_secret = "y"
server_metadata_url = "https://accounts.example.com/.well-known/openid-configuration"
[tachograph]
allow = ["@example.com", "Guest@example.org"]
"""
GUESTS = Guests(("@example.com", "guest@example.org"))


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "sign-in.toml"
    path.write_text(GOOD)
    return path


def test_good_settings_give_the_list(settings: Path) -> None:
    assert read_guests(settings) == GUESTS


def test_the_example_of_the_docs_is_good_once_the_secrets_are_filled_in(settings: Path) -> None:
    [text] = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / "dashboard.md").read_text(), re.DOTALL
    )
    settings.write_text(text.replace('"…"', '"a secret of more than sixteen characters"'))
    assert read_guests(settings) == GUESTS


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[auth]", "[other]", r"no section \[auth\]"),
        ('client_id = "x"', "", "is missing client_id"),
        ("a secret of more than sixteen characters", "short", "too short"),
        ('allow = ["@example.com", "Guest@example.org"]', "", "who is allowed"),
        ('["@example.com", "Guest@example.org"]', "[]", "who is allowed"),
        ('["@example.com", "Guest@example.org"]', '["*"]', "who is allowed"),
        ('["@example.com", "Guest@example.org"]', '"@example.com"', "who is allowed"),
        ("[auth]", "[auth", "not valid TOML"),
        (
            "[tachograph]",
            "[tachograph]\nverified_claim = true",
            "verified_claim .* is no name of a claim",
        ),
    ],
)
def test_bad_settings_say_what_is_wrong(old: str, new: str, complaint: str, settings: Path) -> None:
    settings.write_text(GOOD.replace(old, new))
    with pytest.raises(UsageError, match=complaint):
        read_guests(settings)


@pytest.mark.parametrize(
    ("user", "allowed"),
    [
        ({"email": "ANN@Example.COM", "email_verified": True}, True),
        ({"email": "guest@example.org", "email_verified": True}, True),
        ({"email": "ann@example.com"}, False),
        ({"email": "guest@example.org", "xms_edov": True}, False),
        ({"email": "other@example.org", "email_verified": True}, False),
        ({"email": "ann@example.com", "email_verified": False}, False),
        ({"email": "ann@example.com", "email_verified": None}, False),
        ({"email": "ann@example.com", "email_verified": "false"}, False),
        ({"email": "ann@example.com", "email_verified": "true"}, False),
        ({"email": "ann@example.com", "email_verified": 1}, False),
        ({"email": "x@evil.org@example.com", "email_verified": True}, False),
        ({"email": "x@@example.com", "email_verified": True}, False),
        ({"email": "ann@evil-example.com", "email_verified": True}, False),
        ({"email": "ann@example.com.evil.org", "email_verified": True}, False),
        ({"email": "@example.com", "email_verified": True}, False),
        ({"email": "example.com", "email_verified": True}, False),
        ({"email": None, "email_verified": True}, False),
        ({"email": ["ann@example.com"], "email_verified": True}, False),
        ({}, False),
    ],
)
def test_who_is_on_the_list(user: dict[str, object], allowed: bool) -> None:
    assert is_allowed(user, GUESTS) is allowed


@pytest.mark.parametrize(
    ("claim", "more", "allowed"),
    [
        ("xms_edov", {"xms_edov": True}, True),
        ("xms_edov", {"xms_edov": "1"}, True),
        ("xms_edov", {"xms_edov": 1}, True),
        ("xms_edov", {"xms_edov": "0"}, False),
        ("xms_edov", {"xms_edov": False}, False),
        ("xms_edov", {}, False),
        ("xms_edov", {"email_verified": True}, False),
        ("xms_edov", {"xms_edov": True, "email_verified": False}, False),
        ("email", {}, True),
        ("email", {"email_verified": False}, False),
        ("tid", {"tid": "72f988bf-86f1-41af-91ab-2d7cd011db47"}, False),
    ],
)
def test_a_setting_names_the_claim_that_vouches_for_an_address(
    claim: str, more: dict[str, object], allowed: bool, settings: Path
) -> None:
    """As of Entra, which has no `email_verified`.

    In an app for several tenants, the visitor's own tenant writes the address.
    """
    settings.write_text(f'{GOOD}verified_claim = "{claim}"\n')
    assert is_allowed({"email": "ann@example.com"} | more, read_guests(settings)) is allowed


@pytest.fixture
def dashboard(installed_once: None) -> Open:
    """The dashboard's script, to be run."""
    from streamlit.testing.v1 import AppTest  # noqa: PLC0415  it takes a second to import

    return lambda: AppTest.from_file(
        str(ROOT / "app" / "dashboard.py"), default_timeout=PATIENCE_SECONDS
    )


@pytest.mark.parametrize(
    ("user", "heading"),
    [
        ({"is_logged_in": False}, "Sign in to see the runs"),
        ({"is_logged_in": True, "email": "eve@evil.org", "email_verified": True}, "Access denied"),
        ({"is_logged_in": True, "email": "ann@example.com"}, "Access denied"),
        ({"is_logged_in": True, "email": "ann@example.com", "email_verified": True}, None),
    ],
)
def test_the_door(
    user: dict[str, object],
    heading: str | None,
    settings: Path,
    sample_store: Store,
    dashboard: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TACHOGRAPH_DB", sample_store.location)
    monkeypatch.setenv("TACHOGRAPH_SIGN_IN", str(settings))
    app = dashboard()
    app.user = user
    app.run()
    assert not app.exception
    assert [element.value for element in app.header] == ([heading] if heading else [])
    assert ("$2.83" in said(app)) == (heading is None)


def test_settings_that_went_bad_let_nobody_in(
    settings: Path, sample_store: Store, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_DB", sample_store.location)
    monkeypatch.setenv("TACHOGRAPH_SIGN_IN", str(settings))
    settings.unlink()
    app = dashboard().run()
    assert app.error
    assert "$2.83" not in said(app)


def test_the_command_checks_before_it_serves(tachograph: Run, tmp_path: Path) -> None:
    done = tachograph("dashboard --headless --port 8599 --sign-in", tmp_path / "none.toml")
    assert done.returncode == 2
    assert "cannot read" in done.stderr


def test_the_server_is_told(settings: Path) -> None:
    access = Access(read_only=True, sign_in=settings, hosts=("runs.example.com",))
    assert command("127.0.0.1", 8501, access)[-2:] == ["--allow-host", "runs.example.com"]
    assert access.environment() == {
        "TACHOGRAPH_READ_ONLY": "1",
        "TACHOGRAPH_SIGN_IN": str(settings),
    }


def test_read_only_takes_the_upload_away(
    sample_store: Store, tmp_path: Path, dashboard: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TACHOGRAPH_READ_ONLY", "1")
    monkeypatch.setenv("TACHOGRAPH_DB", str(tmp_path / "none.duckdb"))
    app = dashboard().run()
    assert not app.exception
    assert not app.get("page_link")
    assert not app.button
    app.query_params["view"] = "upload"
    app = app.switch_page("screens/data.py").run()
    assert not app.exception
    assert not app.get("file_uploader")
