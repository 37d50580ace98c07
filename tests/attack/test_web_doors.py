"""Nobody gets in: the names, the pages and the requests of the dashboard (D3, D4).

The names are those it answers to, the pages those that may send requests, the requests its own.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import streamlit
from websockets.exceptions import ConnectionClosed

from app.server.access import Host, addresses
from app.server.guard import content_policy
from schemas.errors import UsageError
from tests.attack.conftest import PROXY, Server
from tests.attack.visitor import PATIENCE_SECONDS, ask, handshake, session

pytestmark = pytest.mark.xdist_group("web")

STATIC = Path(streamlit.__file__).parent / "static"
FOREIGN = "http://localhost:9999"
OURS = (
    *("127.0.0.1:{port}", "LOCALHOST:{port}", "localhost.:{port}", "[0:0:0:0:0:0:0:1]:{port}"),
    *("runs.example.com", "runs.example.com:443", "other.example:8443"),
)
OTHERS = (
    *("evil.example:{port}", "localhost.evil.example:{port}", "127.0.0.1.evil.example:{port}"),
    *("sub.runs.example.com", "192.0.2.7:{port}", "0.0.0.0:{port}", "[::ffff:192.0.2.7]:{port}"),
    *("user@localhost:{port}", "localhost:{port}@evil.example", "localhost:99999", "localhost:"),
    *("local host", "[localhost]:{port}", ""),
)
"""What may and may not stand in `Host`."""

OUR_PAGES = (
    *("http://127.0.0.1:{port}", "HTTP://127.0.0.1:{port}", "https://127.0.0.1:{port}"),
    *("https://runs.example.com", "https://other.example:8443"),
)
OTHER_PAGES = (
    *(
        "http://localhost:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:9999",
        "https://other.example",
    ),
    *("http://evil.example:{port}", "https://runs.example.com:9999", "http://127.0.0.1:{port}/"),
    *("http://127.0.0.1:{port}.evil.example", "http://u@127.0.0.1:{port}", "file://", "null", ""),
)
"""What may and may not stand in `Origin`."""

ROUTES = (
    *(("GET", "/_stcore/health"), ("GET", "/media/0000.csv"), ("POST", "/auth/login")),
    *((method, "/_stcore/upload_file/a/b") for method in ("PUT", "DELETE", "OPTIONS")),
)


@pytest.mark.parametrize("host", OURS + OTHERS)
def test_d3_only_our_names_are_answered(host: str, server: Server) -> None:
    """A rebound name in `Host`.

    The page of evil.example, whose name now leads to us, is of the same origin as what it asks.
    """
    named = host.format(port=server.port)
    expected = (200, 101) if host in OURS else (403, 403)
    origin = f"http://{named}"
    assert (
        ask(server.address, "/_stcore/health", host=named).status,
        handshake(server.address, host=named, origin=origin),
    ) == expected
    assert ask(server.address, "/", host=named).status == expected[0]


@pytest.mark.parametrize("origin", OUR_PAGES + OTHER_PAGES)
def test_d3_only_our_pages_may_ask(origin: str, server: Server) -> None:
    asking = origin.format(port=server.port)
    assert handshake(server.address, origin=asking) == (101 if origin in OUR_PAGES else 403)
    refused = [
        b"comes from another site" in ask(server.address, path, method, origin=asking).body
        for method, path in ROUTES
    ]
    assert refused == [origin in OTHER_PAGES] * len(ROUTES)


def test_d3_pages_of_others_embed_nothing(server: Server) -> None:
    for site, mode, dest, status in (
        ("none", "navigate", "document", 200),
        ("same-origin", "cors", "empty", 200),
        ("cross-site", "navigate", "document", 200),  # a link to us
        ("cross-site", "navigate", "iframe", 403),
        ("same-site", "no-cors", "script", 403),
        ("cross-site", "no-cors", "empty", 403),
    ):
        fetched = {"sec_fetch_site": site, "sec_fetch_mode": mode, "sec_fetch_dest": dest}
        assert ask(server.address, "/", "GET", None, **fetched).status == status, fetched
    assert ask(server.address, "/_stcore/metrics").status == 403
    assert ask(server.address, "/_stcore/agent/mcp").status == 403


def test_d3_two_hosts_or_origins_are_none(server: Server) -> None:
    assert handshake(server.address, origin=f"{server.address}\r\nOrigin: {FOREIGN}") in (400, 403)
    assert handshake(server.address, host=f"127.0.0.1:{server.port}\r\nHost: evil.example") in (
        400,
        403,
    )


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/upload_file/a/b", "/..%2f.."])
@pytest.mark.parametrize("host", ["", "evil.example"])
def test_d3_every_answer_has_the_headers(path: str, host: str, server: Server) -> None:
    headers = ask(server.address, path, host=host or f"localhost:{server.port}").headers
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert not headers["Access-Control-Allow-Origin"]


def test_files_of_the_framework_come_whole_protected_and_to_our_pages_only(server: Server) -> None:
    """And the server says nothing of it."""
    before = server.log.read_text()
    for pattern, kind in (
        ("js/index.*.js", "javascript"),
        ("css/index.*.css", "text/css"),
        ("media/*.woff2", "font"),
    ):
        file = next((STATIC / "static").glob(pattern))
        answer = ask(server.address, f"/{file.relative_to(STATIC)}")
        assert (answer.status, answer.body) == (200, file.read_bytes())
        assert kind in answer.headers["content-type"]
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        packed = ask(server.address, f"/{file.relative_to(STATIC)}", accept_encoding="gzip, br")
        assert (
            packed.body if kind == "font" else gzip.decompress(packed.body)
        ) == file.read_bytes()
        assert all(
            packed.headers[name] == answer.headers[name]
            for name in ("content-type", "cache-control", "x-content-type-options")
        )
        assert ask(server.address, f"/{file.relative_to(STATIC)}", origin=FOREIGN).status == 403
    assert server.log.read_text() == before
    script = next((STATIC / "static").glob("js/Html.*.js"))
    assert f"<static/js/{script.name}>; rel=modulepreload" in ask(server.address).headers["link"]


def test_a_refusal_says_what_to_do(server: Server) -> None:
    said = ask(server.address, host="my-server:8501").body.decode()
    assert "--allow-host my-server" in said
    assert "<" not in ask(server.address, host="<script>").body.decode()


def test_d4_the_server_asks_nobody(server: Server) -> None:
    """Start, pages, an upload, handshakes of our pages, a proxy's and strangers.

    Nothing leaves this machine, no name is looked up.
    """
    with session(server.address) as page:
        page.run()
        page.run("upload")
        assert page.put("a.json", b"{}").status == 204
    for host, origin in (
        (f"127.0.0.1:{server.port}", FOREIGN),
        (f"127.0.0.1:{server.port}", f"https://{PROXY}"),
        (f"LOCALHOST:{server.port}", f"http://localhost:{server.port}"),
        ("localhost", "http://localhost:80"),
        ("evil.example", "http://evil.example"),
        (f"127.0.0.1:{server.port}", "null"),
    ):
        handshake(server.address, host=host, origin=origin)
    asked = [
        line
        for line in server.asked.read_text().splitlines()
        if not any(f"'{name}'" in line for name in ("127.0.0.1", "localhost", "::1"))
    ]
    assert [line for line in asked if "AF_UNIX" not in line and "/" not in line] == []


def test_a_server_for_everybody_answers_to_addresses_and_its_own_names() -> None:
    """An address cannot be rebound, and a container does not know those of its host; a name can."""
    everywhere = addresses("0.0.0.0", ["runs.example.com"])
    for name in ("192.0.2.7", "::1", "2001:db8::1", "localhost", "runs.example.com"):
        assert everywhere.is_ours(Host(name))
    assert not everywhere.is_ours(Host("evil.example"))
    named = addresses("Server.Example")
    assert named.is_ours(Host("server.example"))
    assert not named.is_ours(Host("192.0.2.7"))


@pytest.mark.parametrize("text", ["https://runs.example.com", "runs.example.com/", "*", "a b", ""])
def test_a_host_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--allow-host takes a name"):
        addresses("127.0.0.1", [text])


def test_the_page_of_the_framework_may_run_its_own_script_only() -> None:
    policy = content_policy("<script>\n a = 1\n</script><script src='x.js'></script>")
    assert policy.count("'sha256-") == 1


@pytest.mark.parametrize(("frame", "code"), [("a text", 1003), (b"\xff\xff no message", 1002)])
def test_a_frame_that_is_no_message_closes_the_page_and_nothing_is_printed(
    frame: str | bytes, code: int, server: Server
) -> None:
    """A page of another visitor goes on."""
    with session(server.address) as other, session(server.address) as mine:
        other.run()
        mine.run()
        before = server.log.read_text()
        with pytest.raises(ConnectionClosed):  # of the second frame, if the first was answered
            mine.connection.send(frame)
            mine.connection.send(frame)
            while True:
                mine.connection.recv(timeout=PATIENCE_SECONDS)
        assert mine.connection.close_code == code
        assert server.log.read_text() == before
        other.run()
