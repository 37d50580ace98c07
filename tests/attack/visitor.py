"""A visitor who is no browser.

Requests and handshakes with any header, and a session that runs a screen.
"""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

PATIENCE_SECONDS = 180
BOUNDARY = "line"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def ask(
    address: str, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str
) -> Answer:
    """Send one request.

    Underscores in the names of headers become hyphens; `host` replaces the usual one.
    """
    url = urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=PATIENCE_SECONDS)
    try:
        connection.putrequest(method, path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


def handshake(address: str, **headers: str) -> int:
    """Ask for the WebSocket and give the status of the answer: 101 where the door opens."""
    url = urlsplit(address)
    named = {
        "Host": url.netloc,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
    }
    named |= {
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": "streamlit",
    }
    named |= {name.title(): value for name, value in headers.items()}
    lines = [
        "GET /_stcore/stream HTTP/1.1",
        *(f"{name}: {value}" for name, value in named.items()),
        "",
        "",
    ]
    with socket.create_connection(
        (url.hostname or "", url.port or 80), timeout=PATIENCE_SECONDS
    ) as connection:
        connection.sendall("\r\n".join(lines).encode())
        found = re.match(rb"HTTP/1.1 (\d+)", connection.recv(200))
    assert found, "no answer"
    return int(found[1])


@dataclass
class Session:
    """A screen that is open: its id at the server, and what it has shown."""

    address: str
    connection: ClientConnection
    cookies: Mapping[str, str]
    token: str
    id: str = ""
    texts: list[str] = field(default_factory=list)

    def run(self, page: str = "", query: str = "") -> None:
        """Run a screen to its end, by the name and the query in its address.

        An address that leads on is followed.
        """
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        self.connection.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            came = self.connection.recv(timeout=PATIENCE_SECONDS)
            assert isinstance(came, bytes)
            answer.ParseFromString(came)
            kind = answer.WhichOneof("type")
            if kind == "new_session":
                self.id = answer.new_session.initialize.session_id
            elif kind == "delta":
                self.texts.append(str(answer.delta))
            elif (
                kind == "script_finished"
                and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                return

    def put(self, name: str, content: bytes, file_id: str = "1", **headers: str) -> Answer:
        """Upload a file as the page does."""
        usual = {
            "content_type": f"multipart/form-data; boundary={BOUNDARY}",
            "cookie": cookie_header(self.cookies),
        }
        usual |= {"X_Xsrftoken": self.token, "origin": self.address}
        path = f"/_stcore/upload_file/{self.id}/{file_id}"
        return ask(self.address, path, "PUT", form(name, content), **(usual | headers))


@contextmanager
def session(address: str, cookies: Mapping[str, str] | None = None) -> Iterator[Session]:
    """Open the page's WebSocket, with the token that the health check gave."""
    given = ask(address, "/_stcore/health").headers["set-cookie"]
    token = given.split(";")[0].partition("=")[2]
    mine = {"_streamlit_xsrf": token, **(cookies or {})}
    url = address.replace("http", "ws") + "/_stcore/stream"
    protocols = [Subprotocol("streamlit"), Subprotocol(token)]
    more = {"Cookie": cookie_header(mine)}
    with connect(
        url, origin=Origin(address), subprotocols=protocols, additional_headers=more, max_size=None
    ) as connection:
        yield Session(address, connection, mine, token)


def cookie_header(cookies: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def form(name: str, content: bytes) -> bytes:
    """The body of an upload."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; '
        f'filename="{name}"\r\nContent-Type: text/plain\r\n\r\n'
    )
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()
